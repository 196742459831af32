"""`slipring config ...`: the keys of a config file; a check; one of Mosquitto as ours."""

from pathlib import Path
from typing import Annotated

import typer

config: typer.Typer = typer.Typer(invoke_without_command=True)


@config.callback()
def show_config(
    context: typer.Context,
    check: Annotated[Path | None, typer.Option(help="Check this file instead.")] = None,
) -> None:
    """Print a config file with every key, its default and what it means; or check one.

    For example:

        slipring config > broker.toml

        slipring config --check broker.toml

        slipring config import /etc/mosquitto/mosquitto.conf > broker.toml
    """
    from slipring.cli.config import run_config

    if context.invoked_subcommand is None:
        run_config(check)


@config.command("import")
def import_config(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file such as mosquitto.conf.")],
) -> None:
    """Print a config file of Mosquitto as ours, with its users and rules.

    What cannot be taken over is told on standard error, line by line. Passwords cannot be: each
    user gets one that nobody knows, until you put in a line of `slipring password`.

    For example:

        slipring config import /etc/mosquitto/mosquitto.conf > broker.toml

        slipring config --check broker.toml
    """
    from slipring.cli.config_import import run_import

    run_import(file)
