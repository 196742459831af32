"""`slipring replay`: parse, play, print a summary."""

import asyncio
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.cli import interrupt
from slipring.cli.access import Access, with_access
from slipring.cli.display import counted
from slipring.cli.export_samples import skipped_words
from slipring.cli.progress import ProgressDisplay
from slipring.cli.recording_range import DATA, Filters, From, To, check_named, recording
from slipring.cli.replay_rights import SentPieces
from slipring.errors import PublishRefused, RecordingError, SlipringError

if TYPE_CHECKING:
    import pyarrow as pa

    from slipring.client import Bus, Publisher
    from slipring.recording.history.translation import Translation
    from slipring.recording.recording import Piece, Recording
    from slipring.recording.replay import Prepare, Replay, ReplayProgress


@with_access
def replay(  # noqa: PLR0913 (each is an option)
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="Folder of a journal, or of its broker.")
    ] = DATA,
    *,
    first: From = None,
    last: To = None,
    speed: Annotated[
        str, typer.Option(metavar="SPEED", help="1 is as recorded, 10 ten times as fast, or max.")
    ] = "1",
    filters: Filters = None,
    to_topic: Annotated[
        str,
        typer.Option(metavar="TOPIC", help="Send to this topic; {topic} is the recorded one."),
    ] = "{topic}",
    loop: Annotated[bool, typer.Option("--loop", help="Play it again and again.")] = False,
    access: Access,
) -> None:
    """Play recorded messages back into a broker, with their original timing.

    Order, QoS, retain flag and properties are as recorded. A late message is sent at once, and
    delays none after it. Parameters and streams are declared as they were recorded; --filter and
    --to-topic apply to their names too. Where the broker asks for rights, it takes the right replay
    on the topics, instead of publish.

    For example:

        slipring replay --from -10m --to-topic 'replay/{topic}'

        slipring replay old-flight --speed 10 --filter 'gripen/+/engine/#' --url mqtt://lab:1883

        slipring replay slipring-data --from @1200 --to @9000 --speed max
    """
    check_named(source, "slipring replay")
    played = _Playing(access, _speed(speed), to_topic, tuple(filters or ()), loop)
    interrupt.run(played.run(recording(source, first, last, None)))


def _speed(text: str) -> float | None:
    if text == "max":
        return None
    try:
        speed = float(text)
    except ValueError:
        speed = 0
    if not 0 < speed < float("inf"):
        raise typer.BadParameter(f"a speed is a number above 0, or max; {text!r} is neither")
    return speed


@dataclass(frozen=True)
class _Playing:
    """One run of the command."""

    access: Access
    speed: float | None
    to_topic: str
    filters: tuple[str, ...]
    loop: bool

    async def run(self, recorded: "Recording") -> None:
        from slipring.recording.importing import flushed_when_interrupted

        connecting = self.access.connect(replaying=True)
        async with connecting as bus, bus.publisher() as publisher:
            translation = self._translation(recorded, bus)
            sent = SentPieces(lambda: publisher.settled)
            self._warn(recorded, translation)
            with ProgressDisplay("replaying", len(recorded)) as shown:
                replay = self._replay(recorded, publisher, _prepare(translation, sent), shown)
                told = partial(_summary, replay.played, publisher, translation)
                try:
                    async with flushed_when_interrupted(publisher):
                        await self._play(replay, bus, publisher)
                except PublishRefused as error:
                    missing = sent.missing(error, self.access.who(), translation.declared)
                    raise RecordingError(f"{error}{missing}; {told(refused=True)}") from None
                except SlipringError as error:
                    raise RecordingError(f"{error}; {told()}") from None
                except asyncio.CancelledError:
                    shown.note(f"interrupted: {told()}")
                    raise
            self._refuse_nothing(recorded, replay.played)
            print(told())
        _tell_flaws(replay.played, translation)

    async def _play(self, replay: "Replay", bus: "Bus", publisher: "Publisher") -> None:
        await replay.run(loop=self.loop)
        await publisher.flush()
        # When the broker answers a ping, it has read all messages sent at QoS 0 before it.
        await bus.ping()

    def _translation(self, recorded: "Recording", bus: "Bus") -> "Translation":
        from slipring.recording.history.read.definitions import of_journal
        from slipring.recording.history.translation import Translation
        from slipring.recording.history.write.broker_declarations import BrokerDeclarations
        from slipring.recording.message_columns import check_filters

        check_filters(self.filters)
        assert recorded.folder is not None, "a replay is of a folder"
        return Translation(
            recorded,
            of_journal(recorded.folder),
            BrokerDeclarations(bus),
            filters=self.filters,
            to_topic=self.to_topic,
        )

    def _replay(
        self,
        recorded: "Recording",
        publisher: "Publisher",
        prepare: "Prepare",
        shown: ProgressDisplay,
    ) -> "Replay":
        from slipring.recording.replay import MonotonicClock, Replay

        return Replay(
            recorded,
            publisher,
            MonotonicClock(),
            speed=self.speed,
            prepare=prepare,
            on_progress=lambda messages, end: shown.tell(messages, end - recorded.start),
        )

    def _warn(self, recorded: "Recording", translation: "Translation") -> None:
        from slipring.journal.writer_lock import is_open_for_writing

        folder = recorded.folder
        if folder and is_open_for_writing(folder) and translation.feeds_itself():
            print(
                f"slipring: a broker has {folder} open: if it is {self.access.url}, it "
                "records the replayed messages again, under topics that this replay takes; "
                "give --to-topic 'replay/{topic}' and a --filter to keep them apart",
                file=sys.stderr,
            )

    def _refuse_nothing(self, recorded: "Recording", played: "ReplayProgress") -> None:
        """Raise if the filters match nothing: that is a mistake."""
        if self.filters and not played.messages:
            raise RecordingError(
                f"nothing in {recorded.name} from offset {recorded.start} to {recorded.end} "
                f"matches {' or '.join(map(repr, self.filters))}: neither a topic nor a parameter"
            )


def _prepare(translation: "Translation", sent: SentPieces) -> "Prepare":
    """Translates the pieces, and remembers what is sent."""

    async def prepare(piece: "Piece") -> "pa.RecordBatch":
        rows = await translation.messages(piece)
        sent.add(rows)
        return rows

    return prepare


def _summary(
    played: "ReplayProgress",
    publisher: "Publisher",
    translation: "Translation",
    *,
    refused: bool = False,
) -> str:
    now_ns = time.monotonic_ns()
    seconds = (now_ns - (played.began_ns or now_ns)) / 1e9
    recorded_s = played.recorded_ns / 1e9
    messages = counted(publisher.accepted, "message")
    if translation.samples:
        parameters = counted(len(translation.declared), "parameter")
        messages += f" with {counted(translation.samples, 'sample')} of {parameters}"
    lost = f"{publisher.outstanding + refused:,}"
    return (
        f"{messages} in {seconds:,.1f} s: {recorded_s:,.1f} s of "
        f"recorded time, {recorded_s / max(seconds, 1e-9):,.1f} times real time; "
        f"{f'at least {lost}' if refused else lost} not acknowledged"
    )


def _tell_flaws(played: "ReplayProgress", translation: "Translation") -> None:
    """List what could not be played; the exit code is then 1."""
    flaws = [*map(str, played.damaged), *skipped_words(translation.skipped)]
    for flaw in flaws:
        print(f"slipring: left out: {flaw}", file=sys.stderr)
    if flaws:
        raise typer.Exit(1)
