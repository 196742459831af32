"""The examples of the guides run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def examples(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def run(example: str, url: str) -> None:
    code = re.sub(r"(slipring|sync)\.connect\([^)]*\)", rf"\1.connect({url!r})", example)
    ended = subprocess.run([sys.executable, "-W", "error", "-c", code], check=False, timeout=60)
    assert ended.returncode == 0


@pytest.mark.parametrize("example", examples("client.md"))
def test_an_example_runs_as_it_stands(example: str, broker_url: str) -> None:
    run(example, broker_url)


@pytest.mark.parametrize("example", examples("parameters.md"))
def test_an_example_with_parameters_runs_as_it_stands(example: str, table_url: str) -> None:
    run(example, table_url)


def test_the_guides_have_examples() -> None:
    assert len(examples("client.md")) >= 4
    assert len(examples("parameters.md")) >= 6
