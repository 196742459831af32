"""What `pub` and `request` send, and where to: arguments, or the options that mosquitto_pub has."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from slipring.errors import Refused


@dataclass(frozen=True)
class PayloadOptions:
    """A topic and one source of payloads."""

    topic_option: Annotated[
        str | None, typer.Option("--topic", "-t", metavar="TOPIC", help="The same as TOPIC.")
    ] = None
    message_option: Annotated[
        str | None,
        typer.Option("--message", "-m", metavar="TEXT", help="The payload, as it stands."),
    ] = None
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-f",
            help="The payload is this file; - is all of standard input.",
            dir_okay=False,
        ),
    ] = None
    whole_input: Annotated[
        bool, typer.Option("--stdin-file", "-s", help="The payload is all of standard input.")
    ] = False
    by_line: Annotated[
        bool, typer.Option("--stdin-line", "-l", help="Each line of standard input is a message.")
    ] = False
    is_empty: Annotated[
        bool, typer.Option("--null-message", "-n", help="The payload is empty.")
    ] = False

    def topic(self, argument: str | None) -> str:
        """The topic, given once."""
        if self.topic_option is not None and argument is not None:
            raise typer.BadParameter(
                f"two topics: {argument!r}, and --topic {self.topic_option!r}; with --topic the "
                "payload goes with --message"
            )
        chosen = argument if self.topic_option is None else self.topic_option
        if chosen is None:
            raise typer.BadParameter("give TOPIC, as an argument or with --topic")
        return chosen

    def check_single(self, argument: str | None) -> None:
        """Refuse more than one source of payloads."""
        given = {
            "an argument": argument is not None,
            "--message": self.message_option is not None,
            "--file": self.file is not None,
            "--stdin-file": self.whole_input,
            "--stdin-line": self.by_line,
            "--null-message": self.is_empty,
        }
        names = [name for name, is_given in given.items() if is_given]
        if len(names) > 1:
            raise typer.BadParameter(f"one payload, please: there are {' and '.join(names)}")

    def payload(self) -> bytes | None:
        """The payload of these options; None if they give none."""
        if self.is_empty:
            return b""
        if self.message_option is not None:
            return as_bytes(self.message_option)
        if self.whole_input or self.file == Path("-"):
            return sys.stdin.buffer.read()
        return None if self.file is None else _contents(self.file)


def as_bytes(argument: str) -> bytes:
    """An argument as the bytes that the shell gave."""
    return argument.encode("utf-8", "surrogateescape")


def _contents(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise Refused(f"cannot read {file}: {error.strerror}") from None
