"""Every line of docs/lake.md that a person types runs as it stands."""

import re
import shlex
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.cli.commands import slipring
from tests.lake_samples import make_lake

PAGE = (Path(__file__).parents[2] / "docs" / "lake.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = re.findall(r"^slipring .+$", PAGE, re.MULTILINE)


@pytest.fixture
def _beside_a_lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the data of a broker, whose lake is filled."""
    make_lake(tmp_path / "slipring-data" / "lake")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_beside_a_lake")
@pytest.mark.parametrize("example", [one for one in EXAMPLES if "pyspark" not in one])
def test_an_example_runs_as_it_stands(example: str) -> None:
    exec(compile(example, "docs/lake.md", "exec"), {})


@pytest.mark.usefixtures("_beside_a_lake", "spark")
@pytest.mark.timeout(900)
def test_the_example_in_spark_runs_as_it_stands() -> None:
    (example,) = (one for one in EXAMPLES if "pyspark" in one)
    found: dict[str, object] = {}
    exec(compile(example, "docs/lake.md", "exec"), found)
    assert isinstance(found["spark"], SparkSession)


@pytest.mark.usefixtures("_beside_a_lake")
def test_the_commands_run_as_they_stand() -> None:
    for line in COMMANDS:
        slipring(*shlex.split(line)[1:])
    assert Path("egt.png").stat().st_size > 1_000
    assert Path("peaks.csv").read_text().startswith('"parameter","peak"\n')


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) >= 6
    assert len(COMMANDS) >= 5
