"""One run from the controller's side: its folders, its keeper, its plan, its ending and its report.

Lives in the pytest controller alone. xdist workers get a `Ticket`, enough to prove cases and nothing to clean up.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from pydantic import BaseModel, ConfigDict, Field

from harness import seeds
from harness.clock import Deadline, utc_now
from harness.errors import LoudgateError, UsageError
from harness.ledger.redact import Redactor
from harness.limits import CALL_S
from harness.mutation import external
from harness.mutation.catalogue import copies_of
from harness.mutation.trial import TRIAL
from harness.report import writers
from harness.report.facts import ENDING, PLAN, Ending, Leaks, Plan, Report, Source, Target
from harness.run.prover import Prover
from harness.settings import CHECKOUT, Settings, subject_root
from harness.stack import runs
from harness.stack.engines import ENGINES, store_of
from harness.stack.keeper import Keeper, KeeperClient

LOGS = "logs"


class Ticket(BaseModel):
    """What an xdist worker needs of a run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path
    seed: int
    nonce: str
    socket: str
    key: str = Field(repr=False)

    def prover(self) -> Prover:
        """Proves cases on the keeper's arms."""
        return Prover(KeeperClient(self.socket, bytes.fromhex(self.key)), self.folder, self.seed, self.nonce)


@dataclass
class Acceptance:
    """A run that is going on."""

    settings: Settings
    folder: Path
    nonce: str
    keeper: Keeper
    notes: list[str]
    command: str
    timer: Deadline = field(default_factory=lambda: Deadline(0))
    socket: str = ""
    ended: bool = False

    def prover(self) -> Prover:
        """Proves cases in this process."""
        return Prover(self.keeper, self.folder, self.settings.seed, self.nonce)

    def ticket(self) -> Ticket:
        """For another process of this run."""
        self.socket = self.socket or self.keeper.serve()
        return Ticket(folder=self.folder, seed=self.settings.seed, nonce=self.nonce, socket=self.socket, key=self.keeper.key.hex())

    def planned(self, cases: Sequence[str], *, partial: bool, mutants: Sequence[str] = (), rows: Sequence[str] = ()) -> None:
        """Write down what this run sets out to do: its cases, its mutants, and the admission checks that no mutant removes."""
        chosen = self.settings
        plan = Plan(
            run_id=self.folder.name,
            seed=chosen.seed,
            started_at=utc_now(),
            command=self.command,
            target=Target(name=chosen.target, version="reference", engine=chosen.engine, store=chosen.store or ""),
            source=source(),
            cases=tuple(sorted(cases)),
            partial=partial,
            mutants=tuple(mutants),
            partial_mutants=bool(mutants) and (bool(chosen.mutants or chosen.patches) or chosen.engine == "docker"),
            unkilled_rows=tuple(rows),
        )
        (self.folder / PLAN).write_text(plan.model_dump_json(indent=1), encoding="utf-8")

    def finish(self, *, interrupted: bool) -> Report | None:
        """Stop the stack, count what is left, write the report. None if nothing was ever planned."""
        if self.ended:
            return None
        self.ended = True
        died = tuple(one for one in self.keeper.died() if not one.startswith(TRIAL))  # of a mutant's end its trial tells
        images, objects = self.keeper.assembly.images(), self.keeper.objects()
        secrets = self.keeper.secrets()
        processes, held = self.keeper.close()
        leaks = Leaks(processes=processes, containers=held.containers, networks=held.networks, volumes=held.volumes)
        self._mask_logs(Redactor(secrets))
        if not (self.folder / PLAN).exists():
            with suppress(OSError):
                self.folder.rmdir()  # nothing was planned: only an empty folder goes
            return None
        ending = Ending(
            duration_s=round(self.timer.elapsed(), 1),
            interrupted=interrupted,
            died=died,
            problems=self.keeper.assembly.problems(),
            notes=tuple(self.notes),
            leaks=leaks,
            images=images,
            objects=objects,
        )
        (self.folder / ENDING).write_text(ending.model_dump_json(indent=1), encoding="utf-8")
        return writers.write(self.folder)

    def _mask_logs(self, redactor: Redactor) -> None:
        for log in sorted((self.folder / LOGS).glob("*.log")):
            text = log.read_text(encoding="utf-8", errors="backslashreplace")
            if (clean := redactor.clean(text)) != text:
                log.write_text(clean, encoding="utf-8")
                self.notes.append(f"a secret was masked in {LOGS}/{log.name}")


def source() -> Source:
    """The commit of the checkout that is judged."""
    git = which("git")
    if git is None or not (CHECKOUT / ".git").exists():
        return Source(commit="", dirty=False)

    def ask(*arguments: str) -> str:
        command = [git, "-C", str(CHECKOUT), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=CALL_S, check=False)  # noqa: S603 -- git, fixed words
        return done.stdout.strip() if done.returncode == 0 else ""

    return Source(commit=ask("rev-parse", "HEAD"), dirty=bool(ask("status", "--porcelain")))


def check_writable(out: Path) -> None:
    """`UsageError` if no report can be written below `out`."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=out):
            pass
    except OSError as error:
        raise UsageError(f"{out}: reports cannot be written there: {error.strerror}") from error


def open_acceptance(settings: Settings, *, command: str, say: Callable[[str], None]) -> Acceptance:
    """Clean up after dead runs, make the folders, prepare the keeper. Starts no service yet."""
    store = store_of(settings.engine, settings.store)
    nonce = seeds.nonce()
    run_id = f"{utc_now().replace(':', '').replace('-', '')}-{nonce}"
    check_writable(settings.out)
    left = runs.reap()
    notes = [f"removed what run {one.run} left behind: its folder and {one.processes} processes" for one in left]
    for note in notes:
        say(note)
    run = runs.open_run(run_id)
    original, folder = subject_root(), settings.out.resolve() / run_id
    try:
        assembly = ENGINES[settings.engine].assemble(run, folder / LOGS, store, say)
        folder.mkdir(exist_ok=True)
    except LoudgateError:
        run.remove()
        raise
    copies = copies_of(original)
    if settings.external and settings.patches:
        copies = external.copies_of(external.read_target(settings.external), external.read_patches(settings.patches))
    keeper = Keeper(assembly, run, original, copies)
    return Acceptance(settings.model_copy(update={"store": store}), folder, nonce, keeper, notes, command)
