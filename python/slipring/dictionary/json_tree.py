"""JSON with the line of every value, which the standard library does not keep.

Never recurses deeper than DEPTH_MAX.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

DEPTH_MAX = 100
SPACE = re.compile(r"[ \t\n\r]*")
SCALAR = json.JSONDecoder(parse_constant=str)


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A value and its line. An object is a dict of nodes, an array a list of nodes."""

    line: int
    value: Any

    def plain(self) -> Any:
        """The value without lines."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


class NotJson(ValueError):
    """The text is not JSON, or has a key twice."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


def parse(text: str) -> JsonNode:
    """The text as a tree of nodes; raises NotJson."""
    reader = _Reader(text)
    node = reader.value(0)
    if reader.position < len(text):
        raise reader.wrong("there is more text after the end")
    return node


class _Reader:
    """Reads the text; knows the position and its line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.line = 1
        self._skip_space()

    def value(self, depth: int) -> JsonNode:
        if depth > DEPTH_MAX:
            raise self.wrong(f"objects are nested deeper than {DEPTH_MAX} levels")
        line, opener = self.line, self.text[self.position : self.position + 1]
        if opener == "{":
            return JsonNode(line, self._members(depth))
        if opener == "[":
            return JsonNode(line, self._elements(depth))
        return JsonNode(line, self._scalar())

    def _members(self, depth: int) -> dict[str, JsonNode]:
        members: dict[str, JsonNode] = {}
        self._take("{")
        while not self._took("}"):
            if members:
                self._take(",")
            key = self._scalar()
            if not isinstance(key, str):
                raise self.wrong(f"{key!r} cannot be a key; put it in quotes")
            if key in members:
                first = members[key].line
                raise self.wrong(
                    f"the key {key!r} is in line {first} already; rename or remove one"
                )
            self._take(":")
            members[key] = self.value(depth + 1)
        return members

    def _elements(self, depth: int) -> list[JsonNode]:
        elements: list[JsonNode] = []
        self._take("[")
        while not self._took("]"):
            if elements:
                self._take(",")
            elements.append(self.value(depth + 1))
        return elements

    def _scalar(self) -> Any:
        if self.text.startswith(("{", "["), self.position):
            raise self.wrong("a key is missing; put one in quotes")
        try:
            found, self.position = SCALAR.raw_decode(self.text, self.position)
        except json.JSONDecodeError as error:
            text = (
                f"{error.msg} in column {error.colno}; look for an extra comma or a missing quote"
            )
            raise NotJson(error.lineno, text) from None
        except ValueError as error:  # a number of thousands of digits
            raise self.wrong(str(error)) from None
        self._skip_space()
        return found

    def _took(self, sign: str) -> bool:
        if not self.text.startswith(sign, self.position):
            return False
        self.position += 1
        self._skip_space()
        return True

    def _take(self, sign: str) -> None:
        if not self._took(sign):
            found = self.text[self.position : self.position + 10]
            raise self.wrong(f"{sign!r} is missing before {found!r}")

    def _skip_space(self) -> None:
        found = SPACE.match(self.text, self.position)
        end = found.end() if found else self.position
        self.line += self.text.count("\n", self.position, end)
        self.position = end

    def wrong(self, text: str) -> NotJson:
        return NotJson(self.line, text)
