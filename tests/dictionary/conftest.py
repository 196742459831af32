"""Files to read: the dictionaries beside the tests, and texts that a test writes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from slipring.dictionary import Dictionary, read

DATA = Path(__file__).with_name("data")
Said = Callable[..., list[str]]
Written = Callable[[str, str], Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """A file with this name and text."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def said(written: Written) -> Said:
    """What is said about a file of this name and text: `LINE: severity: words`."""

    def problems(name: str, text: str, *, strict: bool = False) -> list[str]:
        found = read(written(name, text), strict=strict)
        return [f"{one.line}: {one.severity}: {one.text}" for one in found.problems]

    return problems


@pytest.fixture(params=["engine.csv", "powertrain.dbc", "vehicle.json"])
def example(request: pytest.FixtureRequest) -> Dictionary:
    """Each dictionary beside the tests."""
    return read(DATA / request.param)
