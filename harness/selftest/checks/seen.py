"""What the witnesses put down, one method per kind of event: the low half of `perfect`, without any behaviour of its own."""

from __future__ import annotations

import json
from typing import Any

from harness.ledger.event import Driven, DriverAct, Event, Exchange, Row
from harness.ledger.facts import HOST_BROKER

Values = dict[str, int | str | None]
BROKER, STORE, WORKER, PUBLICATION = (
    "/internal/runtime-broker/v1",
    "/internal/managed-session-store/v1/sessions",
    "/internal/worker/v1",
    "/internal/managed-tool-publications/v1/sessions",
)


def js(value: Any) -> bytes:
    """ASCII JSON."""
    return json.dumps(value).encode("ascii")


class Seen:
    """Everything that was seen so far, in the logical order of one case."""

    def __init__(self, nonce: str, first_order: int) -> None:
        self.nonce, self.order = nonce, first_order
        self.events: list[Event] = []
        self.rows: list[Row] = []

    def wire(self, session: str) -> str:
        """The session's id on the wire."""
        return f"{self.nonce}-s-{session}"

    def tick(self) -> int:
        """The next place in the logical order."""
        self.order += 1
        return self.order

    def driver(self, act: DriverAct, session: str, detail: str = "", *, body: Any = None) -> None:
        """What the driver does or sees."""
        raw = b"" if body is None else js(body)
        self.events.append(Driven(order=self.tick(), act=act, session=session, detail=detail, body=raw))

    def exchange(
        self,
        edge: str,
        operation: str,
        session: str,
        target: str,
        *,
        asked: Any,
        reply: Any,
        method: str = "POST",
        status: int | None = 200,
        fault: str | None = None,
    ) -> None:
        """One exchange through a relay."""
        self.events.append(
            Exchange(
                order=self.tick(),
                finished=self.tick(),
                edge=edge,
                session=session,
                operation=operation,
                method=method,
                target=target,
                request=js(asked) if asked is not None else b"",
                status=status,
                reply=js(reply) if status is not None else b"",
                fault=fault,
            )
        )

    def broker(self, operation: str, session: str, path: str, asked: Any, reply: Any, *, status: int = 200) -> None:
        """One call of the host to the broker."""
        common = {
            "protocolVersion": 1,
            "requestId": f"{self.nonce}-r{self.order}",
            "harnessSessionId": self.wire(session),
        }
        replied = common | reply
        self.exchange(HOST_BROKER, operation, session, f"{BROKER}{path}", asked=common | asked, reply=replied, status=status)

    def row(self, database: str, table: str, values: Values, blobs: dict[str, bytes] | None = None) -> None:
        """One row of the system's tables."""
        self.rows.append(Row(database=database, table=table, values=values, blobs=blobs or {}))
