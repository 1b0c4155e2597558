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
from harness.settings import STORE_NAMES, subject_root
from harness.stack import runs
from harness.stack.engines import ENGINES, store_of
from harness.stack.keeper import Keeper, Wanted

PREFIX = "stack-"


@click.group()
def stack() -> None:
    """Start, list and stop the stack alone."""


@stack.command()
@click.option("--engine", type=click.Choice(list(ENGINES)), default="process", show_default=True, help="How services run.")
@click.option("--store", type=click.Choice(STORE_NAMES), help="Database of store and broker.  [default: the engine's own]")
@click.option("--mutant", help="Start the arm of this mutant instead (see `loudgate list --kind mutants`).")
@click.option(
    "--logs", type=click.Path(path_type=Path, file_okay=False), help="Folder for the services' logs.  [default: in the run folder]"
)
def up(engine: str, store: str | None, mutant: str | None, logs: Path | None) -> None:
    """Start the stack and keep it until Ctrl-C or `loudgate stack down`. Prints one JSON line with its addresses.

    Tokens and database URLs are not printed: they are in `arm.json` in the run folder, readable by you alone.
    """
    database = store_of(engine, store)
    for left in runs.reap():
        click.echo(f"removed what run {left.run} left behind", err=True)
    run = runs.open_run(PREFIX + seeds.nonce())
    original = subject_root()
    keeper = None
    try:
        assembly = ENGINES[engine].assemble(run, logs or run.path / "logs", database, lambda line: click.echo(line, err=True))
        keeper = Keeper(assembly, run, original, copies_of(original))
        arm = keeper.arm(Wanted() if mutant is None else Wanted(mutant.replace("/", "-"), mutant))
        secret = run.path / "arm.json"
        secret.touch(mode=0o600)
        secret.write_text(arm.model_dump_json(), encoding="ascii")
        shown = {"stack": run.path.name, "observer": arm.observer, "services": arm.upstreams, "arm": str(secret)}
        click.echo(json.dumps(shown))
        threading.Event().wait()
    except KeyboardInterrupt:
        click.echo("stopping", err=True)
    finally:
        if keeper is None:
            run.remove()
        else:
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


@stack.command()
def build() -> None:
    """Build the images that the containerised stack needs and that are missing. A second build does nothing."""
    from harness.stack import docker_build, docker_door  # noqa: PLC0415 -- half a second that no other command needs

    door = docker_door.connect()
    for name, tag in docker_build.build(door, lambda line: click.echo(line, err=True)).items():
        click.echo(f"{name}\t{tag}")
