"""Files that say who may do what: who may own, write and read them, and what they may be."""

import os
import stat
from contextlib import nullcontext
from pathlib import Path

import pytest

from slipring.control import access_folder, access_store
from slipring.control.access_folder import AccessFolder
from slipring.control.access_grants import AccessGrants, rule_of
from slipring.control.access_store import FILE, AccessStore
from slipring.control.config import load_config
from slipring.control.trusted_file import open_file, refuse_open, refuse_writable
from slipring.control.users import EXAMPLE_VERIFIER
from slipring.errors import ConfigError

RULE = '[[access.rule]]\nwho = ["known"]\nallow = ["publish"]\ntopics = ["TOPIC"]\n'
USER = "[[user]]\nname = 'anna'\npassword = "
GRANTS, _ = AccessGrants().with_rule(rule_of(["known"], ["a"], deny=["all"]))
ROOT, US, STRANGER = 0, 1000, 1001


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


def seen(owner: int, mode: int) -> os.stat_result:
    return os.stat_result((stat.S_IFREG | mode, 1, 1, 1, owner, owner, 1, 0, 0, 0))


@pytest.mark.parametrize(
    ("owner", "mode", "told"),
    [
        (US, 0o644, ""),
        (ROOT, 0o644, ""),
        (US, 0o664, "chmod go-w"),
        (US, 0o606, "chmod go-w"),
        (STRANGER, 0o600, "belongs to another user"),
    ],
)
def test_only_we_and_root_may_write_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: int, mode: int, told: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: US)
    with pytest.raises(ConfigError, match=told) if told else nullcontext():
        refuse_writable(tmp_path, seen(owner, mode))


@pytest.mark.parametrize(
    ("owner", "mode", "told"),
    [
        (US, 0o600, ""),
        (US, 0o640, "chmod 600"),
        (ROOT, 0o640, ""),
        (ROOT, 0o644, "chmod 640"),
        (STRANGER, 0o600, "belongs to another user"),
    ],
)
def test_only_we_may_read_what_is_secret_or_a_group_that_of_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: int, mode: int, told: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: US)
    with pytest.raises(ConfigError, match=told) if told else nullcontext():
        refuse_open(tmp_path, seen(owner, mode), "secrets")


def test_a_pipe_is_refused_without_waiting_for_who_writes_to_it(folder: Path) -> None:
    os.mkfifo(folder / "10-pipe.toml", 0o600)
    with pytest.raises(ConfigError, match=r"10-pipe\.toml is not a file"):
        AccessFolder().read(folder)
    os.mkfifo(folder / FILE, 0o600)
    with pytest.raises(ConfigError, match="is not a file"):
        AccessStore(folder).read()
    with pytest.raises(ConfigError, match="is not a file"):
        open_file(folder)


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_file_with_users_that_others_can_read_is_refused(folder: Path, mode: int) -> None:
    """Who reads a verifier can guess the password as fast as his machine can."""
    file = put(folder, "10-people.toml", f"{USER}'{EXAMPLE_VERIFIER}'\n", mode)
    with pytest.raises(ConfigError, match=f"chmod 600 {file}"):
        AccessFolder().read(folder)
    file.chmod(0o600)
    assert len(AccessFolder().read(folder).users) == 1


def test_a_file_with_rules_or_the_name_of_a_secret_may_be_read_by_others(folder: Path) -> None:
    verifier = put(folder, "anna.verifier", EXAMPLE_VERIFIER)
    text = f"{USER}{{ file = '{verifier}' }}\n{RULE}"
    put(folder, "10-people.toml", text, 0o644)
    assert len(AccessFolder().read(folder).users) == 1


@pytest.mark.parametrize("name", ["granted:1.toml", "a\nb.toml", "a\udcff.toml"])
def test_a_name_that_could_be_taken_for_another_place_is_refused(folder: Path, name: str) -> None:
    """Rules of `granted:1.toml` would count as granted ones, and go with the next grant."""
    put(folder, name, RULE)
    with pytest.raises(ConfigError, match="give it a name without"):
        AccessFolder().read(folder)


@pytest.mark.parametrize("text", ["a = " + "9" * 5_000, "a = " + "[" * 5_000, "a = 1\x00"])
def test_what_the_reader_of_toml_trips_over_is_a_mistake_of_the_file(
    folder: Path, text: str
) -> None:
    put(folder, "10-bad.toml", f"{text}\n")
    with pytest.raises(ConfigError, match=r"10-bad\.toml is not valid TOML"):
        AccessFolder().read(folder)


@pytest.mark.parametrize(("age_s", "topic"), [(0, "new"), (3_600, "old")])
def test_a_file_that_may_have_changed_within_one_step_of_the_clock_is_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, age_s: int, topic: str
) -> None:
    file = put(folder, "10-rules.toml", RULE.replace("TOPIC", "old"))
    state = access_folder._state(file)
    name, inode, size, modified, changed, mode = state
    earlier = (name, inode, size, *(one - age_s * 10**9 for one in (modified, changed)), mode)
    monkeypatch.setattr(access_folder, "_state", lambda _: earlier)
    reader = AccessFolder()
    assert reader.read(folder).rules[0].topics == ("old",)
    file.write_text(RULE.replace("TOPIC", "new"))
    assert reader.read(folder).rules[0].topics == (topic,)


def test_more_rules_than_are_possible_are_not_all_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_folder, "RULES_MAX", 1)
    for name in ("10", "20"):
        put(folder, f"{name}.toml", RULE)
    put(folder, "30.toml", "not read")
    with pytest.raises(ConfigError, match="more than 1 rules"):
        AccessFolder().read(folder)


def test_a_link_that_waits_at_the_name_of_the_new_store_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("whole")
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / f"{FILE}.new").symlink_to(victim)
    AccessStore(data).write(GRANTS)
    assert victim.read_text() == "whole"
    assert AccessStore(data).read() == GRANTS


def test_a_full_disk_leaves_the_old_store_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = AccessStore(tmp_path)
    store.write(GRANTS)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(ConfigError, match=r"nothing is changed: .*No space left"):
            store.write(AccessGrants())
    assert [one.name for one in tmp_path.iterdir()] == [FILE]
    assert AccessStore(tmp_path).read() == GRANTS
    store.write(AccessGrants(version=9))
    assert AccessStore(tmp_path).read().version == 9


def test_a_store_that_could_not_be_read_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_store, "STORE_BYTES_MAX", 100)
    with pytest.raises(ConfigError, match="more than 100 bytes"):
        AccessStore(tmp_path).write(GRANTS)
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_a_folder_that_others_can_write_is_refused(tmp_path: Path) -> None:
    """They could remove it, and with it every rule that denies and the users."""
    store = AccessStore(tmp_path)
    store.write(GRANTS)
    tmp_path.chmod(0o777)
    for act in (store.read, lambda: store.write(GRANTS)):
        with pytest.raises(ConfigError, match=f"chmod go-w {tmp_path}"):
            act()
    tmp_path.chmod(0o700)
    assert store.read() == GRANTS


def test_spaces_of_a_topic_and_a_name_count() -> None:
    rule = rule_of(["user:anna "], [" a/b "], deny=["publish"])
    assert (rule.who, rule.topics) == (("user:anna ",), (" a/b ",))


def test_a_config_file_that_everybody_can_write_is_refused(tmp_path: Path) -> None:
    file = put(tmp_path, "broker.toml", f"data = '{tmp_path}'\n", 0o666)
    with pytest.raises(ConfigError, match=f"chmod o-w {file}"):
        load_config(file)
    file.chmod(0o664)
    assert load_config(file).data == tmp_path


def test_a_config_file_with_an_endless_number_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not valid TOML"):
        load_config(put(tmp_path, "broker.toml", f"a = {'9' * 5_000}\n"))
