"""`slipring config`: every key with its default and what it means, and a file checked."""

import re
import tomllib
from pathlib import Path

from pydantic import BaseModel

from slipring.cli.config import documented_defaults, list_of, table_of
from slipring.control.config import Config, load_config
from tests.cli.commands import slipring


def keys(model: type[BaseModel], prefix: str = "") -> list[tuple[str, str | None]]:
    """Every key with its description."""
    found: list[tuple[str, str | None]] = []
    for name, field in model.model_fields.items():
        if table := table_of(field) or list_of(field):
            found += keys(table, f"{prefix}{name}.")
        else:
            found.append((prefix + name, field.description))
    return found


def test_every_key_says_what_it_means() -> None:
    assert [key for key, description in keys(Config) if not description] == []


def test_the_printed_defaults_are_the_defaults() -> None:
    values = tomllib.loads(documented_defaults())
    assert Config.model_validate(values) == Config()


def test_the_printed_defaults_name_every_key() -> None:
    lines = {line.removeprefix("#") for line in documented_defaults().splitlines()}
    named = {line.split(" = ")[0] for line in lines if " = " in line}
    assert [key for key, _ in keys(Config) if key.split(".")[-1] not in named] == []


def test_the_printed_examples_can_be_switched_on(tmp_path: Path) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(re.sub(r"(?m)^#(?=\S)", "", documented_defaults()))
    assert [listener.name for listener in load_config(file).listeners] == ["mqtt", "secure"]


def test_a_file_is_checked_with_its_doubts(tmp_path: Path) -> None:
    file = tmp_path / "broker.toml"
    file.write_text("[journal]\ntopics = []\n")
    assert slipring("config", "--check", file).stdout.splitlines() == [
        f"{file} is fine",
        "but journal.topics is empty: what is acknowledged is in memory only",
    ]
