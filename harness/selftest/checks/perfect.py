"""A perfect system under test, as the ledger would see it: plays a case's acts and answers everything as it should.

Leaves out gates, busy replies and faults; the variations in `build` add what a ledger needs beyond it.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from harness.ledger.event import WITNESSES, Command, Driven, Event, Exchange, Ledger, Meta, ModelExchange, Row, Tree
from harness.ledger.event import TreeEntry as Entry
from harness.ledger.facts import BROKER_WORKER, DRIVER_HOST, HOST_BROKER, HOST_STORE, decoded, input_command, sha256
from harness.scenario.spec import Act, Call, Case, Step

Values = dict[str, int | str | None]
DriverAct = Literal["created", "prompted", "ended", "still_active", "detached", "loaded", "refused", "busy_seen"]
BROKER, STORE, WORKER = (
    "/internal/runtime-broker/v1",
    "/internal/managed-session-store/v1/sessions",
    "/internal/worker/v1",
)


def js(value: Any) -> bytes:
    """ASCII JSON."""
    return json.dumps(value).encode("ascii")


class Perfect:
    """One play; `ledger()` is what the witnesses saw."""

    def __init__(self, case: Case, *, nonce: str = "n1", execution: str = "exec", first_order: int = 0) -> None:
        self.case, self.nonce, self.execution = case, nonce, execution
        self.order, self.generation, self.executions = first_order, 0, 0
        self.events: list[Event] = []
        self.rows: list[Row] = []
        self.heard: dict[str, list[dict[str, Any]]] = {label: [] for label in case.sessions()}
        self.transcript: dict[str, list[dict[str, Any]]] = {label: [] for label in case.sessions()}
        self.records: dict[str, list[str]] = {label: [] for label in case.sessions()}
        self.served: dict[str, int] = dict.fromkeys(case.sessions(), 0)
        self.files: dict[str, bytes] = {}

    def wire(self, session: str) -> str:
        """The session's id on the wire."""
        return f"{self.nonce}-s-{session}"

    def tick(self) -> int:
        """The next place in the logical order."""
        self.order += 1
        return self.order

    def driver(self, act: DriverAct, session: str, detail: str = "", *, body: bool = False) -> None:
        """What the driver does or sees."""
        raw = js({"events": self.transcript[session]}) if body else b""
        self.events.append(Driven(order=self.tick(), act=act, session=session, detail=detail, body=raw))

    def exchange(
        self, edge: str, operation: str, session: str, target: str, *, asked: Any, reply: Any, method: str = "POST"
    ) -> None:
        """One exchange through a relay, answered with 200."""
        self.events.append(
            Exchange(
                order=self.tick(),
                finished=self.tick(),
                edge=edge,
                session=session,
                operation=operation,
                method=method,
                target=target,
                request=js(asked) if asked is not None else b"",
                status=200,
                reply=js(reply),
            )
        )

    def broker(self, operation: str, session: str, path: str, asked: Any, reply: Any) -> None:
        """One call of the host to the broker."""
        common = {
            "protocolVersion": 1,
            "requestId": f"{self.nonce}-r{self.order}",
            "harnessSessionId": self.wire(session),
        }
        self.exchange(HOST_BROKER, operation, session, f"{BROKER}{path}", asked=common | asked, reply=common | reply)

    def row(self, database: str, table: str, values: Values, blobs: dict[str, bytes] | None = None) -> None:
        """One row of the system's tables."""
        self.rows.append(Row(database=database, table=table, values=values, blobs=blobs or {}))

    def append(self, session: str, kind: str, body: dict[str, Any]) -> None:
        """A record: on the wire to the store, and in SQL."""
        text, sequence = json.dumps(body), len(self.records[session]) + 1
        self.records[session].append(text)
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
        self.append(session, "session", {"event": act.ends, "promptId": prompt})
        self.transcript[session].append({"type": act.ends, "promptId": prompt, "data": {}})
        self.driver("ended", session, act.ends, body=True)

    def step(self, session: str, prompt: str, step: Step) -> bool:
        """One answer of the model and what follows; says whether anything ran."""
        messages = self.heard[session]
        answer = {"step": self.served[session]}
        self.events.append(
            ModelExchange(
                order=self.tick(),
                finished=self.tick(),
                session=session,
                step=self.served[session],
                request=js(messages),
                heard=js(messages),
                reply=js(answer),
            )
        )
        self.served[session] += 1
        calls = [{"id": call.id, "name": call.tool, "arguments": call.argument_text()} for call in step.call]
        runs = bool(calls) and not step.refused
        if runs:
            self.acquire(session)
        said = {"role": "assistant", "promptId": prompt, "text": step.text or "", "calls": calls}
        self.append(session, "message.committed", said)
        messages.append({"role": "assistant", "text": step.text or "", "calls": calls, "call": ""})
        ids = [self.run(session, call) if runs else "" for call in step.call]
        if calls:
            results = [self.result(call) for call in step.call]
            self.append(session, "message.committed", {"role": "tool_result", "promptId": prompt, "results": results})
            messages += [{"role": "result", "text": r["content"], "calls": [], "call": r["id"]} for r in results]
        for identity in filter(None, ids):
            self.append(session, "tool.receipt", {"executionCallId": identity})
            self.broker("acknowledge", session, f"/executions/{identity}:acknowledge", {}, {"acknowledged": True})
        return runs

    def result(self, call: Call) -> dict[str, Any]:
        """What the model is told about one call."""
        told = {
            "executed": f"exit 0\n{call.output or ''}",
            "refused": f"Error: argument {call.names} is not well-formed text",
            "sibling": "Error: not executed, because another call of the batch was refused",
        }[call.expect]
        return {"id": call.id, "name": call.tool, "content": told, "isError": call.expect != "executed"}

    def acquire(self, session: str) -> None:
        """Take the workspace and register the publisher."""
        self.broker("warm", session, "/runtimes:warm", {}, {"warm": True})
        self.generation += 1
        self.broker("acquire", session, "/tool-sessions:acquire", {}, {"acquired": True, "generation": self.generation})
        asked = {"bindingGeneration": self.generation}
        self.broker("publisher", session, f"/tool-sessions/{self.wire(session)}-r:register-publisher", asked, {})
        owner: Values = {"harness_session_id": self.wire(session), "generation": self.generation}
        self.row("broker", "leases", owner | {"acquired_ms": 1, "released_ms": None})
        self.row("broker", "publishers", owner | {"registered_ms": 1})

    def row_released(self, session: str) -> None:
        """The lease rows as the release leaves them."""
        for place, row in enumerate(self.rows):
            if row.table == "leases" and row.values.get("harness_session_id") == self.wire(session):
                self.rows[place] = row.model_copy(update={"values": row.values | {"released_ms": 2}})

    def run(self, session: str, call: Call) -> str:
        """One admitted call, from its reservation to its captured output."""
        self.executions += 1
        identity = f"{self.execution}-{self.executions}"
        self.broker(
            "prepare",
            session,
            "/executions:prepare",
            {"toolCallId": call.id, "kind": "tool"},
            {"executionCallId": identity},
        )
        self.append(session, "tool.intent", {"callId": call.id, "executionCallId": identity})
        self.append(session, "checkpoint", {"callId": call.id})
        arguments = decoded(call.argument_text())
        payload = json.dumps({"tool": call.tool, "input": arguments})
        self.broker("start", session, f"/executions/{identity}:start", {"payloadJson": payload}, {"executionCallId": identity})
        asked = {
            "executionCallId": identity,
            "harnessSessionId": self.wire(session),
            "kind": "tool",
            "payloadJson": payload,
        }
        self.exchange(BROKER_WORKER, "execute", session, f"{WORKER}/executions", asked=asked, reply={"state": "executing"})
        if command := input_command(arguments):
            digest = sha256(command)
            self.events.append(Command(order=self.tick(), digest=digest, length=len(command), prefix=command, directory=self.nonce))
        self.files |= {path: text.encode() for path, text in call.writes.items()}
        self.broker("status", session, f"/executions/{identity}", {}, {"state": "settled"})
        capture = sha256(identity.encode())
        path = f"{STORE}/{self.wire(session)}/resources/{capture}"
        self.exchange(HOST_STORE, "resource", session, path, asked={}, reply={"digest": capture, "created": True}, method="PUT")
        self.row("store", "resources", {"session_id": self.wire(session), "digest": capture}, {"content": identity.encode()})
        owner: Values = {
            "execution_call_id": identity,
            "harness_session_id": self.wire(session),
            "tool_call_id": call.id,
        }
        ends: Values = {"kind": "tool", "state": "settled", "result": "success", "started_ms": 1, "acknowledged_ms": 2}
        self.row("broker", "executions", owner | ends)
        return identity

    def load(self, session: str) -> None:
        """Bring the session back."""
        self.exchange(DRIVER_HOST, "load", session, f"/session/{self.wire(session)}/load", asked={}, reply={})
        texts = enumerate(self.records[session], start=1)
        found = [{"sequence": place, "kind": "", "text": text} for place, text in texts]
        path = f"{STORE}/{self.wire(session)}/records?from=1"
        self.exchange(HOST_STORE, "read", session, path, asked=None, reply={"records": found}, method="GET")
        self.driver("loaded", session, body=True)

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
        return Ledger(meta=meta, events=(trees[0], *self.events, trees[1], *self.rows))
