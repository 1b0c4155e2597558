"""The pytest plugin: options, the cases as parameters, the run's life in the controller. Thin; the work is in `acceptance`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness import settings as defaults
from harness.acceptance import Acceptance, Ticket, open_acceptance
from harness.errors import LoudgateError, UsageError
from harness.mutation import campaign, external
from harness.mutation.catalogue import wanted
from harness.mutation.mutant import Mutant
from harness.mutation.trial import Bench, Trial
from harness.progress import Display
from harness.report.facts import Report
from harness.run.prover import Prover
from harness.run.result import CaseResult
from harness.scenario import catalog
from harness.scenario.spec import Case
from harness.seeds import DEFAULT_SEED
from harness.settings import Settings
from harness.stack.engines import has_s3, store_of

CASE_FIXTURE, MUTANT_FIXTURE = "loudgate_case", "loudgate_mutant"
_SETTINGS = pytest.StashKey[Settings]()
_STATE = pytest.StashKey["Controller"]()
_PROPERTY, _TRIAL = "loudgate_result", "loudgate_trial"
TESTS = ("test_scenario", "test_mutant")
KNOWN = "mutants"
"""Folder beside the reports: outcomes of trials by content hash, so that a campaign does only what is missing or changed."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of a run; `loudgate run --help` explains them."""
    group = parser.getgroup("loudgate", "Loudgate acceptance")
    group.addoption("--select", action="append", default=[], metavar="SELECT", help="area, id prefix or glob of cases; repeatable")
    group.addoption("--target", default="hosted", choices=["hosted"], help="what is under test")
    group.addoption("--engine", default="process", choices=defaults.ENGINE_NAMES, help="how the stack's services run")
    group.addoption("--store", choices=defaults.STORE_NAMES, help="the database behind store and broker")
    group.addoption("--path", default="both", choices=["local", "o2", "both"], help="capture path")
    group.addoption("--core", action="store_true", help="leave out the extended cases")
    group.addoption("--mutation", choices=["no", "also", "only"], default="no", help="a campaign besides the cases, or instead")
    group.addoption("--mutants", action="append", default=[], metavar="SELECT", help="id prefix or glob of mutants; repeatable")
    group.addoption("--external", type=Path, help="description of the stack that is mutated instead of the reference stack")
    group.addoption("--patches", type=Path, help="folder of unified diffs, its mutants")
    group.addoption("--fresh", action="store_true", help="try mutants again whose outcome is known")
    group.addoption("--seed", type=int, default=DEFAULT_SEED, help="the one seed of ids, texts and order")
    group.addoption("--out", type=Path, default=defaults.REPORTS, help="folder for reports")
    group.addoption("--scenarios", type=Path, default=defaults.SCENARIOS, help="folder of scenario files")
    group.addoption("--command-line", default="", help="what the report shows as the command that replays it")


def pytest_configure(config: pytest.Config) -> None:
    """Read the options; in the controller, prepare to own the run."""
    option = config.getoption
    lists = ("select", "mutants")
    given = {name: option(name) for name in Settings.model_fields if name not in lists}
    config.stash[_SETTINGS] = Settings(**given, **{name: tuple(option(name)) for name in lists})
    if not _is_worker(config):
        controller = Controller(config)
        config.stash[_STATE] = controller
        config.pluginmanager.register(controller, "loudgate-controller")


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Without a campaign there are no tests of mutants; in a campaign alone, none of cases."""
    left_out = {"no": "test_mutants.py", "only": "test_scenarios.py"}.get(config.stash[_SETTINGS].mutation)
    return True if collection_path.name == left_out and collection_path.parent == defaults.SCENARIOS else None


def _mutants(config: pytest.Config) -> tuple[Mutant, ...]:
    chosen = config.stash[_SETTINGS]
    if chosen.mutation == "no":
        return ()
    try:
        if chosen.patches is not None:
            return external.read_patches(chosen.patches)
        store = store_of(chosen.engine, chosen.store)
        return campaign.planned(chosen.mutants, engine=chosen.engine, store=store, cases=catalog.load(chosen.scenarios))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error


def _cases(config: pytest.Config) -> tuple[Case, ...]:
    chosen = config.stash[_SETTINGS]
    if chosen.mutation == "only":
        return ()
    try:
        s3 = has_s3(chosen.engine)
        return catalog.planned(chosen.scenarios, chosen.select, engine=chosen.engine, s3=s3, path=chosen.path, core=chosen.core)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error


def _left_out(every: Sequence[Case], here: Sequence[Case], engine: str) -> Iterator[str]:
    """Which cases cannot be played here, and why."""
    elsewhere = [case for case in every if case.engines and engine not in case.engines]
    if elsewhere:
        yield f"{len(elsewhere)} cases are not applicable on engine {engine}"
    if without := len(every) - len(here) - len(elsewhere):
        yield f"{without} cases need an S3 server, which comes with the package's extra `objects`"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per case, and one per mutant."""
    for fixture, planned in ((CASE_FIXTURE, _cases), (MUTANT_FIXTURE, _mutants)):
        if fixture in metafunc.fixturenames:
            found = planned(metafunc.config)
            metafunc.parametrize(fixture, found, ids=[one.id for one in found], scope="function")


@pytest.fixture(scope="session")
def loudgate(pytestconfig: pytest.Config) -> Prover:
    """Proves cases; the stack starts when the first one needs it."""
    if _is_worker(pytestconfig):
        return Ticket.model_validate_json(pytestconfig.workerinput["loudgate"]).prover()  # type: ignore[attr-defined]  # xdist adds it
    return pytestconfig.stash[_STATE].acceptance().prover()


@pytest.fixture
def prove(loudgate: Prover, record_property: Any) -> Any:
    """A function that proves one case and fails the test unless it came out as it had to."""

    def prove_case(case: Case) -> CaseResult:
        result = loudgate.prove(case)
        record_property(_PROPERTY, result.model_dump_json())
        if result.outcome != "pass":
            pytest.fail(
                f"{result.outcome}: {result.why}\nledger: {loudgate.folder / result.ledger}\nreplay: {result.replay}", pytrace=False
            )
        return result

    return prove_case


@pytest.fixture(scope="session")
def bench(loudgate: Prover, pytestconfig: pytest.Config) -> Iterator[Bench]:
    """What the trials of a campaign need; when they are over, the real stack is looked at once more."""
    chosen = pytestconfig.stash[_SETTINGS]
    where = {"engine": chosen.engine, "store": store_of(chosen.engine, chosen.store), "seed": str(chosen.seed)}
    cases = {case.id: case for case in catalog.load(chosen.scenarios)}
    original, known = defaults.subject_root(), chosen.out.resolve() / KNOWN
    made = Bench(loudgate, cases, original, (original / defaults.SUBJECT_PACKAGE,), known, where)
    if chosen.external:
        # Its build may depend on anything, so nothing is known of it from before.
        made = Bench(loudgate, cases, original, external.read_target(chosen.external).trees, None, where)
    yield made
    if made.tried:
        made.afterwards(os.environ.get("PYTEST_XDIST_WORKER", "main"))


@pytest.fixture
def try_mutant(bench: Bench, pytestconfig: pytest.Config, record_property: Any) -> Any:
    """A function that tries one mutant and fails the test unless it came out as it must."""

    def prove_mutant(mutant: Mutant) -> Trial:
        trial = bench.prove(mutant, fresh=pytestconfig.stash[_SETTINGS].fresh)
        record_property(_TRIAL, trial.model_dump_json())
        if trial.outcome != wanted(mutant):
            pytest.fail(f"{trial.outcome}: {trial.finding}", pytrace=False)
        return trial

    return prove_mutant


class Controller:
    """Owns the run in the process that has no controller above it."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        # Under plain pytest its own terminal shows each test; the display is for `loudgate run`, which has none.
        self.display = Display(quiet=config.pluginmanager.has_plugin("terminalreporter"))
        self.report: Report | None = None
        self.interrupted = False
        self._failed = 0
        self._acceptance: Acceptance | None = None
        self._collected: tuple[set[str], tuple[str, ...]] = (set(), ())

    def acceptance(self) -> Acceptance:
        """The run, opened on first need."""
        if self._acceptance is None:
            chosen = self.config.stash[_SETTINGS]
            command = str(self.config.getoption("command_line")) or "pytest " + " ".join(self.config.invocation_params.args)
            try:
                self._acceptance = open_acceptance(chosen, command=command, say=self.display.say)
            except LoudgateError as error:
                raise pytest.UsageError(str(error)) from error
            if self.config.getoption("command_line"):
                # `loudgate run` needs the stack for certain: plan and start while pytest's workers still start.
                self._plan({case.id for case in _cases(self.config)}, [mutant.id for mutant in _mutants(self.config)])
                self._acceptance.keeper.begin()
        return self._acceptance

    def folder(self) -> Path | None:
        """Where the run's report is."""
        return self._acceptance.folder if self._acceptance else None

    def _planned(self, test_ids: Sequence[str]) -> None:
        found = {kind: [test.split("[", 1)[1][:-1] for test in test_ids if f"{kind}[" in test] for kind in TESTS}
        self._plan(set(found[TESTS[0]]), found[TESTS[1]])

    def _plan(self, cases: set[str], mutants: Sequence[str]) -> None:
        if (cases or mutants) and (cases, tuple(mutants)) != self._collected:
            self._collected = (cases, tuple(mutants))
            chosen = self.config.stash[_SETTINGS]
            every = catalog.load(chosen.scenarios)
            here = catalog.possible(every, engine=chosen.engine, s3=has_s3(chosen.engine))
            told = self.acceptance().notes
            told.extend(note for note in _left_out(every, here, chosen.engine) if note not in told)
            whole = bool(mutants) and not chosen.mutants and not chosen.patches
            rows = campaign.without_mutant(campaign.admission_rows(defaults.subject_root())) if whole else ()
            self.acceptance().planned(sorted(cases), partial=len(cases) < len(here), mutants=mutants, rows=rows)
            self.display.begin(len(cases), len(mutants))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without xdist: the plan is what was collected here."""
        self._planned([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """With xdist: give each worker its ticket."""
        node.workerinput["loudgate"] = self.acceptance().ticket().model_dump_json()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:  # noqa: ARG002 -- the hook's signature
        """With xdist: the plan is what a worker collected."""
        self._planned(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Show each case as it ends."""
        self._failed += report.failed
        for name, value in report.user_properties:
            if name == _PROPERTY and report.when == "call":
                self.display.case(CaseResult.model_validate_json(str(value)))
            elif name == _TRIAL and report.when == "call":
                self.display.trial(Trial.model_validate_json(str(value)), failed=report.failed)
        if report.failed and any(f"{kind}[" in report.nodeid for kind in TESTS) and not report.user_properties:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = str(crash.message if crash else report.longreprtext).splitlines()
            self.display.say(f"did not run: {report.nodeid.partition('[')[2][:-1]}: {said[0] if said else ''}")

    def pytest_keyboard_interrupt(self) -> None:
        """Ctrl-C, or SIGTERM turned into it; pytest also comes here when --maxfail is reached, which is an ordinary end."""
        maxfail = int(self.config.getoption("maxfail") or 0)
        self.interrupted = not maxfail or self._failed < maxfail

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Stop the stack and write the report, whatever happened."""
        self.display.end()
        if self._acceptance is not None:
            self.report = self._acceptance.finish(interrupted=self.interrupted)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """For `pytest scenarios`: where the report is."""
        if self.report is not None and self._acceptance is not None:
            terminalreporter.write_line(f"loudgate: {self.report.headline}")
            terminalreporter.write_line(f"loudgate: {os.path.relpath(self._acceptance.folder / 'report.md')}")

    def pytest_unconfigure(self) -> None:
        """The last chance to stop what was started."""
        if self._acceptance is not None:
            self._acceptance.finish(interrupted=True)
