"""One case at the observer: register it, look at it, open its gates, seal it."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from harness.ledger.event import Event, Tree
from harness.observer.cases import Registration
from harness.scenario.names import Names, names_of
from harness.stack.service import Arm
from harness.targets.http import Http

_EVENTS: TypeAdapter[tuple[Event, ...]] = TypeAdapter(tuple[Event, ...])


class Observation:
    """The observer's view of one case."""

    def __init__(self, arm: Arm, registration: Registration) -> None:
        self._http = Http(arm.observer, arm.control_token)
        self.names: Names = names_of(registration.case, seed=registration.seed, nonce=registration.nonce)
        self._at = f"/control/cases/{self.names.token}"
        self._http.call("POST", "/control/cases", registration.model_dump(mode="json"))

    def state(self) -> dict[str, Any]:
        """Requests `inflight`, `busy` replies by label, gates `held`, `commands` spawned, `moves` so far, operations `seen`."""
        return dict(self._http.call("GET", self._at))

    def tree(self, moment: str) -> Tree:
        """The workspace as it is now."""
        return Tree.model_validate({"moment": moment, **self._http.call("GET", f"{self._at}/tree")})

    def open_gate(self, gate: str) -> None:
        """Let a held answer go."""
        self._http.call("POST", f"{self._at}/gates/{gate}")

    def seal(self) -> tuple[Event, ...]:
        """The journal; nothing is recorded for the case afterwards."""
        return _EVENTS.validate_python(self._http.call("POST", f"{self._at}/seal")["events"])
