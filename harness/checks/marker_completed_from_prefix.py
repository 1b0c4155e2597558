"""A sequential plan that was over when its host was killed is finished from what its hooks had said by then.

The host that comes after it writes the plan's result, once, and asks no further hook: not even one that would repair the input.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.check import Check, Finding, Notes
from harness.checks.hooks import AFTER, has_half, left_by
from harness.ledger.facts import Record, input_digest
from harness.ledger.history import History
from harness.ledger.hooked import occurrences, of_plan, runs
from harness.scenario.spec import Case


def _against(history: History, plan: Record, prefix: list[Record], records: tuple[Record, ...], killed: int) -> Iterator[str]:
    """What the next host did with the plan beyond finishing it, and how the result differs from the prefix."""
    event, call = plan.body.get("event"), plan.body.get("callId")
    late = [run for run in runs(history.hooked) if (run.event, run.call) == (event, call) and run.exchange.order > killed]
    yield from (f"a hook at {event} was started after the kill (#{run.exchange.order})" for run in late)
    said = [child for child in of_plan(records, "child", plan) if child not in prefix]
    yield from (f"hook {child.body.get('hookId')} at {event} has a result from after the kill" for child in said)
    names = [child.body.get("hookId") for child in prefix]
    for end in of_plan(records, "completed", plan):
        if end.body.get("executed") != names:
            yield f"the plan for {event} was completed with other hooks than the {len(names)} that had ended before the kill"
        elif end.body.get("effectiveInputDigest") != input_digest(left_by(plan, prefix)):
            yield f"the plan for {event} was completed with another input than the one its hooks had left"


def judge(history: History) -> Finding:
    """Every plan that had its last result before a kill, and its own result after it."""
    notes, finished = Notes(history), 0
    kills = [driven.order for driven in history.driven("killed")]
    for session in history.sessions:
        records = history.taken(session)
        for plan in occurrences(records, "planned"):
            ends = of_plan(records, "completed", plan)
            killed = next((at for at in kills if plan.order < at and not any(end.order < at for end in ends)), None)
            prefix = [child for child in of_plan(records, "child", plan) if killed is not None and child.order < killed]
            if killed is None or plan.body.get("event") in AFTER or not has_half(left_by(plan, prefix)):
                continue
            notes.against(*_against(history, plan, prefix, records, killed))
            if len(ends) > 1:
                notes.against(f"the plan for {plan.body.get('event')} was completed {len(ends)} times")
            elif not ends:
                notes.missing(f"the plan for {plan.body.get('event')} was not completed after the kill")
            elif not [r for r in of_plan(history.records(session), "completed", plan) if r.text == ends[0].text]:
                notes.missing(f"SQL has no result of the plan for {plan.body.get('event')}")
            else:
                finished += 1
    if not finished:
        notes.missing("no plan that was over at the kill was finished after it")
    notes.served()
    return notes.conclude(f"{finished} plan(s) finished after the kill from what their hooks had said before it")


def _applies(case: Case) -> bool:
    """Cases that kill the host while the result of a hook is on its way back to it."""
    held = any(r"\"state\":\"child\"" in (fault.contains or "") for fault in case.faults)
    return held and any(act.kill for act in case.acts)


CHECK = Check(
    id="marker_completed_from_prefix",
    title="A plan that was over when its host was killed is finished from its saved results, without another hook",
    needs=("relay", "sql"),
    applies=_applies,
    judge=judge,
    claims_absence=True,
)
