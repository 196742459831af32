"""The room on the disk of the data folder."""

import shutil
from pathlib import Path

from slipring.control.disk_room import disk_room


def test_the_room_is_that_of_the_folder_s_disk(tmp_path: Path) -> None:
    found = disk_room(tmp_path)
    assert found["disk_bytes"] == shutil.disk_usage(tmp_path).total
    assert found["disk_free_bytes"] is not None
    assert 0 < found["disk_free_bytes"] < shutil.disk_usage(tmp_path).total


def test_a_folder_that_is_gone_is_no_error(tmp_path: Path) -> None:
    assert disk_room(tmp_path / "gone") == {"disk_free_bytes": None, "disk_bytes": None}
