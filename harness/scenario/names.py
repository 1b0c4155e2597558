"""Names of a case on the wire: `<run nonce>-<derived from seed and case>`, so no run meets another run's ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.scenario.spec import Case
from harness.seeds import derive


@dataclass(frozen=True)
class Names:
    """The ids that one case uses; `sessions` maps labels to session ids, `token` marks its URLs."""

    token: str
    tenant: str
    workspace: str
    sessions: Mapping[str, str]

    def label(self, session_id: str) -> str:
        """The label of a session id, or empty."""
        return next((label for label, known in self.sessions.items() if known == session_id), "")


def names_of(case: Case, *, seed: int, nonce: str) -> Names:
    """All names of one case in one run."""

    def name(kind: str, *parts: str) -> str:
        return f"{nonce}-{kind}{derive(seed, case.id, kind, *parts)}"

    return Names(
        token=name("c"),
        tenant=name("t"),
        workspace=name("w"),
        sessions={label: name("s", label) for label in case.sessions()},
    )
