"""The failing disk, built once, and one for each test."""

from pathlib import Path

import pytest

from tests.faults.disk import Disk, built
from tests.faults.station import Station


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("disk"))


@pytest.fixture
def disk(tmp_path: Path, library: Path) -> Disk:
    """A disk under the data folder of a broker to be started."""
    return Disk.under(tmp_path / "data", tmp_path, library)


@pytest.fixture
def station(disk: Disk) -> Station:
    """A broker to be started on that disk."""
    return Station.on(disk)
