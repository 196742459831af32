"""`slipring pipeline run`: carries the journal into the lake until it is stopped."""

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.cli.recording_range import DATA, check_named
from slipring.journal.location import JournalBroker

if TYPE_CHECKING:
    from slipring.pipeline.destination import LakeCommit

pipeline = typer.Typer(
    help="Carry the journal into a lake of tables, through Spark.", no_args_is_help=True
)


@pipeline.command("run")
def run_pipeline(  # noqa: PLR0913, PLR0917 (an option each)
    data: Annotated[Path, typer.Option(help="Data folder of the broker, with its journal.")] = DATA,
    lake: Annotated[
        Path | None, typer.Option(help="Folder of the lake; by default `lake` in the data folder.")
    ] = None,
    trigger_ms: Annotated[int, typer.Option(min=1, help="Milliseconds between two batches.")] = 500,
    once: Annotated[bool, typer.Option(help="Carry what is there now, then end.")] = False,
    master: Annotated[str, typer.Option(help="The Spark master.")] = "local[2]",
    consumer: Annotated[
        str, typer.Option(help="The name of this lake among the journal's consumers.")
    ] = "lake",
    keep_bytes: Annotated[
        int | None,
        typer.Option(min=1, help="Bound the table: beyond it the oldest files are removed."),
    ] = None,
    broker: Annotated[
        str | None,
        typer.Option(
            help="Read the journal from this broker instead: mqtt://host:port or mqtts://."
        ),
    ] = None,
    user: Annotated[
        str | None, typer.Option(help="Your user name there; the password is in SLIPRING_PASSWORD.")
    ] = None,
    ca: Annotated[
        str | None, typer.Option(help="Certificates of trusted authorities (PEM).")
    ] = None,
) -> None:
    """Stream the journal into the Delta table `messages` of a lake, exactly once.

    It continues where it stopped, however it was stopped. Ctrl-C and SIGTERM end it after the
    current batch.

    For example:

        slipring pipeline run

        slipring pipeline run --data /var/lib/slipring --lake /srv/lake --once

        slipring pipeline run --broker mqtts://broker.example --user lake --lake /srv/lake
    """
    from slipring.pipeline import run

    journal, lake = _journal(data, broker, user, ca), lake or data / "lake"
    source = journal if isinstance(journal, Path) else journal.url
    print(f"slipring pipeline: {source} to {lake}", flush=True)
    run(
        journal,
        lake,
        trigger_ms=trigger_ms,
        once=once,
        master=master,
        stop=_stop_on_signals(),
        on_batch=_tell,
        on_step=lambda step: print(f"  {step}", flush=True),
        consumer=consumer,
        keep_bytes=keep_bytes,
    )


def _journal(
    data: Path, broker: str | None, user: str | None, ca: str | None
) -> Path | JournalBroker:
    """The journal of a folder, or of a broker elsewhere."""
    if broker is None:
        check_named(data, "slipring pipeline run --data")
        return data / "journal"
    given = {"user": user, "ca": ca}
    return JournalBroker.from_options(broker, {name: text for name, text in given.items() if text})


def _stop_on_signals() -> threading.Event:
    """An event that Ctrl-C and SIGTERM set."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _tell(batch: "LakeCommit") -> None:
    counts = [f"{rows:,} {name.replace('_', ' ')}" for name, rows in batch.rows.items() if rows]
    what = ", ".join(counts) or "nothing"
    print(f"  {what} into the lake, up to offset {batch.end:,}", flush=True)
