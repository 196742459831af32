"""`slipring pub`: parses options, and publishes."""

import asyncio
import math
import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from slipring.cli.access import Access
from slipring.cli.client_options import ClientOptions
from slipring.cli.input_lines import lines
from slipring.cli.option_sets import option_sets
from slipring.cli.payload_options import PayloadOptions, as_bytes
from slipring.client.connecting import Connecting
from slipring.model import Message

PATIENCE_S = 30.0
"""How long one message waits for a lost broker; lines of standard input wait for ever."""


@dataclass(frozen=True)
class _MessageOptions:
    """What a message carries beside its topic and payload."""

    qos: Annotated[
        int,
        typer.Option(
            "--qos", "-q", min=0, max=2, help="1: at least once; 2: exactly once; 0: no answer."
        ),
    ] = 1
    retain: Annotated[
        bool,
        typer.Option("--retain", "-r", help="The broker keeps it for later subscribers."),
    ] = False
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME=VALUE", help="A user property; may be repeated."),
    ] = None
    expiry: Annotated[int | None, typer.Option(min=0, help="Seconds after which it expires.")] = (
        None
    )
    content_type: Annotated[str | None, typer.Option(help="The media type of the payload.")] = None
    response_topic: Annotated[str | None, typer.Option(help="The topic for an answer.")] = None

    def message(self, topic: str, payload: bytes) -> Message:
        """The message."""
        pairs = tuple(map(_pair, self.properties or ()))
        return Message(
            topic,
            payload,
            self.retain,
            pairs,
            self.qos,
            self.content_type,
            self.response_topic,
            None,
            self.expiry,
        )


@option_sets(
    {
        "carried": _MessageOptions,
        "source": PayloadOptions,
        "client": ClientOptions,
        "access": Access,
    }
)
def publish(
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="Such as gripen/39-7/engine/rpm.")
    ] = None,
    message: Annotated[
        str | None,
        typer.Argument(
            metavar="MESSAGE",
            help="The payload. Without it, or with -, each line of standard input is a message.",
        ),
    ] = None,
    *,
    carried: _MessageOptions,
    source: PayloadOptions,
    client: ClientOptions,
    access: Access,
) -> None:
    """Publish messages to a topic.

    It ends when the broker has acknowledged them all. A message that the broker refuses is an
    error, such as text for a parameter that is a number. With --qos 0 there are no answers.

    The short options are those of mosquitto_pub.

    For example:

        slipring pub gripen/39-7/engine/rpm 12034.5

        slipring pub --retain --property unit=rpm --expiry 60 gripen/39-7/engine/rpm 12034.5

        slipring pub -h localhost -p 1883 -t gripen/39-7/engine/rpm -m 12034.5

        tail -f log.txt | slipring pub site/log

        slipring pub maps/tile --file tile.png --content-type image/png

        slipring pub site/log hello --url mqtts://broker.example --user gripen --ca ca.pem
    """
    chosen = source.topic(topic)
    source.check_single(message)
    payload = source.payload() if message in (None, "-") else as_bytes(message)
    sample = carried.message(chosen, payload or b"")
    patience_s = PATIENCE_S if payload is not None else math.inf
    connecting = client.reach(access).connect(reconnect_s=patience_s, client_id=client.client_id)
    asyncio.run(_publish(connecting, sample, payload is None))


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
