"""Values of the described types without anything in them, for tests to fill in."""

from typing import Any, Literal, TypeVar, cast, get_args, get_origin, is_typeddict

from slipring.status.description import fields

Told = TypeVar("Told")


def blank(described: type[Told], **told: object) -> Told:
    """A dictionary with every field: 0, nothing or null, unless it is told."""
    values = {field.name: _blank(field.annotation) for field in fields(cast("type", described))}
    return cast("Told", values | told)


def _blank(type_: Any) -> Any:
    if is_typeddict(type_):
        return blank(type_)
    if get_origin(type_) is Literal:
        return get_args(type_)[0]
    if type(None) in get_args(type_):
        return None
    return (get_origin(type_) or type_)()
