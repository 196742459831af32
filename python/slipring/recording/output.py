"""Files in the making. They have their final name when they are whole, and not before."""

import contextlib
import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from slipring.errors import RecordingError


class Output(Protocol):
    """Where an export goes."""

    @property
    def stream(self) -> BinaryIO:
        """The file that is written now."""

    def another(self) -> BinaryIO:
        """A further file, where one is too large; the one before is done."""


class OneStream:
    """Standard output, or whatever else is one stream for ever."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream

    def another(self) -> BinaryIO:
        raise RecordingError(
            "this is too much for one Parquet file of so many columns: name a file instead of -, "
            "choose fewer parameters, or leave out --wide"
        )


class NewFile:
    """One file; or, where one is not enough, a folder of files with the name of the one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parts: list[Path] = []
        self.stream: BinaryIO = io.BytesIO()  # until the first file is there

    def begin(self) -> None:
        """Make the first file, beside the place."""
        self.stream = self._open()

    def another(self) -> BinaryIO:
        _finish(self.stream)
        self.stream = self._open()
        return self.stream

    @property
    def files(self) -> int:
        """How many there are."""
        return len(self._parts)

    def finish(self) -> None:
        """Bring all to disk, and to their place."""
        _finish(self.stream)
        if self.files == 1:
            self._parts[0].replace(self._path)
        else:
            self._place_folder()
        _sync_folder(self._path.parent)

    def leave(self) -> None:
        """Remove what is not in its place."""
        with contextlib.suppress(OSError):  # a full disk, which was told before
            self.stream.close()
        shutil.rmtree(self._beside("folder"), ignore_errors=True)
        for part in self._parts:
            part.unlink(missing_ok=True)

    def _open(self) -> BinaryIO:
        part = self._beside(f"{len(self._parts) + 1}.part")
        self._parts.append(part)  # before it is there: an interrupt may come at any time
        return part.open("xb")

    def _beside(self, suffix: str) -> Path:
        return self._path.with_name(f".{self._path.name}.{os.getpid()}.{suffix}")

    def _place_folder(self) -> None:
        """Readers of Parquet take a folder by its name, its files in the order of theirs."""
        folder = self._beside("folder")
        folder.mkdir()
        for number, part in enumerate(self._parts, start=1):
            part.replace(folder / f"part-{number:05}{self._path.suffix}")
        _sync_folder(folder)
        self._path.unlink(missing_ok=True)
        folder.replace(self._path)


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[NewFile]:
    """Write beside the place, then move there; whatever ends it early leaves nothing behind."""
    if path.is_dir():
        raise RecordingError(f"{path} is a folder: name a file, or remove the folder first")
    if path.exists() and not path.is_file():
        raise RecordingError(f"{path} is no file: name one, or - for standard output")
    try:
        made = NewFile(path.resolve())
        try:
            made.begin()
            yield made
            made.finish()
        finally:
            made.leave()
    except OSError as error:
        raise RecordingError(f"cannot write {path}: {error.strerror or error}") from None


def _finish(stream: BinaryIO) -> None:
    stream.flush()
    os.fsync(stream.fileno())
    stream.close()


def _sync_folder(folder: Path) -> None:
    """Bring the new names to disk too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
