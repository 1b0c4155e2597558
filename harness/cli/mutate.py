"""`loudgate mutate`: the campaign."""

from __future__ import annotations

from typing import Any

import click

from harness.cli.run import available, shared_options, start
from harness.mutation import campaign
from harness.plugin import TESTS
from harness.scenario import catalog
from harness.stack.engines import store_of
from harness.verdict import Exit


@click.command()
@click.argument("select", nargs=-1)
@click.option("--fresh", is_flag=True, help="Try every mutant again, also those whose outcome is known.")
@shared_options
def mutate(select: tuple[str, ...], **options: Any) -> int:
    """Take each check away and see that the run notices.

    Every mutant is one change to a copy of the reference stack; its cases are played on it, and the check it names must go red.
    SELECT is an id prefix or a glob (see `loudgate list --kind mutants`); none is all of them, and only then the report can say
    which checks are unproven. What an earlier campaign has found out about the same content is not tried again.
    """
    if not available(options):
        return Exit.ACCEPTED
    store = store_of(options["engine"], options["store"])
    mutants = campaign.planned(select, engine=options["engine"], store=store, cases=catalog.load(options["scenarios"]))
    words = ["--mutation", "only", *(word for pattern in select for word in ("--mutants", pattern))]
    return start(["mutate", *select], TESTS[1:], words, options, items=len(mutants))
