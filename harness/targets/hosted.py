"""The hosted target: sessions of a host, driven over its session API, through the observer's relay."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from harness.scenario.names import Names
from harness.scenario.spec import Case
from harness.stack.service import Arm
from harness.targets.http import Http

WRITER_LEASE_MS = 60_000
CLIENT_HEADER = "x-qwen-client-id"
CAPTURE_BYTES = 256 * 1024
"""Bound of each stream's capture on the o2 path; its presence is what chooses that path."""

PAGE = 200
"""Transcript events per page."""


def _approval(case: Case) -> dict[str, Any]:
    asks = case.approval
    return {} if asks is None else {"approval": {"mode": asks.mode, "timeoutMs": asks.timeout_ms}}


def _tools(case: Case) -> dict[str, Any]:
    if case.tools is None:
        return {}
    allow = {} if case.tools.allow is None else {"allow": list(case.tools.allow)}
    return {"tools": {**allow, "modes": case.tools.modes, "paths": case.tools.paths, "readOnly": case.tools.read_only}}


def _hooks(case: Case) -> dict[str, Any]:
    if not case.hooks:
        return {}
    hooks = [
        {"id": one.id, "event": one.event, "command": one.command, "matcher": one.matcher, "timeoutMs": one.timeout_ms}
        for one in case.hooks
    ]
    return {"hooks": hooks, "hookPlans": case.hook_plans.model_dump()}


class HostedSessions:
    """All sessions of one case. Labels are the scenario's; ids are the wire's."""

    def __init__(self, case: Case, arm: Arm, names: Names) -> None:
        self._case, self._names, self._relay = case, names, f"{arm.relays}/r/{names.token}"
        self._http = Http(f"{arm.observer}/r/{names.token}/host", arm.tokens["host"])
        self._clients: dict[str, str] = {}

    def _description(self, label: str) -> dict[str, Any]:
        session_id = self._names.sessions[label]
        return {
            "sessionId": session_id,
            "sessionScope": "thread",
            "managedSessionStore": {
                "baseUrl": f"{self._relay}/store",
                "tenantId": self._names.tenant,
                "workspaceId": self._names.workspace,
                "writerId": f"{session_id}-writer",
                "leaseDurationMs": WRITER_LEASE_MS,
            },
            "toolProfile": self._case.profile,
            "model": {"baseUrl": f"{self._relay}/model/{label}", "stream": self._case.stream},
            "broker": {"baseUrl": f"{self._relay}/broker"},
            **_approval(self._case),
            **_hooks(self._case),
            **_tools(self._case),
            **({"captureBytes": CAPTURE_BYTES} if self._case.path == "o2" else {}),
        }

    def _call(self, method: str, label: str, verb: str, body: Any = None) -> Any:
        headers = {CLIENT_HEADER: self._clients[label]}
        return self._http.call(method, f"/session/{self._names.sessions[label]}/{verb}", body, headers=headers)

    def create(self, label: str) -> None:
        """Open the session."""
        self._clients[label] = self._http.call("POST", "/session", self._description(label))["clientId"]

    def prompt(self, label: str, prompt_id: str, text: str) -> None:
        """Send a prompt; its turn goes on by itself."""
        prompt = [{"type": "text", "text": text}]
        canonical = json.dumps(prompt, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
        digest = f"sha256:{hashlib.sha256(canonical).hexdigest()}"
        self._call("POST", label, "prompt", {"promptId": prompt_id, "prompt": prompt, "payloadDigest": digest})

    def status(self, label: str, *, wait_ms: int = 0) -> dict[str, Any]:
        """What the session says of itself; `wait_ms` lets the host keep the reply back while a turn goes on."""
        return dict(self._call("GET", label, f"status?waitMs={wait_ms}"))

    def active(self, label: str, *, wait_ms: int = 0) -> bool:
        """Whether a turn is going on."""
        return bool(self.status(label, wait_ms=wait_ms)["hasActivePrompt"])

    def answer(self, label: str, approval_id: str, decision: str, input_digest: str) -> None:
        """Answer a request for an approval."""
        self._call("POST", label, f"approvals/{approval_id}", {"decision": decision, "inputDigest": input_digest})

    def transcript(self, label: str) -> list[dict[str, Any]]:
        """Every event of the session's transcript."""
        events: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = self._call("GET", label, f"transcript?limit={PAGE}{cursor}")
            events.extend(page["events"])
            if not page["hasMore"]:
                return events
            cursor = f"&cursor={page['nextCursor']}"

    def cancel(self, label: str) -> None:
        """End the active turn."""
        self._call("POST", label, "cancel")

    def detach(self, label: str) -> None:
        """Leave the session; the host forgets it."""
        self._call("POST", label, "detach")
        del self._clients[label]

    def load(self, label: str) -> None:
        """Bring a detached session back from its records."""
        description = self._description(label)
        reply = self._http.call("POST", f"/session/{description['sessionId']}/load", description)
        self._clients[label] = reply["clientId"]

    def forget(self) -> None:
        """The host that these sessions were attached to is gone. Asking the next one gives the kill its place in the order."""
        self._clients.clear()
        self._http.call("GET", "/healthz")

    @property
    def order(self) -> int:
        """Place of the last reply in the case's logical order."""
        return self._http.order

    def attached(self) -> tuple[str, ...]:
        """Labels of the sessions that are open now."""
        return tuple(self._clients)
