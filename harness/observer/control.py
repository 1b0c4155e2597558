"""The control API of the observer: register a case, open a gate, look, seal. For the test process only, behind a token."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from pydantic import ValidationError

from harness.errors import Refused
from harness.ledger.event import Command, Exchange, Fired
from harness.observer.cases import Cases, OpenCase, Registration
from harness.observer.edges import told_busy
from harness.relay.operations import POLLS
from harness.relay.tap import Reply
from harness.witness.workspace import snapshot

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def _error(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"error": {"code": code, "message": message, "effect": "none"}}, status=status)


def guarded(token: str) -> Any:
    """Middleware that asks for the bearer token on `/control/…`."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("authorization", "")
        if request.path.startswith("/control/") and not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            return _error(401, "unauthorized", "a bearer token is required")
        try:
            return await handler(request)
        except Refused as refusal:
            return _error(refusal.status, refusal.code, str(refusal))

    return check


def is_poll(event: object) -> bool:
    """Whether this is only a look at something: it says nothing about progress."""
    return isinstance(event, Exchange) and (
        event.operation in POLLS or told_busy(event.edge, event.operation, Reply(event.status, event.reply))
    )


class Control:
    """The handlers of `/control/cases/…`."""

    def __init__(self, cases: Cases, catch_up: Callable[[], None]) -> None:
        self.cases, self.catch_up = cases, catch_up

    def routes(self) -> list[web.RouteDef]:
        """All routes of the control API."""
        return [
            web.post("/control/cases", self.register),
            web.get("/control/cases/{token}", self.state),
            web.get("/control/cases/{token}/tree", self.tree),
            web.post("/control/cases/{token}/gates/{gate}", self.open_gate),
            web.post("/control/cases/{token}/seal", self.seal),
        ]

    def _case(self, request: web.Request) -> OpenCase:
        case = self.cases.by_token.get(request.match_info["token"])
        if case is None:
            raise Refused("no such case", status=404, code="no_such_case")
        return case

    async def register(self, request: web.Request) -> web.StreamResponse:
        """Open a case; answers its token."""
        try:
            registration = Registration.model_validate_json(await request.read())
        except ValidationError as error:
            return _error(422, "bad_registration", str(error).splitlines()[0])
        return web.json_response({"token": self.cases.register(registration).names.token}, status=201)

    async def state(self, request: web.Request) -> web.StreamResponse:
        """What is going on: traffic, who was told busy, where answers are held, what ran, how much moved, by which operations."""
        case = self._case(request)
        self.catch_up()
        return web.json_response(
            {
                "inflight": case.inflight,
                "busy": case.busy,
                "held": case.held,
                "commands": sum(isinstance(event, Command) for event in case.journal),
                "moves": sum(not is_poll(event) for event in case.journal),
                "seen": sorted({event.operation for event in case.journal if isinstance(event, Exchange)}),
            }
        )

    async def tree(self, request: web.Request) -> web.StreamResponse:
        """The workspace as it is now."""
        entries, truncated = snapshot(self.cases.workspace(self._case(request)))
        return web.json_response({"entries": [entry.model_dump(mode="json") for entry in entries], "truncated": truncated})

    async def open_gate(self, request: web.Request) -> web.StreamResponse:
        """Let go what is held there, or end the fault that holds it."""
        gate = self._case(request).gates.get(request.match_info["gate"])
        if gate is None:
            return _error(404, "no_such_gate", "nothing is held at this gate")
        gate.open()
        return web.json_response({})

    async def seal(self, request: web.Request) -> web.StreamResponse:
        """Close the case and hand out its journal; what arrives later counts against whoever is open then."""
        self.catch_up()
        case = self._case(request)
        if case.inflight:
            case.doubt(f"{case.inflight} requests were still in flight when the ledger was sealed")
        for planned in case.faults:
            one = planned.fault
            case.journal.append(Fired(edge=one.edge, operation=one.operation, tap=one.tap, seen=planned.seen, times=planned.fired))
        case.sealed = True
        events = [event.model_dump(mode="json") for event in case.journal]
        case.journal.clear()
        return web.json_response({"events": events})
