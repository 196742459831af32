"""Reads certificates, keys and revocation lists again when their files change, while running."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from slipring.control.listener import ListenerSection
from slipring.errors import SecretError, StartError
from slipring.native import Engine, check_secret_file

LOOK_S = 0.5
"""How often the files are looked at: what is revoked ends within a second."""

FileState = tuple[int, int, int] | None

log: logging.Logger = logging.getLogger("slipring.broker")


class TlsWatch:
    """The files of the TLS listeners, and what they looked like when they were read last."""

    def __init__(self, engine: Engine, listeners: Sequence[ListenerSection]) -> None:
        self._engine = engine
        self._listeners = [one for one in listeners if one.certificate is not None]
        self._seen = {one.name: _states(one.files) for one in self._listeners}

    async def run(self, stop: asyncio.Event) -> None:
        """Look at the files until told to stop. Ends at once if no listener speaks TLS."""
        while self._listeners and not stop.is_set():
            await asyncio.to_thread(self.look)
            try:
                async with asyncio.timeout(LOOK_S):
                    await stop.wait()
            except TimeoutError:
                continue

    def look(self) -> None:
        """Read what has changed."""
        for one in self._listeners:
            states = _states(one.files)
            if states != self._seen[one.name]:
                self._seen[one.name] = states
                self._read(one)

    def read_all(self) -> None:
        """Read all files, changed or not."""
        for one in self._listeners:
            self._seen[one.name] = _states(one.files)
            self._read(one)

    def _read(self, one: ListenerSection) -> None:
        assert one.key is not None, "a certificate has a key"
        try:
            check_secret_file(one.key)
            ended = self._engine.read_tls_again(one.name)
        except (SecretError, StartError) as error:
            # The mistake is not ours: no traceback.
            log.error("%s; listener '%s' keeps what it had", error, one.name)  # noqa: TRY400
            kept = "its certificates are not taken: the log says why"
            self._engine.audit(
                "changed", topic=f"listener {one.name}", outcome="refused", detail=kept
            )
            return
        told = f"; {ended} clients are disconnected, their certificates are not trusted any more"
        told = f"certificates read again{told if ended else ''}"
        log.info("listener '%s': %s", one.name, told)
        self._note(one, told, "ok")

    def _note(self, one: ListenerSection, told: str, outcome: str) -> None:
        topic = f"listener {one.name}"
        self._engine.audit("changed", topic=topic, outcome=outcome, detail=told)


def _states(files: Sequence[Path]) -> list[FileState]:
    return [_state(file) for file in files]


def _state(file: Path) -> FileState:
    """What changes when a file is written or replaced; None if it is not there."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
