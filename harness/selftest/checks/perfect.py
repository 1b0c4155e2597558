"""A perfect system under test, as the ledger would see it: plays a case's acts and answers everything as it should.

A held answer stands for its whole story: while it is held, whoever has to wait is told so. Leaves out faults; the variations in
`histories` add what a ledger needs beyond it.
"""

from __future__ import annotations

import json
from typing import Any

from harness.ledger.event import WITNESSES, Command, Ledger, Meta, ModelExchange, Tree
from harness.ledger.event import TreeEntry as Entry
from harness.ledger.facts import (
    BROKER_WORKER,
    DRIVER_HOST,
    HOST_STORE,
    decoded,
    input_command,
    input_digest,
    sha256,
)
from harness.scenario.spec import Act, Call, Case, Step
from harness.selftest.checks.cases import CALLBACK
from harness.selftest.checks.hooking import Hooking, printed_by
from harness.selftest.checks.parts import manifest_of
from harness.selftest.checks.seen import STORE, WORKER, Values, js


class Perfect(Hooking):
    """One play; `ledger()` is what the witnesses saw."""

    def __init__(self, case: Case, *, nonce: str = "n1", execution: str = "exec", first_order: int = 0) -> None:
        super().__init__(nonce, first_order)
        self.case, self.execution = case, execution
        self.generation, self.executions = 0, 0
        self.heard: dict[str, list[dict[str, Any]]] = {label: [] for label in case.sessions()}
        self.transcript: dict[str, list[dict[str, Any]]] = {label: [] for label in case.sessions()}
        self.holders: set[str] = set()
        self.records: dict[str, list[tuple[str, str]]] = {label: [] for label in case.sessions()}
        self.served: dict[str, int] = dict.fromkeys(case.sessions(), 0)
        self.files: dict[str, bytes] = {}
        self.asked: dict[str, tuple[Call, str]] = {}

    def append(self, session: str, kind: str, body: dict[str, Any]) -> None:
        """A record: on the wire to the store, and in SQL."""
        text, sequence = json.dumps(body), len(self.records[session]) + 1
        self.records[session].append((kind, text))
        event = body.get("event", "") if "promptId" in body else ""
        if role := {"user": "prompt"}.get(body.get("role", ""), body.get("role") or event):
            data = {key: value for key, value in body.items() if key not in ("role", "event", "promptId")}
            self.transcript[session].append({"type": role, "promptId": body["promptId"], "data": data})
        command = f"{self.wire(session)}-c{sequence}"
        asked = {"commandId": command, "expectedSequence": sequence, "kind": kind, "text": text}
        path = f"{STORE}/{self.wire(session)}/records"
        self.exchange(HOST_STORE, "append", session, path, asked=asked, reply={"sequence": sequence, "replayed": False})
        values: Values = {"session_id": self.wire(session), "sequence": sequence, "command_id": command, "kind": kind}
        self.row("store", "records", values, {"text": text.encode()})

    def play(self) -> Ledger:
        """Every act, then the ledger."""
        for place, act in enumerate(self.case.acts):
            if act.prompt is not None:
                self.prompt(place, act, act.prompt)
            elif act.detach is not None:
                self.exchange(DRIVER_HOST, "detach", act.detach, f"/session/{self.wire(act.detach)}/detach", asked={}, reply={})
                self.driver("detached", act.detach)
            elif act.load is not None:
                self.load(act.load)
            elif act.blocked is not None:
                self.looked(act.blocked)
            elif act.create_refused is not None:
                self.misconfigured(act.create_refused)
            elif act.load_refused is not None:
                self.unloadable(act.load_refused)
            elif act.send is not None:
                error = {"error": {"code": act.send.code}} if act.send.code else {}
                edge, path, status = f"direct-{act.request}", act.send.path, act.send.status
                self.exchange(edge, "other", "", path, asked={}, reply=error, status=status)
                self.driver("requested", "", f"{act.send.label}: answered")
            elif act.answer is not None and act.late:
                self.late(act.answer, *self.asked[act.answer])
        return self.ledger()

    def prompt(self, place: int, act: Act, session: str) -> None:
        """One turn."""
        if not self.records[session]:
            self.driver("created", session)
            self.append(session, "session", {"event": "created"})
        prompt = f"p{place + 1}"
        self.driver("prompted", session, prompt)
        self.append(session, "message.committed", {"role": "user", "promptId": prompt, "text": "go"})
        self.heard[session].append({"role": "user", "text": "go", "calls": [], "call": ""})
        ran = [self.step(session, prompt, step) for step in act.step]
        if any(ran):
            self.broker("release", session, f"/tool-sessions/{self.wire(session)}-r:release", {}, {"released": True})
            self.row_released(session)
            self.holders.remove(session)
        if act.ends == "unknown":
            return
        end = {"event": act.ends, "promptId": prompt}
        if act.ends == "turn_complete":
            self.append(session, "session", end)
        else:  # the session is blocked, and its end is in memory only
            self.transcript[session].append({"type": act.ends, "promptId": prompt, "data": {"code": "store_uncertain"}})
        self.driver("ended", session, act.ends, body={"events": self.transcript[session]})

    def step(self, session: str, prompt: str, step: Step) -> bool:
        """One answer of the model and what follows; says whether anything ran."""
        messages = self.heard[session]
        self.serve(session, step)
        calls = [{"id": call.id, "name": call.tool, "arguments": call.argument_text()} for call in step.call]
        runs, hooked = bool(calls) and not step.refused, bool(self.case.hooks and calls and not step.inert)
        if (runs or hooked) and session not in self.holders:
            self.acquire(session)
        said = {"role": "assistant", "promptId": prompt, "text": step.text or "", "calls": calls}
        if any(call.expect == "abandoned" for call in step.call):
            self.lose(session, len(self.records[session]) + 1, json.dumps(said))
            return runs
        self.append(session, "message.committed", said)
        messages.append({"role": "assistant", "text": step.text or "", "calls": calls, "call": ""})
        for call in step.call if hooked else ():
            if self.case.approval is not None:
                self.question(session, prompt, call, call.argument_text())
            self.occurrence(session, "PreToolUse", call.id, decoded(call.argument_text()), printed_by(self.case, call))
        ids = [self.run(session, call, prompt) if runs else "" for call in step.call]
        if calls:
            results = [self.result(call) for call in step.call]
            self.append(session, "message.committed", {"role": "tool_result", "promptId": prompt, "results": results})
            messages += [{"role": "result", "text": r["content"], "calls": [], "call": r["id"]} for r in results]
        if hooked and runs and CALLBACK in self.case.hooks:
            self.occurrence(session, "PostToolBatch", "", {}, [(CALLBACK, "")])
        self.settle(session, [(call, identity) for call, identity in zip(step.call, ids, strict=True) if identity])
        return runs or hooked

    def serve(self, session: str, step: Step) -> None:
        """A request to the model, and its answer."""
        order = self.tick()
        if step.hold:
            self.waiting()
        messages = js(self.heard[session])
        self.events.append(
            ModelExchange(
                order=order,
                finished=self.tick(),
                session=session,
                step=self.served[session],
                request=messages,
                heard=messages,
                reply=js({"step": self.served[session]}),
            )
        )
        self.served[session] += 1

    def settle(self, session: str, ran: list[tuple[Call, str]]) -> None:
        """Receipts and acknowledgements, in the order of the case's path."""
        for call, identity in ran:
            if self.case.path == "local":
                receipt = {"callId": call.id, "executionCallId": identity, "captureDigest": sha256(identity.encode())}
                self.append(session, "tool.receipt", receipt)
            self.broker("acknowledge", session, f"/executions/{identity}:acknowledge", {}, {"acknowledged": True})
        for _, identity in ran if self.case.path == "o2" else []:
            self.publish("receipts/commit", session, identity, self.publication(identity))

    def waiting(self) -> None:
        """Whoever the case makes wait is told `workspace_busy`."""
        for label in (act.await_busy for act in self.case.acts if act.await_busy is not None):
            busy = {"error": {"code": "workspace_busy"}}
            self.broker("acquire", label, "/tool-sessions:acquire", {}, busy, status=409)
            self.driver("busy_seen", label)

    def result(self, call: Call) -> dict[str, Any]:
        """What the model is told about one call."""
        told = {
            "executed": "\n".join(("exit 0", call.output or "", *call.told)),
            "refused": f"Error: argument {call.names} is not well-formed text"
            if call.says is None
            else f'Error: "{call.names}" {call.says}, "{call.suggests}"',
            "sibling": "Error: not executed, because another call of the batch was refused",
            "denied": f"Error: not executed, because {self.denier(call)}",
        }[call.expect]
        return {"id": call.id, "name": call.tool, "content": told, "isError": call.expect != "executed"}

    def denier(self, call: Call) -> str:
        """Who denied the call."""
        if call.policy:
            return f"the policy does not allow {call.policy}"
        return "it was not approved" if self.case.approval else 'hook "guard" denied it'

    def acquire(self, session: str) -> None:
        """Take the workspace and register the publisher."""
        self.broker("warm", session, "/runtimes:warm", {}, {"warm": True})
        self.generation += 1
        self.holders.add(session)
        self.broker("acquire", session, "/tool-sessions:acquire", {}, {"acquired": True, "generation": self.generation})
        owner: Values = {"harness_session_id": self.wire(session), "generation": self.generation}
        if self.case.path == "local":
            asked = {"bindingGeneration": self.generation}
            self.broker("publisher", session, f"/tool-sessions/{self.wire(session)}-r:register-publisher", asked, {})
            self.row("broker", "publishers", owner | {"registered_ms": 1})
        self.row("broker", "leases", owner | {"acquired_ms": 1, "released_ms": None})

    def row_released(self, session: str) -> None:
        """The lease rows as the release leaves them."""
        for place, row in enumerate(self.rows):
            if row.table == "leases" and row.values.get("harness_session_id") == self.wire(session):
                self.rows[place] = row.model_copy(update={"values": row.values | {"released_ms": 2}})

    def publication(self, identity: str) -> str:
        """The publication of an execution."""
        return f"{self.nonce}-{identity}:publication"

    def run(self, session: str, call: Call, prompt: str) -> str:
        """One admitted call, from its question to its captured output; without an id if nobody allowed it, or a hook denied it."""
        given = call.argument_text() if call.effective is None else call.effective
        if not self.may_run(session, call, prompt, given):
            return ""
        self.executions += 1
        identity = f"{self.execution}-{self.executions}"
        arguments = decoded(given)
        bound = arguments if call.bound is None else decoded(call.bound)
        payload = json.dumps({"tool": call.tool, "input": bound})
        digest, requested = input_digest(arguments), input_digest(decoded(payload))
        self.broker(
            "prepare",
            session,
            "/executions:prepare",
            {
                "idempotencyKey": f"{self.wire(session)}:{call.id}:{self.executions}",
                "toolCallId": call.id,
                "kind": "tool",
                "requestDigest": requested,
                "reference": {"argsDigest": digest},
            },
            {"executionCallId": identity},
        )
        self.append(session, "tool.intent", {"callId": call.id, "executionCallId": identity, "argsDigest": digest})
        self.append(session, "checkpoint", {"callId": call.id})
        o2 = self.case.path == "o2"
        if o2:
            self.publish("reserve", session, identity, self.publication(identity))
        self.broker("start", session, f"/executions/{identity}:start", {"payloadJson": payload}, {"executionCallId": identity})
        about = {"executionCallId": identity, "harnessSessionId": self.wire(session), "kind": "tool", "payloadJson": payload}
        self.exchange(BROKER_WORKER, "execute", session, f"{WORKER}/executions", asked=about, reply={"state": "executing"})
        self.spawn(call, arguments)
        if o2:
            self.publish("finished", session, identity, self.publication(identity))
        self.broker("status", session, f"/executions/{identity}", {}, {"state": "settled"})
        (self.admit if o2 else self.capture)(session, identity, call)
        self.execution_row(session, call, identity, requested)
        return identity

    def may_run(self, session: str, call: Call, prompt: str, given: str) -> bool:
        """Whether whoever is asked allows this input, and neither a hook nor the policy has denied it."""
        if call.granted:
            about = {"approvalId": f"{call.id}:approval", "callId": call.id, "inputDigest": input_digest(decoded(given))}
            self.append(session, "approval", about | {"promptId": prompt, "state": "granted", "rule": "read-only"})
            return True
        if self.case.approval is None:
            return call.expect != "denied"
        self.asked[session] = call, prompt
        return self.question(session, prompt, call, given)

    def spawn(self, call: Call, arguments: dict[str, Any]) -> None:
        """What the worker does: the process, and the files it writes."""
        if command := input_command(arguments):
            digest = sha256(command)
            self.events.append(Command(order=self.tick(), digest=digest, length=len(command), prefix=command, directory=self.nonce))
        self.files |= {path: text.encode() for path, text in call.writes.items()}

    def admit(self, session: str, identity: str, call: Call) -> None:
        """The published output, admitted and on record."""
        publication = self.publication(identity)
        self.publish("admissions/prepare", session, identity, publication)
        about = {"callId": call.id, "executionCallId": identity, "publicationId": publication, "admission": "PREPARED"}
        self.append(session, "tool.receipt", about | {"manifestDigest": manifest_of(identity)})

    def capture(self, session: str, identity: str, _: Call) -> None:
        """The complete output, as a resource of the session."""
        capture = sha256(identity.encode())
        path = f"{STORE}/{self.wire(session)}/resources/{capture}"
        self.exchange(HOST_STORE, "resource", session, path, asked={}, reply={"digest": capture, "created": True}, method="PUT")
        self.row("store", "resources", {"session_id": self.wire(session), "digest": capture}, {"content": identity.encode()})

    def execution_row(self, session: str, call: Call, identity: str, requested: str) -> None:
        """The broker's own record of the execution."""
        owner: Values = {
            "execution_call_id": identity,
            "harness_session_id": self.wire(session),
            "tool_call_id": call.id,
            "idempotency_key": f"{self.wire(session)}:{call.id}:{self.executions}",
            "request_digest": requested,
        }
        ends: Values = {"kind": "tool", "state": "settled", "result": "success", "started_ms": 1, "acknowledged_ms": 2}
        self.row("broker", "executions", owner | ends)

    def load(self, session: str) -> None:
        """Bring the session back."""
        self.exchange(DRIVER_HOST, "load", session, f"/session/{self.wire(session)}/load", asked={}, reply={})
        kept = enumerate(self.records[session], start=1)
        found = [{"sequence": place, "kind": kind, "text": text} for place, (kind, text) in kept]
        path = f"{STORE}/{self.wire(session)}/records?from=1"
        self.exchange(HOST_STORE, "read", session, path, asked=None, reply={"records": found}, method="GET")
        self.driver("loaded", session, body={"events": self.transcript[session]})

    def ledger(self) -> Ledger:
        """All that was seen, trees and rows included."""
        entries = tuple(
            Entry(path=path, type="file", size=len(content), sha256=sha256(content)[7:], content=content)
            for path, content in self.files.items()
        )
        self.row("broker", "workspaces", {"generation": self.generation, "holder": None})
        meta = Meta(
            case=self.case,
            seed=1,
            nonce=self.nonce,
            target="hosted",
            engine="process",
            store="sqlite",
            witnesses=WITNESSES,
            tenant=f"{self.nonce}-t",
            workspace=f"{self.nonce}-w",
            sessions={label: self.wire(label) for label in self.case.sessions()},
        )
        trees = Tree(moment="before", entries=()), Tree(moment="after", entries=entries)
        return Ledger(meta=meta, events=(trees[0], *self.events, *self.fired(), trees[1], *self.rows))
