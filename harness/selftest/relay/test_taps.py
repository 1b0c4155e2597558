"""Taps by example, and which exchanges a planned fault takes."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest

from harness.relay.operations import EDGES, OTHER, classify
from harness.relay.planned import PlannedFault, tap_for
from harness.relay.table import NOTHING, TAPS
from harness.relay.tap import Reply, Sent
from harness.relay.taps import slow, stalled
from harness.scenario.spec import Fault, TapName

SENT = Sent("host-store", "append", "POST", "/x", b'{"text": "assistant"}')
DONE = Reply(200, b"\xff done")


def play(tap: str) -> tuple[Reply, list[Sent]]:
    """The reply of a tap, and what reached the service."""
    arrived: list[Sent] = []

    async def forward(sent: Sent) -> Reply:
        arrived.append(sent)
        return DONE

    return asyncio.run(TAPS[tap].act(SENT, forward)), arrived


def test_scenarios_may_name_every_tap_that_does_something() -> None:
    assert set(get_args(TapName)) == set(TAPS) - {NOTHING.id}


EXAMPLES = {
    "nothing": (DONE, 1),
    "lose_reply": (Reply(None), 1),
    "lose_request": (Reply(None), 0),
    "hold_reply": (Reply(None), 1),
    "unavailable": (503, 0),
    "slow_down": (503, 0),
    "full": (507, 0),
    "slow": (DONE, 1),
    "stalled": (DONE, 1),
    "altered": (Reply(200, b"\xff dond"), 1),
}


@pytest.mark.parametrize("tap", sorted(TAPS))
def test_every_tap_has_its_example(tap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow, "SLOW_S", 0.0)
    monkeypatch.setattr(stalled, "STALLED_S", 0.0)
    expected, arrivals = EXAMPLES[tap]
    reply, arrived = play(tap)
    assert expected in (reply, reply.status)
    assert arrived == [SENT] * arrivals


def test_a_fault_takes_what_it_names_and_no_more() -> None:
    planned = [PlannedFault(Fault(edge="host-store", operation="append", tap="lose_reply", contains="assistant", skip=1, times=1))]
    taps = [tap_for(planned, SENT, "main") for _ in range(3)]
    assert [tap.id for tap in taps] == ["nothing", "lose_reply", "nothing"]
    assert planned[0].fired == 1


@pytest.mark.parametrize("fault", [{"operation": "read"}, {"session": "second"}, {"contains": "tool_result"}])
def test_a_fault_leaves_other_exchanges_alone(fault: dict[str, str]) -> None:
    one = Fault.model_validate({"edge": "host-store", "operation": "append", "tap": "lose_reply", **fault})
    assert tap_for([PlannedFault(one)], SENT, "main") is NOTHING


@pytest.mark.parametrize(
    ("edge", "method", "path", "operation"),
    [
        ("host-broker", "POST", "/internal/runtime-broker/v1/tool-sessions:acquire", "acquire"),
        ("host-broker", "POST", "/internal/runtime-broker/v1/executions/e1:start", "start"),
        ("host-broker", "GET", "/internal/runtime-broker/v1/executions/e1", "status"),
        ("host-broker", "POST", "/internal/runtime-broker/v1/tool-sessions/s:rt:release", "release"),
        ("host-store", "POST", "/internal/managed-session-store/v1/sessions/s/records", "append"),
        ("host-store", "POST", "/internal/managed-tool-publications/v1/sessions/s/grants", "publication"),
        ("broker-worker", "POST", "/internal/worker/v1/executions", "execute"),
        ("driver-host", "POST", "/session/s/prompt", "prompt"),
        ("objects", "PUT", "/captures/t/s/p/stdout", "put_object"),
        ("objects", "GET", "/captures/t/s/p/manifest.json", "get_object"),
        ("host-broker", "POST", "/anything/else", OTHER),
    ],
)
def test_operations_are_known_by_route(edge: str, method: str, path: str, operation: str) -> None:
    assert edge in EDGES
    assert classify(edge, method, path) == operation
