"""`slipring sub`: parse, subscribe, print. Decides nothing about messages."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from slipring.cli import display
from slipring.cli.access import Access, reaching
from slipring.client.connecting import Connecting
from slipring.model import Message


class Format(StrEnum):
    """How a message is printed."""

    TEXT = "text"
    JSON = "json"
    PAYLOAD = "payload"


@reaching
def subscribe(
    filters: Annotated[
        list[str],
        typer.Argument(
            metavar="FILTER", help="Topic filters, such as 'gripen/#' or '+/+/engine/rpm'."
        ),
    ],
    count: Annotated[int | None, typer.Option(min=1, help="End after so many messages.")] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="text: topic and payload; json: one object a line; payload: the payload alone.",
        ),
    ] = Format.TEXT,
    *,
    access: Access,
) -> None:
    """Print the messages that match one of the filters, one on each line. Ctrl-C ends.

    For example:

    slipring sub 'gripen/#'

    slipring sub --format json --count 10 '+/+/engine/rpm' 'site/log'

    slipring sub --format payload site/log > log.txt

    SLIPRING_USER=ground slipring sub --url unix:/run/slipring.sock --password-file secret '#'
    """
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_subscribe(access.connect(), filters, count, _line(form)))


def _line(form: Format) -> Callable[[Message], bytes]:
    if form is Format.JSON:
        return display.as_json
    if form is Format.TEXT:
        return display.as_text
    return display.as_safe_payload if sys.stdout.isatty() else display.as_payload


async def _subscribe(
    connecting: Connecting,
    filters: list[str],
    count: int | None,
    line: Callable[[Message], bytes],
) -> None:
    async with connecting as bus, bus.subscribe(*filters) as messages:
        async for batch in messages.batches():
            shown = batch if count is None else batch[:count]
            if not _print(b"".join(map(line, shown))):
                return
            if count is not None:
                count -= len(shown)
                if count == 0:
                    return


def _print(lines: bytes) -> bool:
    """False once nobody reads the output any more (`slipring sub ... | head`)."""
    try:
        _write(lines)
    except BrokenPipeError:
        # What is still buffered would fail again when Python flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _write(lines: bytes) -> None:
    """All of it: where Python runs unbuffered, one call may write a part only."""
    rest = memoryview(lines)
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()
