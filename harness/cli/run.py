"""`loudgate run`: a thin command over pytest."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import pytest

from harness import settings as defaults
from harness.acceptance import check_writable
from harness.errors import EnvironmentMissing, UsageError
from harness.mutation.catalogue import CATALOGUE
from harness.plugin import TESTS
from harness.report import facts
from harness.scenario import catalog
from harness.seeds import DEFAULT_SEED
from harness.stack.engines import docker_missing, has_s3, store_of
from harness.verdict import EXIT_OF, Exit

WORKERS_PER_CORE = 2
"""A case waits for other processes most of its time; more workers than this only delay each other's start."""

LEFT_OUT = (("scenarios", defaults.SCENARIOS), ("maxfail", 0), ("out", defaults.REPORTS))
"""Options that the replay command need not repeat."""

QUIET = ("-p", "no:unraisableexception", "-W", "ignore::ResourceWarning")
"""An interrupted start leaves half-made objects behind; a warning about them must not hide the interruption."""


Command = Callable[..., Any]


def shared_options(command: Command) -> Command:
    """The options of everything that starts a stack and writes a report."""
    folder = click.Path(path_type=Path, file_okay=False)
    for option in reversed(
        (
            click.option("--engine", type=click.Choice(defaults.ENGINE_NAMES), default="process", show_default=True, help=ENGINE),
            click.option("--store", type=click.Choice(defaults.STORE_NAMES), help=STORE),
            click.option("--when-available", is_flag=True, help=WHEN_AVAILABLE),
            click.option("-n", "--workers", type=click.IntRange(0), default=None, help=WORKERS),
            click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="The one seed of ids, texts and order."),
            click.option("--maxfail", type=click.IntRange(0), default=0, help=MAXFAIL),
            click.option("--out", type=folder, default=defaults.REPORTS, show_default=True, help="Folder for reports."),
            click.option("--scenarios", type=click.Path(path_type=Path), default=defaults.SCENARIOS, help=SCENARIOS),
        )
    ):
        command = option(command)
    return command


ENGINE = "How services run."
STORE = "Database of store and broker.  [default: the engine's own]"
WHEN_AVAILABLE = "Without a Docker engine: say so and end well, unless $LOUDGATE_REQUIRE_DOCKER=1."
WORKERS = "pytest-xdist workers; 0 is none.  [default: two per core]"
MAXFAIL = "Stop after so many not as expected.  [default: never]"
SCENARIOS = "Folder of scenario files.  [default: this checkout's]"


@click.command()
@click.argument("select", nargs=-1)
@click.option("--path", type=click.Choice(["local", "o2", "both"]), default="both", show_default=True, help="Capture path.")
@click.option("--core", is_flag=True, help="Leave out the extended cases: the large matrices of rows that have cases without them.")
@click.option("--with-mutation", is_flag=True, help="Carry out the campaign too: one verdict over cases and mutants.")
@shared_options
def run(select: tuple[str, ...], *, with_mutation: bool, **options: Any) -> int:
    """Run cases and write a report.

    SELECT is an area, an id prefix or a glob (see `loudgate list`); several are a union; none is everything. The same cases run
    under pytest, with the same options: `pytest scenarios --select unicode/negative -n 2`.
    """
    if not available(options):
        return Exit.ACCEPTED
    where = {"engine": options["engine"], "s3": has_s3(options["engine"]), "path": options["path"], "core": options["core"]}
    cases = catalog.planned(options["scenarios"], select, **where)
    words = [word for pattern in select for word in ("--select", pattern)]
    words += ["--mutation", "also"] if with_mutation else []
    shown = [*select, *(["--with-mutation"] if with_mutation else [])]
    tests = TESTS if with_mutation else TESTS[:1]
    return start(["run", *shown], tests, words, options, items=len(cases) + len(CATALOGUE) * with_mutation)


def available(options: dict[str, Any]) -> bool:
    """Whether the engine can be used; `EnvironmentMissing` if it cannot and was not optional."""
    if missing := docker_missing() if options["engine"] == "docker" else "":
        if not options["when_available"]:
            raise EnvironmentMissing(missing)
        click.echo(f"left out: {missing}")
        return False
    store_of(options["engine"], options["store"])
    return True


def start(shown: list[str], tests: Sequence[str], words: list[str], options: dict[str, Any], *, items: int) -> int:
    """Run pytest over these tests, with these words and options; `shown` is how the report's command line begins."""
    workers, _ = options.pop("workers"), options.pop("when_available")
    check_writable(options["out"])
    count = workers if workers is not None else WORKERS_PER_CORE * (os.cpu_count() or 1)
    chosen = {name: value for name, value in options.items() if (name, value) not in LEFT_OUT}
    command = shlex.join(["loudgate", *shown, *_words(chosen)])
    files = [str(defaults.SCENARIOS / f"{name}s.py") for name in tests]
    words = [*files, "-p", "no:terminal", *QUIET, "--rootdir", str(defaults.CHECKOUT), *words]
    words += ["-c", str(defaults.CHECKOUT / "pyproject.toml"), *_words(options), "--command-line", command]
    words += ["-n", str(min(count, items))] if count and items > 1 else []
    watcher = _Watcher()
    try:
        status = int(pytest.main(words, plugins=[watcher]))
    except KeyboardInterrupt:  # before pytest had a session to end
        status = int(pytest.ExitCode.INTERRUPTED)
    return _conclude(watcher, status)


def _words(options: dict[str, Any]) -> list[str]:
    return [word for name, value in options.items() for word in _word(name, value)]


def _word(name: str, value: Any) -> tuple[str, ...]:
    if value is None or value is False:
        return ()
    return (f"--{name}",) if value is True else (f"--{name}", str(value))


class _Watcher:
    """Finds the controller among pytest's plugins, so that its report can be shown."""

    report: facts.Report | None = None
    folder: Path | None = None
    problem = ""

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Keep what the controller has made."""
        controller = config.pluginmanager.get_plugin("loudgate-controller")
        if controller is not None:
            self.report, self.folder = controller.report, controller.folder()


def _conclude(watcher: _Watcher, status: int) -> int:
    if watcher.report is None or watcher.folder is None:
        if status == pytest.ExitCode.INTERRUPTED:
            raise KeyboardInterrupt
        raise UsageError(f"nothing was judged (pytest ended with {pytest.ExitCode(status).name})")
    click.echo(watcher.report.headline)
    click.echo(os.path.relpath(watcher.folder / "report.md"))
    sys.stdout.flush()
    return int(EXIT_OF.get(watcher.report.verdict, Exit.INCOMPLETE))
