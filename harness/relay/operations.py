"""Which operation a request is: edge + method + path → operation class. The harness's own knowledge of the protocol.

The classes that a fresh refused batch must not show are `acquire`, `publisher`, `prepare`, `start` and `publication` between
host and its services, and `execute` between broker and worker. `warm` is allowed, and counted apart.
"""

from __future__ import annotations

import re

_ID = r"[A-Za-z0-9._:-]{1,128}?"
_BROKER = "/internal/runtime-broker/v1"
_STORE = f"/internal/managed-session-store/v1/sessions/{_ID}"
_PUBLICATION = f"/internal/managed-tool-publications/v1/sessions/{_ID}"
_WORKER = "/internal/worker/v1"

HOST_BROKER, HOST_STORE, BROKER_WORKER, WORKER_STORE = "host-broker", "host-store", "broker-worker", "worker-store"
DRIVER_HOST = "driver-host"
OBJECTS = "objects"
"""From worker and store to the object store: one relay for both, told apart by who writes and who reads."""
DIRECT = {service: f"direct-{service}" for service in ("broker", "store", "worker")}
"""Service → the edge of requests that the harness sends to it itself."""
OTHER = "other"
POLLS = frozenset({"status", "observe", "look"})
"""Operations that only look."""

_TABLE: dict[str, tuple[tuple[str, str, str], ...]] = {
    HOST_BROKER: (
        ("warm", "POST", f"{_BROKER}/runtimes:warm"),
        ("acquire", "POST", f"{_BROKER}/tool-sessions:acquire"),
        ("publisher", "POST", f"{_BROKER}/tool-sessions/{_ID}:register-publisher"),
        ("release", "POST", f"{_BROKER}/tool-sessions/{_ID}:release"),
        ("file-history", "POST", f"{_BROKER}/tool-sessions/{_ID}:file-history"),
        ("prepare", "POST", f"{_BROKER}/executions:prepare"),
        ("start", "POST", f"{_BROKER}/executions/{_ID}:start"),
        ("cancel", "POST", f"{_BROKER}/executions/{_ID}:cancel"),
        ("acknowledge", "POST", f"{_BROKER}/executions/{_ID}:acknowledge"),
        ("status", "GET", f"{_BROKER}/executions/{_ID}"),
    ),
    HOST_STORE: (
        ("writer", "POST", f"{_STORE}/writer:(?:acquire|renew|release)"),
        ("append", "POST", f"{_STORE}/records"),
        ("read", "GET", f"{_STORE}/records"),
        ("resource", "(?:PUT|GET)", f"{_STORE}/resources/{_ID}"),
        ("publication", "POST", f"{_PUBLICATION}/.*"),
    ),
    BROKER_WORKER: (
        ("execute", "POST", f"{_WORKER}/executions"),
        ("observe", "GET", f"{_WORKER}/executions/{_ID}"),
        ("stop", "POST", f"{_WORKER}/executions/{_ID}:cancel"),
    ),
    WORKER_STORE: (("publication", "POST", f"{_PUBLICATION}/.*"),),
    OBJECTS: (
        ("put_object", "PUT", "/[a-z0-9-]+/.+"),
        ("get_object", "GET", "/[a-z0-9-]+/.+"),
    ),
    DRIVER_HOST: (
        ("create", "POST", "/session"),
        ("prompt", "POST", f"/session/{_ID}/prompt"),
        ("look", "GET", f"/session/{_ID}/(?:status|transcript)"),
        ("cancel", "POST", f"/session/{_ID}/cancel"),
        ("answer", "POST", f"/session/{_ID}/approvals/{_ID}"),
        ("detach", "POST", f"/session/{_ID}/detach"),
        ("load", "POST", f"/session/{_ID}/load"),
    ),
}
_TABLE |= {
    DIRECT[service]: _TABLE[edge] for service, edge in (("broker", HOST_BROKER), ("store", HOST_STORE), ("worker", BROKER_WORKER))
}
_COMPILED = {
    edge: tuple((name, re.compile(method), re.compile(path)) for name, method, path in rows) for edge, rows in _TABLE.items()
}
EDGES = tuple(_TABLE)


def classify(edge: str, method: str, path: str) -> str:
    """The operation class of a request on `edge`; `other` for what the protocol does not know."""
    for name, methods, paths in _COMPILED[edge]:
        if methods.fullmatch(method) and paths.fullmatch(path):
            return name
    return OTHER
