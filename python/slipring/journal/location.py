"""Where a journal is: in a folder, with a broker elsewhere, or in an archive.

Quick to import: knows no Arrow, and no object storage before an archive is opened.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeAlias, Union

from slipring.archive.location import S3, ArchiveLocation
from slipring.credentials import (
    NO_CREDENTIALS,
    BrokerCredentials,
    from_options,
    warn_of_plain_text,
)
from slipring.errors import JournalError
from slipring.native import JournalReader, RemoteJournal, commit_consumer

if TYPE_CHECKING:
    from slipring.archive.reader import ArchiveReader
    from slipring.journal.joined import JoinedJournal

SCHEMES = ("mqtt://", "mqtts://", "ws://", "wss://", "unix:")
"""How the address of a broker begins."""

# For connecting and for each answer; and how long to try again when the connection is lost.
TIMEOUT_S = 10.0
PATIENCE_S = 60.0

# A broker syncs what it has written at least once a second; a slow disk takes longer.
SETTLE_S = 3.0
SETTLE_LOOK_S = 0.02

OpenJournal: TypeAlias = Union[JournalReader, RemoteJournal, "ArchiveReader", "JoinedJournal"]


def settled_end(journal: OpenJournal) -> int:
    """The end offset of the journal, with everything that is written by now.

    A reader sees only what is on the disk, and a broker may sync a message that no client waits for
    up to a second after it has written it. So this waits until the disk has caught up. If the
    broker is gone and nobody syncs, it gives up after `SETTLE_S` and returns what is on the disk.
    """
    end = journal.end_offset()
    written, deadline_s = journal.written_offset, time.monotonic() + SETTLE_S
    while end < written and time.monotonic() < deadline_s:
        time.sleep(SETTLE_LOOK_S)
        end = journal.end_offset()
    return end


def journal_folder(folder: Path) -> Path:
    """The journal's own folder, whether that or the data folder of its broker is given."""
    inner = folder / "journal"
    return inner if inner.is_dir() else folder


@dataclass(frozen=True)
class JournalFolder:
    """A folder that this process can read."""

    path: str

    def open(self, identity: str | None = None) -> JournalReader:
        """A reader; with an identity it refuses any other journal."""
        reader = JournalReader(self.path)
        if identity not in (None, reader.identity):
            raise JournalError(
                f"{self.path} holds journal {reader.identity}, but the stream was reading journal "
                f"{identity}; put that journal back, or begin with a new checkpoint"
            )
        return reader

    def commit(
        self, consumer: str, identity: str, offset: int, epoch: int | None, note: str = ""
    ) -> None:
        """Record how far a consumer has read, in which epoch, and what it says of its work."""
        commit_consumer(self.path, consumer, identity, offset, epoch, note)

    def options(self) -> dict[str, str]:
        """The options of Spark's source that lead to this journal."""
        return {"path": self.path}


@dataclass(frozen=True)
class JournalBroker:
    """A broker that lets this user read its journal over the network.

    The address is one that `slipring.connect` takes. The files are PEM; each process that reads
    the journal opens them itself.
    """

    url: str
    credentials: BrokerCredentials = NO_CREDENTIALS
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    server_name: str | None = None

    @classmethod
    def from_options(cls, url: str, given: Mapping[str, str]) -> Self:
        """From Spark's options; what proves a name may be in the environment instead."""
        tls = (given.get(name) for name in ("ca", "certificate", "key", "servername"))
        return cls(url, from_options(given), *tls)

    def open(self, identity: str | None = None) -> RemoteJournal:
        """A reader with its own connection; with an identity it refuses any other journal."""
        warn_of_plain_text(self.url, self.credentials)
        options = {
            "identity": identity,
            "credentials": self.credentials.native(self.credentials.fixed_secret()),
            "token_file": self.credentials.token_file,
            "tls": self._tls(),
            "timeout_s": TIMEOUT_S,
            "patience_s": PATIENCE_S,
        }
        return RemoteJournal(self.url, options)

    def commit(
        self, consumer: str, identity: str, offset: int, epoch: int | None, note: str = ""
    ) -> None:
        """Record how far a consumer has read, in which epoch, and what it says of its work."""
        self.open(identity).commit(consumer, offset, epoch, note)

    def options(self) -> dict[str, str]:
        """The options of Spark's source that lead to this journal."""
        given = {name: getattr(self, name) for name in ("ca", "certificate", "key")}
        given |= {"broker": self.url, "serverName": self.server_name}
        given |= self.credentials.options()
        return {name: value for name, value in given.items() if value is not None}

    def _tls(self) -> dict[str, str | None] | None:
        names = ("ca", "certificate", "key", "server_name")
        files = {name: getattr(self, name) for name in names}
        return files if any(files.values()) else None


# The options of Spark's source for S3-compatible storage, and what they are called elsewhere.
S3_OPTIONS = {
    "s3Endpoint": "AWS_ENDPOINT_URL",
    "s3AccessKey": "AWS_ACCESS_KEY_ID",
    "s3SecretKey": "AWS_SECRET_ACCESS_KEY",
    "s3SessionToken": "AWS_SESSION_TOKEN",
    "s3Region": "AWS_REGION",
}


@dataclass(frozen=True)
class JournalArchive:
    """Sealed segments in S3-compatible storage; with a broker, what is newer comes from there."""

    archive: ArchiveLocation
    broker: JournalBroker | None = None
    cache: str | None = None
    """The folder for segments on each machine that reads, and its size."""
    cache_bytes: int | None = None

    @classmethod
    def from_options(cls, url: str, broker: str | None, given: Mapping[str, str]) -> Self:
        """From Spark's options; keys may be in the environment of the driver instead."""
        told = {
            known: given[name.lower()]
            for name, known in S3_OPTIONS.items()
            if name.lower() in given
        }
        size = given.get("cachebytes")
        if size is not None and not size.isdecimal():
            raise ValueError(f"option cacheBytes is {size!r}; allowed: a whole number")
        return cls(
            ArchiveLocation.of(url, told),
            JournalBroker.from_options(broker, given) if broker else None,
            given.get("cache"),
            None if size is None else int(size),
        )

    def open(self, identity: str | None = None) -> "ArchiveReader | JoinedJournal":
        """A reader; with an identity it refuses any other journal."""
        from slipring.archive.cache import CACHE_BYTES, SegmentCache
        from slipring.archive.reader import ArchiveReader
        from slipring.journal.joined import JoinedJournal

        folder = Path(self.cache) if self.cache else None
        cache = SegmentCache(folder, self.cache_bytes or CACHE_BYTES)
        if self.broker is None:
            return ArchiveReader(self.archive, identity, cache)
        # The broker says which of several journals it is; a worker knows that already.
        dialled = None if identity else self.broker.open()
        known = dialled.identity if dialled else identity
        archive = ArchiveReader(self.archive, known, cache)
        return JoinedJournal(archive, self.broker.open, dialled)

    def commit(
        self, consumer: str, identity: str, offset: int, epoch: int | None, note: str = ""
    ) -> None:
        """Record with the broker how far a consumer has read, in which epoch, and its note."""
        if self.broker is None:
            raise JournalError(
                f"{self.archive.url} has no consumers, and no retention that would wait for "
                f"{consumer!r}; leave option consumer out, or name the broker too"
            )
        self.broker.commit(consumer, identity, offset, epoch, note)

    def options(self) -> dict[str, str]:
        """The options of Spark's source that lead to this journal."""
        keys = {name: self.archive.options.get(known) for name, known in S3_OPTIONS.items()}
        size = None if self.cache_bytes is None else str(self.cache_bytes)
        given = {"path": self.archive.url, **keys, "cache": self.cache, "cacheBytes": size}
        broker = self.broker.options() if self.broker else {}
        return {**broker, **{name: value for name, value in given.items() if value is not None}}


JournalLocation = JournalFolder | JournalBroker | JournalArchive


def has_consumers(location: JournalLocation) -> bool:
    """Whether it notes how far consumers are; an archive has no retention that would wait."""
    return not isinstance(location, JournalArchive) or location.broker is not None


def broker_of(location: JournalLocation) -> JournalBroker | None:
    """The broker that decides what may be read there; None for files."""
    return location.broker if isinstance(location, JournalArchive) else _broker(location)


def _broker(location: JournalFolder | JournalBroker) -> JournalBroker | None:
    return location if isinstance(location, JournalBroker) else None


def is_archive(path: str) -> bool:
    """Whether a path names an archive."""
    return path.startswith(S3)


@dataclass(frozen=True)
class Journal:
    """One journal: where it is, and its identity. Another journal may stand there later."""

    location: JournalLocation
    identity: str

    def open(self) -> OpenJournal:
        """A reader; refuses another journal, in which the same offsets are other messages."""
        return self.location.open(self.identity)
