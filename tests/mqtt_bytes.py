"""The smallest pieces of MQTT, to bytes and back: integers, strings, properties.

Written for tests, from the standard and apart from the broker: it also writes what is wrong on
purpose, because a string may be given as bytes and properties can be joined with `+`.
"""

from enum import Enum
from typing import NamedTuple, TypeAlias

Text: TypeAlias = str | bytes
"""A string; bytes are written as they are, well-formed or not."""

Pair: TypeAlias = tuple[Text, Text]
Value: TypeAlias = int | str | bytes | tuple[str, str]
PropertyValues: TypeAlias = dict[str, tuple[Value, ...]]
Giving: TypeAlias = int | Text | Pair | list[Pair] | list[tuple[str, str]] | list[int]

VARIABLE_LENGTH_BYTES_MAX = 4


class Malformed(Exception):
    """The broker sent what this peer cannot read."""


def u16(number: int) -> bytes:
    return number.to_bytes(2, "big")


def u32(number: int) -> bytes:
    return number.to_bytes(4, "big")


def variable(number: int) -> bytes:
    """A variable byte integer."""
    digits = bytearray()
    while True:
        number, digit = divmod(number, 128)
        digits.append(digit | (0x80 if number else 0))
        if not number:
            return bytes(digits)


def binary(data: bytes) -> bytes:
    return u16(len(data)) + data


def text(string: Text) -> bytes:
    return binary(string if isinstance(string, bytes) else string.encode())


def packet(first: int, body: bytes = b"") -> bytes:
    """Any packet: its first byte, its length, its body."""
    return bytes([first]) + variable(len(body)) + body


class Form(Enum):
    """How the value of a property is written."""

    BYTE = "byte"
    TWO = "two bytes"
    FOUR = "four bytes"
    VARIABLE = "variable byte integer"
    TEXT = "string"
    BINARY = "binary data"
    PAIR = "pair of strings"


class Property(NamedTuple):
    """One row of the standard's table of properties (2.2.2.2)."""

    code: int
    name: str
    form: Form


PROPERTIES = (
    Property(0x01, "payload_format", Form.BYTE),
    Property(0x02, "message_expiry", Form.FOUR),
    Property(0x03, "content_type", Form.TEXT),
    Property(0x08, "response_topic", Form.TEXT),
    Property(0x09, "correlation_data", Form.BINARY),
    Property(0x0B, "subscription_id", Form.VARIABLE),
    Property(0x11, "session_expiry", Form.FOUR),
    Property(0x12, "assigned_client_id", Form.TEXT),
    Property(0x13, "server_keep_alive", Form.TWO),
    Property(0x15, "auth_method", Form.TEXT),
    Property(0x16, "auth_data", Form.BINARY),
    Property(0x17, "request_problem_info", Form.BYTE),
    Property(0x18, "will_delay", Form.FOUR),
    Property(0x19, "request_response_info", Form.BYTE),
    Property(0x1A, "response_info", Form.TEXT),
    Property(0x1C, "server_reference", Form.TEXT),
    Property(0x1F, "reason_string", Form.TEXT),
    Property(0x21, "receive_maximum", Form.TWO),
    Property(0x22, "topic_alias_maximum", Form.TWO),
    Property(0x23, "topic_alias", Form.TWO),
    Property(0x24, "maximum_qos", Form.BYTE),
    Property(0x25, "retain_available", Form.BYTE),
    Property(0x26, "user", Form.PAIR),
    Property(0x27, "maximum_packet_size", Form.FOUR),
    Property(0x28, "wildcard_available", Form.BYTE),
    Property(0x29, "subscription_id_available", Form.BYTE),
    Property(0x2A, "shared_available", Form.BYTE),
)
BY_NAME = {property_.name: property_ for property_ in PROPERTIES}
BY_CODE = {property_.code: property_ for property_ in PROPERTIES}


def properties(**values: Giving) -> bytes:
    """Properties without their length: `properties(topic_alias=3, user=("key", "value"))`.

    A list writes the property once for each entry.
    """
    written = bytearray()
    for name, value in values.items():
        property_ = BY_NAME[name]
        for one in value if isinstance(value, list) else [value]:
            written += variable(property_.code) + _write(property_.form, one)
    return bytes(written)


NUMBERS = {Form.BYTE: 1, Form.TWO: 2, Form.FOUR: 4}
"""Numbers of a fixed size, and how many bytes they have."""


def _write(form: Form, value: int | Text | Pair) -> bytes:
    match form, value:
        case ((Form.BYTE | Form.TWO | Form.FOUR), int()):
            return value.to_bytes(NUMBERS[form], "big")
        case Form.VARIABLE, int():
            return variable(value)
        case Form.TEXT, str() | bytes():
            return text(value)
        case Form.BINARY, bytes():
            return binary(value)
        case Form.PAIR, tuple():
            return text(value[0]) + text(value[1])
    raise TypeError(f"{value!r} is not a {form.value}")


class Reader:
    """Takes pieces from the front of a packet's body."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def take(self, count: int) -> bytes:
        if len(self.data) < count:
            raise Malformed(f"{count} bytes expected at the end of a packet: {self.data.hex(' ')}")
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def rest(self) -> bytes:
        return self.take(len(self.data))

    def byte(self) -> int:
        return self.take(1)[0]

    def u16(self) -> int:
        return int.from_bytes(self.take(2), "big")

    def variable(self) -> int:
        number = 0
        for place in range(VARIABLE_LENGTH_BYTES_MAX):
            digit = self.byte()
            number |= (digit & 0x7F) << (7 * place)
            if digit < 0x80:
                if digit == 0 and place:
                    raise Malformed("a variable byte integer longer than needed")
                return number
        raise Malformed("a variable byte integer without end")

    def binary(self) -> bytes:
        return self.take(self.u16())

    def text(self) -> str:
        return self.binary().decode()

    def properties(self) -> PropertyValues:
        """The properties and their length in front."""
        block = Reader(self.take(self.variable()))
        found: PropertyValues = {}
        while block.data:
            property_ = BY_CODE.get(block.variable())
            if property_ is None:
                raise Malformed("a property the standard does not know")
            found[property_.name] = (*found.get(property_.name, ()), block._read(property_.form))
        return found

    def _read(self, form: Form) -> Value:
        match form:
            case Form.BYTE | Form.TWO | Form.FOUR:
                return int.from_bytes(self.take(NUMBERS[form]), "big")
            case Form.VARIABLE:
                return self.variable()
            case Form.TEXT:
                return self.text()
            case Form.BINARY:
                return self.binary()
            case Form.PAIR:
                return self.text(), self.text()
