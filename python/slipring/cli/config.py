"""`slipring config`: prints a file with every key, its default and its meaning; checks a file."""

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from slipring.control.config import Config, load_config
from slipring.pipeline.config import load_pipeline

WIDTH = 100


def run_config(check: Path | None) -> None:
    """Print the documented defaults, or check a file."""
    if check:
        doubts = load_config(check).doubts
        load_pipeline(check)
        print(f"{check} is fine", *(f"but {doubt}" for doubt in doubts), sep="\n")
    else:
        print(documented_defaults(), end="")


def documented_defaults() -> str:
    """A config file with every key and its default, and a comment for each."""
    return "\n".join(_section(Config, ())) + "\n"


def _section(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[str]:
    fields = model.model_fields
    tables = {name: table for name, field in fields.items() if (table := table_of(field))}
    lists = {name: table for name, field in fields.items() if (table := list_of(field))}
    if path:
        yield ""
        yield from _comment((model.__doc__ or "").strip())
        yield f"[{'.'.join(path)}]"
    for name, field in fields.items():
        if name not in tables and name not in lists:
            yield from _comment(field.description or "")
            yield _line(name, field)
    for name, table in tables.items():
        yield from _section(table, (*path, name))
    for name, table in lists.items():
        yield from _example(table, ".".join((*path, name)))


def _line(name: str, field: FieldInfo) -> str:
    """A key with its default; TOML has no null, so a key without one is an example, commented."""
    if field.default is not None:
        return f"{name} = {_toml(field.default)}"
    return f"#{name} = {_toml(_shown(field))}"


def _shown(field: FieldInfo) -> object:
    """The example of a key, or else its default; nothing is an empty text."""
    shown: object = field.examples[0] if field.examples else field.default
    return "" if shown is None else shown


def _example(model: type[BaseModel], name: str) -> Iterator[str]:
    """The lines of a table that may be repeated, commented out."""
    yield ""
    yield from _comment((model.__doc__ or "").strip())
    yield f"#[[{name}]]"
    for key, field in model.model_fields.items():
        yield from _comment(field.description or "")
        yield f"#{key} = {_toml(_shown(field))}"


def table_of(field: FieldInfo) -> type[BaseModel] | None:
    """The model of a key that is a table; None for other keys."""
    return _model(field.annotation)


def list_of(field: FieldInfo) -> type[BaseModel] | None:
    """The model of a key that is a list of tables; None for other keys."""
    arguments = get_args(field.annotation)
    return _model(arguments[0]) if arguments else None


def _model(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, WIDTH - 2)]


def _toml(value: object) -> str:
    """A default as TOML, whose strings, numbers, Booleans and flat lists are those of JSON."""
    if isinstance(value, tuple):
        value = list(value)
    return json.dumps(str(value) if isinstance(value, Path) else value)
