"""The examples of the guide run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "client.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_as_it_stands(example: str, broker_url: str) -> None:
    code = re.sub(r"slipring\.connect\([^)]*\)", f"slipring.connect({broker_url!r})", example)
    ended = subprocess.run([sys.executable, "-W", "error", "-c", code], check=False, timeout=30)
    assert ended.returncode == 0


def test_the_guide_has_examples() -> None:
    assert len(EXAMPLES) >= 4
