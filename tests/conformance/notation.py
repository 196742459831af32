"""The notation of the rows: one line is one packet, as text that a person reads.

    PUBLISH topic={t}/a payload=hello qos=1 id=7 message_expiry=60 user=key:value
    SUBSCRIBE id=1 filter={t}/#:1,nl,rap,rh2
    bytes 30 '{t}' 00 61        a packet by hand: its length is reckoned, '...' is a string
    raw c0 01 00                nothing is reckoned

This file only turns such a line into names and values, and into the bytes to send.
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tests.mqtt_bytes import BY_NAME, Form, Giving, Pair, Text, packet, properties, text
from tests.packets import PINGREQ, Version, Will

Word: TypeAlias = str
Fields: TypeAlias = dict[str, list[Word]]
Ending: TypeAlias = Callable[[int, bytes], bytes]
Acknowledging: TypeAlias = Callable[[int, int, bytes], bytes]

FIELD = re.compile(r"(?P<name>[\w.]+)=(?P<value>b?'(?:[^'\\]|\\.)*'(?::\S+)?|\S*)")
TOKEN = re.compile(r"b?'(?:[^'\\]|\\.)*'|\S+")
REPEAT = re.compile(r"\{(.)\*(\d+)\}")
WILL = "will."
NAMES = frozenset(
    {"id", "topic", "payload", "qos", "retain", "dup", "reason", "reasons", "session_present"}
    | {"filter", "client_id", "clean", "keep_alive", "username", "password", "flags", "first"}
    | {"size"}
    | {"will.topic", "will.payload", "will.qos", "will.retain", "will.delay"}
)
OPTIONS = {"nl": 0x04, "rap": 0x08, "rh1": 0x10, "rh2": 0x20}


@dataclass(frozen=True, slots=True)
class Line:
    """A packet in words: its kind and its fields, each with every value it was given."""

    kind: str
    fields: Fields
    rest: str

    @classmethod
    def parse(cls, words: str) -> "Line":
        words = REPEAT.sub(lambda found: found[1] * int(found[2]), words)
        kind, _, rest = words.strip().partition(" ")
        if kind in {"bytes", "raw"}:
            return cls(kind, {}, rest)
        fields: Fields = {}
        for found in FIELD.finditer(rest):
            if found["name"].removeprefix(WILL) not in BY_NAME and found["name"] not in NAMES:
                raise ValueError(f"no field is named {found['name']}: {words}")
            fields.setdefault(found["name"], []).append(found["value"])
        if left := FIELD.sub("", rest).strip():
            raise ValueError(f"not understood in {words!r}: {left!r}")
        return cls(kind, fields, rest)

    def word(self, name: str, default: Word) -> Word:
        return self.fields.get(name, [default])[0]

    def text(self, name: str, default: Word) -> Text:
        return as_text(self.word(name, default))

    def data(self, name: str, default: Word) -> bytes:
        return as_bytes(self.word(name, default))

    def number(self, name: str, default: int = 0) -> int:
        return int(self.word(name, str(default)), 0)

    def flag(self, name: str, *, default: bool = False) -> bool:
        return self.word(name, str(int(default))) == "1"

    def properties(self, front: str = "") -> bytes:
        """The properties among the fields; those of the will have `will.` in front."""
        written = b""
        for name, words in self.fields.items():
            bare = name.removeprefix(front).replace("delay", "will_delay")
            if name.startswith(front) and bare in BY_NAME:
                for word in words:
                    written += properties(**{bare: as_giving(BY_NAME[bare].form, word)})
        return written


def as_text(word: Word) -> Text:
    """A word as it stands; in quotes, as Python reads it."""
    if word.startswith(("'", "b'")):
        read = ast.literal_eval(word)
        assert isinstance(read, str | bytes)
        return read
    return word


def as_bytes(word: Word) -> bytes:
    read = as_text(word)
    return read if isinstance(read, bytes) else read.encode()


def as_giving(form: Form, word: Word) -> Giving:
    match form:
        case Form.TEXT:
            return as_text(word)
        case Form.BINARY:
            return as_bytes(word)
        case Form.PAIR:
            return as_pair(word)
        case _:
            return int(word, 0)


def as_pair(word: Word) -> Pair:
    """`key:value`; either may be in quotes."""
    match = re.fullmatch(r"(b?'(?:[^'\\]|\\.)*'|[^:]*):(.*)", word)
    assert match, f"not key:value: {word}"
    return as_text(match[1]), as_text(match[2])


def as_filter(word: Word) -> tuple[Text, int]:
    """`filter:options`, as in `a/#:1,nl` or, with the byte itself, `a/#:0xff`."""
    wanted, _, options = word.rpartition(":")
    number = 0
    for option in options.split(","):
        number |= OPTIONS[option] if option in OPTIONS else int(option, 0)
    return as_text(wanted), number


def as_packet(version: Version, line: Line, client_id: str, topic: str) -> bytes:
    """The bytes of a line; a client's identifier and the topic stand where none is named."""
    if line.kind == "raw":
        return bytes.fromhex(line.rest)
    if line.kind == "bytes":
        return by_hand(line.rest)
    written = _written(version, line, client_id, topic)
    if "first" in line.fields:
        written = bytes([line.number("first")]) + written[1:]
    return written


def by_hand(words: str) -> bytes:
    """A packet from its first byte and the pieces of its body."""
    first, *pieces = TOKEN.findall(words)
    body = b"".join(
        text(as_text(piece)) if piece.startswith(("'", "b'")) else bytes.fromhex(piece)
        for piece in pieces
    )
    return packet(int(first, 16), body)


def _written(version: Version, line: Line, client_id: str, topic: str) -> bytes:
    match line.kind:
        case "CONNECT":
            return _connect(version, line, client_id)
        case "PUBLISH":
            return _publish(version, line, topic)
        case "SUBSCRIBE":
            filters = [as_filter(word) for word in line.fields.get("filter", [])]
            return version.subscribe(line.number("id", 1), *filters, properties=line.properties())
        case "UNSUBSCRIBE":
            names = [as_text(word) for word in line.fields.get("filter", [])]
            return version.unsubscribe(line.number("id", 1), *names, properties=line.properties())
        case "PINGREQ":
            return PINGREQ
    return _with_reason(version, line)


def _with_reason(version: Version, line: Line) -> bytes:
    reason, own = line.number("reason"), line.properties()
    ends: dict[str, Ending] = {"DISCONNECT": version.disconnect, "AUTH": version.auth}
    if line.kind in ends:
        return ends[line.kind](reason, own)
    acknowledgements: dict[str, Acknowledging] = {
        "PUBACK": version.puback,
        "PUBREC": version.pubrec,
        "PUBREL": version.pubrel,
        "PUBCOMP": version.pubcomp,
    }
    return acknowledgements[line.kind](line.number("id", 1), reason, own)


def _connect(version: Version, line: Line, client_id: str) -> bytes:
    will = None
    if "will.topic" in line.fields:
        will = Will(
            line.text("will.topic", ""),
            line.data("will.payload", "gone"),
            qos=line.number("will.qos"),
            retain=line.flag("will.retain"),
            properties=line.properties(WILL),
        )
    return version.connect(
        line.text("client_id", client_id),
        clean=line.flag("clean", default=True),
        keep_alive_s=line.number("keep_alive"),
        username=line.text("username", "") if "username" in line.fields else None,
        password=line.data("password", "") if "password" in line.fields else None,
        will=will,
        properties=line.properties(),
        flags=line.number("flags") if "flags" in line.fields else None,
    )


def _publish(version: Version, line: Line, topic: str) -> bytes:
    return version.publish(
        line.text("topic", topic),
        line.data("payload", "x"),
        qos=line.number("qos"),
        packet_id=line.number("id") if "id" in line.fields else None,
        retain=line.flag("retain"),
        dup=line.flag("dup"),
        properties=line.properties(),
    )
