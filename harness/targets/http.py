"""The test process's HTTP: one door at which urllib3's errors become ours, with what they say about the effect."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as NoReplyInTime

from harness.errors import OutcomeUnknown, Refused, TimedOut
from harness.limits import CALL_S
from harness.observer.edges import ORDER_HEADER


@lru_cache(maxsize=1)
def _client() -> urllib3.PoolManager:
    """One for the process. It knows no proxy: a variable of the user's shell must not come between us and loopback."""
    return urllib3.PoolManager(timeout=urllib3.Timeout(CALL_S), retries=False)


class Http:
    """JSON calls to one base URL with one bearer token."""

    def __init__(self, base: str, token: str) -> None:
        self.order = 0
        """Place of the last reply in the case's logical order, where a relay has told it."""
        self._base, self._headers = base, {"authorization": f"Bearer {token}", "content-type": "application/json"}

    def call(
        self, method: str, path: str, body: Any = None, *, text: str | None = None, headers: dict[str, str] | None = None
    ) -> Any:
        """The reply's JSON (None if empty). `Refused` for 4xx, `TimedOut` and `OutcomeUnknown` for no usable reply.

        The body is JSON of `body`, or these very characters (`text`).
        """
        content = None if body is None else json.dumps(body).encode("ascii")
        content = content if text is None else text.encode("utf-8")
        try:
            response = _client().request(method, self._base + path, body=content, headers=self._headers | (headers or {}))
        except (NewConnectionError, ConnectTimeoutError) as error:
            raise Refused(f"{method} {path}: no connection") from error
        except NoReplyInTime as error:
            raise TimedOut(f"{method} {path}: no reply within {CALL_S:g} s") from error
        except HTTPError as error:
            raise OutcomeUnknown(f"{method} {path}: {type(error).__name__}") from error
        self.order = int(response.headers.get(ORDER_HEADER, self.order))
        return _read(f"{method} {path}", response)


def _read(what: str, response: urllib3.BaseHTTPResponse) -> Any:
    try:
        document = json.loads(response.data) if response.data else None
    except ValueError as error:
        raise OutcomeUnknown(f"{what}: the reply is not JSON (status {response.status})") from error
    if response.status < 400:
        return document
    said = document.get("error", {}) if isinstance(document, dict) else {}
    code = str(said.get("code", "")) if isinstance(said, dict) else ""
    if response.status < 500:
        raise Refused(f"{what}: {response.status} {code}", status=response.status, code=code)
    raise OutcomeUnknown(f"{what}: {response.status} {code}")
