"""A stream as the broker knows it, and a chunk of one. Never does I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple, Self

from slipring.model.sample import utc_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A stream as the broker lists it."""

    name: str
    """Its topic."""
    media: str
    """The media type of its chunks, such as `audio/pcm;rate=48000`."""
    index: int
    """Its number at the broker, never given to another."""
    buffer_bytes: int
    """How much of its last chunks the broker keeps."""
    description: str | None = None
    source: str | None = None
    live: bool = False
    """Whether a connected client publishes it."""
    publishers: int = 0
    """How many connected clients publish it."""
    first: int = 0
    """The sequence of the oldest chunk that is kept."""
    next: int = 0
    """The sequence that the next chunk gets."""
    bytes: int = 0
    """How much is kept now."""
    received_bytes: int = 0
    """How much has come since the broker started."""
    received_ns: int | None = None
    """When the broker received the last chunk; None before the first one."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """From a row of the broker's list; fields that this version does not know are ignored."""
        return cls(**{one.name: row[one.name] for one in fields(cls) if one.name in row})


class Chunk(NamedTuple):
    """A piece of a stream, in order."""

    topic: str
    sequence: int
    """Its number in the stream; the broker counts from 0 since it started."""
    time_ns: int
    """When it was made, if its publisher says so, else when the broker received it."""
    payload: bytes
    media: str
    lost: int = 0
    """How many chunks before it this reader has missed."""

    @property
    def time(self) -> datetime:
        """The same time, cut to microseconds."""
        return utc_time(self.time_ns)
