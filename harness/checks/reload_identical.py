"""A reloaded session is the session that was: transcript, records and what the model hears."""

from __future__ import annotations

import json

from harness.checks.check import Check, Finding, Notes
from harness.checks.reloads import Reload, blocked_before, recovers, reloads
from harness.ledger.event import Driven, Exchange
from harness.ledger.facts import HOST_BROKER, HOST_STORE, TURN_ENDS, decoded, heard, listed
from harness.ledger.history import History
from harness.scenario.spec import Case


def _canonical(driven: Driven) -> str:
    return json.dumps(decoded(driven.body).get("events"), sort_keys=True)


def _transcript(history: History, reload: Reload, notes: Notes) -> None:
    if recovers(history, reload):
        return  # nobody has seen it whole, so there is nothing that it must be like
    ended = [event for event in history.driven("ended", reload.session) if event.order < reload.loaded.order]
    if not ended:
        notes.missing(f"no turn of session {reload.session} ended before {reload.where}")
    elif blocked_before(history, reload):
        known = [event for event in listed(decoded(ended[-1].body), "events") if event.get("type") not in TURN_ENDS]
        again = listed(decoded(reload.loaded.body), "events")
        if any(event not in again for event in known):
            notes.against(f"the transcript after {reload.where} lacks what the one at the blocked turn's end had")
    elif _canonical(ended[-1]) != _canonical(reload.loaded):
        notes.against(f"the transcript after {reload.where} differs from the one at the last turn's end")


def _records(history: History, reload: Reload, notes: Notes) -> None:
    appended = {r.sequence: r.text for r in history.appended(reload.session) if r.order < reload.start}
    perhaps = {(r.sequence, r.text) for r in history.offered(reload.session) if r.order < reload.start}
    read = history.read_back(reload.session, reload.start, reload.until)
    texts = {record.sequence: record.text for record in read}
    lost = sorted(appended.keys() - texts.keys())
    if lost:
        notes.against(f"{len(lost)} appended records were not read back after {reload.where}, first sequence {lost[0]}")
    more = sorted(
        record.sequence for record in read if record.sequence not in appended and (record.sequence, record.text) not in perhaps
    )
    if more:
        notes.against(f"{len(more)} records that were never appended were read back after {reload.where}, first sequence {more[0]}")
    for record in read:
        if record.sequence in appended and record.text != appended[record.sequence]:
            notes.against(f"record {record.sequence} read back (#{record.order}) after {reload.where} is not the appended text")


def _requests(history: History, reload: Reload, notes: Notes) -> None:
    if reload.before is None or reload.after is None:
        return
    earlier, later = heard(reload.before), heard(reload.after)
    changed = [place for place, message in enumerate(earlier) if later[place : place + 1] != (message,)]
    if changed:
        notes.against(f"model request #{reload.after.order} after {reload.where} has another message {changed[0] + 1}")
    served = [step for step in history.served if step.request == reload.before]
    for step in served:
        answer = later[len(earlier) : len(earlier) + 1]
        if any(call.expect == "abandoned" for call in step.step.call):
            continue  # it may have been kept or not: its session was blocked first
        calls = tuple((call.id, call.tool, call.argument_text()) for call in step.step.call)
        if [(m.role, m.text, m.calls) for m in answer] != [("assistant", step.step.text or "", calls)]:
            notes.against(f"model request #{reload.after.order} after {reload.where} does not repeat the model's last answer")


def _ends_a_turn(exchange: Exchange) -> bool:
    asked = decoded(exchange.request)
    return asked.get("kind") == "session" and decoded(str(asked.get("text", ""))).get("event") == "turn_error"


def _traffic(history: History, reload: Reload) -> list[Exchange]:
    """Work on the broker before the next model request, and writing to the store before the driver went on."""
    if recovers(history, reload):
        return []
    writes = [
        e
        for e in history.exchanges(HOST_STORE, "append", "resource", session=reload.session)
        if e.method != "GET" and e.order > reload.start and (reload.left is None or e.order <= reload.left)
    ]
    if blocked_before(history, reload):  # the turn that the block cut off gets its end on record
        writes = [e for e in writes if not _ends_a_turn(e)]
    return writes + [
        e
        for e in history.exchanges(HOST_BROKER, session=reload.session)
        if e.operation != "warm" and e.order > reload.start and (reload.until is None or e.order < reload.until)
    ]


def judge(history: History) -> Finding:
    """Transcript, records, next request, nothing written and no work on the broker: for every load of the case."""
    notes = Notes(history)
    planned = [act.load for act in history.case.acts if act.load is not None]
    found = [reload for session in dict.fromkeys(planned) for reload in reloads(history, session)]
    if len(found) < len(planned):
        notes.missing(f"{len(found)} of {len(planned)} load(s) were answered")
    for reload in found:
        _transcript(history, reload, notes)
        _records(history, reload, notes)
        _requests(history, reload, notes)
        traffic = _traffic(history, reload)
        notes.against(*(f"{e.operation} seen by relay {e.edge} (#{e.order}) after {reload.where}" for e in traffic))
        if not history.appended(reload.session):
            notes.gap(f"no control: no append of session {reload.session} was seen")
    notes.missing(*(f"{name} was never served" for name in history.unserved if name.split()[-1] in planned))
    orders = ", ".join(f"#{reload.start}" for reload in found)
    return notes.conclude(
        f"load(s) {orders}: same transcript, same record texts, same messages to the model, nothing written, no broker work"
    )


def _applies(case: Case) -> bool:
    return any(act.load is not None for act in case.acts)


CHECK = Check(
    id="reload_identical",
    title="A reloaded session has the same transcript, records and messages, and its load writes and starts nothing",
    needs=("model", "relay", "sql"),
    applies=_applies,
    judge=judge,
    claims_absence=True,
)
