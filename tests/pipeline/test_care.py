"""The care for tables while jobs fill them (D1)."""

from pathlib import Path

from slipring.lake.catalogue import table_names
from slipring.lake.storage import LakeLocation
from slipring.pipeline.archive_section import ArchiveSection
from slipring.pipeline.care import cared_for


def test_a_table_that_the_archive_leaves_out_is_not_made(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    with cared_for(lake, ArchiveSection(tables=("samples",)), ["archive"]):
        pass
    assert table_names(lake) == ["samples", "set_aside"]
