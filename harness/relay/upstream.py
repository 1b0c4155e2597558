"""Hands a request to the service behind a relay: the one door at which an HTTP client's errors become "no reply"."""

from __future__ import annotations

from collections.abc import Mapping

import aiohttp
from yarl import URL

from harness.limits import RELAY_UPSTREAM_S
from harness.relay.tap import Reply, Sent

DROPPED = ("connection", "content-length", "transfer-encoding", "expect", "keep-alive")
"""Headers of one connection, which the next one sets itself; a signed request needs all others as they were signed."""

PASSED_ON = ("authorization", "content-type", "x-qwen-client-id")
"""The only headers that the protocol uses; everything else is the transport's business."""


def kept(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that travel on."""
    return {name: value for name, value in headers.items() if name.lower() in PASSED_ON}


def signed(headers: Mapping[str, str]) -> dict[str, str]:
    """All headers of a request that is signed, `host` among them: the signature covers them."""
    return {name: value for name, value in headers.items() if name.lower() not in DROPPED}


async def forward(client: aiohttp.ClientSession, base: str, sent: Sent) -> Reply:
    """The service's reply; status None where there was none, or a cut one."""
    timeout = aiohttp.ClientTimeout(total=RELAY_UPSTREAM_S)
    url = URL(base.rstrip("/") + sent.target, encoded=True)
    try:
        async with client.request(sent.method, url, data=sent.body, headers=sent.headers, timeout=timeout) as response:
            return Reply(response.status, await response.read(), response.headers.get("content-type", ""))
    except (aiohttp.ClientError, TimeoutError, OSError):
        return Reply(None)
