"""What a sink remembers between two processes: the batch under way, and the last one it finished.

The folder is part of the checkpoint of the query that writes. Files appear whole: they are written
beside their place, synced and moved.
"""

import fcntl
import json
import os
import time
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from slipring.errors import PipelineError

LOCK_WAIT_S = 10.0
LOCK_LOOK_S = 0.05
BEFORE_ALL = -1
"""The number before the first batch."""


@dataclass(frozen=True)
class BatchHeader:
    """What must be known to finish a batch in another process."""

    number: int
    journal: str
    """The identity of the broker's journal."""
    start: int
    """An offset of it that is not behind any message of the batch."""
    parameters: dict[str, dict[str, object]]
    """The definitions to declare, as their JSON."""


@dataclass(frozen=True)
class LoggedBatch:
    """A batch whose messages are fixed, and of which some may be on the bus."""

    header: BatchHeader
    messages: pa.Table


class BatchLog:
    """The folder of one sink."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._lock = _locked(folder)
        self.identity: str = self._found_identity()
        """Names this sink on the bus; another folder is another sink."""

    def finished(self) -> int:
        """The number of the last batch that is on the bus as a whole."""
        file = self._folder / "finished"
        return int(file.read_text()) if file.exists() else BEFORE_ALL

    def pending(self) -> LoggedBatch | None:
        """The batch that was begun and not finished."""
        file = self._pending
        if not file.exists():
            return None
        with pa.memory_map(str(file)) as source:
            table = pa.ipc.open_file(source).read_all()
        header = BatchHeader(**json.loads(table.schema.metadata[b"batch"]))
        return LoggedBatch(header, table) if header.number > self.finished() else None

    def begin(self, header: BatchHeader, messages: pa.Table) -> LoggedBatch:
        """Fix the messages of a batch before the first one is sent."""
        table = messages.replace_schema_metadata({"batch": json.dumps(asdict(header))})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        self._write(self._pending, sink.getvalue())
        return LoggedBatch(header, table)

    def finish(self, number: int) -> None:
        """Note that every message of the batch is on the bus."""
        self._write(self._folder / "finished", str(number).encode())
        self._pending.unlink(missing_ok=True)

    def close(self) -> None:
        """Let another process use the folder."""
        os.close(self._lock)

    @property
    def _pending(self) -> Path:
        return self._folder / "pending.arrow"

    def _found_identity(self) -> str:
        file = self._folder / "identity"
        if not file.exists():
            self._write(file, uuid.uuid4().hex.encode())
        return file.read_text()

    def _write(self, file: Path, content: bytes | pa.Buffer) -> None:
        beside = file.with_suffix(".new")
        with beside.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(file)
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _locked(folder: Path) -> int:
    """A descriptor that holds the folder until it is closed, or its process is dead."""
    descriptor = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o644)
    deadline_s = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline_s:
                os.close(descriptor)
                raise PipelineError(
                    f"another process publishes with the folder {folder}; give each query a "
                    "checkpoint of its own"
                ) from None
            time.sleep(LOCK_LOOK_S)
        else:
            return descriptor
