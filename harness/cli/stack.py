"""`loudgate stack`: the stack alone, for interactive work."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import click

from harness import seeds
from harness.clock import holds_within
from harness.errors import UsageError
from harness.limits import SERVICE_READY_S
from harness.mutation.catalogue import copies_of
from harness.settings import subject_root
from harness.stack import runs
from harness.stack.assembly import SHARED
from harness.stack.keeper import Keeper
from harness.stack.process_assembly import ProcessAssembly

PREFIX = "stack-"


@click.group()
def stack() -> None:
    """Start, list and stop the stack alone."""


@stack.command()
@click.option("--mutant", help="Start the arm of this mutant instead (see `loudgate list --kind mutants`).")
@click.option(
    "--logs", type=click.Path(path_type=Path, file_okay=False), help="Folder for the services' logs.  [default: in the run folder]"
)
def up(mutant: str | None, logs: Path | None) -> None:
    """Start the stack and keep it until Ctrl-C or `loudgate stack down`. Prints one JSON line with its addresses.

    Tokens are not printed: they are in `arm.json` in the run folder, readable by you alone.
    """
    for left in runs.reap():
        click.echo(f"removed what run {left.run} left behind", err=True)
    run = runs.open_run(PREFIX + seeds.nonce())
    original = subject_root()
    keeper = Keeper(ProcessAssembly(run, logs or run.path / "logs"), run, original, copies_of(original))
    try:
        arm = keeper.arm(SHARED if mutant is None else mutant.replace("/", "-"), mutant)
        secret = run.path / "arm.json"
        secret.touch(mode=0o600)
        secret.write_text(arm.model_dump_json(), encoding="ascii")
        shown = {"stack": run.path.name, "observer": arm.observer, "services": arm.upstreams, "sql": arm.sql, "arm": str(secret)}
        click.echo(json.dumps(shown))
        threading.Event().wait()
    except KeyboardInterrupt:
        click.echo("stopping", err=True)
    finally:
        keeper.close()


@stack.command()
def ps() -> None:
    """List what is running, and what was left behind."""
    for run_id, owner in runs.live():
        click.echo(f"{run_id}\trunning\tprocess {owner}")
    for path in runs.dead():
        click.echo(f"{path.name}\tleft behind\tthe next start removes it")


@stack.command()
@click.argument("stack_id", required=False)
def down(stack_id: str | None) -> None:
    """Stop a stack that `up` started (all of them without an argument), and remove what dead runs left."""
    chosen = [(run, owner) for run, owner in runs.live() if run.startswith(PREFIX) and stack_id in (None, run)]
    if stack_id is not None and not chosen:
        raise UsageError(f"no running stack {stack_id!r} (see `loudgate stack ps`)")
    for run_id, owner in chosen:
        os.kill(owner, signal.SIGTERM)
        gone = holds_within(lambda run_id=run_id: run_id not in dict(runs.live()), SERVICE_READY_S)  # type: ignore[misc]
        click.echo(f"{run_id}\t{'stopped' if gone else 'still stopping'}")
    for left in runs.reap():
        click.echo(f"{left.run}\tremoved what it left behind")
