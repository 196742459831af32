"""One line of the log, as log servers get it: its fields apart from each other."""

import logging
import os
import socket
from dataclasses import dataclass
from functools import cached_property
from typing import Self

TEXT_CHARACTERS_MAX = 4_096
"""A longer text, such as a long traceback, is cut."""
LINE_BYTES = 1_000
"""What a line takes in memory beside its texts, about."""
ROOM_OF_OTHERS = "broker"
"""The room of lines that are no events."""
FIELDS = ("event", "room", "client", "topic", "request", "detail")
SEVERITIES = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3}
"""The numbers of syslog, which GELF uses too (RFC 5424, table 2)."""


@dataclass(frozen=True)
class LogLine:
    """A line of the log. A field without a value is None."""

    at_ns: int
    level: int
    text: str
    event: str | None = None
    room: str = ROOM_OF_OTHERS
    client: str | None = None
    topic: str | None = None
    request: str | None = None
    detail: str | None = None
    exception: str | None = None

    @classmethod
    def of(cls, record: logging.LogRecord) -> Self:
        """The line of a record; that of an event carries it in `entry`."""
        at_ns: int = getattr(record, "at_ns", int(record.created * 1e9))
        text = record.getMessage()[:TEXT_CHARACTERS_MAX]
        exception = None
        if record.exc_info:
            exception = logging.Formatter().formatException(record.exc_info)[-TEXT_CHARACTERS_MAX:]
        entry = getattr(record, "entry", None)
        if entry is None:
            return cls(at_ns, record.levelno, text, exception=exception)
        return cls(
            at_ns,
            record.levelno,
            text,
            event=entry.kind,
            room=entry.room,
            client=entry.client,
            topic=entry.topic,
            request=entry.request,
            detail=entry.detail or None,
            exception=exception,
        )

    @property
    def severity(self) -> int:
        """Its level as a number of syslog."""
        return next((SEVERITIES[one] for one in sorted(SEVERITIES) if self.level <= one), 2)

    @cached_property
    def bytes(self) -> int:
        """The memory that it takes, about."""
        texts = (self.text, self.exception, *(value for _, value in self.fields))
        return LINE_BYTES + sum(4 * len(text) for text in texts if text)

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The fields that have a value, by name."""
        named = ((name, getattr(self, name)) for name in FIELDS)
        return [(name, value) for name, value in named if value]


@dataclass(frozen=True, slots=True)
class LogSource:
    """Who writes the log: the same in every line."""

    broker: str
    host: str
    process: int

    @classmethod
    def here(cls, broker: str) -> Self:
        """The source of lines that the broker with this name writes in this process."""
        return cls(broker, socket.gethostname(), os.getpid())
