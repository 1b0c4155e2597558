"""An error names the offending field and does not give its value back: not to the model, the store, or the transcript.

The assistant message and the user's words are left out: the first must repeat the value, `arguments_preserved` sees to that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from harness.checks.absence import gaps
from harness.checks.check import ADMITTED, Check, Finding, Notes
from harness.checks.echo import damaged, echoed, value_of, words
from harness.checks.told import shown
from harness.ledger.event import ModelExchange
from harness.ledger.facts import Heard, Served, decoded, heard, listed
from harness.ledger.history import History
from harness.scenario.spec import Call, Case

Place = tuple[str, str]
"""(where a text stands, for findings; the text)."""


def _new(step: Served, request: ModelExchange) -> Iterator[Heard]:
    """The messages of a later request that the one answered with this step did not have."""
    messages: Counter[Heard] = Counter(heard(request))
    messages.subtract(heard(step.request))
    return messages.elements()


def _later(history: History, step: Served) -> Iterator[Place]:
    """What the host itself told the model in any later request."""
    for request in history.requests(step.session):
        if step.after is not None and request.order > step.after.order:
            for message in _new(step, request):
                if message.role not in ("assistant", "user", "result"):
                    yield f"a {message.role} message in model request #{request.order} after {step.where}", message.text


def _told(step: Served) -> Iterator[Place]:
    """What the next request says that the one before did not: results, and whatever else the host put in."""
    if step.after is None:
        return
    for message in _new(step, step.after):
        if message.role == "result":
            yield f"the result of call {message.call} after {step.where}", message.text
        elif message.role == "assistant" and message.text != (step.step.text or ""):
            yield f"the text of the assistant message after {step.where}", message.text
        elif message.role not in ("assistant", "user") or (message.role == "user" and not step.ends_turn):
            yield f"a new {message.role} message after {step.where}", message.text


def _stored(history: History, step: Served) -> Iterator[Place]:
    """What was appended besides the assistant message, and what SQL has of it."""
    appended = [r for r in history.appended(step.session) if step.covers(r.order) and r.role not in ("assistant", "user")]
    sequences = {record.sequence for record in appended}
    kept = [record for record in history.records(step.session) if record.sequence in sequences]
    for witness, records in (("appended on host-store", appended), ("SQL", kept)):
        for record in records:
            for text in words(record.body):
                yield f"{record.kind} record {record.sequence} ({witness}) after {step.where}", text


def _shown(history: History, step: Served) -> Iterator[Place]:
    """What the transcript has for this batch; where a later call reuses an id, its result is no error and speaks for itself."""
    ids = [call.id for call in step.step.call]
    for ended in history.driven("ended", step.session):
        for event in listed(decoded(ended.body), "events"):
            data = event.get("data")
            results = listed(data, "results") if isinstance(data, dict) else []
            if event.get("type") == "tool_result" and [r.get("id") for r in results] == ids:
                for text in words([r for r in results if r.get("isError") is not False or not _reused(history, step)]):
                    yield f"the transcript's results of {step.where}", text


def _reused(history: History, step: Served) -> bool:
    ids = {call.id for call in step.step.call}
    return any(planned.session == step.session and planned.call.id in ids for planned in history.planned(*ADMITTED))


def _named(step: Served, place: int, call: Call) -> bool:
    """Whether the call's own answer has the field's name as a word; calls that share an id are answered in their order."""
    own = [answer.text for answer in step.answers if answer.call == call.id]
    twins = [one for one in range(len(step.step.call)) if step.step.call[one].id == call.id]
    mine = own[twins.index(place) : twins.index(place) + 1] if len(own) == len(twins) else own
    return any(re.search(rf"(?<!\w){re.escape(shown(call.names or ''))}(?!\w)", text) for text in mine)


def _mistakes(history: History, step: Served) -> list[str]:
    found = []
    places = [*_told(step), *_later(history, step), *_stored(history, step), *_shown(history, step)]
    for place, call in enumerate(step.step.call):
        if call.names is None:
            continue
        if not _named(step, place, call):
            found.append(f"the error of call {call.id} after {step.where} does not name the field {call.names}")
        value = value_of(call)
        found += [f"{where} echoes the value of field {call.names}" for where, text in places if echoed(value, text)]
        found += [f"{where} holds a surrogate or its replacement" for where, text in places if damaged(text)]
    return list(dict.fromkeys(found))


def judge(history: History) -> Finding:
    """Field named, value not shown, in every batch with a call that declares `names`."""
    notes = Notes(history)
    notes.gap(*gaps(history))
    steps = [step for step in history.refused if any(call.names for call in step.step.call)]
    for step in steps:
        if step.after is None:
            notes.missing(f"no model request followed {step.where}")
        else:
            notes.against(*_mistakes(history, step))
    orders = ", ".join(f"#{step.after.order}" for step in steps if step.after)
    return notes.conclude(f"model request(s) {orders} name each field and show no value; nor do the store and the transcript")


def _applies(case: Case) -> bool:
    return any(call.names for _, call in case.calls("refused"))


CHECK = Check(
    id="names_field_not_value",
    title="An error names the offending field and never shows its value",
    needs=("model",),
    applies=_applies,
    judge=judge,
)
