"""Files being written. A file gets its final name when it is complete, not before."""

import contextlib
import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from slipring.errors import RecordingError


class OutputStream:
    """Standard output, or another stream that cannot be divided."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream

    def another(self) -> BinaryIO:
        """Refuse to begin another file."""
        raise RecordingError(
            "this is too much for one Parquet file of so many columns: name a file instead of -, "
            "choose fewer parameters, or leave out --wide"
        )


class OutputFile:
    """One file; or, if it would be too large, a folder of files with its name."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parts: list[Path] = []
        self.stream: BinaryIO = io.BytesIO()  # until `begin` opens a file

    def begin(self) -> None:
        """Open the first file, beside its final path."""
        self.stream = self._open()

    def another(self) -> BinaryIO:
        """Finish the file and begin another one, since it would be too large."""
        _finish(self.stream)
        self.stream = self._open()
        return self.stream

    @property
    def files(self) -> int:
        """How many files are begun."""
        return len(self._parts)

    def finish(self) -> None:
        """Sync all files, and move them to their final path."""
        _finish(self.stream)
        if self.files == 1:
            self._parts[0].replace(self._path)
        else:
            self._move_to_folder()
        _sync_folder(self._path.parent)

    def remove_unfinished(self) -> None:
        """Remove the files that were not moved to their final path."""
        with contextlib.suppress(OSError):  # a full disk, which was reported before
            self.stream.close()
        shutil.rmtree(self._beside("folder"), ignore_errors=True)
        for part in self._parts:
            part.unlink(missing_ok=True)

    def _open(self) -> BinaryIO:
        part = self._beside(f"{len(self._parts) + 1}.part")
        self._parts.append(part)  # before it is created: an interrupt may come at any time
        return part.open("xb")

    def _beside(self, suffix: str) -> Path:
        return self._path.with_name(f".{self._path.name}.{os.getpid()}.{suffix}")

    def _move_to_folder(self) -> None:
        """Readers of Parquet read a folder as one file, its files in the order of their names."""
        folder = self._beside("folder")
        folder.mkdir()
        for number, part in enumerate(self._parts, start=1):
            part.replace(folder / f"part-{number:05}{self._path.suffix}")
        _sync_folder(folder)
        self._path.unlink(missing_ok=True)
        folder.replace(self._path)


Output = OutputStream | OutputFile
"""Where an export goes; `stream` is the file that is written now."""


@contextlib.contextmanager
def output_file(path: Path) -> Iterator[OutputFile]:
    """Write beside the path, then move there. An export that ends early leaves no file."""
    if path.is_dir():
        raise RecordingError(f"{path} is a folder: name a file, or remove the folder first")
    if path.exists() and not path.is_file():
        raise RecordingError(f"{path} is not a file: name one, or - for standard output")
    try:
        made = OutputFile(path.resolve())
        try:
            made.begin()
            yield made
            made.finish()
        finally:
            made.remove_unfinished()
    except OSError as error:
        raise RecordingError(f"cannot write {path}: {error.strerror or error}") from None


def _finish(stream: BinaryIO) -> None:
    stream.flush()
    os.fsync(stream.fileno())
    stream.close()


def _sync_folder(folder: Path) -> None:
    """Sync the new names too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
