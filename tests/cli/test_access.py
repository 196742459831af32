"""`slipring access` against a real broker: what it changes holds at once, and after a restart."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slipring.control.users import verifier_of
from tests.cli.commands import command, refused, slipring
from tests.configured_broker import ConfiguredBroker
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import PATIENCE_S, RunningBroker

NOT_AUTHORIZED = 0x87


@contextmanager
def broker_of(folder: Path, text: str) -> Iterator[ConfiguredBroker]:
    made = ConfiguredBroker(folder, text)
    try:
        yield made
    finally:
        code = made.stop()
    assert code == 0


def user(name: str) -> str:
    return f"[[user]]\nname = '{name}'\npassword = '{verifier_of('secret', 4096)}'\n"


BOSS = f"{user('boss')}roles = ['administrator']\n"
PEOPLE = BOSS + user("anna")


@pytest.fixture(autouse=True)
def _boss_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPRING_USER", "boss")
    monkeypatch.setenv("SLIPRING_PASSWORD", "secret")


def at(broker: ConfiguredBroker, *arguments: str, code: int = 0) -> str:
    """What `slipring access ...` prints."""
    return slipring("access", *arguments, "--console", broker.console, code=code).stdout


def refusal(broker: ConfiguredBroker, *arguments: str) -> str:
    return refused("access", *arguments, "--console", broker.console)


def with_password(broker: ConfiguredBroker, password: str, *arguments: str) -> str:
    done = subprocess.run(
        command("access", "users", *arguments, "--console", broker.console),
        input=f"{password}\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return done.stdout


def connected(broker: ConfiguredBroker, name: str, password: str = "secret") -> int:
    with RawPeer(broker.running.host, broker.running.port) as peer:
        return peer.connect("x", username=name, password=password.encode()).reason


def published(peer: RawPeer, topic: str) -> int:
    peer.send(V5.publish(topic, b"1", qos=1, packet_id=1))
    return peer.packet().reason


def test_a_right_is_granted_explained_denied_and_revoked_on_an_open_connection(
    tmp_path: Path,
) -> None:
    with broker_of(tmp_path, PEOPLE) as broker:
        anna = {"username": "anna", "password": b"secret"}
        with broker.peer("pad", **anna) as peer:
            assert published(peer, "plant/1") == NOT_AUTHORIZED
            question = ("explain", "anna", "publish", "plant/1")
            assert "no: anna publish plant/1\nno rule is about it" in at(broker, *question, code=3)
            told = at(broker, "grant", "user:anna", "publish,subscribe", "plant/#", "hall/%u")
            assert told == "rule granted:1 is in force\n"
            assert published(peer, "plant/1") in (0, 0x10)
            assert "decided by granted:1: user:anna may publish" in at(broker, *question)
            assert at(broker, "deny", "known", "publish", "plant/1").startswith("rule granted:2")
            assert published(peer, "plant/1") == NOT_AUTHORIZED
            assert published(peer, "plant/2") in (0, 0x10)
            denied = at(broker, *question, code=3)
            assert "decided by granted:2" in denied
            assert "1 other rule about it:\n  granted:1" in denied
            assert at(broker, "revoke", "granted:2") == "revoked granted:2\n"
            assert published(peer, "plant/1") in (0, 0x10)
            at(broker, "revoke", "granted:1")
            assert published(peer, "plant/1") == NOT_AUTHORIZED
        assert "access: rule granted:1 is new: user:anna may publish" in broker.line("granted:1")
        assert "rule granted:1 is gone" in broker.line("granted:1 is gone")


def test_what_was_changed_while_running_survives_a_kill(tmp_path: Path) -> None:
    file, data = tmp_path / "broker.toml", tmp_path / "data"
    file.write_text(f"data = '{data}'\n{PEOPLE}")
    killed = RunningBroker.start(data, "--config", str(file))
    slipring("access", "grant", "known", "publish", "plant/#", "--console", killed.console)
    listed = slipring("access", "list", "--json", "--console", killed.console).stdout
    killed.stop(signal.SIGKILL)
    again = RunningBroker.start(data, "--config", str(file))
    assert slipring("access", "list", "--json", "--console", again.console).stdout == listed
    assert again.stop()[0] == 0
    assert "granted:1" in slipring("access", "list", "--config", file).stdout


def test_users_are_added_changed_and_removed_while_running(tmp_path: Path) -> None:
    with broker_of(tmp_path, PEOPLE) as broker:
        assert connected(broker, "ben", "eraser") != 0
        assert with_password(broker, "eraser", "add", "ben", "--role", "engineer")
        assert connected(broker, "ben", "eraser") == 0
        with_password(broker, "rubber", "password", "ben")
        assert connected(broker, "ben", "eraser") != 0
        assert connected(broker, "ben", "rubber") == 0
        at(broker, "grant", "role:welder", "publish", "weld/%u")
        assert at(broker, "explain", "ben", "publish", "weld/ben", code=3)
        at(broker, "users", "roles", "ben", "welder")
        assert "decided by granted:1" in at(broker, "explain", "ben", "publish", "weld/ben")
        text = at(broker, "list")
        assert "ben" in text
        assert "SCRAM" not in at(broker, "list", "--json")
        at(broker, "users", "remove", "ben")
        assert connected(broker, "ben", "rubber") != 0


def test_the_first_user_closes_the_broker_and_the_last_one_cannot_be_removed(
    tmp_path: Path,
) -> None:
    with broker_of(tmp_path, "") as broker:
        with broker.peer("open") as peer:
            assert published(peer, "a") in (0, 0x10)
        with_password(broker, "secret", "add", "boss", "--role", "administrator")
        at(broker, "grant", "known", "publish", "a")
        assert "is the last one" in refusal(broker, "users", "remove", "boss")
        assert connected(broker, "boss") == 0
        with RawPeer(broker.running.host, broker.running.port) as peer:
            assert peer.connect("nobody").reason == NOT_AUTHORIZED


def test_a_rule_of_a_broker_without_users_is_taken_back_by_an_administrator_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLIPRING_USER")
    with broker_of(tmp_path, "") as broker:
        told = slipring("access", "grant", "anyone", "publish", "a", "--console", broker.console)
        assert "add a user with the role administrator to the config file" in told.stderr
        broker.reload(BOSS)
        broker.line("user 'boss' is new")
        monkeypatch.setenv("SLIPRING_USER", "boss")
        assert at(broker, "explain", "-", "publish", "b", code=3)
        assert at(broker, "revoke", "granted:1") == "revoked granted:1\n"


def test_what_is_in_a_file_is_changed_there(tmp_path: Path) -> None:
    rule = "[[access.rule]]\nwho = ['known']\nallow = ['publish']\n"
    with broker_of(tmp_path, PEOPLE + rule) as broker:
        for words in (
            ("revoke", "toml:1"),
            ("revoke", "built-in:1"),
            ("users", "remove", "anna"),
            ("users", "roles", "anna", "engineer"),
        ):
            assert "changed there" in refusal(broker, *words)
        again = subprocess.run(
            command("access", "users", "add", "anna", "--console", broker.console),
            input="x\n", capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        assert "'anna' is there twice" in again.stderr


def test_words_that_are_no_rule_are_refused_with_the_reason(tmp_path: Path) -> None:
    with broker_of(tmp_path, PEOPLE) as broker:
        assert "'anna' is nobody" in refusal(broker, "grant", "anna", "publish", "a")
        assert "'write'" in refusal(broker, "grant", "user:anna", "write", "a")
        assert "not a topic filter" in refusal(broker, "grant", "known", "publish", "a/#/b")
        assert "no right" in refusal(broker, "explain", "anna", "write", "a")
        assert json.loads(at(broker, "list", "--json"))["version"] == 0


def test_a_damaged_store_refuses_the_start(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    store = data / "access.jsonl"
    store.touch(0o600)
    told = refused("serve", "--data", data, "--mqtt", "127.0.0.1:0", "--console", "off")
    assert f"{store} is damaged" in told


def test_an_operators_memory_budget_survives_a_grant(tmp_path: Path) -> None:
    with broker_of(tmp_path, PEOPLE) as broker:
        slipring("memory", "300MB", "--console", broker.console)
        at(broker, "grant", "known", "publish", "a")
        assert "300" in slipring("memory", "--console", broker.console).stdout


def test_explain_works_on_a_file_without_a_broker(tmp_path: Path) -> None:
    rule = (
        "[[access.rule]]\nwho = ['claim:site=n']\nallow = ['select']\ntopics = ['%{site}/%c/#']\n"
    )
    file = tmp_path / "broker.toml"
    file.write_text(f"data = '{tmp_path}'\n{user('anna')}{rule}")
    asked = ("access", "explain", "anna", "select", "n/pad/+", "--config", file, "--client", "pad")
    assert slipring(*asked, "--claim", "site=n").stdout.startswith("yes: anna select n/pad/+")
    assert slipring(*asked, "--claim", "site=o", code=3).stdout.startswith("no: ")
    slipring(*asked, "--claim", "site", code=2)


@pytest.mark.parametrize("name", ["", "users"])
def test_help_has_examples(name: str) -> None:
    shown = slipring("access", *([name] if name else []), "--help").stdout
    words = ["add", "remove", "password", "roles"] if name else ["grant", "revoke", "import"]
    for word in words:
        assert word in shown
        text = slipring("access", *([name] if name else []), word, "--help").stdout
        assert f"slipring access {f'{name} ' if name else ''}{word}" in text


def spoil(file: Path, how: str) -> None:
    if how == "empty":
        file.write_text("")
    elif how == "malformed":
        file.write_text("[[access.rule]\n")
    elif how == "writable":
        file.chmod(0o666)
    else:
        file.unlink()
        file.symlink_to(file.with_name("nothing"))


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("empty", "has no rule and no user"),
        ("malformed", "is not valid TOML"),
        ("writable", "chmod go-w"),
        ("unreadable", "cannot read"),
    ],
)
def test_a_file_of_rules_that_is_not_whole_refuses_the_start(
    tmp_path: Path, how: str, told: str
) -> None:
    """CVE-2018-12550 and CVE-2017-7652: elsewhere such a file let everyone in."""
    rules = tmp_path / "access.d" / "10-rules.toml"
    rules.parent.mkdir()
    rules.write_text("[[access.rule]]\nwho = ['known']\nallow = ['publish']\ntopics = ['a']\n")
    file = tmp_path / "broker.toml"
    file.write_text("[access]\nfolder = 'access.d'\n")
    started = ("--config", file, "--data", tmp_path / "data", "--mqtt", "127.0.0.1:0")
    assert slipring("config", "--check", file).returncode == 0
    spoil(rules, how)
    line = refused("serve", *started, "--console", "off")
    assert told in line
    assert "10-rules.toml" in line
    assert told in refused("config", "--check", file)
