"""The observer over HTTP: attribution, seals, strays, tokens, and secrets that are never kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer

from harness.observer.__main__ import application
from harness.observer.cases import Cases, Registration
from harness.observer.edges import masked, session_of
from harness.scenario.names import names_of
from harness.scenario.spec import Act, Case, Step

CASE = Case(id="x", area="x", title="x", profile="p", acts=(Act(prompt="main", text="hi", step=(Step(text="done", hold="gate"),)),))
OTHER = CASE.model_copy(update={"id": "y"})
TOKEN = {"authorization": "Bearer t"}
Client = TestClient[Any, Any]
ASKED = {"messages": [{"role": "user", "content": "hi"}]}


def registration(case: Case, upstream: str = "http://127.0.0.1:1") -> Registration:
    edges = ("host-broker", "host-store", "broker-worker", "worker-store", "driver-host")
    return Registration(case=case, seed=1, nonce="n", arm="shared", upstreams=dict.fromkeys(edges, upstream))


def observe(tmp_path: Path, story: Callable[[Client], Awaitable[None]]) -> None:
    """Run a story against an observer on a port of its own."""

    async def run() -> None:
        async with aiohttp.ClientSession() as upstream:
            app = application(Cases(tmp_path), upstream, None, "t")
            async with TestClient(TestServer(app)) as client:
                await story(client)

    asyncio.run(run())


async def register(client: Client, case: Case) -> str:
    reply = await client.post("/control/cases", json=registration(case).model_dump(mode="json"), headers=TOKEN)
    return str((await reply.json())["token"])


async def seal(client: Client, token: str) -> list[dict[str, Any]]:
    reply = await client.post(f"/control/cases/{token}/seal", headers=TOKEN)
    return list((await reply.json())["events"])


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}])
def test_the_control_api_asks_for_its_token(tmp_path: Path, headers: dict[str, str]) -> None:
    async def story(client: Client) -> None:
        assert (await client.post("/control/cases", json={}, headers=headers)).status == 401

    observe(tmp_path, story)


def test_a_held_answer_waits_for_its_gate(tmp_path: Path) -> None:
    async def story(client: Client) -> None:
        token = await register(client, CASE)
        asked = asyncio.ensure_future(client.post(f"/r/{token}/model/main/v1/chat/completions", json=ASKED))
        while "gate" not in (await (await client.get(f"/control/cases/{token}", headers=TOKEN)).json())["held"]:
            assert not asked.done()
        await client.post(f"/control/cases/{token}/gates/gate", headers=TOKEN)
        assert (await (await asked).json())["choices"][0]["message"]["content"] == "done"

    observe(tmp_path, story)


def test_strays_make_open_cases_doubtful_and_sealed_ones_not(tmp_path: Path) -> None:
    async def story(client: Client) -> None:
        sealed, opened = await register(client, CASE), await register(client, OTHER)
        before = await seal(client, sealed)
        assert (await client.post(f"/r/{sealed}/broker/internal/runtime-broker/v1/runtimes:warm", json={})).status == 410
        assert (await client.post("/r/-/worker/internal/worker/v1/executions", json={"harnessSessionId": "nobody"})).status == 410
        doubts = [event["reason"] for event in await seal(client, opened) if event["kind"] == "doubt"]
        assert before == []
        assert doubts == ["warm on host-broker belongs to no open case", "execute on broker-worker belongs to no open case"]

    observe(tmp_path, story)


def test_a_service_that_is_not_there_is_no_reply(tmp_path: Path) -> None:
    async def story(client: Client) -> None:
        token = await register(client, CASE)
        session = names_of(CASE, seed=1, nonce="n").sessions["main"]
        body = json.dumps({"harnessSessionId": session, "grantToken": "lgt_" + "x" * 40})
        with pytest.raises(aiohttp.ClientError):
            await client.post(f"/r/{token}/broker/internal/runtime-broker/v1/tool-sessions:acquire", data=body)
        (event,) = await seal(client, token)
        assert (event["operation"], event["session"], event["status"]) == ("acquire", "main", None)

    observe(tmp_path, story)


def test_grant_tokens_are_not_kept() -> None:
    assert masked(b'{"grantToken":"lgt_' + b"Ab-_9" * 8 + b'"}') == b'{"grantToken":"[secret]"}'
    assert masked(b'{"text":"lgt_short"}') == b'{"text":"lgt_short"}'


@pytest.mark.parametrize(
    ("path", "query", "body", "session"),
    [
        ("/session/s1/prompt", None, b"", "s1"),
        ("/internal/managed-session-store/v1/sessions/s1/records", None, b"", "s1"),
        ("/internal/worker/v1/executions/e1", "s1", b"", "s1"),
        ("/session", None, b'{"sessionId": "s1"}', "s1"),
        ("/internal/runtime-broker/v1/executions:prepare", None, b'{"harnessSessionId": "s1"}', "s1"),
        ("/internal/runtime-broker/v1/tool-sessions/s1:rt:release", None, b"\xff", ""),
    ],
)
def test_an_exchange_names_its_session(path: str, query: str | None, body: bytes, session: str) -> None:
    assert session_of(path, query, body) == session
