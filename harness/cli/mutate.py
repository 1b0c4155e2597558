"""`loudgate mutate`: the campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli.run import available, shared_options, start
from harness.errors import UsageError
from harness.mutation import campaign
from harness.mutation.external import read_patches, read_target
from harness.plugin import TESTS
from harness.scenario import catalog
from harness.stack.engines import store_of
from harness.verdict import Exit

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command()
@click.argument("select", nargs=-1)
@click.option("--fresh", is_flag=True, help="Try every mutant again, also those whose outcome is known.")
@click.option("--target", "external", type=_FILE, help="Description of a stack of yours, instead of the reference stack.")
@click.option("--patches", type=_FOLDER, help="Folder of unified diffs: the mutants of that stack.")
@shared_options
def mutate(select: tuple[str, ...], **options: Any) -> int:
    """Take each check away and see that the run notices.

    Every mutant is one change to a copy of the reference stack; its cases are played on it, and the check it names must go red.
    SELECT is an id prefix or a glob (see `loudgate list --kind mutants`); none is all of them, and only then the report can say
    which checks are unproven. What an earlier campaign has found out about the same content is not tried again.
    """
    if not available(options):
        return Exit.ACCEPTED
    if (options["external"] is None) != (options["patches"] is None):
        raise UsageError("--target and --patches go together: a stack, and the changes that must be noticed")
    if options["patches"] is not None:
        read_target(options["external"])
        return start(["mutate"], TESTS[1:], ["--mutation", "only"], options, items=len(read_patches(options["patches"])))
    store = store_of(options["engine"], options["store"])
    mutants = campaign.planned(select, engine=options["engine"], store=store, cases=catalog.load(options["scenarios"]))
    words = ["--mutation", "only", *(word for pattern in select for word in ("--mutants", pattern))]
    return start(["mutate", *select], TESTS[1:], words, options, items=len(mutants))
