"""The broker's archive: started from the configuration, and shown in the broker's status."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from slipring.archive.location import CONSUMER, ArchiveLocation
from slipring.control.config import Config
from slipring.control.consumer_watch import known_consumers
from slipring.errors import ConfigError, StartError
from slipring.status.message import ArchiveStatus

if TYPE_CHECKING:
    from slipring.archive.service import ArchiveService

log: logging.Logger = logging.getLogger("slipring.archive")


def archive_location(config: Config) -> ArchiveLocation | None:
    """Where the archive is, if there is one; StartError if it cannot be used here."""
    if not config.journal.archive or not config.journal.topics:
        return None
    try:
        import slipring.archive.service  # noqa: F401 (needs a package that may not be installed)

        return ArchiveLocation.of(config.journal.archive)
    except ConfigError as error:
        raise StartError(f"journal.archive: {error}") from None


def make_archive(
    config: Config, location: ArchiveLocation | None, folder: Path | None
) -> "ArchiveService | None":
    """The archive of a journal that is open; not started yet."""
    if folder is None:
        return None
    if location is None:
        if any(one.name == CONSUMER for one in known_consumers(folder)):
            log.warning(
                "journal.archive is not set, but retention still waits for the consumer "
                "'archive'; if nothing is to be archived: slipring journal forget archive"
            )
        return None
    from slipring.archive.service import ArchiveService

    return ArchiveService(folder, location, config.journal.archive_bytes_per_s)


def archive_status(archive: "ArchiveService | None", synced_offset: int) -> ArchiveStatus | None:
    """How far the archive is; None if there is none."""
    if archive is None:
        return None
    progress = archive.progress
    return {
        "url": progress.url,
        "first_offset": progress.first_offset,
        "end_offset": progress.end_offset,
        "behind": max(0, synced_offset - progress.end_offset),
        "segments": progress.segments,
        "bytes": progress.bytes,
        "waiting": progress.waiting,
        "failure": progress.failure,
        "is_failing": progress.failure is not None,
        "failures": progress.failures,
        "updated_ms": progress.updated_ns / 1e6 if progress.updated_ns else None,
    }
