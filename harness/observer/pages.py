"""The web as the web tools of a stack see it: a few fixed pages, a search, and a list of webhooks. The same for every case."""

from __future__ import annotations

from aiohttp import web

LONG_BYTES = 200_000
"""Length of the long pages: more than any tool keeps."""
RESULTS = 100
"""Things that a search finds when it may."""

_PLAIN = "<html><head><title>Plain</title></head><body><h1>A heading</h1><p>One <b>bold</b> word &amp; more.</p></body></html>"
_WEBHOOKS = (("deploys", True), ("issues", False), ("releases", True))


async def _plain(_request: web.Request) -> web.StreamResponse:
    return web.Response(text=_PLAIN, content_type="text/html")


async def _long(_request: web.Request) -> web.StreamResponse:
    return web.Response(text="x" * LONG_BYTES)


async def _unsized(request: web.Request) -> web.StreamResponse:
    """Without a length: nobody knows how much more there would be."""
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    await response.write(b"y" * LONG_BYTES)
    return response


async def _search(request: web.Request) -> web.StreamResponse:
    wanted = request.query.get("n", "10")
    count = min(int(wanted), RESULTS) if wanted.isascii() and wanted.isdigit() else 0
    found = [{"title": f"Result {number}", "url": f"http://fixture.test/pages/{number}"} for number in range(1, count + 1)]
    return web.json_response({"results": found})


async def _webhooks(_request: web.Request) -> web.StreamResponse:
    return web.json_response({"webhooks": [{"name": name, "enabled": enabled} for name, enabled in _WEBHOOKS]})


def routes() -> list[web.RouteDef]:
    """Below `/web`, which the workers take for the site."""
    return [
        web.get("/web/pages/plain", _plain),
        web.get("/web/pages/long", _long),
        web.get("/web/pages/unsized", _unsized),
        web.get("/web/search", _search),
        web.get("/web/webhooks", _webhooks),
    ]
