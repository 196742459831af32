"""Laws for every command: help with examples and defaults, and the same options everywhere."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.core import TyperGroup, TyperOption
from typer.testing import CliRunner

from slipring.cli.access import Access
from slipring.cli.app import app
from slipring.cli.console_access import ConsoleAccess
from slipring.control import Config
from slipring.credentials import USER

ROOT: Any = typer.main.get_command(app)
PLACE_IS_AN_ARGUMENT = {("export",)}
"""Its first argument is a folder or a broker's address."""
NO_URL_FROM_ENVIRONMENT = {("pipeline", "run")}
"""Without its --broker it reads the journal of this machine."""


def commands(
    command: Any = ROOT, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that is no group, with its words."""
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from commands(inner, (*path, name))
    else:
        yield path, command


ALL = dict(commands())
each = pytest.mark.parametrize("path", ALL, ids=" ".join)


def options(path: tuple[str, ...]) -> dict[str, TyperOption]:
    found = (one for one in ALL[path].params if isinstance(one, TyperOption))
    return {name: one for one in found for name in one.opts}


def shown(path: tuple[str, ...]) -> str:
    """The help of a command, on a wide terminal."""
    told = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "400", "TERM": "dumb"})
    assert told.exit_code == 0
    return told.stdout


def examples(path: tuple[str, ...]) -> list[str]:
    """The lines of examples, with what continues on a next line."""
    text = (ALL[path].help or "").replace("\b", "")
    _, _, after = text.partition("For example:")
    return [line.strip() for line in after.replace("\\\n", "").splitlines() if line.strip()]


def test_there_are_all_commands() -> None:
    assert {("sub",), ("pub",), ("serve",), ("journal", "check")} <= set(ALL)
    assert len(ALL) > 50


@each
def test_help_shows_every_default(path: tuple[str, ...]) -> None:
    text = " ".join(shown(path).split())
    for option in options(path).values():
        if option.is_flag or option.hidden or option.default in (None, "", ()):
            continue
        default = getattr(option.default, "value", option.default)
        assert f"[default: {default}]" in text or f"default: {default}]" in text, option.opts


@each
def test_help_has_examples_that_parse(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = examples(path)
    own = [line for line in found if f"slipring {' '.join(path)}" in line]
    assert own, found
    for line in own:
        for words in _invocations(line):
            _parse(words)


def _invocations(line: str) -> Iterator[list[str]]:
    """The words after `slipring`, up to a pipe or a redirection."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>;&")
    lexer.whitespace_split = True
    words = list(lexer)
    while "slipring" in words:
        words = words[words.index("slipring") + 1 :]
        end = next((at for at, word in enumerate(words) if set(word) <= set("|<>;&")), len(words))
        yield words[:end]


def _parse(words: list[str]) -> None:
    """Raise unless the command line can be read; a file need not be there."""
    command: Any = ROOT
    at = 0
    while isinstance(command, TyperGroup) and words[at : at + 1] and words[at] in command.commands:
        command, at = command.commands[words[at]], at + 1
    try:
        command.make_context("slipring", words[at:])
    except typer.BadParameter as error:
        if "does not exist" not in error.message:
            raise AssertionError(f"{words}: {error.message}") from None


def _connects(path: tuple[str, ...]) -> bool:
    return any(name in options(path) for name in ("--server-name", "--password-file"))


@each
def test_what_connects_takes_the_same_options(path: tuple[str, ...]) -> None:
    if not _connects(path) or path in PLACE_IS_AN_ARGUMENT:
        return
    found = options(path)
    url = found["--url"]
    if path in NO_URL_FROM_ENVIRONMENT:
        return
    is_console = "--console" in url.opts
    expected = (
        ("SLIPRING_CONSOLE", ConsoleAccess.console) if is_console else ("SLIPRING_URL", Access.url)
    )
    assert (url.envvar, url.default) == expected
    assert found["--user"].envvar == USER
    assert found["--user"] is found["-u"]


def test_what_connects_is_found() -> None:
    found = {path for path in ALL if _connects(path)}
    assert {("sub",), ("table",), ("status",), ("access", "grant"), ("pipeline", "run")} <= found
    assert len(found) > 30


def test_the_defaults_of_serve_are_those_of_the_configuration() -> None:
    config = Config()
    text = shown(("serve",))
    for value in (config.mqtt.listen, config.console.listen, config.data):
        assert re.search(rf"\[default: \(?{re.escape(str(value))}\)?\]", text), value
