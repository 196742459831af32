"""The options of the data source, without Spark."""

import pytest

from slipring.credentials import BrokerCredentials
from slipring.errors import ConnectError
from slipring.journal.columns import COLUMNS
from slipring.journal.location import JournalBroker, JournalFolder
from slipring.spark.options import SourceOptions, parse_options, parse_stream_options

LAKE = BrokerCredentials("lake", b"pencil")


def test_a_path_is_enough() -> None:
    assert parse_options({"path": "j"}) == SourceOptions(JournalFolder("j"))
    assert parse_options({"path": "j"}).columns == COLUMNS


def test_names_have_no_case() -> None:
    options = parse_options({"PATH": "file:///j", "maxmessagespertrigger": "7", "Partitions": "2"})
    assert options == SourceOptions(JournalFolder("/j"), messages_per_trigger_max=7, partitions=2)


def test_all_of_them_are_read() -> None:
    raw = {
        "path": "j",
        "startingOffset": "12",
        "endingOffset": "latest",
        "columns": "topic, offset",
    }
    assert parse_options(raw) == SourceOptions(
        JournalFolder("j"), starting_offset=12, columns=("topic", "offset")
    )


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({}, "path is missing"),
        ({"path": "j", "broker": "mqtt://b"}, "both given"),
        ({"path": "j", "user": "lake"}, "user goes with a broker only"),
        ({"path": "j", "startOffset": "1"}, "unknown option startoffset; allowed: path, broker"),
        ({"path": "j", "startingOffset": "newest"}, "allowed: earliest, latest or an offset"),
        ({"path": "j", "startingOffset": "-1"}, "allowed: earliest, latest or an offset"),
        ({"path": "j", "partitions": "0"}, "whole number from 1"),
        ({"path": "j", "cores": "all"}, "whole number from 1"),
        ({"path": "j", "maxMessagesPerTrigger": "many"}, "whole number from 1"),
        ({"path": "j", "columns": "topic,colour"}, "allowed: some of offset, receive_time"),
        ({"path": "j", "columns": "topic,topic"}, "each once"),
        ({"path": "j", "deliver": "rows"}, "allowed: messages, samples, frames, rollup, ranges"),
        ({"path": "j", "deliver": "ranges", "columns": "topic"}, "does not go with deliver=ranges"),
        ({"path": "j", "deliver": "ranges", "filter": "a/#"}, "does not go with deliver=ranges"),
    ],
)
def test_what_is_not_allowed_is_answered_with_what_is(raw: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_options(raw)


@pytest.mark.parametrize("name", ["endingOffset", "startingTime", "endingTime", "pushFilters"])
def test_a_stream_refuses_what_it_would_not_heed(name: str) -> None:
    assert parse_stream_options({"path": "j"}) == parse_options({"path": "j"})
    with pytest.raises(ValueError, match=f"option {name} goes with read only"):
        parse_stream_options({"path": "j", name: "1"})


@pytest.mark.parametrize("name", ["path", "broker"])
def test_a_broker_is_a_place_too(name: str) -> None:
    raw = {name: "mqtts://b", "user": "lake", "Password": "pencil", "serverName": "b.example"}
    location = parse_options(raw).location
    assert location == JournalBroker("mqtts://b", LAKE, server_name="b.example")
    assert parse_options(location.options()).location == location


def test_user_and_password_may_be_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPRING_USER", "lake")
    monkeypatch.setenv("SLIPRING_PASSWORD", "pencil")
    assert parse_options({"broker": "mqtt://b"}).location == JournalBroker("mqtt://b", LAKE)
    monkeypatch.delenv("SLIPRING_PASSWORD")
    with pytest.raises(ConnectError, match="no password for 'lake'"):
        parse_options({"broker": "mqtt://b"})


def test_a_password_is_never_shown() -> None:
    options = parse_options({"broker": "mqtt://b", "user": "lake", "password": "pencil"})
    assert "lake" in repr(options)
    assert "pencil" not in repr(options)
