"""What a consumer says of its work, and what is understood of what others say."""

import json

import pytest

from slipring.journal.consumer_note import TABLES_MAX, ConsumerNote

NOTE_BYTES_MAX = 454


def test_a_note_has_the_rows_of_the_run_and_those_of_the_last_commit() -> None:
    note = ConsumerNote().then({"samples": 5, "frames": 1}).then({"samples": 7, "frames": 0})
    assert note.rows == {"samples": 12, "frames": 1}
    assert note.last == {"samples": 7, "frames": 0}
    assert ConsumerNote.decode(note.encode()) == ConsumerNote(
        {"frames": 1, "samples": 12}, {"samples": 7}
    )


def test_the_note_of_every_job_fits_beside_its_position() -> None:
    most = dict.fromkeys(("rollup_1h", "rollup_1m", "rollup_1s", "rollup_late"), (1 << 63) - 1)
    assert len(ConsumerNote(most, most).encode().encode()) <= NOTE_BYTES_MAX


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a note of somebody else",
        "[1]",
        "[" * 400,
        '{"rows": 5, "last": [1]}',
        '{"rows": {"a b": 1, "A": 1, "x\\n": 1, "a": -1, "b": 1.5, "c": true, "d": "1"}}',
        '{"rows": {"a": 9223372036854775808}}',
    ],
)
def test_what_is_not_understood_is_left_out(text: str) -> None:
    assert ConsumerNote.decode(text) == ConsumerNote()


def test_a_note_never_has_more_tables_than_a_metric_may_have_labels() -> None:
    many = json.dumps({"rows": {f"t{number}": 1 for number in range(50)}})
    assert len(ConsumerNote.decode(many).rows) == TABLES_MAX
