"""Files of rules: merged with the config file; one that cannot be trusted whole is refused."""

import os
from pathlib import Path

import pytest

from slipring.control.access_folder import AccessFolder, folder_state
from slipring.control.access_merge import rule_names
from slipring.control.config import Config, load_config
from slipring.control.plan import make_plan
from slipring.control.users import EXAMPLE_VERIFIER
from slipring.errors import ConfigError

RULE = '[[access.rule]]\nwho = ["known"]\nallow = ["publish"]\ntopics = ["a/#"]\n'
USER = f'[[user]]\nname = "NAME"\npassword = "{EXAMPLE_VERIFIER}"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "access.d"
    made.mkdir(mode=0o755)
    return made


def put(folder: Path, name: str, text: str, mode: int = 0o600) -> Path:
    file = folder / name
    file.write_text(text)
    file.chmod(mode)
    return file


def loaded(folder: Path, text: str = "") -> Config:
    file = folder.parent / "broker.toml"
    file.write_text(f"data = '{folder.parent}/data'\n{text}[access]\nfolder = 'access.d'\n")
    return load_config(file)


def test_rules_and_users_of_all_files_are_one_policy_in_the_order_of_names(folder: Path) -> None:
    put(folder, "20-fleet.toml", RULE.replace("a/#", "b/#") + RULE + USER.replace("NAME", "ben"))
    put(folder, "10-room.toml", RULE)
    put(folder, ".10-room.toml", "half written by an editor")
    put(folder, "notes.txt", "no rules")
    config = loaded(folder, USER.replace("NAME", "anna"))
    assert [user.name for user in config.user] == ["anna", "ben"]
    names = [name for name in rule_names(config) if not name.startswith("built-in")]
    assert names == ["10-room.toml:1", "20-fleet.toml:1", "20-fleet.toml:2"]
    is_allowed, at = make_plan(config).decide("ben", [], [], "", "publish", "b/1")
    assert (is_allowed, rule_names(config)[at or 0]) == (True, "20-fleet.toml:1")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no rule and no user"),
        ("# only a comment\n", "has no rule and no user"),
        (RULE[:20], "may be cut"),
        (RULE[:30] + "\n", "is not valid TOML"),
        (RULE.rpartition("topics")[0], "topics: Field required"),
        (RULE.replace("publish", "pubish"), "access.rule.0.allow.0"),
        (RULE.replace("known", "everyone"), "'everyone' is nobody"),
        (RULE + "[mqtt]\nlisten = '0.0.0.0:1883'\n", "mqtt: there is no such key"),
        ("\udcff".encode("utf-8", "surrogateescape").decode("latin-1") * 3, "may be cut"),
    ],
)
def test_a_file_that_is_empty_cut_or_malformed_is_refused(
    folder: Path, text: str, told: str
) -> None:
    put(folder, "10-good.toml", RULE)
    put(folder, "20-bad.toml", text)
    with pytest.raises(ConfigError, match=r"20-bad\.toml") as refused:
        loaded(folder)
    assert told in str(refused.value)


def test_no_cut_of_a_file_widens_a_rule(folder: Path) -> None:
    """Every prefix is refused, or has only whole rules of the file."""
    text = RULE.replace("a/#", "a/1") + RULE.replace("known", "anyone").replace("a/#", "b")
    whole = {
        rule.tuple()[3][0] for rule in AccessFolder().read(put(folder, "x.toml", text).parent).rules
    }
    assert whole == {"a/1", "b"}
    for length in range(len(text)):
        put(folder, "x.toml", text[:length])
        try:
            rules = AccessFolder().read(folder).rules
        except ConfigError:
            continue
        assert [rule.topics for rule in rules] == [("a/1",)], text[:length]


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_refused_with_the_command_that_mends_it(
    folder: Path, mode: int
) -> None:
    file = put(folder, "10-room.toml", RULE, mode)
    with pytest.raises(ConfigError, match=f"chmod go-w {file}"):
        loaded(folder)


def test_a_folder_that_others_can_write_is_refused_too(folder: Path) -> None:
    put(folder, "10-room.toml", RULE)
    folder.chmod(0o777)
    with pytest.raises(ConfigError, match=f"chmod go-w {folder}"):
        loaded(folder)


def test_a_folder_or_a_file_that_cannot_be_read_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*nowhere"):
        AccessFolder().read(folder / "nowhere")
    (folder / "10-gone.toml").symlink_to(folder / "nothing")
    with pytest.raises(ConfigError, match=r"cannot read .*10-gone\.toml"):
        AccessFolder().read(folder)
    with pytest.raises(ConfigError, match="10-gone"):
        folder_state(folder)
    (folder / "10-gone.toml").unlink()
    (folder / "20-folder.toml").mkdir()
    with pytest.raises(ConfigError, match="20-folder"):
        AccessFolder().read(folder)


def test_an_empty_folder_opens_nothing(folder: Path) -> None:
    """A disk that is not mounted is an empty folder (CVE-2018-12550)."""
    config = loaded(folder)
    assert config.has_users
    assert make_plan(config).decide(None, [], [], "", "publish", "a") == (False, None)


def test_a_name_in_two_places_is_refused_with_both(folder: Path) -> None:
    put(folder, "10-room.toml", USER.replace("NAME", "anna"))
    with pytest.raises(ConfigError, match=r"'anna' is there twice: 10-room\.toml and the config"):
        loaded(folder, USER.replace("NAME", "anna"))


def test_the_state_tells_every_kind_of_change(folder: Path) -> None:
    file = put(folder, "10-room.toml", RULE)
    states = [folder_state(folder)]
    file.chmod(0o640)
    states.append(folder_state(folder))
    put(folder, "20.toml", RULE)
    states.append(folder_state(folder))
    os.utime(file, ns=(1, 1))
    states.append(folder_state(folder))
    file.unlink()
    states.append(folder_state(folder))
    assert len(set(states)) == len(states)


def test_users_of_the_folder_guard_a_broker_on_the_network(folder: Path) -> None:
    put(folder, "10-room.toml", USER.replace("NAME", "anna"))
    assert loaded(folder, "mqtt.listen = '0.0.0.0:1883'\n").user[0].where == "10-room.toml"
