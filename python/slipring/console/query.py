"""The parameters of a query, by the type that describes them. Pure."""

import math
import re
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

from starlette.datastructures import QueryParams

from slipring.status.json_schema import Asked, Between, Matching, asked_fields

Described = TypeVar("Described")

SHOWN = 40
"""Characters of an unknown name that are repeated."""
VALUES_MAX = 1_000
"""Values of a parameter that may be repeated."""
DIGITS_MAX = 20
"""Digits of a number: Python refuses to convert thousands of them."""


def wrong_query(query: QueryParams, described: type | None) -> str | None:
    """What is wrong with a query, as a sentence; None if nothing is."""
    known = {} if described is None else {one.name: one for one in asked_fields(described)}
    for name in query:
        if name not in known:
            there = ", ".join(known) or "none"
            return f"there is no parameter '{name[:SHOWN]}'; the route has {there}"
    for one in known.values():
        if wrong := _wrong_values(one, query.getlist(one.name)):
            return wrong
    return None


def query_of(query: QueryParams, described: type[Described]) -> Described:
    """The values of a query that has been checked."""
    found: dict[str, Any] = {}
    for one in asked_fields(described):
        values = query.getlist(one.name)
        if values and get_origin(one.kind) is list:
            (kind,) = get_args(one.kind)
            found[one.name] = [_value(kind, value) for value in values]
        elif values:
            found[one.name] = _value(one.kind, values[0])
    return cast("Described", found)


def _wrong_values(one: Asked, values: list[str]) -> str | None:
    if one.is_required and not values:
        return f"'{one.name}' is missing: {one.meaning}"
    is_list = get_origin(one.kind) is list
    most = next((bound.most for bound in one.bounds if isinstance(bound, Between)), VALUES_MAX)
    if is_list and len(values) > most:
        return f"'{one.name}' is there more than {most:,} times"
    if not is_list and len(values) > 1:
        return f"'{one.name}' is there more than once"
    kind = get_args(one.kind)[0] if is_list else one.kind
    bounds = () if is_list else one.bounds
    wrong = next((why for text in values if (why := _wrong(kind, text, bounds))), None)
    return f"'{one.name}' {wrong}" if wrong else None


def _wrong(kind: Any, text: str, bounds: tuple[Between | Matching, ...]) -> str | None:
    if get_origin(kind) is Literal:
        words = get_args(kind)
        return None if text in words else f"is one of: {', '.join(map(str, words))}"
    try:
        value = _value(kind, text)
    except ValueError:
        return "is a whole number" if kind is int else "is a number"
    if isinstance(value, float) and not math.isfinite(value):
        return "is a number"
    for bound in bounds:
        if isinstance(bound, Matching):
            if not re.fullmatch(bound.pattern, text):
                return f"does not look like {bound.pattern}"
        elif not bound.least <= (len(value) if isinstance(value, str) else value) <= bound.most:
            unit = " characters" if isinstance(value, str) else ""
            return f"has {bound.least:,} to {bound.most:,}{unit}"
    return None


def _value(kind: Any, text: str) -> Any:
    if kind is int:
        if not re.fullmatch(f"-?[0-9]{{1,{DIGITS_MAX}}}", text, re.ASCII):
            raise ValueError(text)
        return int(text)
    if kind is float:
        if len(text) > 2 * DIGITS_MAX or not re.fullmatch(r"[-+.eE0-9]+", text, re.ASCII):
            raise ValueError(text)
        return float(text)
    return text
