"""A call whose arguments could not be honoured did not run without them: no tool ran more often than the script has it run.

Told by what ran, not by whose it was: a host that drops the arguments may well drop the call's id too.
"""

from __future__ import annotations

from collections import Counter

from harness.checks.check import RUN, Check, Finding, Notes
from harness.checks.stations import payload_text
from harness.ledger.facts import BROKER_WORKER, decoded, sha256
from harness.ledger.history import History
from harness.scenario.spec import Case


def judge(history: History) -> Finding:
    """Executes by tool and processes by command, in each session with a refused call."""
    notes, ran = Notes(history), 0
    for session in history.sessions:
        planned = [one for one in history.planned(*RUN) if one.session == session]
        wanted = Counter(one.call.tool for one in planned)
        executes = history.exchanges(BROKER_WORKER, "execute", session=session)
        seen = Counter(str(decoded(payload_text(exchange)).get("tool")) for exchange in executes)
        for tool in {one.call.tool for one in history.planned("refused", "sibling") if one.session == session}:
            if seen[tool] > wanted[tool]:
                notes.against(f"{tool} was sent to the worker {seen[tool]} time(s) in session {session}, not {wanted[tool]}")
        ran += seen.total()
    commands = {sha256(one.command) for one in history.planned(*RUN) if one.command is not None}
    others = [command for command in history.commands if command.digest not in commands]
    notes.against(*(f"process: a command was spawned that no call of the script may run (#{one.order})" for one in others))
    if not ran:
        notes.gap("no control: relay broker-worker saw no execute at all")
    notes.served()
    return notes.conclude(f"nothing but what the script has run was run; control: {ran} execute(s)")


def _applies(case: Case) -> bool:
    return bool(case.findings) and any(True for _ in case.calls("refused"))


CHECK = Check(
    id="not_run_with_defaults",
    title="A call whose arguments cannot be honoured does not run without them",
    needs=("relay", "process"),
    applies=_applies,
    judge=judge,
    claims_absence=True,
)
