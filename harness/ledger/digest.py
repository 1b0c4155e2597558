"""The digest of a case: what happened, without when and under which names.

Per session and edge, the decision events in causal order with their outcomes and content hashes. Left out: orders, times, nonces,
ports, ids that services make (executions, publications and approvals become ordinals), grant tokens and their expiry, request
and client ids, warm-ups, polls, renewals, writer leases, busy retries, fencing generations, repeated model requests, and the
values of digests over content that may itself hold ids. Two runs with one seed have the same digest, on any number of workers
and on either engine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from harness.ledger.event import Driven, Exchange, Ledger, Row
from harness.ledger.facts import (
    BROKER_WORKER,
    HOST_BROKER,
    HOST_STORE,
    WORKER_STORE,
    decoded,
    error_code,
    execution_id,
    publication,
    sha256,
    subject,
    succeeded,
    utf8,
)
from harness.ledger.history import History

_PASSING = frozenset({"warm", "status", "observe"})
"""Operations that decide nothing and whose number depends on time."""
_WAITING = frozenset({"workspace_busy", "writer_busy", "objects_unavailable"})
"""Error codes that only mean: ask again later."""
_TIMED = frozenset({"still_active", "busy_not_seen"})
"""Acts of the driver whose detail holds a time."""
_OF_CONTENT = re.compile(rb'"(captureDigest|receiptDigest|manifestDigest)"\s*:\s*"[^"]*"')
"""Digests over content that may hold ids of the run."""
_GENERATION = re.compile(rb'"generation"\s*:\s*[0-9]+')
"""Fencing generations, in records of approvals."""
_ACTS = (
    *("created", "prompted", "ended", "still_active", "detached", "loaded", "refused", "busy_not_seen", "cancelled"),
    *("blocked", "load_refused", "create_refused", "asked", "answered", "expired", "requested"),
)
"""Acts of the driver that decide something."""
_TELLING = frozenset({"blocked", "asked", "answered"})
"""Those whose body is evidence that stands nowhere else."""
_PUBLISHED = ("grants", "publications", "admissions", "receipts")


def digest(ledger: Ledger) -> str:
    """`sha256:<hex>` of the ledger's projection."""
    text = json.dumps(projection(ledger), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256(text.encode("ascii"))


def projection(ledger: Ledger) -> dict[str, Any]:
    """What the digest is taken over."""
    return _Projection(History(ledger)).whole()


class _Projection:
    """One history without times and names."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.ordinals: dict[str, str] = {}
        for session in (*history.sessions, ""):
            prepares = filter(succeeded, history.exchanges(HOST_BROKER, "prepare", session=session))
            self.count("execution", session, map(execution_id, prepares))
            self.count("hook", session, map(execution_id, self._hook_prepares(session)))
            self.count("publication", session, (publication(e)[1] for e in history.publications("reserve", session=session)))
            records = (*history.records(session), *history.appended(session)) if session else ()
            self.count("approval", session, (str(r.body.get("approvalId", "")) for r in records if r.kind == "approval"))
        self.count("direct", "", (str(decoded(e.reply).get("executionCallId", "")) for e in history.direct))
        # The longest first, so that no id is replaced inside another one.
        self.names = {name: self.ordinals[name] for name in sorted(self.ordinals, key=len, reverse=True) if name}
        self.names[history.meta.nonce] = "<nonce>"

    def _hook_prepares(self, session: str) -> list[Exchange]:
        prepares = filter(succeeded, self.history.hooked.seen("prepare"))
        return [e for e in prepares if self.history.session_of(e) == session]

    def count(self, what: str, session: str, ids: Iterable[str]) -> None:
        """Give ids their ordinals, in order of appearance."""
        for place, identity in enumerate(dict.fromkeys(ids), start=1):
            self.ordinals.setdefault(identity, f"<{what}-{session}-{place}>")

    def whole(self) -> dict[str, Any]:
        """Every part; what belongs to a session stands under its label."""
        tree = self.history.tree("after")
        return {
            "case": self.history.case.id,
            "sessions": {label: self.session(label) for label in self.history.sessions},
            "unattributed": self.edges(""),
            # What was asked for directly may be cancelled before it is seen to run, or after.
            "commands": sorted(command.digest for command in self.history.commands) if not self.history.direct else [],
            "hooks": sorted(command.digest for command in self.history.hooked.commands),
            "faults": sorted((fault.edge, fault.operation, fault.tap, fault.times) for fault in self.history.fired),
            "direct": [[exchange.edge, exchange.status, error_code(exchange)] for exchange in self.history.direct],
            "tree": sorted((entry.path, entry.type, entry.sha256) for entry in tree.entries) if tree else None,
        }

    def session(self, label: str) -> dict[str, Any]:
        """One session's decisions: edge by edge, at the model, at the session API, and in SQL."""
        return {
            "edges": self.edges(label),
            "model": [
                [request.step, self.content(request.heard), len(request.problems)] for request in self.history.requests(label)
            ],
            "driven": self.driven(label),
            "executions": sorted(map(self.execution, self.history.rows("executions", label))),
            "records": [[r.sequence, r.kind, self.content(r.text)] for r in self.history.records(label)],
            "resources": len(self.history.rows("resources", label)),
            "published": sorted(
                [table, self.named(str(row.values.get("publication_id"))), str(row.values.get("state"))]
                for table in _PUBLISHED
                for row in self.history.rows(table, label)
            ),
        }

    def edges(self, label: str) -> dict[str, Any]:
        """Edge → its decision events, in order."""
        edges = (HOST_BROKER, HOST_STORE, BROKER_WORKER, WORKER_STORE)
        seen = {edge: self.history.exchanges(edge, session=label) for edge in edges}
        return {edge: [self.exchange(e) for e in exchanges if _decides(e)] for edge, exchanges in seen.items()}

    def exchange(self, exchange: Exchange) -> list[Any]:
        """Operation, outcome and content of one exchange."""
        return [exchange.operation, exchange.status, error_code(exchange), exchange.fault, *self.said(exchange)]

    def said(self, exchange: Exchange) -> list[Any]:
        """What one exchange is about, by operation."""
        asked = decoded(exchange.request)
        found: list[Any] = []
        match exchange.operation:
            case "prepare":
                reference = asked.get("reference")
                arguments = reference.get("argsDigest") if isinstance(reference, dict) else None
                found = [self.named(execution_id(exchange)), asked.get("toolCallId"), asked.get("kind"), arguments]
            case "start" | "execute":
                payload = utf8(str(asked.get("payloadJson", "")))
                found = [self.named(execution_id(exchange)), asked.get("kind"), self.content(payload)]
            case "acknowledge" | "cancel":
                found = [self.named(subject(exchange))]
            case "append":
                replayed = decoded(exchange.reply).get("replayed")
                found = [asked.get("kind"), replayed, self.content(utf8(str(asked.get("text", ""))))]
            case "writer":
                found = [_verb(exchange)]
            case "resource":
                found = [exchange.method]
            case "publication":
                step, identity = publication(exchange)
                found = [step, self.named(identity), decoded(exchange.reply).get("state")]
        return found

    def driven(self, label: str) -> list[list[str]]:
        """What the driver did and saw; how long it waited is left out."""
        found = sorted((e for act in _ACTS for e in self.history.driven(act, label)), key=_place)
        return [
            [
                event.act,
                "" if event.act in _TIMED else self.named(event.detail),
                self.content(event.body) if event.act in _TELLING else "",
            ]
            for event in found
        ]

    def execution(self, row: Row) -> tuple[str, ...]:
        """The end of one execution."""
        return tuple(str(row.values.get(column)) for column in ("tool_call_id", "kind", "state", "result"))

    def named(self, text: str) -> str:
        """The text with the run's names replaced."""
        for name, stands_for in self.names.items():
            text = text.replace(name, stands_for)
        return text

    def content(self, raw: bytes) -> str:
        """The digest of bytes with the run's names replaced."""
        for name, stands_for in self.names.items():
            raw = raw.replace(name.encode("ascii"), stands_for.encode("utf-8"))
        return sha256(_GENERATION.sub(b'"generation":0', _OF_CONTENT.sub(rb'"\1":"<digest>"', raw)))


def _verb(exchange: Exchange) -> str:
    return exchange.target.split("?", 1)[0].rsplit(":", 1)[-1]


def _place(event: Driven) -> tuple[int, bool]:
    """A prompt is put down before it is sent, so it may share its place with what the driver did before."""
    return event.order, event.act == "prompted"


def _decides(exchange: Exchange) -> bool:
    renewal = (exchange.operation == "writer" and _verb(exchange) == "renew") or (
        exchange.operation == "publication" and publication(exchange)[0] == "renew"
    )
    return exchange.operation not in _PASSING and not renewal and error_code(exchange) not in _WAITING
