"""`slipring stream ...`: lists streams, reads one to a file, writes standard input to one."""

import contextlib
import json
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.cli import interrupt
from slipring.cli.access import Access, with_access
from slipring.cli.display import counted, size, write_all
from slipring.cli.input_lines import reads

if TYPE_CHECKING:
    from slipring.client.connecting import Connecting

Filter = Annotated[str, typer.Argument(metavar="FILTER", help="Such as 'gripen/+/cockpit/sound'.")]

stream: typer.Typer = typer.Typer(
    help="Streams of bytes, such as sound: list, read, write.", no_args_is_help=True
)


@stream.command("list")
@with_access
def list_(
    topic_filter: Filter = "#",
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object in each line.")] = False,
    access: Access,
) -> None:
    """Show the streams of a broker.

    For example:

        slipring stream list

        slipring stream list 'gripen/#' --url mqtts://broker.example --user ground

        slipring stream list --json | jq -r 'select(.live) | .name'
    """
    interrupt.run(_list(access.connect(), topic_filter, as_json=as_json))


@stream.command()
@with_access
def read(
    topic_filter: Filter,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A file; without it, or with -, standard output."),
    ] = None,
    newest: Annotated[
        bool, typer.Option("--newest", help="Begin with the next chunk, not with the buffer.")
    ] = False,
    count: Annotated[int | None, typer.Option(min=1, help="End after this many chunks.")] = None,
    access: Access,
) -> None:
    """Write the bytes of the streams that match, as they come. Ctrl-C ends.

    Missed chunks are counted on standard error.

    For example:

        slipring stream read gripen/39-7/cockpit/sound | aplay -r 48000 -f S16_LE

        slipring stream read gripen/39-7/cockpit/sound --newest -o sound.pcm
    """
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        interrupt.run(_read(access.connect(), topic_filter, newest, count, output))


@stream.command()
@with_access
def write(
    name: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic of the stream.")],
    *,
    media: Annotated[str, typer.Option(help="The media type: 'audio/pcm;rate=48000'.")],
    chunk_bytes: Annotated[
        int, typer.Option(min=1, max=1 << 24, help="Bytes of a chunk, at most.")
    ] = 16 << 10,
    buffer_bytes: Annotated[
        int | None, typer.Option(min=1, help="Size of the broker's buffer for the newest chunks.")
    ] = None,
    description: Annotated[str | None, typer.Option(help="A description for people.")] = None,
    access: Access,
) -> None:
    """Declare a stream, and write standard input into it as it comes. Ctrl-C ends.

    For example:

        arecord -r 48000 -f S16_LE | slipring stream write gripen/39-7/cockpit/sound \
--media 'audio/pcm;rate=48000'
    """
    definition = {"media": media, "buffer_bytes": buffer_bytes, "description": description}
    with contextlib.suppress(KeyboardInterrupt):
        interrupt.run(_write(access.connect(), name, definition, chunk_bytes))


async def _list(connecting: "Connecting", topic_filter: str, *, as_json: bool) -> None:
    from slipring.cli.terminal_table import plain, show, table

    async with connecting as bus:
        found = await bus.streams(topic_filter)
    if as_json:
        for one in found:
            print(json.dumps(asdict(one)))
        return
    if not found:
        print("no streams", "yet" if topic_filter == "#" else "match", file=sys.stderr)
        return
    shown = table("stream", "media", "+chunks", "+kept", "+buffer", "published", "description")
    for one in found:
        live = "now" if one.live else "no"
        figures = (str(one.next), size(one.bytes), size(one.buffer_bytes), live)
        shown.add_row(plain(one.name), plain(one.media), *figures, plain(one.description or ""))
    show(shown)


async def _read(
    connecting: "Connecting",
    topic_filter: str,
    newest: bool,
    count: int | None,
    output: Path | None,
) -> None:
    with ExitStack() as stack:
        if output in (None, Path("-")):
            target = sys.stdout.fileno()
        else:
            target = stack.enter_context(output.open("wb", buffering=0)).fileno()
        async with connecting as bus, bus.stream(topic_filter, newest=newest) as chunks:
            async for chunk in chunks:
                if chunk.lost:
                    missed = counted(chunk.lost, "chunk")
                    print(f"slipring: missed {missed} of {chunk.topic}", file=sys.stderr)
                write_all(target, chunk.payload)
                count = None if count is None else count - 1
                if count == 0:
                    return


async def _write(
    connecting: "Connecting", name: str, definition: dict[str, str | int | None], chunk_bytes: int
) -> None:
    given = {key: value for key, value in definition.items() if value is not None}
    async with connecting as bus:
        writer = await bus.declare_stream(name, qos=1, **given)  # type: ignore[arg-type]
        async for chunk in _chunks(reads(sys.stdin.fileno()), chunk_bytes):
            await writer.write(chunk)


async def _chunks(parts: AsyncIterator[bytes], most: int) -> AsyncIterator[bytes]:
    async for part in parts:
        for start in range(0, len(part), most):
            yield part[start : start + most]
