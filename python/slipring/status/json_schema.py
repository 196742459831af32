"""Described types as JSON Schema. Standard library only; never looks at a value."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from slipring.status.description import without_links

Schema = dict[str, Any]

PLACE = "#/components/schemas/"
"""Where an OpenAPI document has the schemas that have names."""
SIMPLE: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    NoneType: "null",
}


@dataclass(frozen=True, slots=True)
class Between:
    """The bounds of a number, of the characters of a text, or of the items of a list."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Matching:
    """The regular expression that a whole text matches."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One field of what is asked for: a parameter of a query, or a key of a body."""

    name: str
    kind: Any
    meaning: str
    bounds: tuple[Between | Matching, ...]
    is_required: bool


def asked_fields(described: type) -> Iterator[Asked]:
    """The fields of a TypedDict, with their bounds."""
    required: frozenset[str] = getattr(described, "__required_keys__", frozenset())
    for name, hint in get_type_hints(described, include_extras=True).items():
        kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        meaning = next((one for one in notes if isinstance(one, str)), "")
        bounds = tuple(one for one in notes if isinstance(one, Between | Matching))
        yield Asked(name, kind, meaning, bounds, name in required)


def schema_of(kind: Any, named: dict[str, Schema]) -> Schema:
    """The schema of a type; a TypedDict goes into `named`, and the schema refers to it."""
    origin, inner = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        _name(kind, named)
        return {"$ref": f"{PLACE}{kind.__name__}"}
    if origin is Literal:
        return {"type": SIMPLE[type(inner[0])], "enum": list(inner)}
    if origin is None:
        return {"type": SIMPLE[kind]} if kind in SIMPLE else {}
    parts = [schema_of(one, named) for one in inner]
    if origin is dict:
        return {"type": "object", "additionalProperties": parts[1]}
    if origin is tuple:
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "items": False}
    return {"type": "array", "items": parts[0]} if origin is list else _one_of(parts)


def bounded(schema: Schema, bounds: tuple[Between | Matching, ...]) -> Schema:
    """A schema with the bounds of its values."""
    words = {"integer": "imum", "number": "imum", "string": "Length", "array": "Items"}
    for bound in bounds:
        if isinstance(bound, Matching):
            schema = schema | {"pattern": f"^(?:{bound.pattern})$"}
        else:
            word = words[schema["type"]]
            schema = schema | {f"min{word}": bound.least, f"max{word}": bound.most}
    return schema


def described_schema(one: Asked, named: dict[str, Schema]) -> Schema:
    """The schema of a field, with its bounds and its meaning."""
    schema = bounded(schema_of(one.kind, named), one.bounds)
    return schema | {"description": plain(one.meaning)} if one.meaning else schema


def plain(meaning: str) -> str:
    """A description as it stands by itself, in one paragraph."""
    return re.sub(r"\s+", " ", without_links(meaning)).strip()


def _name(kind: Any, named: dict[str, Schema]) -> None:
    if kind.__name__ in named:
        return
    named[kind.__name__] = {}  # it may refer to itself
    asked = list(asked_fields(kind))
    named[kind.__name__] = {
        "type": "object",
        "description": plain(kind.__doc__ or ""),
        "properties": {one.name: described_schema(one, named) for one in asked},
        "required": [one.name for one in asked if one.is_required],
    }


def _one_of(schemas: list[Schema]) -> Schema:
    types = [one["type"] for one in schemas if one.keys() == {"type"}]
    return {"type": types} if len(types) == len(schemas) else {"anyOf": schemas}
