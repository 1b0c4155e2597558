"""The model routes: answers each request from the case's script and journals both sides as bytes."""

from __future__ import annotations

import json
from collections.abc import Callable

from aiohttp import web

from harness.ledger.event import ModelExchange
from harness.limits import MODEL_REQUESTS
from harness.model.script import Taken
from harness.model.transcript import Transcript
from harness.model.wires import chat
from harness.observer.cases import Cases, OpenCase


class Answers:
    """The handler of `/r/<case token>/model/<session label>/…`."""

    def __init__(self, cases: Cases, catch_up: Callable[[], None]) -> None:
        self.cases, self.catch_up = cases, catch_up

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Match, hold if the step says so, render, journal."""
        body = await request.read()
        self.catch_up()
        case, label = self.cases.by_token.get(request.match_info["token"]), request.match_info["session"]
        if case is None or case.sealed or label not in case.players:
            self.cases.late(case, "a model request belongs to no open case")
            return await _write(request, chat.refusal("no open case"))
        case.inflight += 1
        try:
            return await self._answer(request, case, label, body)
        finally:
            case.inflight -= 1

    async def _answer(self, request: web.Request, case: OpenCase, label: str, body: bytes) -> web.StreamResponse:
        order = case.tick()
        transcript, taken = self._take(request.match_info["rest"], case, label, body)
        if taken.step is not None and taken.step.hold is not None:
            await case.gates[taken.step.hold].wait()
        rendered = _rendered(label, taken, stream=transcript.stream)
        exchange = ModelExchange(
            order=order,
            finished=case.tick(),
            session=label,
            step=taken.index,
            repeated=taken.repeated,
            request=body,
            heard=transcript.as_json(),
            reply=b"".join(rendered.pieces),
            problems=tuple(json.dumps(problem)[1:-1] for problem in taken.problems),
        )
        if case.sealed:
            self.cases.late(case, "a model request was answered after its case was sealed")
        else:
            case.journal.append(exchange)
        return await _write(request, rendered)

    def _take(self, path: str, case: OpenCase, label: str, body: bytes) -> tuple[Transcript, Taken]:
        player = case.players[label]
        if path not in chat.PATHS:
            return Transcript(()), Taken(None, None, (f"no route of this wire: {path[:80]!r}",))
        if sum(isinstance(event, ModelExchange) and event.session == label for event in case.journal) >= MODEL_REQUESTS:
            return Transcript(()), Taken(None, None, (f"more than {MODEL_REQUESTS} requests: the host loops",))
        try:
            transcript = chat.parse(body)
        except chat.NotThisWire as error:
            return Transcript(()), Taken(None, None, (str(error),))
        return transcript, player.take(body, transcript)


def _rendered(label: str, taken: Taken, *, stream: bool) -> chat.Rendered:
    if taken.step is None or taken.index is None:
        return chat.refusal("; ".join(taken.problems))
    return chat.render(taken.step, identity=f"chatcmpl-{label}-{taken.index}", stream=stream)


async def _write(request: web.Request, rendered: chat.Rendered) -> web.StreamResponse:
    response = web.StreamResponse(status=rendered.status, headers={"content-type": rendered.content_type})
    try:
        await response.prepare(request)
        for piece in rendered.pieces:
            await response.write(piece)
        await response.write_eof()
    except ConnectionResetError:
        pass  # The client went away; what it was given is in the journal.
    return response
