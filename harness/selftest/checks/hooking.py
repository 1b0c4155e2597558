"""What a session with hooks shows: a plan on record, each hook through broker and worker, and what it said."""

from __future__ import annotations

import json
from typing import Any

from harness.checks.hooks import folded
from harness.ledger.event import Command
from harness.ledger.facts import BROKER_WORKER, input_digest, sha256
from harness.scenario.spec import Call, Case, Hook
from harness.selftest.checks.cases import BREAKS, BROKEN, CHANGE, CHANGES, DENIAL, GUARD, LOOKS
from harness.selftest.checks.parts import Parts
from harness.selftest.checks.seen import WORKER, Values


def printed_by(case: Case, call: Call) -> list[tuple[Hook, str]]:
    """The hooks before the call, up to one that breaks its text, and what each of them prints."""
    said = {BREAKS: BROKEN if call.rewritten else None, GUARD: DENIAL if call.expect == "denied" else None, CHANGES: CHANGE}
    every = [(hook, text) for hook in case.hooks if (text := said.get(hook, "" if hook == LOOKS else None)) is not None]
    over = next((place for place, (_, text) in enumerate(every, start=1) if text == BROKEN), len(every))
    return every[:over]


class Hooking(Parts):
    """The occurrences of events."""

    hooks_run = 0

    def occurrence(self, session: str, event: str, call: str, given: dict[str, Any], said: list[tuple[Hook, str]]) -> None:
        """One plan: its marker, its hooks one after the other, each with what it said, and its end."""
        about = {"occurrenceId": f"{self.wire(session)}:{event}:{call}", "event": event, "callId": call}
        self.append(
            session,
            "hook_execution",
            {"state": "planned", "mode": "sequential", "hooks": [hook.id for hook, _ in said], "input": given, **about},
        )
        for hook, output in said:
            self.hooks_run += 1
            identity = f"{self.nonce}-hook-{self.hooks_run}"
            intended = {"state": "intended", "hookId": hook.id, "executionCallId": identity, **about}
            self.append(session, "hook_execution", intended)
            self.hook(session, identity, hook, {"event": event, "callId": call, "toolInput": given})
            told = {"state": "child", "hookId": hook.id, "executionCallId": identity, "output": output, **about}
            self.append(session, "hook_execution", told)
            self.broker("acknowledge", session, f"/executions/{identity}:acknowledge", {}, {"acknowledged": True})
        if any(act.kill for act in self.case.acts):
            self.driver("killed", "", "host")
        effective = folded(given, said[-1][1]) if said else given
        ends = {"executed": [hook.id for hook, _ in said], "effectiveInputDigest": input_digest(effective)}
        self.append(session, "hook_execution", {"state": "completed", **about, **ends})

    def hook(self, session: str, identity: str, hook: Hook, stdin: dict[str, Any]) -> None:
        """One hook from its reservation to its end, with its row and its process."""
        call, carried = stdin["callId"] or "batch", {"command": hook.command, "stdin": json.dumps(stdin)}
        payload = {"payloadJson": json.dumps({"tool": "run_hook", "input": carried})}
        asked = {"idempotencyKey": f"{identity}:key", "toolCallId": call, "kind": "hook"}
        self.broker("prepare", session, "/executions:prepare", asked, {"executionCallId": identity})
        self.broker("start", session, f"/executions/{identity}:start", payload, {"executionCallId": identity})
        sent = {"executionCallId": identity, "harnessSessionId": self.wire(session), "kind": "hook", **payload}
        self.exchange(BROKER_WORKER, "execute", session, f"{WORKER}/executions", asked=sent, reply={"state": "executing"})
        command = hook.command.encode()
        seen = Command(order=self.tick(), digest=sha256(command), length=len(command), prefix=command, directory=self.nonce)
        self.events.append(seen)
        self.broker("status", session, f"/executions/{identity}", {}, {"state": "settled"})
        owner: Values = {"execution_call_id": identity, "harness_session_id": self.wire(session), "kind": "hook"}
        owner |= {"tool_call_id": call, "idempotency_key": f"{identity}:key", "result": "success"}
        self.row("broker", "executions", owner | {"state": "settled", "started_ms": 1, "acknowledged_ms": 2})
