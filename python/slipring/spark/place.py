"""Where a journal is: in a folder, or with a broker elsewhere. Must never import pyspark."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from slipring.errors import ConnectError, JournalError
from slipring.native import JournalReader, RemoteJournal, commit_consumer

USER = "SLIPRING_USER"
PASSWORD = "SLIPRING_PASSWORD"  # noqa: S105 (the name of a variable)

SCHEMES = ("mqtt://", "mqtts://", "ws://", "wss://", "unix:")
"""How the address of a broker begins."""

# For connecting and for each answer; and how long to try again when the connection is lost.
TIMEOUT_S = 10.0
PATIENCE_S = 60.0

# A broker syncs what it has written at least once a second; a slow disk takes longer.
SETTLE_S = 3.0
SETTLE_LOOK_S = 0.02

Reader = JournalReader | RemoteJournal


def settled_end(reader: Reader) -> int:
    """The end of the journal, with everything that is written by now.

    Readers get what is safe on the disk, and a broker syncs messages that nobody waits for up to a
    second after it has written them: this waits for that. Where nobody syncs them, because the
    broker is gone, it gives up after some seconds and the end is that of what is safe.
    """
    end = reader.end_offset()
    written, given_up_s = reader.written_offset, time.monotonic() + SETTLE_S
    while end < written and time.monotonic() < given_up_s:
        time.sleep(SETTLE_LOOK_S)
        end = reader.end_offset()
    return end


@dataclass(frozen=True)
class Folder:
    """A folder that this process can read."""

    path: str

    def open(self, identity: str | None = None) -> JournalReader:
        """A reader; with an identity, of that journal and no other."""
        reader = JournalReader(self.path)
        if identity not in (None, reader.identity):
            raise JournalError(
                f"{self.path} holds journal {reader.identity}, but the stream was reading journal "
                f"{identity}; give it back its journal, or begin with a new checkpoint"
            )
        return reader

    def commit(self, consumer: str, identity: str, offset: int, epoch: int | None) -> None:
        """Note how far a consumer has come, and in which epoch it read that."""
        commit_consumer(self.path, consumer, identity, offset, epoch)

    def options(self) -> dict[str, str]:
        """The options by which Spark's source finds it."""
        return {"path": self.path}


@dataclass(frozen=True)
class Broker:
    """A broker that lets this user read its journal over the network.

    The address is one that `slipring.connect` takes; the files are PEM, and are read by each
    process that reads the journal.
    """

    url: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    server_name: str | None = None

    @classmethod
    def known_as(cls, url: str, given: Mapping[str, str]) -> Self:
        """From options; user and password may be in the environment instead."""
        user = given.get("user") or os.environ.get(USER)
        password = given.get("password") or os.environ.get(PASSWORD)
        if user is not None and password is None:
            raise ConnectError(f"no password for {user!r}: give option password, or set {PASSWORD}")
        return cls(
            url,
            user,
            password if user is not None else None,
            given.get("ca"),
            given.get("certificate"),
            given.get("key"),
            given.get("servername"),
        )

    def open(self, identity: str | None = None) -> RemoteJournal:
        """A reader with a connection of its own; with an identity, of that journal and no other."""
        options = {
            "identity": identity,
            "user": self.user,
            "password": None if self.password is None else self.password.encode(),
            "tls": self._tls(),
            "timeout_s": TIMEOUT_S,
            "patience_s": PATIENCE_S,
        }
        return RemoteJournal(self.url, options)

    def commit(self, consumer: str, identity: str, offset: int, epoch: int | None) -> None:
        """Note how far a consumer has come, and in which epoch it read that."""
        self.open(identity).commit(consumer, offset, epoch)

    def options(self) -> dict[str, str]:
        """The options by which Spark's source finds it."""
        names = ("user", "password", "ca", "certificate", "key")
        given = {name: getattr(self, name) for name in names}
        given |= {"broker": self.url, "serverName": self.server_name}
        return {name: value for name, value in given.items() if value is not None}

    def _tls(self) -> dict[str, str | None] | None:
        names = ("ca", "certificate", "key", "server_name")
        files = {name: getattr(self, name) for name in names}
        return files if any(files.values()) else None


Place = Folder | Broker
