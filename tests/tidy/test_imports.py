"""Imports go down only, and the rules that say so can fail."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy.conftest import Plant
from tests.tidy.findings import assert_none
from tests.tidy.imports import imports_in_the_wrong_room, wrong_imports_of_the_model
from tests.tidy.tree import Tree

ROOMS = (
    "cli demo console pipeline recording spark control lake publication sync client discovery "
    "frames history journal alarms archive credentials native dictionary logs model status errors"
)
HISTORY = "export importing translation read write shape"


@pytest.fixture
def package(tmp_path: Path, repository: Tree) -> Path:
    """A package with our rooms, all empty, under our contracts."""
    slipring = tmp_path / "python" / "slipring"
    for room in (*ROOMS.split(), *(f"recording/history/{part}" for part in HISTORY.split())):
        (slipring / room).mkdir(parents=True)
        (slipring / room / "__init__.py").touch()
    (slipring / "recording" / "history" / "__init__.py").touch()
    (slipring / "__init__.py").touch()
    contracts = (repository.root / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(contracts, encoding="utf-8")
    return slipring


def keeps_contracts(package: Path) -> bool:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    folder = package.parents[1]
    answer = subprocess.run(command, cwd=folder, env={"PYTHONPATH": "python"}, check=False)
    return answer.returncode == 0


def test_pyspark_the_web_framework_and_the_native_module_stay_in_their_rooms(
    repository: Tree,
) -> None:
    assert_none(imports_in_the_wrong_room(repository))


def test_the_model_imports_the_standard_library_and_errors(repository: Tree) -> None:
    assert_none(wrong_imports_of_the_model(repository))


def test_empty_rooms_keep_the_contracts(package: Path) -> None:
    assert keeps_contracts(package)


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("errors", "import slipring.model"),
        ("client", "from slipring import control"),
        ("console", "from slipring.pipeline import run"),
        ("journal", "import slipring.recording"),
        ("recording", "import slipring.console"),
        ("recording", "import slipring.spark"),
        ("control", "import slipring.spark"),
        ("lake", "import slipring.pipeline"),
        ("lake", "import slipring.control"),
        ("demo", "import slipring.cli"),
        ("dictionary", "import slipring.client"),
        ("recording/history/shape", "import slipring.recording.history.read"),
        ("recording/history/read", "import slipring.recording.history.write"),
    ],
)
def test_an_import_that_goes_up_breaks_the_contracts(package: Path, room: str, line: str) -> None:
    (package / room / "planted.py").write_text(line, encoding="utf-8")
    assert not keeps_contracts(package)


def test_a_room_without_a_place_breaks_the_contracts(package: Path) -> None:
    (package / "attic.py").touch()
    assert not keeps_contracts(package)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("python/slipring/control/plan.py", "import pyspark.sql"),
        ("python/slipring/demo.py", "from deltalake import DeltaTable"),
        ("python/slipring/pipeline/table.py", "from deltalake import DeltaTable"),
        ("python/slipring/cli/serve.py", "def run():\n    import uvicorn"),
        ("python/slipring/client/connect.py", "from slipring import _native"),
        ("python/slipring/client/connect.py", "from slipring._native import Client"),
    ],
)
def test_an_import_in_the_wrong_room_is_found(plant: Plant, path: str, text: str) -> None:
    assert len(imports_in_the_wrong_room(plant(path, text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("python/slipring/spark/source.py", "import pyspark.sql"),
        ("python/pyspark_slipring/__init__.py", "from pyspark.sql import SparkSession"),
        ("python/slipring/console.py", "import uvicorn"),
        ("python/slipring/native.py", "from slipring import _native"),
        ("tests/test_lake.py", "from deltalake import DeltaTable"),
    ],
)
def test_an_import_in_its_room_is_left_alone(plant: Plant, path: str, text: str) -> None:
    assert imports_in_the_wrong_room(plant(path, text)) == []


@pytest.mark.parametrize(
    "text",
    ["import numpy as np", "from slipring.client import connect", "from slipring import cli"],
)
@pytest.mark.parametrize("path", ["python/slipring/model.py", "python/slipring/model/frame.py"])
def test_a_model_that_imports_more_is_found(plant: Plant, path: str, text: str) -> None:
    assert len(wrong_imports_of_the_model(plant(path, text))) == 1


@pytest.mark.parametrize(
    "text", ["from collections import abc", "from slipring.errors import SlipringError"]
)
def test_a_model_that_imports_what_it_may_is_left_alone(plant: Plant, text: str) -> None:
    assert wrong_imports_of_the_model(plant("python/slipring/model.py", text)) == []
