"""The failing disk, built once, and one for each test; and the reports, told at the end."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.faults.disk import Disk, built
from tests.faults.station import Station
from tests.faults.verdict import Report

REPORTS = pytest.StashKey[list[str]]()
Tell: TypeAlias = Callable[[Report], Report]


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


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Tell:
    """Says a verdict where a person sees it, at the end of the run."""

    def told(report: Report) -> Report:
        line = f"{request.node.name}: {report}"
        request.config.stash.setdefault(REPORTS, []).append(line)
        return report

    return told


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Every run reports what was acknowledged and what became of it."""
    lines = config.stash.get(REPORTS, [])
    if lines:
        terminalreporter.section("faults")
    for line in lines:
        terminalreporter.line(line)
