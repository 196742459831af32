"""`slipring config`: a file with every key, its default and what it means."""

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from pydantic import BaseModel

from slipring.control.config import Config, load_config

WIDTH = 100


def run_config(check: Path | None) -> None:
    """Print the documented defaults, or check a file."""
    if check:
        load_config(check)
        print(f"{check} is fine")
    else:
        print(documented_defaults(), end="")


def documented_defaults() -> str:
    """Write every key with its default, commented."""
    return "\n".join(_section(Config, ())) + "\n"


def _section(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[str]:
    fields = model.model_fields
    tables = {
        name: field.annotation for name, field in fields.items() if _is_table(field.annotation)
    }
    if path:
        yield ""
        yield from _comment((model.__doc__ or "").strip())
        yield f"[{'.'.join(path)}]"
    lists = {name: field for name, field in fields.items() if _items(field.annotation)}
    for name, field in fields.items():
        if name not in tables | lists:
            yield from _comment(field.description or "")
            yield f"{name} = {_toml(field.default)}"
    for name, table in tables.items():
        if isinstance(table, type):
            yield from _section(table, (*path, name))
    for name, field in lists.items():
        yield ""
        yield from _comment(field.description or "")
        yield from (f"# {line}" for line in _entry(name, field.annotation))


def _items(annotation: object) -> type[BaseModel] | None:
    """What a list of tables is made of; None for anything else."""
    first = next(iter(get_args(annotation)), None)
    return first if isinstance(first, type) and issubclass(first, BaseModel) else None


def _entry(name: str, annotation: object) -> Iterator[str]:
    """One table of a list, by example: there is none by default."""
    model = _items(annotation)
    assert model is not None
    yield f"[[{name}]]"
    for key, field in model.model_fields.items():
        yield from _comment(field.description or "")
        yield f"{key} = {_toml(field.examples[0] if field.examples else field.default)}"


def _is_table(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, WIDTH - 2)]


def _toml(value: object) -> str:
    """Write a default; JSON's strings, numbers, Booleans and flat lists are TOML's too."""
    if isinstance(value, tuple):
        value = list(value)
    return json.dumps(str(value) if isinstance(value, Path) else value)
