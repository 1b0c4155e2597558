"""`python -m harness.observer`: the fake model, the relays and the journals in one process.

Prints one JSON line when it listens, ends on SIGTERM. The control token comes from the environment, as flags are visible in `ps`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import aiohttp
import uvloop
from aiohttp import web

from harness.limits import BODY_BYTES
from harness.observer import pages
from harness.observer.answers import Answers
from harness.observer.cases import Cases
from harness.observer.control import Control, guarded
from harness.observer.edges import EDGE_OF, Relays
from harness.witness.processes import RecordReader

TOKEN_VARIABLE = "LOUDGATE_CONTROL_TOKEN"  # noqa: S105 -- the variable's name, not its value


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m harness.observer", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--listen", default="127.0.0.1", help="address to bind (default: loopback)")
    parser.add_argument("--port", type=int, default=0, help="0 lets the system choose (default)")
    parser.add_argument("--workspaces", type=Path, required=True, help="folder that holds <arm>/<tenant>/<workspace>")
    parser.add_argument("--processes", type=Path, help="FIFO to which the shell shim reports")
    return parser.parse_args()


async def _health(_request: web.Request) -> web.StreamResponse:
    return web.json_response({"ok": True, "service": "observer"})


def application(cases: Cases, client: aiohttp.ClientSession, reader: RecordReader | None, token: str) -> web.Application:
    """The observer's routes over one set of cases."""

    def catch_up() -> None:
        # Read before an order is given out: a command that was spawned earlier must come earlier in the order.
        for record in reader.drain() if reader else ():
            cases.command(record)

    app = web.Application(client_max_size=BODY_BYTES, middlewares=[guarded(token)])
    answers, relays = Answers(cases, catch_up), Relays(cases, client, catch_up)
    app.add_routes(Control(cases, catch_up).routes())
    app.router.add_get("/healthz", _health)
    app.add_routes(pages.routes())
    app.router.add_post("/r/{token}/model/{session}/{rest:.*}", answers.handle)
    app.router.add_route("*", f"/r/{{token}}/{{edge:{'|'.join(EDGE_OF)}}}/{{rest:.*}}", relays.handle)
    app.router.add_route("*", "/{bucket}/{key:.+}", relays.objects)
    if reader is not None:
        asyncio.get_running_loop().add_reader(reader.fileno(), catch_up)
    return app


async def _serve(options: argparse.Namespace, token: str) -> None:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    reader = RecordReader(options.processes) if options.processes else None
    # A container that is started again may have another address, and its old one may be another's by then: no name is remembered.
    connector = aiohttp.TCPConnector(limit=0, use_dns_cache=False)
    async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as client:
        runner = web.AppRunner(application(Cases(options.workspaces), client, reader, token), access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, options.listen, options.port, shutdown_timeout=1.0)
        await site.start()
        host, port = runner.addresses[0][:2]
        sys.stdout.write(json.dumps({"event": "listening", "service": "observer", "host": host, "port": port}) + "\n")
        sys.stdout.flush()
        await stop.wait()
        await runner.cleanup()


def main() -> int:
    """Run until SIGTERM; 2 for a missing token or an address that cannot be bound."""
    options, token = _options(), os.environ.pop(TOKEN_VARIABLE, "")
    if not token:
        sys.stderr.write(f"observer: {TOKEN_VARIABLE} is not set\n")
        return 2
    try:
        uvloop.run(_serve(options, token))
    except OSError as error:
        sys.stderr.write(f"observer: cannot listen on {options.listen}:{options.port}: {os.strerror(error.errno or 0)}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
