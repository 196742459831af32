"""docs/hardening.md, line by line: what must work works, and what must fail fails."""

import re
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


def again() -> list[str]:
    """The commands of the table of what to do again, in its order, with their options."""
    table = PAGE.partition("## 9.")[2].partition("## What")[0]
    commands = [
        line for line in re.findall(r"`(slipring [^`]+)`", table) if line != "slipring access"
    ]
    more = " --console https://localhost:8443 --ca ca.pem --password-file olga.password"
    return [f"{line}{more if ' access ' in line else ''}" for line in commands]


def test_what_is_to_be_done_again_can_be_done(operator: Operator) -> None:
    """Also that a command acts on this broker: one that revokes elsewhere would say the same."""
    operator.follow(PAGE)
    add = "slipring access users add NAME --console https://localhost:8443 --ca ca.pem"
    operator.type(f"{add} --password-file olga.password < anna.password")
    assert len(again()) >= 5
    for line in again():
        operator.type(line)
    assert not (operator.folder / "slipring-data").exists()
    revoked = (operator.folder / "data" / "tokens" / "revoked.json").read_text()
    assert '"NAME"' in revoked


def test_the_page_has_lines_that_must_fail() -> None:
    lines = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
    assert sum(REFUSED.search(line) is not None for line in lines) >= 6
