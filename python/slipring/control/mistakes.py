"""Explains what is wrong in a configuration: the key, what it may be, or which one was meant."""

from difflib import get_close_matches
from typing import TYPE_CHECKING, get_args

from pydantic import BaseModel, ValidationError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

SHOWN_BYTES_MAX = 40
SHOWS_INPUT = ("int_", "float_", "bool_", "greater_than", "less_than", "literal_error")
"""Kinds of mistake that show the value. Others do not: it could be a password."""


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """List every mistake with its key."""
    return "; ".join(_explained(one, model) for one in error.errors(include_url=False))


def _explained(mistake: "ErrorDetails", model: type[BaseModel]) -> str:
    key = ".".join(map(str, mistake["loc"]))
    if mistake["type"] == "extra_forbidden":
        return f"{key}: there is no such key{_meant(mistake['loc'], model)}"
    message = mistake["msg"].removeprefix("Value error, ")
    given = repr(mistake["input"])
    if mistake["type"].startswith(SHOWS_INPUT) and len(given) <= SHOWN_BYTES_MAX:
        message += f", not {given}"
    return f"{key}: {message}" if key else message


def _meant(location: tuple[int | str, ...], model: type[BaseModel]) -> str:
    *above, last = location
    keys = _keys_below(model)
    beside = [
        key for key in keys if key[:-1] == tuple(one for one in above if isinstance(one, str))
    ]
    near = get_close_matches(str(last), [key[-1] for key in beside], n=1)
    elsewhere = [key for key in keys if key[-1] == last]
    found = [key for key in beside if [key[-1]] == near] or elsewhere
    if not found:
        return "; `slipring config` lists them all"
    return f"; did you mean {'.'.join(found[0])}?"


def _keys_below(model: type[BaseModel], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every key with the sections it is in."""
    keys = list[tuple[str, ...]]()
    for name, field in model.model_fields.items():
        keys.append((*path, name))
        for one in (field.annotation, *get_args(field.annotation)):
            if isinstance(one, type) and issubclass(one, BaseModel):
                keys += _keys_below(one, (*path, name))
    return keys
