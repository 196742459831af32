"""The archive beside a running broker: a thread that sends segments, and tries again by itself.

It never makes the broker wait: a journal that cannot be archived grows, and its status says why.
"""

import logging
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Thread

from slipring.archive.archiver import Archiver
from slipring.archive.location import ArchiveLocation
from slipring.archive.pace import Pace, UploadStopped
from slipring.errors import SlipringError

LOOK_S = 1.0
"""How often the folder is looked at while there is nothing to send."""
RETRY_FIRST_S = 1.0
RETRY_MOST_S = 60.0
STOP_S = 5.0
"""How long the end of the broker waits for the request that is under way."""
NEWS_MAX = 20

log: logging.Logger = logging.getLogger("slipring.archive")


@dataclass(frozen=True)
class ArchiveProgress:
    """How far the archive is."""

    url: str
    first_offset: int = 0
    end_offset: int = 0
    segments: int = 0
    bytes: int = 0
    waiting: int = 0
    """Sealed segments that are not archived yet."""
    failure: str | None = None
    failures: int = 0
    """Failed tries since the start."""
    updated_ns: int = 0
    """When the manifest was written last; 0 if that is unknown."""


def retry_s(tries: int) -> float:
    """How long to wait after so many failed tries, one after the other."""
    doubled = min(tries - 1, 16)  # 2 to the power of a day's tries is more than a float holds
    return min(RETRY_FIRST_S * 2.0**doubled, RETRY_MOST_S)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, SlipringError | OSError) else repr(error)


class ArchiveService:
    """Archives one journal until it is told to stop."""

    def __init__(self, folder: Path, location: ArchiveLocation, bytes_per_s: int = 0) -> None:
        """Opens the journal, and makes its retention wait; sends nothing yet."""
        self._stop = Event()
        self._archiver = Archiver(folder, location, Pace(bytes_per_s, self._stop))
        self._archiver.hold()
        self._progress = ArchiveProgress(self._archiver.location.url)
        self._news: deque[tuple[str, str]] = deque(maxlen=NEWS_MAX)
        self._thread = Thread(target=self._run, name="archive", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End it; what is not archived is sent after the next start."""
        self._stop.set()
        self._thread.join(STOP_S)

    @property
    def progress(self) -> ArchiveProgress:
        """How far it is. Never waits."""
        return self._progress

    def news(self) -> list[tuple[str, str]]:
        """Kinds and texts of what happened since the last call, for the broker's events."""
        return [self._news.popleft() for _ in range(len(self._news))]

    def _run(self) -> None:
        tries = 0
        while not self._stop.is_set():
            try:
                sent = self._archiver.step()
            except UploadStopped:
                return
            except Exception as error:  # noqa: BLE001 (nobody else archives the journal)
                tries += 1
                self._fail(_reason(error))
                self._stop.wait(retry_s(tries))
                continue
            tries = 0
            self._succeed()
            if sent is None:
                self._stop.wait(LOOK_S)
            else:
                log.debug("archived %s, %s bytes", sent.name, f"{sent.bytes:,}")

    def _fail(self, why: str) -> None:
        before = self._look()
        if before.failure is None:
            text = f"archive: {why}; it is tried again, and the journal keeps the segments"
            self._news.append(("unarchived", text))
        self._progress = replace(before, failure=why, failures=before.failures + 1)

    def _succeed(self) -> None:
        before = self._look()
        if before.failure is not None:
            self._news.append(("archiving", "archive: segments are sent again"))
        self._progress = replace(before, failure=None)

    def _look(self) -> ArchiveProgress:
        manifest = self._archiver.manifest
        try:
            waiting = len(self._archiver.waiting())
        except OSError:  # the journal itself reports a broken disk
            waiting = self._progress.waiting
        return replace(
            self._progress,
            first_offset=manifest.first_offset,
            end_offset=manifest.end_offset,
            segments=len(manifest.segments),
            bytes=manifest.total_bytes,
            waiting=waiting,
            updated_ns=manifest.updated_ns,
        )
