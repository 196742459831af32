"""Users in the configuration: verifiers that are checked, and secrets that are not shown."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from slipring.control.config import Config, load_config
from slipring.control.plan import make_plan
from slipring.control.users import verifier_of
from slipring.errors import ConfigError
from tests.auth.scram import salt_of, verifier

PENCIL = verifier("pencil")
COMMAND = [sys.executable, "-m", "slipring", "password"]


def users(*entries: tuple[str, str], **more: Any) -> Config:
    tables = [{"name": name, "password": password} for name, password in entries]
    return load_config(user=tables, **more)


def test_other_machines_may_connect_where_there_are_users() -> None:
    config = users(("gripen", PENCIL), mqtt__listen="0.0.0.0:1883")
    assert config.mqtt.listen == "0.0.0.0:1883"
    assert not config.allow_anonymous


@pytest.mark.parametrize("mqtt", [False, True])
def test_the_console_is_opened_by_a_key_of_its_own(mqtt: bool) -> None:
    open_ = {"console__listen": "0.0.0.0:8080", "allow_anonymous": mqtt}
    told = r"^configuration: console\.listen.*in clear; set certificate and key under \[console\]"
    with pytest.raises(ConfigError, match=told):
        users(("gripen", PENCIL), **open_)
    config = users(("gripen", PENCIL), **open_, console__allow_anonymous=True)
    assert config.allow_anonymous is mqtt


def test_a_console_for_everyone_does_not_open_mqtt() -> None:
    with pytest.raises(ConfigError, match=r"^configuration: mqtt\.listen"):
        load_config(mqtt__listen="0.0.0.0:1883", console__allow_anonymous=True)


@pytest.mark.parametrize(
    ("password", "told"),
    [
        ("pencil", "`slipring password` prints one"),
        ("", "`slipring password` prints one"),
        (PENCIL.replace("4096", "1000"), "iterations"),
        (PENCIL[:-4], "keys"),
        (PENCIL.replace("256$4096:", "256$4096:?"), "salt"),
    ],
)
def test_what_is_not_a_verifier_is_told_with_its_place_and_not_shown(
    password: str, told: str
) -> None:
    with pytest.raises(ConfigError) as error:
        users(("anna", PENCIL), ("gripen", password))
    message = str(error.value)
    assert message.startswith("configuration: user.1.password: ")
    assert told in message
    assert "pencil" not in message
    assert PENCIL[-20:] not in message


@pytest.mark.parametrize(
    ("name", "told"),
    [("", "user.0.name"), ("a\x00", "control characters"), ("x" * 257, "user.0.name")],
)
def test_what_is_not_a_name_is_told(name: str, told: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(told)):
        users((name, PENCIL))


def test_a_name_is_there_once() -> None:
    with pytest.raises(ConfigError, match="user: the name 'anna' is there twice"):
        users(("anna", PENCIL), ("gripen", PENCIL), ("anna", PENCIL))


def test_neither_the_configuration_nor_the_plan_shows_a_verifier() -> None:
    config = users(("gripen", PENCIL))
    plan = repr(make_plan(config))
    assert "Users(1)" in plan
    for shown in (plan, repr(config), str(config), repr(config.model_dump())):
        assert PENCIL not in shown
        assert PENCIL.split("$")[2].split(":")[0] not in shown


@pytest.mark.parametrize("password", ["pencil", " two words ", "lösenord", "\N{SNOWMAN}"])
def test_a_verifier_is_what_the_standard_says(password: str) -> None:
    made = verifier_of(password, 5_000)
    assert made != verifier_of(password, 5_000), "each has a salt of its own"
    assert made == verifier(password, salt_of(made), 5_000)


def test_the_guide_shows_a_config_that_works(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "authentication.md").read_text()
    file = tmp_path / "broker.toml"
    file.write_text(page.split("```toml\n")[1].split("```")[0])
    for user in load_config(file).user:
        stored = user.password.get_secret_value()
        assert stored == verifier("pencil", salt_of(stored))


@pytest.mark.parametrize("password", ["", "x" * 1_025, "tab\t", "soft\xadhyphen", "o\u0308", "ﬁ"])
def test_a_password_that_programs_send_differently_is_not_taken(password: str) -> None:
    with pytest.raises(ConfigError, match="password"):
        verifier_of(password, 4_096)
