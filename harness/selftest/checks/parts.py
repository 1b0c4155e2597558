"""What only some cases have: publications of the o2 path, questions for an approval, a session that is blocked. The upper half of
what the witnesses see is in `perfect`.
"""

from __future__ import annotations

from typing import Any

from harness.ledger.event import Fired
from harness.ledger.facts import DRIVER_HOST, HOST_STORE, RECOVERY_REQUIRED, WORKER_STORE, decoded, input_digest, sha256
from harness.scenario.spec import Call, Case
from harness.selftest.checks.seen import PUBLICATION, STORE, Seen, Values

ATTEMPTS = 4
"""How often the host tries to append before it gives up."""
REFUSAL = {"error": {"code": RECOVERY_REQUIRED}}


class Parts(Seen):
    """Publications, questions, and blocks; `append` is given by whoever keeps the records."""

    case: Case

    def append(self, session: str, kind: str, body: dict[str, Any]) -> None:
        """A record."""
        raise NotImplementedError

    def publish(self, step: str, session: str, identity: str, publication: str) -> None:
        """One step of a publication, on the edge of whoever takes it, with the row that it leaves."""
        edge = WORKER_STORE if step == "finished" else HOST_STORE
        reserve = {"operation": "reserve", "publicationId": publication} if step == "reserve" else {}
        path = "grants" if step == "reserve" else f"publications/{publication}/{step}"
        state = {"reserve": "OPEN", "finished": "FINISHED", "admissions/prepare": "PREPARED", "receipts/commit": "COMMITTED"}[step]
        asked = {"executionCallId": identity} | reserve
        reply = {"publicationId": publication, "state": state}
        self.exchange(edge, "publication", session, f"{PUBLICATION}/{self.wire(session)}/{path}", asked=asked, reply=reply)
        table = {
            "reserve": "grants",
            "finished": "publications",
            "admissions/prepare": "admissions",
            "receipts/commit": "receipts",
        }[step]
        values: Values = {"session_id": self.wire(session), "publication_id": publication, "execution_call_id": identity}
        self.row("store", table, values | {"state": {"grants": "FINISHED", "admissions": "COMMITTED"}.get(table, state)})

    def question(self, session: str, prompt: str, call: Call, given: str) -> bool:
        """Ask about this input, answer as the case wants it, and settle; says whether the call may run."""
        again = ":2" if given != call.argument_text() else ""
        allowed, identity = call.expect != "denied", f"{self.wire(session)}:{prompt}:{call.id}:approval{again}"
        digest = input_digest(decoded(given))
        about = {"promptId": prompt, "approvalId": identity, "callId": call.id, "inputDigest": digest, "generation": 1}
        self.append(session, "approval", about | {"state": "requested"})
        self.driver("asked", session, call.id, body={"pending": 1})
        decision, state = ("allow", "allowed") if allowed else ("deny", "denied")
        self.answered(session, identity, digest, decision, state)
        self.append(session, "approval", about | {"state": state})
        self.driver("answered", session, "accepted", body={"callId": call.id, "decision": decision, "late": False})
        return allowed

    def answered(self, session: str, approval: str, digest: str, decision: str, state: str, *, status: int = 200) -> None:
        """An answer at the session API."""
        path = f"/session/{self.wire(session)}/approvals/{approval}"
        asked = {"decision": decision, "inputDigest": digest}
        reply = {"state": state} if status == 200 else {"error": {"code": state}}
        self.exchange(DRIVER_HOST, "answer", session, path, asked=asked, reply=reply, status=status)

    def late(self, session: str, call: Call, prompt: str) -> None:
        """An answer to a question that is settled."""
        identity = f"{self.wire(session)}:{prompt}:{call.id}:approval"
        self.answered(session, identity, input_digest(decoded(call.argument_text())), "allow", "approval_settled", status=409)
        self.driver("answered", session, "approval_settled", body={"callId": call.id, "decision": "allow", "late": True})

    def lose(self, session: str, sequence: int, text: str) -> None:
        """An append that never arrives, however often it is repeated."""
        asked = {
            "commandId": f"{self.wire(session)}-c{sequence}",
            "expectedSequence": sequence,
            "kind": "message.committed",
            "text": text,
        }
        path = f"{STORE}/{self.wire(session)}/records"
        for _ in range(ATTEMPTS):
            self.exchange(HOST_STORE, "append", session, path, asked=asked, reply=None, status=None, fault="lose_request")

    def looked(self, session: str) -> None:
        """A blocked session says so, and refuses a prompt."""
        path = f"/session/{self.wire(session)}/prompt"
        self.exchange(DRIVER_HOST, "prompt", session, path, asked={}, reply=REFUSAL, status=409)
        self.driver("blocked", session, RECOVERY_REQUIRED, body={"recoveryBlocked": True})

    def misconfigured(self, session: str) -> None:
        """Its creation is refused."""
        refusal = {"error": {"code": "bad_matcher"}}
        self.exchange(DRIVER_HOST, "create", session, "/session", asked={}, reply=refusal, status=400)
        self.driver("create_refused", session, "bad_matcher")

    def unloadable(self, session: str) -> None:
        """Its load is refused."""
        path = f"/session/{self.wire(session)}/load"
        self.exchange(DRIVER_HOST, "load", session, path, asked={}, reply=REFUSAL, status=409)
        self.driver("load_refused", session, RECOVERY_REQUIRED)

    def fired(self) -> list[Fired]:
        """Every planned fault has acted as often as it may."""
        return [Fired(edge=f.edge, operation=f.operation, tap=f.tap, seen=f.times, times=f.times) for f in self.case.faults]


def manifest_of(identity: str) -> str:
    """The digest of a capture's manifest."""
    return sha256(b"manifest of " + identity.encode())
