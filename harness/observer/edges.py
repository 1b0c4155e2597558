"""The relay routes: every exchange between two services, recorded as bytes in the case's logical order."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import aiohttp
from aiohttp import web

from harness.ledger.event import Exchange
from harness.observer.cases import Cases, OpenCase
from harness.relay.operations import BROKER_WORKER, DIRECT, DRIVER_HOST, HOST_BROKER, HOST_STORE, OBJECTS, WORKER_STORE, classify
from harness.relay.planned import tap_for
from harness.relay.table import NOTHING
from harness.relay.tap import Reply, Sent
from harness.relay.upstream import forward, kept, signed

EDGE_OF = {
    "broker": HOST_BROKER,
    "store": HOST_STORE,
    "worker": BROKER_WORKER,
    "publications": WORKER_STORE,
    "host": DRIVER_HOST,
    **{edge: edge for edge in DIRECT.values()},
}
"""Name in a relay's URL → edge."""
UNATTRIBUTED = "-"
ORDER_HEADER = "x-loudgate-order"
_SESSION_IN_PATH = re.compile(r"/sessions?/([A-Za-z0-9._:-]{1,128}?)(?:/|$)")


_GRANT_TOKEN = re.compile(rb"lgt_[A-Za-z0-9_-]{16,}")


def masked(body: bytes) -> bytes:
    """A body as it may be kept: a grant's token is a secret that nobody but its two services has to know."""
    return _GRANT_TOKEN.sub(b"[secret]", body)


def session_of(path: str, query: str | None, body: bytes) -> str:
    """The session id that a request names in its path, its query or its body; empty if it names none."""
    if hit := _SESSION_IN_PATH.search(path):
        return hit[1]
    if query:
        return query
    try:
        document = json.loads(body or b"{}")
        return str(document.get("harnessSessionId") or document.get("sessionId") or "")
    except (ValueError, AttributeError):
        return ""


def told_busy(edge: str, operation: str, reply: Reply) -> bool:
    """Whether this reply tells a session that its workspace is taken."""
    return edge == HOST_BROKER and operation == "acquire" and reply.status == 409 and b"workspace_busy" in reply.body


class Relays:
    """The handler of `/r/<case token>/<edge>/…`; the token `-` leaves the attribution to the session id."""

    def __init__(self, cases: Cases, client: aiohttp.ClientSession, catch_up: Callable[[], None]) -> None:
        self.cases, self.client, self.catch_up = cases, client, catch_up

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Record, forward, record, answer."""
        body = await request.read()
        self.catch_up()
        path = "/" + request.match_info["rest"]
        named = session_of(path, request.query.get("harnessSessionId"), body)
        token, edge = request.match_info["token"], EDGE_OF[request.match_info["edge"]]
        case = self.cases.of_session(named) if token == UNATTRIBUTED else self.cases.by_token.get(token)
        operation = classify(edge, request.method, path)
        if case is None or case.sealed:
            self.cases.late(case, f"{operation} on {edge} belongs to no open case")
            return web.json_response({"error": {"code": "no_open_case", "message": "no open case", "effect": "none"}}, status=410)
        sent = Sent(
            edge,
            operation,
            request.method,
            request.raw_path.split(f"/{request.match_info['edge']}", 1)[1],
            body,
            kept(request.headers),
        )
        response = self._answer(request, await self._pass_on(case, named, sent))
        if edge == DRIVER_HOST or edge in DIRECT.values():
            # The driver puts down what it saw at this place in the order, without asking for one.
            response.headers[ORDER_HEADER] = str(case.tick())
        return response

    async def objects(self, request: web.Request) -> web.StreamResponse:
        """The S3 API, at the root of the observer's address because its signatures cover the path.

        A key begins with tenant and session, which is whose case it is.
        """
        body, path = await request.read(), request.path
        named = path.split("/")[3] if path.count("/") > 3 else ""
        case = self.cases.of_session(named)
        operation = classify(OBJECTS, request.method, path)
        if case is None or case.sealed:
            self.cases.late(case, f"{operation} on {OBJECTS} belongs to no open case")
            return web.Response(status=410)
        sent = Sent(OBJECTS, operation, request.method, request.raw_path, body, signed(request.headers))
        return self._answer(request, await self._pass_on(case, named, sent))

    async def _pass_on(self, case: OpenCase, named: str, sent: Sent) -> Reply:
        order, base = case.tick(), case.registration.upstreams[sent.edge]
        label = case.names.label(named)
        tap = tap_for(case.faults, sent, label)
        case.inflight += 1
        try:
            reply = await tap.act(sent, lambda one: forward(self.client, base, one))
        finally:
            case.inflight -= 1
        self.catch_up()
        if told_busy(sent.edge, sent.operation, reply):
            case.busy[label] += 1
        self._record(case, order, label, sent, reply, fault=None if tap is NOTHING else tap.id)
        return reply

    def _record(self, case: OpenCase, order: int, label: str, sent: Sent, reply: Reply, *, fault: str | None) -> None:
        if case.sealed:
            self.cases.late(case, f"the reply to {sent.operation} on {sent.edge} came after its case was sealed")
            return
        case.journal.append(
            Exchange(
                order=order,
                finished=case.tick(),
                edge=sent.edge,
                session=label,
                operation=sent.operation,
                method=sent.method,
                target=sent.target,
                request=masked(sent.body),
                status=reply.status,
                reply=masked(reply.body),
                fault=fault,
            )
        )

    @staticmethod
    def _answer(request: web.Request, reply: Reply) -> web.StreamResponse:
        if reply.status is None:
            # No reply was had, so none is given: the caller sees what it would have seen without a relay.
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=502)
        return web.Response(status=reply.status, body=reply.body, headers={"content-type": reply.content_type})
