"""Commands that ask the console of a broker with users."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.test_login import PASSWORD, USERS
from tests.running_broker import RunningBroker, broker_in


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    with broker_in(tmp_path_factory.mktemp("people"), config=USERS) as running:
        yield running


def slipring(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "slipring", *arguments]
    known = {key: value for key, value in os.environ.items() if not key.startswith("SLIPRING_")}
    return subprocess.run(
        command,
        env=known | environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_who_gives_no_name_is_told_how_to(people: RunningBroker) -> None:
    ended = slipring("memory", "--console", people.console)
    assert ended.returncode != 0
    assert "log in first" in ended.stderr
    assert "give --user, or set SLIPRING_TOKEN" in ended.stderr


def test_a_user_with_a_password_of_the_environment_or_a_file(
    people: RunningBroker, tmp_path: Path
) -> None:
    file = tmp_path / "password"
    file.touch(0o600)
    file.write_text(f"{PASSWORD}\n")
    ways: list[tuple[list[str], dict[str, str]]] = [
        (["--user", "vera"], {"SLIPRING_PASSWORD": PASSWORD}),
        ([], {"SLIPRING_USER": "vera", "SLIPRING_PASSWORD": PASSWORD}),
        (["--user", "vera", "--password-file", str(file)], {}),
    ]
    for options, environment in ways:
        ended = slipring("memory", "--console", people.console, *options, **environment)
        assert (ended.returncode, ended.stderr) == (0, "")
    for command in (["status", people.console], ["sessions", "list", "--console", people.console]):
        ended = slipring(*command, "--user", "vera", SLIPRING_PASSWORD=PASSWORD)
        assert (ended.returncode, ended.stderr) == (0, "")


def test_a_viewer_cannot_change_the_memory_budget_and_an_operator_can(
    people: RunningBroker,
) -> None:
    for name, code in (("vera", 1), ("otto", 0)):
        arguments = ("memory", "1GB", "--console", people.console, "--user", name)
        ended = slipring(*arguments, SLIPRING_PASSWORD=PASSWORD)
        assert ended.returncode == code
        assert ("you have no right to this" in ended.stderr) == (name == "vera")


def test_a_password_is_not_sent_over_a_network_in_clear() -> None:
    arguments = ("memory", "--console", "http://192.0.2.1:8080", "--user", "vera")
    ended = slipring(*arguments, SLIPRING_PASSWORD=PASSWORD)
    assert ended.returncode == 1
    assert "a password is not sent to http://192.0.2.1:8080" in ended.stderr


def test_a_token_is_not_sent_over_a_network_in_clear() -> None:
    arguments = ("memory", "--console", "http://192.0.2.1:8080")
    ended = slipring(*arguments, SLIPRING_TOKEN="eyJ.a.b")
    assert ended.returncode == 1
    assert "a token is not sent to http://192.0.2.1:8080" in ended.stderr


def test_a_console_of_this_machine_is_asked_without_a_proxy(
    people: RunningBroker, tmp_path: Path
) -> None:
    """Whoever runs the proxy would read the password."""
    proxy = {"http_proxy": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1"}
    arguments = ("memory", "--console", people.console, "--user", "vera")
    ended = slipring(*arguments, SLIPRING_PASSWORD=PASSWORD, **proxy)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_token_may_be_in_a_file(people: RunningBroker, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.touch(0o640)
    file.chmod(0o640)
    named = ("memory", "--console", people.console, "--token-file", str(file))
    assert f"chmod 600 {file}" in slipring(*named).stderr
    file.chmod(0o600)
    file.write_text("e30.e30.x\n")
    by_option, by_name = slipring(*named), slipring(*named[:3], SLIPRING_TOKEN_FILE=str(file))
    for ended in (by_option, by_name):
        assert ended.returncode == 1
        assert "refused (401)" in ended.stderr
        assert "log in first" not in ended.stderr or "SLIPRING_TOKEN" not in ended.stderr
