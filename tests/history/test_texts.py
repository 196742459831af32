"""A series of texts has their beginnings only, and a bounded number of them."""

import numpy as np
import pyarrow as pa

from slipring.history.journal_part import text_buckets
from slipring.history.question import KnownParameter
from slipring.history.series import (
    BYTES_SHOWN,
    TEXT_CHARACTERS_MAX,
    ParameterSeries,
)

LARGE = "é" * 100_000
TEXT = KnownParameter("text")


def batch() -> pa.RecordBatch:
    return pa.record_batch(
        {
            "parameter": ["log", "raw", "raw", "log"],
            "source_ns": pa.array([1, 2, 3, 4], pa.int64()),
            "quality": pa.array([0, 0, 0, 0], pa.uint8()),
            "text": pa.array([LARGE, None, None, "short"]),
            "bytes": pa.array([None, b"\x07" * 5_000, b"\x08", None], pa.binary()),
        }
    )


def test_a_large_text_is_kept_as_its_beginning() -> None:
    found = dict(text_buckets(batch(), 1))
    assert found["log"].last.tolist() == [LARGE[:TEXT_CHARACTERS_MAX], "short"]
    assert found["raw"].last.tolist() == ["07" * BYTES_SHOWN + "… (5,000 bytes)", "08"]


def test_of_many_texts_the_newest_are_answered() -> None:
    (_, log), (_, _) = text_buckets(batch(), 1)
    series = ParameterSeries.of("log", TEXT, [("journal", log)], 1, 800, is_cut=False)
    assert series.newest(2) is series
    newest = series.newest(1)
    assert (newest.last.tolist(), newest.times_ns.tolist(), newest.is_cut) == (["short"], [4], True)
    assert isinstance(newest.times_ns, np.ndarray)
