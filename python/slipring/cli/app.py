"""The tree of commands. What a command needs is imported when it runs, so starting is quick."""

from pathlib import Path
from typing import Annotated

import typer

from slipring.cli.declare import declare
from slipring.cli.dictionary import dictionary
from slipring.cli.discover import discover
from slipring.cli.export import export
from slipring.cli.import_ import import_
from slipring.cli.journal import journal
from slipring.cli.ping import ping
from slipring.cli.publish import publish
from slipring.cli.replay import replay
from slipring.cli.sessions import clients, sessions
from slipring.cli.stream import stream
from slipring.cli.subscribe import subscribe
from slipring.cli.table import table

app = typer.Typer(
    name="slipring",
    help="Telemetry from machines that move to people who stand still, live and on into a lake.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
pipeline = typer.Typer(
    help="From the journal to a lake of tables, through Spark.", no_args_is_help=True
)
app.add_typer(pipeline, name="pipeline")
app.add_typer(journal, name="journal")
app.add_typer(dictionary, name="dictionary")
app.add_typer(stream, name="stream")
app.add_typer(sessions, name="sessions")
app.add_typer(clients, name="clients")


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
        str | None, typer.Option(help="HOST:PORT for MQTT; port 0 picks a free one.")
    ] = None,
    console: Annotated[str | None, typer.Option(help="HOST:PORT of the console, or `off`.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of the journal.")] = None,
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

    `kill -HUP` makes it read the file again: what can change while running holds at once, and the
    log names what needs a restart. A file with a mistake changes nothing. Without --config there is
    nothing to read, and SIGHUP ends it.
    """
    from slipring.cli.serve import run_serve

    run_serve(config, mqtt=mqtt, console=console, data=data)


@app.command()
def status(
    console: Annotated[
        str, typer.Argument(help="Address of the console, as `slipring serve` prints it.")
    ] = "http://127.0.0.1:8080",
    as_json: Annotated[
        bool, typer.Option("--json", help="Everything the console tells, as JSON.")
    ] = False,
) -> None:
    """Show a running broker: clients, rates, limits that were reached, the journal.

    For example:

        slipring status

        slipring status http://127.0.0.1:8080 --json | jq .limits
    """
    from slipring.cli.status import run_status

    run_status(console, as_json=as_json)


app.command("discover")(discover)
app.command("ping")(ping)
app.command("pub")(publish)
app.command("sub")(subscribe)
app.command("table")(table)
app.command("export")(export)
app.command("import")(import_)
app.command("replay")(replay)
app.command("declare")(declare)


@app.command()
def config(
    check: Annotated[
        Path | None, typer.Option(help="Check this file instead, and say what is wrong.")
    ] = None,
) -> None:
    """Print a config file with every key, its default and what it means; or check one.

    For example:

        slipring config > broker.toml

        slipring config --check broker.toml
    """
    from slipring.cli.config import run_config

    run_config(check)


@app.command()
def password(
    iterations: Annotated[
        int,
        typer.Option(min=4_096, max=1_000_000, help="More make guessing, and checking, slower."),
    ] = 4_096,
) -> None:
    """Ask for a password, and print the line that stands for it in the config file.

    What is printed is enough to check the password, but is not the password. A program writes
    it to standard input instead of being asked.

    For example:

        slipring password

        pass show broker/gripen | slipring password
    """
    from slipring.cli.password import run_password

    run_password(iterations)


@pipeline.command("run")
def pipeline_run(  # noqa: PLR0913, PLR0917 (an option each)
    data: Annotated[Path, typer.Option(help="Folder of the broker, holding its journal.")] = Path(
        "slipring-data"
    ),
    lake: Annotated[
        Path | None, typer.Option(help="Folder of the lake; by default `lake` beside the journal.")
    ] = None,
    trigger_ms: Annotated[int, typer.Option(min=1, help="Milliseconds between two batches.")] = 500,
    once: Annotated[bool, typer.Option(help="Take what is there, then end.")] = False,
    master: Annotated[str, typer.Option(help="The Spark master.")] = "local[2]",
    consumer: Annotated[
        str, typer.Option(help="Name under which the journal keeps what is unread; one per lake.")
    ] = "lake",
    keep_bytes: Annotated[
        int | None,
        typer.Option(min=1, help="Keep the newest messages only: beyond it the oldest files go."),
    ] = None,
    broker: Annotated[
        str | None,
        typer.Option(
            help="Read the journal from this broker instead: mqtt://host:port or mqtts://."
        ),
    ] = None,
    user: Annotated[
        str | None, typer.Option(help="Your name there; SLIPRING_PASSWORD has the password.")
    ] = None,
    ca: Annotated[
        str | None, typer.Option(help="Authorities that may have signed its certificate (PEM).")
    ] = None,
) -> None:
    """Stream the journal into the Delta table `messages` of a lake, exactly once.

    It goes on where it stopped, however it was stopped. Ctrl-C and SIGTERM end it after the
    batch at hand.

    For example:

        slipring pipeline run

        slipring pipeline run --data /var/lib/slipring --lake /srv/lake --once

        slipring pipeline run --broker mqtts://broker.example --user lake --lake /srv/lake
    """
    from slipring.cli.pipeline import journal_at, run_pipeline
    from slipring.cli.places import check_named

    if broker is None:
        check_named(data, "slipring pipeline run --data")

    run_pipeline(
        journal_at(data, broker, user, ca),
        lake or data / "lake",
        trigger_ms=trigger_ms,
        once=once,
        master=master,
        consumer=consumer,
        keep_bytes=keep_bytes,
    )


@app.command()
def demo(
    data: Annotated[
        Path, typer.Option(help="Folder of journal and lake; a second run goes on from it.")
    ] = Path("demo-data"),
    mqtt: Annotated[str, typer.Option(help="HOST:PORT for MQTT.")] = "127.0.0.1:1883",
    console: Annotated[str, typer.Option(help="HOST:PORT of the console.")] = "127.0.0.1:8080",
    seconds: Annotated[
        float | None, typer.Option(min=1, help="End by itself after so much flight.")
    ] = None,
    keep_bytes: Annotated[
        int, typer.Option(min=1, help="Keep the newest messages only: so many bytes of the lake.")
    ] = 4_000_000_000,
) -> None:
    """Run everything with a simulated jet: broker, console, clients, pipeline, lake.

    A port that is taken is replaced by a free one. Where Spark or Java is not installed, it flies
    without a lake. The lake keeps its newest 4 GB, the journal
    2 GB; a disk with less than 5 GB of room ends it.

    For example:

        slipring demo

        slipring demo --seconds 60 --data /tmp/demo
    """
    typer.echo("slipring demo: starting the broker, the jet and the pipeline ...")
    from slipring.demo import run_demo

    run_demo(data, mqtt=mqtt, console=console, seconds=seconds, keep_bytes=keep_bytes)
