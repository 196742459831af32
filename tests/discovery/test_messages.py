"""Questions and answers as datagrams: what is read, what is not, and how long they are."""

import json
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slipring.discovery.announcement import ANSWER_BYTES_MAX, decode, encode
from slipring.discovery.endpoint import Endpoint
from slipring.discovery.found import FoundBroker
from slipring.discovery.question import (
    QUESTION_BYTES_MAX,
    decode_question,
    encode_question,
)
from tests.discovery.brokers import MQTT, TOLD

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)


def test_an_answer_says_where_the_broker_is() -> None:
    assert decode(encode(TOLD, "n"), "n", "10.0.0.9") == FoundBroker(
        "ground",
        (
            "mqtt://10.0.0.9:1883",
            "mqtts://10.0.0.7:8883",
            "mqtt://127.0.0.1:1884",
            "unix:/run/slipring.sock",
        ),
        TOLD.id,
        "0.1.0",
        12.5,
        7,
        "http://127.0.0.1:8080",
        ("udp",),
    )


def test_a_host_with_colons_is_in_brackets() -> None:
    found = decode(encode(replace(TOLD, endpoints=(MQTT,)), "n"), "n", "fd00::2")
    assert found
    assert found.url == "mqtt://[fd00::2]:1883"


@given(st.integers(0, 200), st.text(min_size=1, max_size=64))
def test_an_answer_is_never_longer_than_its_bound(listeners: int, name: str) -> None:
    told = replace(TOLD, name=name, endpoints=(MQTT,) * listeners)
    answer = encode(told, "n" * 32)
    assert len(answer) <= ANSWER_BYTES_MAX
    found = json.loads(answer)
    assert len(found["listeners"]) + found.get("more", 0) == listeners


def test_an_answer_to_another_question_does_not_count() -> None:
    assert decode(encode(TOLD, "other"), "n", "10.0.0.9") is None
    assert decode(encode(TOLD, None), "n", "10.0.0.9") is None


@given(st.integers(0, len(encode(TOLD, "n")) - 1))
def test_a_cut_answer_does_not_count(length: int) -> None:
    assert decode(encode(TOLD, "n")[:length], "n", "10.0.0.9") is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("slipring", 2),
        ("name", ""),
        ("name", 7),
        ("name", "x" * 129),
        ("id", None),
        ("version", ["0.1"]),
        ("uptime_s", -1),
        ("uptime_s", float("nan")),
        ("uptime_s", True),
        ("table", 1 << 32),
        ("console", "http://here"),
        ("listeners", []),
        ("listeners", "mqtt://here"),
        ("listeners", [{"name": "a", "scheme": "gopher", "port": 70}]),
        ("listeners", [{"name": "a", "scheme": "mqtt", "port": 0}]),
        ("listeners", [{"name": "a", "scheme": "mqtt", "port": 65536}]),
        ("listeners", [{"name": "a", "scheme": "mqtt", "port": 1883.0}]),
        ("listeners", [{"name": "a", "scheme": "mqtt", "port": 1, "host": "user@elsewhere/#"}]),
        ("listeners", [{"name": "a", "scheme": "unix"}]),
        ("listeners", [{"name": "a", "scheme": ["mqtt"], "port": 1}]),
        ("listeners", [None]),
    ],
)
def test_an_answer_with_one_wrong_field_does_not_count(key: str, value: object) -> None:
    answer = json.loads(encode(TOLD, "n"))
    assert decode(json.dumps(answer).encode(), "n", "10.0.0.9")
    assert decode(json.dumps(answer | {key: value}).encode(), "n", "10.0.0.9") is None


@given(st.binary(max_size=2000) | JSON.map(lambda value: json.dumps(value).encode()))
@example(b"[" * 1199)
@example(b'{"nonce":"n","slipring":1,"listeners":' + b"[" * 1100)
@example(b'{"nonce":"n","slipring":' + b"9" * 1100 + b"}")
def test_noise_is_no_answer(noise: bytes) -> None:
    assert decode(noise, "n", "10.0.0.9") is None


@given(JSON, st.sampled_from(["name", "id", "uptime_s", "table", "console", "listeners"]))
def test_any_value_in_any_field_is_read_or_does_not_count(value: object, key: str) -> None:
    answer = json.loads(encode(TOLD, "n")) | {key: value}
    found = decode(json.dumps(answer).encode(), "n", "10.0.0.9")
    assert found is None or found.urls


def test_a_question_is_as_long_as_the_longest_answer() -> None:
    assert len(encode_question("n")) == ANSWER_BYTES_MAX
    assert decode_question(encode_question("n")) == ("n",)


@pytest.mark.parametrize(
    ("datagram", "nonce"),
    [
        (b"slipring?1", None),
        (b"slipring?1\n", None),
        (b"slipring?1    ", None),
        (b"slipring?1 a  ", "a"),
        (b"slipring?1 a", "a"),
        (b"slipring?1 a\n\xff\xfe", "a"),
        (b"slipring?1 " + b"a" * 32, "a" * 32),
    ],
)
def test_a_question_may_have_a_nonce_and_padding(datagram: bytes, nonce: str | None) -> None:
    assert decode_question(datagram) == (nonce,)


@pytest.mark.parametrize(
    "datagram",
    [
        b"",
        b"slipring",
        b"slipring?",
        b"slipring?2",
        b"slipring?11",
        b"Slipring?1",
        b" slipring?1",
        b"slipring?1 " + b"a" * 33,
        b"slipring?1 a\xe9",
        b"slipring?1 a b",
        b"slipring?1 \0",
        b"slipring?1".ljust(QUESTION_BYTES_MAX + 1),
    ],
)
def test_what_is_not_quite_a_question_is_none(datagram: bytes) -> None:
    assert decode_question(datagram) is None


@given(st.binary(max_size=2000))
def test_noise_is_no_question(noise: bytes) -> None:
    assert decode_question(noise) is None or noise.startswith(b"slipring?1")


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("0.0.0.0:1883", "mqtt://10.0.0.9:1883"),
        ("[::]:1883", "mqtt://10.0.0.9:1883"),
        ("[fd00::2]:1883", "mqtt://[fd00::2]:1883"),
        ("10.0.0.7:1883", "mqtt://10.0.0.7:1883"),
        ("unix:/run/slipring.sock", "unix:/run/slipring.sock"),
    ],
)
def test_an_endpoint_is_read_as_the_engine_writes_it(address: str, url: str) -> None:
    endpoint = Endpoint.at("a", "mqtt", address)
    assert endpoint.url("10.0.0.9") == url
    assert Endpoint.parse(endpoint.as_json()).url("10.0.0.9") == url
