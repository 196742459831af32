"""`slipring import`: parse, import, and say how far it came, whatever ended it."""

import contextlib
import dataclasses
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.cli import interrupt
from slipring.cli.access import Access
from slipring.cli.display import counted
from slipring.cli.history_options import HistoryOptions
from slipring.cli.import_history import RECONNECT_S, import_history, resume_hint
from slipring.cli.option_sets import option_sets
from slipring.cli.progress import ProgressDisplay

if TYPE_CHECKING:
    from slipring.recording.importing import MessageProgress


@option_sets({"history": HistoryOptions, "access": Access})
def import_(  # noqa: PLR0913 (each is an option, or several)
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Parquet, JSON lines or CSV; - is standard input, JSON lines."
        ),
    ],
    *,
    to: Annotated[
        str | None, typer.Option(metavar="URL", help="The broker to publish to; as --url.")
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Append to this journal instead; no broker may have it open.",
        ),
    ] = None,
    skip: Annotated[
        int, typer.Option(min=0, metavar="ROWS", help="Begin after this many rows of the file.")
    ] = 0,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip rows that are not messages, and count them.")
    ] = False,
    history: HistoryOptions,
    access: Access,
) -> None:
    """Publish the messages or samples of a file to a broker, or append messages to a journal.

    A broker gets them at QoS 1, and those it has acknowledged are counted. A journal gets
    messages with their publishers and receive times. The file needs `topic` and `payload` only.
    After Ctrl-C it says how to continue later.

    A CSV file, or a Parquet file without messages, is a history: a column of source times, and a
    column for each parameter. Its parameters are declared, and its samples published as frames.

    For example:

        slipring import flight.parquet --to mqtt://127.0.0.1:1883

        slipring import flight.jsonl --journal old-flight/journal

        zcat history.jsonl.gz | slipring import - --skip-bad

        slipring import history.csv --prefix gripen/39-7 --dictionary engine.csv
    """
    reached = access if to is None else dataclasses.replace(access, url=to)
    if history.is_asked_of(file):
        if journal is not None or skip_bad:
            raise typer.BadParameter("--journal and --skip-bad are for messages, not a history")
        interrupt.run(import_history(file, history, reached, skip))
    elif journal is None:
        interrupt.run(_into_broker(file, reached, skip=skip, skip_bad=skip_bad))
    elif to is not None:
        raise typer.BadParameter("give --to or --journal, not both")
    else:
        interrupt.also_on_sigterm()
        _into_journal(file, journal, skip=skip, skip_bad=skip_bad)


def _into_journal(path: Path, folder: Path, *, skip: int, skip_bad: bool) -> None:
    from slipring.recording.importing import appended_to, import_to_journal, open_journal
    from slipring.recording.message_file import open_messages

    with open_messages(path) as file, contextlib.closing(open_journal(folder)) as writer:
        progress = appended_to(writer, skip)
        arrived = partial(_arrived, progress, "in the journal")
        with resume_hint(arrived, progress), ProgressDisplay("importing", file.total) as shown:
            batches = file.batches(skip=skip, skip_bad=skip_bad)
            import_to_journal(batches, writer, progress, shown.tell)
    print(_arrived(progress, f"in {folder}"))


async def _into_broker(path: Path, access: Access, *, skip: int, skip_bad: bool) -> None:
    from slipring.recording.importing import MessageProgress, import_to_broker
    from slipring.recording.message_file import open_messages

    with open_messages(path) as file:
        async with access.connect(reconnect_s=RECONNECT_S) as bus:
            publisher = bus.publisher()
            progress = MessageProgress(lambda: publisher.settled, skip)
            arrived = partial(_arrived, progress, "acknowledged")
            with resume_hint(arrived, progress), ProgressDisplay("importing", file.total) as shown:
                batches = interrupt.interruptible(file.batches(skip=skip, skip_bad=skip_bad))
                async with publisher:
                    await import_to_broker(batches, publisher, progress, file.where, shown.tell)
    print(_arrived(progress, f"acknowledged by {access.url}"))


def _arrived(progress: "MessageProgress", where: str) -> str:
    bad = f", {counted(progress.bad, 'bad row')} skipped" if progress.bad else ""
    return f"{counted(progress.messages, 'message')} {where}{bad}"
