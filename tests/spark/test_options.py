"""Options of the data source, without Spark."""

import pytest

from slipring.spark.columns import COLUMNS
from slipring.spark.options import Options, parse_options


def test_a_path_is_enough() -> None:
    assert parse_options({"path": "j"}) == Options(path="j")
    assert parse_options({"path": "j"}).columns == COLUMNS


def test_names_have_no_case() -> None:
    options = parse_options({"PATH": "file:///j", "maxmessagespertrigger": "7", "Partitions": "2"})
    assert options == Options(path="/j", messages_per_trigger_max=7, partitions=2)


def test_all_of_them_are_read() -> None:
    raw = {
        "path": "j",
        "startingOffset": "12",
        "endingOffset": "latest",
        "columns": "topic, offset",
    }
    assert parse_options(raw) == Options(path="j", starting_offset=12, columns=("topic", "offset"))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({}, "path is missing"),
        ({"path": "j", "startOffset": "1"}, "unknown option startoffset; allowed: path, starting"),
        ({"path": "j", "startingOffset": "newest"}, "allowed: earliest, latest or an offset"),
        ({"path": "j", "startingOffset": "-1"}, "allowed: earliest, latest or an offset"),
        ({"path": "j", "partitions": "0"}, "whole number from 1"),
        ({"path": "j", "maxMessagesPerTrigger": "many"}, "whole number from 1"),
        ({"path": "j", "columns": "topic,colour"}, "allowed: some of offset, receive_time"),
        ({"path": "j", "columns": "topic,topic"}, "each once"),
        ({"path": "j", "deliver": "frames"}, "allowed: messages, ranges"),
        ({"path": "j", "deliver": "ranges", "columns": "topic"}, "deliver=messages only"),
    ],
)
def test_what_is_not_allowed_is_answered_with_what_is(raw: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_options(raw)
