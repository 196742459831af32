"""The table of a journal, read from its folder without a broker."""

from pathlib import Path

import pytest

from slipring.errors import JournalError
from slipring.native import journal_table
from tests.journal_messages import write_messages


def test_a_journal_without_parameters_has_no_table(tmp_path: Path) -> None:
    write_messages(tmp_path, 3)
    assert journal_table(tmp_path) == (None, [], [])


def test_no_journal_is_said_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=f"there is no journal in {tmp_path}"):
        journal_table(tmp_path)
