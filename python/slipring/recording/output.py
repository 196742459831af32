"""A file in the making. It has its final name when it is whole, and not before."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from slipring.errors import RecordingError


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Write beside the place, then move there; whatever ends it early leaves nothing behind."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise RecordingError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Bring the new name to disk too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
