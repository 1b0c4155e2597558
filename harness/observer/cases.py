"""The cases that are open in an observer: each with its journal, its logical order, its players and its gates.

Isolation is in the URL: every case has a token, and nothing here counts across cases. What cannot be attributed, or arrives after a
seal, is put as a doubt into every open case.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from harness.errors import Refused
from harness.ledger.event import Command, Doubt, Exchange, Fired, ModelExchange
from harness.model.script import Player, plan
from harness.relay.gate import Gate
from harness.relay.planned import PlannedFault
from harness.scenario.names import Names, names_of
from harness.scenario.spec import Case
from harness.witness.processes import Record

Journalled = ModelExchange | Exchange | Command | Fired | Doubt


class Registration(BaseModel):
    """What a case registers: itself, and the services behind its relays (edge → base URL) of the arm it runs on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    case: Case
    seed: int
    nonce: str
    arm: str
    """Whose workspaces it has."""
    mutated: bool = False
    """On an arm that may do anything at any time: what comes after its seal is expected, and nobody else's."""
    upstreams: dict[str, str]


@dataclass
class OpenCase:
    """One case while it runs."""

    registration: Registration
    names: Names
    players: Mapping[str, Player]
    gates: dict[str, Gate] = field(default_factory=dict)
    faults: list[PlannedFault] = field(default_factory=list)
    journal: list[Journalled] = field(default_factory=list)
    inflight: int = 0
    sealed: bool = False
    busy: Counter[str] = field(default_factory=Counter)
    """Session label → how often it was told `workspace_busy`."""
    _clock: int = 0

    @property
    def held(self) -> list[str]:
        """Gates at which an answer or a reply is held now."""
        return sorted(name for name, gate in self.gates.items() if gate.waiting)

    def tick(self) -> int:
        """The next place in this case's logical order."""
        self._clock += 1
        return self._clock

    def doubt(self, reason: str) -> None:
        """Put down something that makes absence unprovable."""
        self.journal.append(Doubt(reason=reason))


def open_case(registration: Registration) -> OpenCase:
    """The case at its beginning."""
    case, seed = registration.case, registration.seed
    players = {label: Player(plan(case, label, seed=seed)) for label in case.sessions()}
    opened = OpenCase(registration, names_of(case, seed=seed, nonce=registration.nonce), players)
    holds = [step.hold for label in case.sessions() for step in case.steps(label)]
    named = {name for name in (*holds, *(fault.gate for fault in case.faults)) if name}
    opened.gates.update({name: Gate(name, opened.doubt) for name in named})
    opened.faults += [PlannedFault(fault, opened.gates[fault.gate] if fault.gate else None) for fault in case.faults]
    return opened


@dataclass
class Cases:
    """All cases of one observer, by token."""

    workspaces: Path
    by_token: dict[str, OpenCase] = field(default_factory=dict)
    by_session: dict[str, OpenCase] = field(default_factory=dict)
    by_tenant: dict[str, OpenCase] = field(default_factory=dict)

    def register(self, registration: Registration) -> OpenCase:
        """Open a case; `Refused` if its token is in use."""
        case = open_case(registration)
        if case.names.token in self.by_token:
            raise Refused(f"case {registration.case.id} is registered already", status=409, code="case_exists")
        self.by_token[case.names.token] = case
        self.by_tenant[case.names.tenant] = case
        self.by_session.update(dict.fromkeys(case.names.sessions.values(), case))
        return case

    def of_session(self, session_id: str) -> OpenCase | None:
        """The case that a session id belongs to."""
        return self.by_session.get(session_id)

    def stray(self, reason: str) -> None:
        """Traffic that is nobody's: every open case may be the one that it belongs to."""
        for case in self.by_token.values():
            if not case.sealed:
                case.doubt(reason)

    def late(self, case: OpenCase | None, reason: str) -> None:
        """Traffic of no case, or of one that is sealed: evidence against everybody, but not if it is a mutant's own."""
        if case is None or not case.registration.mutated:
            self.stray(reason)

    def workspace(self, case: OpenCase) -> Path:
        """Where the arm's worker keeps this case's workspace."""
        return self.workspaces / case.registration.arm / case.names.tenant / case.names.workspace

    def command(self, record: Record | None) -> None:
        """Put a process record into the case whose workspace it ran in."""
        case = self._standing_in(record.directory) if record else None
        if record is None or case is None or case.sealed:
            if record is None or not self._is_mutants(record.directory):
                self.late(case, "a process record belongs to no open case")
            return
        shown = os.path.relpath(record.directory, self.workspaces)
        case.journal.append(
            Command(order=case.tick(), digest=record.digest, length=record.length, prefix=record.prefix, directory=shown)
        )

    def _is_mutants(self, directory: str) -> bool:
        """Whether a directory is below the workspaces of a changed worker, which may run anything anywhere in there."""
        arm = os.path.relpath(directory, self.workspaces).split("/")[0]
        own = [case.registration.mutated for case in self.by_token.values() if case.registration.arm == arm]
        return bool(own) and all(own)

    def _standing_in(self, directory: str) -> OpenCase | None:
        parts = os.path.relpath(directory, self.workspaces).split("/")
        case = self.by_tenant.get(parts[1]) if len(parts) >= 3 else None
        return case if case and parts[:3] == [case.registration.arm, case.names.tenant, case.names.workspace] else None
