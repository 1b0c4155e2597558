"""`loudgate model`: the fake model alone, for one script."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from harness.errors import UsageError
from harness.observer.alone import serve
from harness.scenario.catalog import load_file
from harness.seeds import DEFAULT_SEED


@click.command()
@click.argument("script", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--listen", default="127.0.0.1", show_default=True, help="Address to bind.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0 lets the system choose.  [default: 0]")
@click.option("--case", "chosen", help="Which of the file's cases to play.  [default: the first]")
@click.option("--session", help="Which session's steps to play.  [default: the first]")
@click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True)
def model(script: Path, listen: str, port: int, chosen: str | None, session: str | None, seed: int) -> int:
    """Serve the model's side of a scenario file over OpenAI Chat Completions, until Ctrl-C.

    Prints the base URL for a client's settings, then one JSON line per request: which step it got, and what was wrong with it.
    At the end it says which steps were never asked for (exit status 1).
    """
    cases = {case.id: case for case in load_file(script)}
    case = cases.get(chosen) if chosen else next(iter(cases.values()))
    if case is None:
        raise UsageError(f"{script}: no case {chosen!r} (known: {', '.join(cases)})")
    label = session or case.sessions()[0]
    if label not in case.sessions():
        raise UsageError(f"{script}: no session {label!r} (known: {', '.join(case.sessions())})")
    return asyncio.run(serve(case, label, seed=seed, listen=listen, port=port, say=click.echo))
