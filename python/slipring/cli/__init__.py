"""The command line: parse, call, print."""

import sys

import typer

from slipring.cli.publish import publish
from slipring.cli.subscribe import subscribe
from slipring.errors import SlipringError

app = typer.Typer(no_args_is_help=True, add_completion=False)
app.command("pub")(publish)
app.command("sub")(subscribe)


def main() -> None:
    """The `slipring` command."""
    try:
        app()
    except SlipringError as error:
        print(f"slipring: {error}", file=sys.stderr)
        sys.exit(1)
