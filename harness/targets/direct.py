"""Requests of a scenario straight to one service, through the observer's relay: what stands deeper than the host's own checks is
reached by nobody else. Judges nothing.
"""

from __future__ import annotations

import re
from typing import Any

from harness.errors import LoudgateError, OutcomeUnknown, Refused
from harness.scenario.names import Names
from harness.scenario.spec import Send
from harness.stack.service import Arm
from harness.targets.http import Http

_VARIABLE = re.compile(r"\$\{([^}]{1,200})\}")


class DirectRequests:
    """The direct requests of one case, with the replies that later ones may quote."""

    def __init__(self, arm: Arm, names: Names) -> None:
        self._arm, self._names = arm, names
        self._replies: dict[str, Any] = {}
        self.order = 0
        """Place of the last reply in the case's logical order."""

    def send(self, service: str, send: Send) -> str:
        """Send it, keep the reply under its label; says what came: a status, and the code of an error."""
        token = self._arm.tokens[service] if send.token is None else self._filled(send.token)
        http = Http(f"{self._arm.observer}/r/{self._names.token}/direct-{service}", token)
        body = None if send.body is None else self._filled(send.body.replace("@fill@", "x" * send.fill))
        try:
            self._replies[send.label] = http.call(send.method, self._filled(send.path), text=body)
            said = "answered"
        except Refused as refusal:
            said = f"{refusal.status} {refusal.code}"
        except OutcomeUnknown:
            said = "no usable answer"
        finally:
            self.order = http.order or self.order
        return f"{send.label}: {said}"

    def _filled(self, text: str) -> str:
        return _VARIABLE.sub(lambda hit: self._value(hit[1]), text)

    def _value(self, name: str) -> str:
        if name in ("tenant", "workspace"):
            return str(getattr(self._names, name))
        if name.startswith("session:"):
            return self._names.sessions[name.partition(":")[2]]
        value: Any = self._replies
        for key in name.split("."):
            try:
                value = value[key]
            except (KeyError, TypeError):
                raise LoudgateError(f"${{{name}}}: no earlier reply says that") from None
        return str(value)
