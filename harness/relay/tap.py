"""What a tap is: something on one edge that sees a request before its service does and the reply before its caller does.

One file per fault in `taps/`, one row per tap in `TAPS`. The do-nothing member is the tutorial, the identity and the control.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class Sent:
    """A request as its caller sent it; `headers` are masked in the repr, since one of them is a token."""

    edge: str
    operation: str
    method: str
    target: str
    body: bytes
    headers: Mapping[str, str] = field(repr=False, default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """A reply; `status` None means that the caller's connection ends without one."""

    status: int | None
    body: bytes = b""
    content_type: str = "application/json"


def s3_error(status: int, code: str, message: str) -> Reply:
    """An error as the S3 API gives it: XML with a code and a message for people."""
    said = f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return Reply(status, said.encode("ascii"), "application/xml")


Forward = Callable[[Sent], Awaitable[Reply]]


class Tap(Protocol):
    """A fault or a recorder on one edge."""

    id: str

    async def act(self, sent: Sent, forward: Forward) -> Reply:
        """Answer the request; `forward` hands it to the service, any number of times."""
        ...
