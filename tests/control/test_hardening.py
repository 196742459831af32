"""docs/hardening.md, line by line: what must work works, and what must fail fails."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.page_operator import BLOCK, REFUSED, Operator
from tests.running_broker import kept_address

PAGE = (Path(__file__).parents[2] / "docs" / "hardening.md").read_text()
BLOCKS = BLOCK.findall(PAGE)
PORTS = ("8883", "8443")


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    with ExitStack() as stack:
        addresses = [stack.enter_context(kept_address()) for _ in PORTS]
        free = [address.rpartition(":")[2] for address in addresses]
        yield Operator(tmp_path, dict(zip(PORTS, free, strict=True)), stack)


def test_every_line_of_the_page_ends_as_it_says(operator: Operator) -> None:
    operator.follow(PAGE)


def test_the_page_has_lines_that_must_fail() -> None:
    lines = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
    assert sum(REFUSED.search(line) is not None for line in lines) >= 6
