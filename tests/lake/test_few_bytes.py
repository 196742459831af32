"""A reading touches little of the lake: files, row groups and columns are skipped (D1)."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from slipring import lake
from slipring.lake.files import write_file
from slipring.lake.specs import SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from tests.lake_samples import START, sample_batch

PARAMETERS = 200
SAMPLES_EACH = 10_000
RATE_HZ = 50
NAMES = [f"gripen/39-7/sensor/{number:03}" for number in range(PARAMETERS)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two million samples in two files that follow each other, as compaction leaves them."""
    made = tmp_path_factory.mktemp("lake")
    where = LakeLocation.of(made)
    half = PARAMETERS // 2
    for first in (0, half):
        names = NAMES[first : first + half]
        rows = sample_batch(names, [None] * half, first, range(SAMPLES_EACH), RATE_HZ)
        noisy = pa.array(np.random.default_rng(first).normal(size=rows.num_rows))
        rows = rows.set_column(rows.schema.get_field_index("value"), "value", noisy)
        table = LakeTable.open(where, SAMPLES)
        table.commit(write_file(where, SAMPLES, [rows]), {"test": first + 1})
    return made


def bytes_read(work: Callable[[], object]) -> int:
    """What this process reads from files while it works, by the system's own count."""

    def count() -> int:
        return int(Path("/proc/self/io").read_text().split()[1])

    before = count()
    work()
    return count() - before


def test_one_parameter_is_read_without_the_others(folder: Path) -> None:
    opened = lake.open(folder)
    total = opened.table("samples").status().bytes
    everything = bytes_read(lambda: opened.table("samples").to_arrow())
    assert everything > total * 0.9
    for name in (NAMES[0], NAMES[137]):
        found = bytes_read(partial(opened.read, name, every="raw", columns=["value"]))
        assert found < total * 0.1, (found, total)
    assert len(opened.read(NAMES[137], every="raw")) == SAMPLES_EACH


def test_a_time_outside_of_the_files_reads_none_of_them(folder: Path) -> None:
    opened = lake.open(folder)
    total = opened.table("samples").status().bytes
    later = START + timedelta(days=1)
    found = bytes_read(lambda: opened.read(NAMES[0], later, every="raw"))
    assert found < total * 0.01, (found, total)
