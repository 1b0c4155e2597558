"""The live display of a run: a bar on a terminal, one line per tenth elsewhere; a case that goes wrong is printed at once."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from harness.mutation.trial import Trial
from harness.run.result import CaseResult
from harness.verdict import Verdict

TENTHS = 10


class Display:
    """Tells how far the run is. Writes to standard error, so that standard output stays the verdict's."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = Console(stderr=True, highlight=False, quiet=quiet)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, console=self.console, transient=True)
        self._task: TaskID | None = None
        self._total = self._done = self._told = self._bad = 0

    def begin(self, cases: int, mutants: int = 0) -> None:
        """So much is planned; called again when the number is known better."""
        self._total = total = cases + mutants
        said = " and ".join([*([f"{cases} cases"] if cases else []), *([f"{mutants} mutants"] if mutants else [])])
        if not self.console.is_terminal:
            self.console.print(said, markup=False)
        elif self._task is None:
            self._bar.start()
            self._task = self._bar.add_task(said, total=total)
        else:
            self._bar.update(self._task, total=total)

    def say(self, line: str) -> None:
        """One line, above the bar."""
        self.console.print(line, markup=False, soft_wrap=True)

    def case(self, result: CaseResult) -> None:
        """A case has ended."""
        if result.outcome is not Verdict.PASS:
            self._bad += 1
            self.say(f"{result.outcome}: {result.id}: {result.why}")
        self._advance()

    def trial(self, trial: Trial, *, failed: bool) -> None:
        """A mutant's trial has ended; `failed` if not as it must."""
        if failed:
            self._bad += 1
            self.say(f"{trial.outcome}: {trial.id}: {trial.finding}")
        self._advance()

    def _advance(self) -> None:
        self._done += 1
        if self._task is not None:
            self._bar.update(self._task, completed=self._done)
        elif self._total and self._done * TENTHS // self._total > self._told:
            self._told = self._done * TENTHS // self._total
            self.console.print(f"  {self._done}/{self._total}, {self._bad} not as expected", markup=False)

    def end(self) -> None:
        """Leave the terminal as it was."""
        self._bar.stop()
