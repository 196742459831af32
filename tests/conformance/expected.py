"""What must come back: a line of the notation against the packet that arrived.

Beside plain values a field may say `*` (it is there), `!` (it is not there), `1..9` (between),
`1|2` (either), and `$name`: whatever it is the first time, and the same from then on. `size` is
the number of bytes of the whole packet.
"""

from typing import TypeAlias

from tests.conformance.notation import Line, Word, as_bytes, as_giving, as_text
from tests.mqtt_bytes import BY_NAME, PropertyValues, Value
from tests.packets import Kind, Packet, Version

Known: TypeAlias = dict[str, int | str]
"""The values that `$name` stands for."""

NOTES = frozenset({"slipring-dropped"})
"""User properties by which the broker tells of its own work, on any message."""

SUBACK_FAILURE = 0x80
"""The one return code for a failure in MQTT 3.1.1."""

FREE_PROPERTIES = frozenset({"reason_string", "user"})
"""What a broker may add to anything but a PUBLISH to explain itself."""


def differences(version: Version, line: Line, got: Packet, topic: str, known: Known) -> list[str]:
    """What is not as the line says, in words; nothing if all is."""
    if got.kind.name != line.kind:
        return [f"it is a {got.kind.name}"]
    found = []
    for name, default in _fields(version, got, topic).items():
        word = line.word(name, default)
        if got.kind is Kind.SUBACK and name == "reasons" and not version.has_properties:
            word = ",".join(str(min(int(part, 0), SUBACK_FAILURE)) for part in word.split(","))
        if not _matches(word, name, getattr(got, name), known):
            found.append(f"{name} is not {word}")
    if "size" in line.fields and not _matches(line.word("size", ""), "size", len(got.raw), known):
        found.append(f"it has {len(got.raw)} bytes")
    return found + _property_differences(version, line, got, known)


DEFAULTS: dict[Kind, dict[str, Word]] = {
    Kind.CONNACK: {"reason": "0", "session_present": "0"},
    Kind.PUBLISH: {"payload": "x", "qos": "0", "retain": "0", "dup": "0"},
    Kind.PUBACK: {"id": "1", "reason": "0"},
    Kind.PUBREC: {"id": "1", "reason": "0"},
    Kind.PUBREL: {"id": "1", "reason": "0"},
    Kind.PUBCOMP: {"id": "1", "reason": "0"},
    Kind.SUBACK: {"id": "1", "reasons": "0"},
    Kind.UNSUBACK: {"id": "1", "reasons": "0"},
    Kind.DISCONNECT: {"reason": "0"},
    Kind.AUTH: {"reason": "0"},
}
"""The fields that are compared, and what they are when the line does not say."""

ONLY_IDENTIFIER = frozenset({Kind.PUBACK, Kind.PUBREC, Kind.PUBREL, Kind.PUBCOMP, Kind.UNSUBACK})
"""What has no reason in MQTT 3.1.1."""


def _fields(version: Version, got: Packet, topic: str) -> dict[str, Word]:
    if got.kind is Kind.PUBLISH:
        identifier = "1..65535" if got.qos else "0"
        return DEFAULTS[got.kind] | {"topic": topic, "id": identifier}
    if not version.has_properties and got.kind in ONLY_IDENTIFIER:
        return {"id": "1"}
    return DEFAULTS.get(got.kind, {})


def _property_differences(version: Version, line: Line, got: Packet, known: Known) -> list[str]:
    if not version.has_properties:
        return []
    got_properties = _without_notes(got.properties)
    wanted = {name: words for name, words in line.fields.items() if name in BY_NAME}
    found = [
        f"{name} is not {' and '.join(words)}"
        for name, words in wanted.items()
        if not _same_values(name, words, got_properties.get(name, ()), known)
    ]
    if got.kind is Kind.PUBLISH:
        found += [f"{name} is there" for name in got_properties if name not in wanted]
    elif got.kind is not Kind.CONNACK:
        free = FREE_PROPERTIES | wanted.keys()
        found += [f"{name} is there" for name in got_properties if name not in free]
    return found


def _without_notes(found: PropertyValues) -> PropertyValues:
    """The properties without what the broker tells about its own work."""
    user = tuple(
        pair for pair in found.get("user", ()) if isinstance(pair, tuple) and pair[0] not in NOTES
    )
    others = {name: values for name, values in found.items() if name != "user"}
    return others | {"user": user} if user else others


def _same_values(name: str, words: list[Word], values: tuple[Value, ...], known: Known) -> bool:
    if words == ["!"]:
        return not values
    if len(words) != len(values):
        return False
    if name == "subscription_id":  # their order is not significant (3.3.4-4)
        words, values = sorted(words), tuple(sorted(values, key=str))
    return all(
        _matches(word, name, value, known) for word, value in zip(words, values, strict=True)
    )


def _matches(word: Word, name: str, value: object, known: Known) -> bool:
    if word == "*":
        return True
    if word.startswith("$"):
        assert isinstance(value, int | str)
        return known.setdefault(word, value) == value
    if "|" in word and not isinstance(value, str | bytes):
        return any(_matches(part, name, value, known) for part in word.split("|"))
    if ".." in word and isinstance(value, int):
        least, most = word.split("..")
        return int(least) <= value <= int(most)
    return value == _plain(word, name, value)


def _plain(word: Word, name: str, value: object) -> object:
    """The word as the type of the value it is compared with."""
    if name in BY_NAME:
        return as_giving(BY_NAME[name].form, word)
    match value:
        case bool() | int():
            return int(word, 0)
        case bytes():
            return as_bytes(word)
        case tuple():
            return tuple(int(part, 0) for part in word.split(","))
    return as_text(word)
