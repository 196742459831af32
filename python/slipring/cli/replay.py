"""`slipring replay`: parse, play, say what came of it."""

import asyncio
import contextlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.cli import interrupt
from slipring.cli.access import Access, reaching
from slipring.cli.display import counted
from slipring.cli.places import Filters, From, To, recording
from slipring.cli.progress import Shown
from slipring.errors import RecordingError, SlipringError

if TYPE_CHECKING:
    from slipring.client import Bus, Publisher
    from slipring.recording.journal import Recording
    from slipring.recording.replay import Played, Replay

FLUSH_S = 10.0
"""How long a replay that is broken off waits for the broker's last acknowledgements."""


@reaching
def replay(  # noqa: PLR0913 (each is an option)
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="Folder of a journal, or of its broker.")
    ] = Path("slipring-data"),
    *,
    first: From = None,
    last: To = None,
    speed: Annotated[
        str, typer.Option(metavar="SPEED", help="1 is as recorded, 10 ten times as fast, or max.")
    ] = "1",
    filters: Filters = None,
    to_topic: Annotated[
        str,
        typer.Option(metavar="TOPIC", help="Where to; {topic} stands for the recorded topic."),
    ] = "{topic}",
    loop: Annotated[bool, typer.Option("--loop", help="Play it again and again.")] = False,
    access: Access,
) -> None:
    """Play recorded messages back into a broker, with their original timing.

    Order, QoS, retain flag and properties are as recorded. A message that is late is sent at once,
    and makes none behind it late.

    For example:

        slipring replay --from -10m --to-topic 'replay/{topic}'

        slipring replay old-flight --speed 10 --filter 'gripen/+/engine/#' --url mqtt://lab:1883

        slipring replay slipring-data --from @1200 --to @9000 --speed max
    """
    played = _Playing(access, _speed(speed), to_topic, loop=loop)
    interrupt.run(played.run(recording(source, first, last, filters)))


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


class _Playing:
    """One run of the command."""

    def __init__(self, access: Access, speed: float | None, to_topic: str, *, loop: bool) -> None:
        self._access = access
        self._speed = speed
        self._to_topic = to_topic
        self._loop = loop

    async def run(self, recorded: "Recording") -> None:
        self._warn(recorded)
        async with self._access.connect() as bus, bus.publisher() as publisher:
            with Shown("replaying", len(recorded)) as shown:
                replay = self._replay(recorded, publisher, shown)
                try:
                    await self._play(replay, bus, publisher)
                except SlipringError as error:
                    rest = _summary(replay.played, publisher)
                    raise RecordingError(f"{error}; {rest}") from None
                except asyncio.CancelledError:
                    with contextlib.suppress(SlipringError, TimeoutError):
                        async with asyncio.timeout(FLUSH_S):
                            await publisher.flush()
                    shown.note(f"interrupted: {_summary(replay.played, publisher)}")
                    raise
            print(_summary(replay.played, publisher))
        _tell_damage(replay.played)

    async def _play(self, replay: "Replay", bus: "Bus", publisher: "Publisher") -> None:
        await replay.run(loop=self._loop)
        await publisher.flush()
        # Behind all that was sent at QoS 0: the broker has read it when it answers.
        await bus.ping()

    def _replay(self, recorded: "Recording", publisher: "Publisher", shown: Shown) -> "Replay":
        from slipring.recording.replay import Monotonic, Replay

        return Replay(
            recorded,
            publisher,
            Monotonic(),
            speed=self._speed,
            to_topic=self._to_topic,
            on_progress=lambda messages, end: shown.tell(messages, end - recorded.start),
        )

    def _warn(self, recorded: "Recording") -> None:
        from slipring.recording.holder import is_open_for_writing
        from slipring.recording.replay import feeds_itself

        folder = recorded.folder
        if folder and is_open_for_writing(folder) and feeds_itself(recorded, self._to_topic):
            print(
                f"slipring: a broker has {folder} open: if it is {self._access.url}, it "
                "records again what is replayed, under topics that this replay chooses from; "
                "give --to-topic 'replay/{topic}' and a --filter to keep them apart",
                file=sys.stderr,
            )


def _summary(played: "Played", publisher: "Publisher") -> str:
    now_ns = time.monotonic_ns()
    seconds = (now_ns - (played.began_ns or now_ns)) / 1e9
    recorded_s = played.recorded_ns / 1e9
    return (
        f"{counted(publisher.accepted, 'message')} in {seconds:,.1f} s: {recorded_s:,.1f} s of "
        f"recorded time, {recorded_s / max(seconds, 1e-9):,.1f} times real time; "
        f"{publisher.outstanding:,} not acknowledged"
    )


def _tell_damage(played: "Played") -> None:
    for damage in played.damaged:
        print(f"slipring: left out: {damage}", file=sys.stderr)
    if played.damaged:
        raise typer.Exit(1)
