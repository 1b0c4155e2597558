"""`loudgate`: the group of commands, and the one place where an exception becomes an exit code."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

import click

from harness.cli import inspect, model, mutate, run, stack
from harness.errors import LoudgateError
from harness.verdict import Exit

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="loudgate")
def main() -> None:
    """Prove what an agent host does with subtly wrong tool calls, from independent witnesses, on a real stack.

    \b
    loudgate run                     everything, on the embedded engine
    loudgate run unicode/negative    one area (or an id prefix, or a glob)
    loudgate mutate                  take each check away, and see that the run notices
    loudgate list                    what there is
    loudgate judge LEDGER            judge a stored ledger again

    Exit status: 0 accepted, 1 rejected, 2 usage or environment error, 3 incomplete, 130 interrupted.
    """


for command in (run.run, mutate.mutate, inspect.list_, inspect.judge, inspect.doctor, stack.stack, model.model):
    main.add_command(command)


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    """Ctrl-C or SIGTERM, once: the second one would interrupt the cleaning up that the first one asked for."""
    for number in SIGNALS:
        signal.signal(number, _patience)
    raise KeyboardInterrupt


def _patience(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"loudgate: stopping what was started; this takes a few seconds\n")


def entry() -> None:
    """The console script."""
    for number in SIGNALS:
        signal.signal(number, _interrupted)
    try:
        status = main.main(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        status = Exit.USAGE
    except click.ClickException as error:
        click.echo(f"loudgate: {error.format_message()} (see --help)", err=True)
        status = Exit.USAGE
    except LoudgateError as error:
        for line in str(error).splitlines():
            click.echo(f"loudgate: {line}", err=True)
        status = Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("loudgate: interrupted", err=True)
        status = Exit.INTERRUPTED
    sys.exit(int(status or 0))
