"""Journals with frames and plain messages for tests, and what an export makes of them."""

import io
import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from slipring.frames import Run
from slipring.model import Kind
from slipring.native import encode_frame, encode_properties
from slipring.recording.file_format import FileFormat
from slipring.recording.history.export import ExportedSamples, HistoryShape, export_samples
from slipring.recording.history.read.recorded_messages import FRAME
from slipring.recording.history.read.sample_reader import SampleReader
from slipring.recording.history.shape.export_columns import ExportColumns
from slipring.recording.history.shape.recorded_samples import RecordedSamples
from slipring.recording.output import OutputStream
from slipring.recording.recording import PlainSampleOffsets, Recording
from tests.recording.messages import Row, record

FRAME_PROPERTIES = encode_properties([("content_type", FRAME)])
TABLE = 7


def frame_of(parts: Iterable[RecordedSamples | Run], table: int = TABLE) -> bytes:
    """These samples as a frame."""
    runs = [part.as_run() if isinstance(part, RecordedSamples) else part for part in parts]
    return encode_frame([_given(run) for run in runs], table=table, sequence=1, sent_ns=0)


def _given(run: Run) -> Any:
    columns = (run.sample_indices(), run.sample_times(), run.sample_qualities(), run.values)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return ("samples", int(run.kind), list(rows))


def frame_row(receive_ns: int, parts: Iterable[RecordedSamples | Run], table: int = TABLE) -> Row:
    """A frame as a message of a journal."""
    return (receive_ns, "plane", "plane", 1, FRAME_PROPERTIES, frame_of(parts, table))


def plain_row(receive_ns: int, topic: str, payload: bytes, time_ns: int | None = None) -> Row:
    """A plain message of a journal."""
    time = [] if time_ns is None else [("user", ("time", str(time_ns)))]
    return (receive_ns, "other", topic, 0, encode_properties(time) if time else b"", payload)


_numbers = itertools.count()


def journal(folder: Path, rows: list[Row]) -> Path:
    """A new journal with these messages."""
    path = folder / f"journal-{next(_numbers)}"
    record(path, rows)
    return path


class Declared(Recording):
    """A journal whose broker had declared some parameters when these plain messages came."""

    def __init__(self, folder: Path, parameters: Mapping[int, int]) -> None:
        """`parameters` are indices by the offset of a message."""
        super().__init__(folder)
        self._parameters = sorted(parameters.items())

    def samples(self, start: int, end: int) -> PlainSampleOffsets:
        found = [pair for pair in self._parameters if start <= pair[0] < end]
        offsets, indices = np.array(found, np.int64).reshape(-1, 2).T
        return PlainSampleOffsets(offsets, indices)


def exported(
    folder: Path,
    chosen: ExportColumns,
    shape: HistoryShape | FileFormat,
    plain: Mapping[int, int] | None = None,
) -> tuple[bytes, ExportedSamples]:
    """What an export writes; `plain` says which messages are plain samples of which parameters."""
    stream = io.BytesIO()
    whole = HistoryShape(shape) if isinstance(shape, FileFormat) else shape
    source = SampleReader(Declared(folder, plain or {}), chosen)
    done = export_samples(source, OutputStream(stream), whole, lambda _samples, _done: None)
    return stream.getvalue(), done


def f64(index: int, times: list[int], values: list[float]) -> Run:
    """A run of one parameter."""
    return Run(
        Kind.F64,
        np.array([index], np.uint32),
        np.array(times, np.int64),
        None,
        np.zeros(1, np.uint8),
        np.array(values, np.float64),
    )
