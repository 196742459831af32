"""`slipring pub`: parses options, and publishes."""

import asyncio
import math
import sys
from pathlib import Path
from typing import Annotated

import typer

from slipring.cli.access import Access, with_access
from slipring.cli.input_lines import lines
from slipring.client.connecting import Connecting
from slipring.errors import Refused
from slipring.model import Message

PATIENCE_S = 30.0
"""How long one message waits for a lost broker; lines of standard input wait for ever."""


@with_access
def publish(  # noqa: PLR0913 (typer reads the options from the signature)
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Such as gripen/39-7/engine/rpm.")],
    message: Annotated[
        str | None,
        typer.Argument(
            metavar="MESSAGE",
            help="The payload. Without it, or with -, each line of standard input is a message.",
        ),
    ] = None,
    *,
    file: Annotated[
        Path | None,
        typer.Option(help="Publish this file as one message.", exists=True, dir_okay=False),
    ] = None,
    qos: Annotated[
        int,
        typer.Option(min=0, max=2, help="1: at least once; 2: exactly once; 0: no answer."),
    ] = 1,
    retain: Annotated[
        bool, typer.Option("--retain", help="The broker keeps it for later subscribers.")
    ] = False,
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME=VALUE", help="A user property; may be repeated."),
    ] = None,
    expiry: Annotated[
        int | None, typer.Option(min=0, help="Seconds after which it expires.")
    ] = None,
    content_type: Annotated[str | None, typer.Option(help="The media type of the payload.")] = None,
    response_topic: Annotated[str | None, typer.Option(help="The topic for an answer.")] = None,
    access: Access,
) -> None:
    """Publish messages to a topic.

    It ends when the broker has acknowledged them all. A message that the broker refuses is an
    error, such as text for a parameter that is a number. With --qos 0 there are no answers.

    For example:

        slipring pub gripen/39-7/engine/rpm 12034.5

        slipring pub --retain --property unit=rpm --expiry 60 gripen/39-7/engine/rpm 12034.5

        tail -f log.txt | slipring pub site/log

        slipring pub maps/tile --file tile.png --content-type image/png

        slipring pub site/log hello --url mqtts://broker.example --user gripen --ca ca.pem
    """
    if file is not None and message is not None:
        raise typer.BadParameter("give MESSAGE or --file, not both")
    payload = _contents(file) if file is not None else _payload(message)
    pairs = tuple(map(_pair, properties or ()))
    sample = Message(
        topic, payload or b"", retain, pairs, qos, content_type, response_topic, None, expiry
    )
    patience_s = PATIENCE_S if payload is not None else math.inf
    asyncio.run(_publish(access.connect(reconnect_s=patience_s), sample, payload is None))


def _contents(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise Refused(f"cannot read {file}: {error.strerror}") from None


def _payload(message: str | None) -> bytes | None:
    """The bytes of the argument; None if lines are to be read."""
    if message is None or message == "-":
        return None
    return message.encode("utf-8", "surrogateescape")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--property")
    return name, value


async def _publish(connecting: Connecting, sample: Message, by_line: bool) -> None:
    async with connecting as bus, bus.publisher(qos=sample.qos) as publisher:
        if not by_line:
            await publisher.send([sample])
            return
        if sys.stdin.isatty():
            print("slipring: each line is a message; Ctrl-D ends", file=sys.stderr)
        async for line in lines(sys.stdin.fileno()):
            await publisher.send([sample._replace(payload=line)])
