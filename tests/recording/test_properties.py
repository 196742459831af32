"""MQTT 5 properties as keys of a row, and back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.native import decode_properties, encode_properties
from slipring.recording.properties import RAW, from_keys, of_plain_message, to_keys
from tests.mqtt_bytes import properties as written

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
PAIRS = st.fixed_dictionaries(
    {},
    optional={
        "payload_format": st.integers(0, 1),
        "message_expiry_s": st.integers(0, (1 << 32) - 1),
        "content_type": TEXT,
        "response_topic": TEXT,
        "correlation_data": st.binary(max_size=20),
    },
)
USER = st.lists(st.tuples(TEXT, TEXT), max_size=4)


@given(PAIRS, USER)
def test_properties_survive_json(named: dict[str, object], user: list[tuple[str, str]]) -> None:
    encoded = encode_properties([*named.items(), *(("user", pair) for pair in user)])
    keys = json.loads(json.dumps(to_keys(encoded)))
    assert sorted(decode_properties(from_keys(keys)), key=repr) == sorted(
        decode_properties(encoded), key=repr
    )
    assert [tuple(pair) for pair in keys.get("properties", [])] == user


def test_the_bytes_are_those_of_the_standard() -> None:
    pairs = [("content_type", "a/b"), ("correlation_data", b"\xff"), ("user", ("k", "v"))]
    expected = written(content_type="a/b", correlation_data=b"\xff", user=("k", "v"))
    assert encode_properties(pairs) == expected


@pytest.mark.parametrize("encoded", [b"\xff", b"\x23\x00\x01", b"\x03\x00"])
def test_bytes_that_are_no_properties_of_a_message_are_kept_as_they_are(encoded: bytes) -> None:
    keys = to_keys(encoded)
    assert list(keys) == [RAW]
    assert from_keys(keys) == encoded


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"content_type": 5}, "content_type"),
        ({"message_expiry_s": -1}, "message_expiry_s"),
        ({"payload_format": 2}, "range"),
        ({"properties": "ab"}, "pairs"),
        ({"properties": [["a", 1]]}, "user"),
        ({"properties": [["a\0", "b"]]}, "user"),
        ({"correlation_data_base64": "?"}, "correlation_data_base64"),
        ({"properties_base64": 7}, "properties_base64"),
    ],
)
def test_a_wrong_key_is_named(row: dict[str, object], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        from_keys(row)


def test_user_properties_may_be_an_object() -> None:
    assert from_keys({"properties": {"a": "b"}}) == encode_properties([("user", ("a", "b"))])


def test_the_properties_of_a_request_become_those_of_a_plain_message() -> None:
    kept = [("content_type", "text/plain"), ("user", ("site", "north"))]
    asked = [
        ("response_topic", "$slipring/answer"),
        ("correlation_data", b"7"),
        ("user", ("slipring-timeout", "3")),
        ("user", ("slipring-wait", "1")),
    ]
    assert decode_properties(of_plain_message(encode_properties([*kept, *asked]))) == kept
    assert of_plain_message(encode_properties(asked)) == b""
    told = encode_properties([("content_type", "slipring-timeout"), ("response_topic", "a")])
    assert of_plain_message(told) == told, "no request, though it has the words"
    assert of_plain_message(b"\xff") == b"\xff", "what cannot be read stays as it is"
