"""The fake model alone: one script on one port, for a client that somebody runs by hand."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from harness.errors import UsageError
from harness.ledger.event import ModelExchange
from harness.limits import BODY_BYTES
from harness.observer.answers import Answers
from harness.observer.cases import Cases, OpenCase, Registration
from harness.scenario.spec import Case

Say = Callable[[str], None]


def _application(case: OpenCase, cases: Cases, label: str, say: Say) -> web.Application:
    answers = Answers(cases, lambda: None)

    async def handle(request: web.Request) -> web.StreamResponse:
        request.match_info.update(token=case.names.token, session=label)
        response = await answers.handle(request)
        for event in case.journal:
            if isinstance(event, ModelExchange):
                step = None if event.step is None else event.step + 1
                say(json.dumps({"step": step, "repeated": event.repeated, "problems": event.problems, "bytes": len(event.request)}))
        case.journal.clear()
        return response

    async def models(_request: web.Request) -> web.StreamResponse:
        return web.json_response(
            {"object": "list", "data": [{"id": "loudgate-fake", "object": "model", "created": 0, "owned_by": "loudgate"}]}
        )

    app = web.Application(client_max_size=BODY_BYTES)
    app.router.add_get("/v1/models", models)
    app.router.add_post("/{rest:.*}", handle)
    return app


async def serve(case: Case, label: str, *, seed: int, listen: str, port: int, say: Say) -> int:
    """Serve until SIGINT or SIGTERM; 1 if a step was never asked for. `UsageError` if the port is taken."""
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    cases = Cases(Path("/nonexistent"))
    opened = cases.register(Registration(case=case, seed=seed, nonce="alone", arm="none", upstreams={}))
    for gate in opened.gates.values():
        gate.open()
    runner = web.AppRunner(_application(opened, cases, label, say), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, listen, port, shutdown_timeout=1.0).start()
    except OSError as error:
        await runner.cleanup()
        raise UsageError(f"cannot listen on {listen}:{port}: {os.strerror(error.errno or 0)}") from error
    host, actual = runner.addresses[0][:2]
    player = opened.players[label]
    first = player.planned[0].prompt
    say(json.dumps({"base_url": f"http://{host}:{actual}/v1", "case": case.id, "steps": len(player.planned), "prompt": first}))
    await stop.wait()
    await runner.cleanup()
    unserved = len(player.planned) - player.position
    say(json.dumps({"served": player.position, "never_asked_for": unserved}))
    return 1 if unserved else 0
