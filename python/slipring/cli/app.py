"""The tree of commands. A command imports what it needs when it runs, so that starting is quick."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from slipring.cli.access_rules import access
from slipring.cli.alarms import alarms
from slipring.cli.answer import answer
from slipring.cli.audit import audit
from slipring.cli.completion import completion
from slipring.cli.config_commands import config
from slipring.cli.console_access import ConsoleAccess
from slipring.cli.declare import declare
from slipring.cli.dictionary import dictionary
from slipring.cli.discover import discover
from slipring.cli.doctor import doctor
from slipring.cli.export import export
from slipring.cli.import_ import import_
from slipring.cli.journal import journal
from slipring.cli.log_levels import log_levels
from slipring.cli.login import login, logout
from slipring.cli.memory import memory
from slipring.cli.option_sets import option_sets
from slipring.cli.password import password
from slipring.cli.ping import ping
from slipring.cli.pipeline import pipeline
from slipring.cli.plot import plot
from slipring.cli.publish import publish
from slipring.cli.query import query
from slipring.cli.replay import replay
from slipring.cli.request import request
from slipring.cli.service import service
from slipring.cli.sessions import clients, sessions
from slipring.cli.stream import stream
from slipring.cli.subscribe import subscribe
from slipring.cli.table import table
from slipring.cli.token import token
from slipring.cli.top import top
from slipring.cli.watch_requests import requests, subscribers

app: typer.Typer = typer.Typer(
    name="slipring",
    help="Telemetry from machines that move to people who stand still, live and on into a lake.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.add_typer(pipeline, name="pipeline")
app.add_typer(journal, name="journal")
app.add_typer(dictionary, name="dictionary")
app.add_typer(stream, name="stream")
app.add_typer(access, name="access")
app.add_typer(sessions, name="sessions")
app.add_typer(alarms, name="alarms")
app.add_typer(clients, name="clients")
app.add_typer(token, name="token")
app.add_typer(service, name="service")
app.add_typer(config, name="config")


def _version(wanted: bool) -> None:
    if wanted:
        from slipring import __version__

        typer.echo(f"slipring {__version__}")
        raise typer.Exit


@app.callback()
def slipring(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Telemetry from machines that move to people who stand still, live and on into a lake."""


@app.command()
def serve(
    mqtt: Annotated[
        str | None,
        typer.Option(
            help="HOST:PORT for MQTT; port 0 picks a free one.", show_default="127.0.0.1:1883"
        ),
    ] = None,
    console: Annotated[
        str | None,
        typer.Option(help="HOST:PORT of the console, or `off`.", show_default="127.0.0.1:8080"),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the journal.", show_default="slipring-data")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file; `slipring config` prints one.")
    ] = None,
) -> None:
    """Start one broker, until Ctrl-C or SIGTERM.

    Once it accepts connections it prints one line on standard output:

        slipring ready mqtt=127.0.0.1:1883 console=http://127.0.0.1:8080

    For example:

        slipring serve

        slipring serve --mqtt 127.0.0.1:0 --console off --data /tmp/try

        slipring serve --config broker.toml

    `kill -HUP` makes it read the file again: what can change while it runs changes at once, and the
    log names what needs a restart. A file with a mistake changes nothing. Without --config, SIGHUP
    ends the broker.
    """
    from slipring.cli.serve import run_serve

    run_serve(config, mqtt=mqtt, console=console, data=data)


@app.command()
@option_sets({"access": ConsoleAccess})
def status(
    place: Annotated[
        str | None,
        typer.Argument(metavar="CONSOLE", help="Address of the console; the same as --console."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Everything that the console shows, as JSON.")
    ] = False,
    *,
    access: ConsoleAccess,
) -> None:
    """Show a running broker: clients, rates, limits that were reached, the journal.

    For example:

        slipring status

        slipring status http://127.0.0.1:8080 --json | jq .limits
    """
    from slipring.cli.status import run_status

    run_status(access if place is None else replace(access, console=place), as_json=as_json)


app.command("memory")(memory)
app.command("audit")(audit)
app.command("discover")(discover)
app.command("log")(log_levels)
app.command("doctor")(doctor)
app.command("ping")(ping)
app.command("pub")(publish)
app.command("sub")(subscribe)
app.command("request")(request)
app.command("answer")(answer)
app.command("requests")(requests)
app.command("subscribers")(subscribers)
app.command("table")(table)
app.command("top")(top)
app.command("export")(export)
app.command("import")(import_)
app.command("replay")(replay)
app.command("query")(query)
app.command("plot")(plot)
app.command("declare")(declare)
app.command("completion")(completion)
app.command("password")(password)
app.command("login")(login)
app.command("logout")(logout)


@app.command()
def demo(
    data: Annotated[
        Path, typer.Option(help="Folder of journal and lake; a second run continues it.")
    ] = Path("demo-data"),
    mqtt: Annotated[str, typer.Option(help="HOST:PORT for MQTT.")] = "127.0.0.1:1883",
    console: Annotated[str, typer.Option(help="HOST:PORT of the console.")] = "127.0.0.1:8080",
    seconds: Annotated[
        float | None, typer.Option(min=1, help="End after this many seconds of flight.")
    ] = None,
    keep_bytes: Annotated[
        int, typer.Option(min=1, help="The size of the lake; the oldest files are removed.")
    ] = 4_000_000_000,
) -> None:
    """Run everything with a simulated jet: broker, console, clients, pipeline, lake.

    A port that is taken is replaced by a free one. Without Spark or Java it runs without a lake.
    The lake keeps its newest 4 GB, the journal 2 GB; it ends when the disk has less than 5 GB free.

    For example:

        slipring demo

        slipring demo --seconds 60 --data /tmp/demo
    """
    typer.echo("slipring demo: starting the broker, the jet and the pipeline ...")
    from slipring.demo import run_demo

    run_demo(data, mqtt=mqtt, console=console, seconds=seconds, keep_bytes=keep_bytes)
