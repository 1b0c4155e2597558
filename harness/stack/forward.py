"""Passes one TCP port on to another host, byte for byte: `python -m harness.stack.forward PORT HOST PORT`.

Runs in a container that stands between two networks, where one port of a server may be reached and no other of its ports.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys

PIECE_BYTES = 64 * 1024
CONNECT_S = 5.0
"""The other side is on the same machine."""


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def _connect(near_reader: asyncio.StreamReader, near: asyncio.StreamWriter, host: str, port: int) -> None:
    """Both directions until both have ended; a side that cannot be reached closes the other."""
    with contextlib.closing(near), contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(CONNECT_S):
            far_reader, far = await asyncio.open_connection(host, port)
        with contextlib.closing(far):
            await asyncio.gather(_pass(near_reader, far), _pass(far_reader, near))


async def serve(listen: str, own_port: int, host: str, port: int) -> asyncio.Server:
    """Start to listen."""
    return await asyncio.start_server(lambda reader, writer: _connect(reader, writer, host, port), listen, own_port)


async def _run(own_port: int, host: str, port: int) -> None:
    listen = "0.0.0.0"  # noqa: S104 -- inside a container, on networks without a way out
    server = await serve(listen, own_port, host, port)
    sys.stdout.write(json.dumps({"event": "listening", "service": "forward", "host": listen, "port": own_port}) + "\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_run(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
