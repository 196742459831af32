"""Who reads a journal and how far, from Python."""

from pathlib import Path

import pytest

from slipring.errors import JournalError
from slipring.native import JournalReader, commit_consumer, forget_consumer, list_consumers
from tests.journal_messages import write_messages


@pytest.fixture
def journal(tmp_path: Path) -> str:
    write_messages(tmp_path, 10)
    return JournalReader(tmp_path).identity


def test_positions_are_noted_by_name_and_forgotten(tmp_path: Path, journal: str) -> None:
    assert list_consumers(tmp_path) == []
    commit_consumer(tmp_path, "lake", journal, 3)
    commit_consumer(tmp_path, "backup", journal, 7)
    commit_consumer(tmp_path, "lake", journal, 5)
    backup, lake = list_consumers(tmp_path)
    assert (backup.name, backup.offset) == ("backup", 7)
    assert (lake.name, lake.offset, lake.journal, lake.flaw) == ("lake", 5, journal, None)
    assert backup.updated_ns is not None
    assert lake.updated_ns is not None
    assert lake.updated_ns > 0
    assert forget_consumer(tmp_path, "lake")
    assert not forget_consumer(tmp_path, "lake")
    assert [consumer.name for consumer in list_consumers(tmp_path)] == ["backup"]


@pytest.mark.parametrize("name", ["", "../lock", "a/b", ".hidden", "-rf", "a\nb", "x" * 65])
def test_a_name_that_is_no_plain_word_is_refused(tmp_path: Path, journal: str, name: str) -> None:
    with pytest.raises(ValueError, match="is not a consumer's name; allowed: 1 to 64 of"):
        commit_consumer(tmp_path, name, journal, 1)
    with pytest.raises(ValueError, match="is not a consumer's name"):
        forget_consumer(tmp_path, name)


def test_an_identity_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='"abc" is not the identity of a journal'):
        commit_consumer(tmp_path, "lake", "abc", 1)


def test_a_file_that_is_not_a_position_is_shown_with_what_is_wrong(
    tmp_path: Path, journal: str
) -> None:
    commit_consumer(tmp_path, "good", journal, 1)
    (tmp_path / "consumers" / "bad").write_text("offset = 1\n")
    bad, good = list_consumers(tmp_path)
    assert (bad.name, bad.offset, bad.flaw) == ("bad", None, "its content is damaged")
    assert (good.name, good.offset) == ("good", 1)


def test_a_folder_that_cannot_be_written_is_said_with_its_place(
    tmp_path: Path, journal: str
) -> None:
    (tmp_path / "consumers").write_text("in the way")
    with pytest.raises(JournalError, match=f"cannot create {tmp_path}/consumers"):
        commit_consumer(tmp_path, "lake", journal, 1)
