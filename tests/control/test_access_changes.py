"""Changes of rights while somebody goes away or something breaks: none is half made."""

import asyncio
import resource
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slipring.cli import serve
from slipring.control import Broker, load_config
from slipring.control.access_grants import AccessGrants, rule_of
from slipring.control.users import EXAMPLE_VERIFIER, verifier_of
from slipring.errors import ConfigError, StartError
from tests.cli.commands import command, slipring
from tests.configured_broker import ConfiguredBroker
from tests.running_broker import PATIENCE_S

RULE = rule_of(["user:anna"], ["a"], allow=["publish"])
USER = [{"name": "anna", "password": EXAMPLE_VERIFIER}]


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[Broker]:
    config = load_config(
        data=tmp_path / "data",
        discovery={"udp": False},
        mqtt={"listen": "127.0.0.1:0"},
        console={"listen": "off"},
        user=USER,
    )
    made, stop = Broker(config), asyncio.Event()
    running = asyncio.create_task(made.run(stop))
    yield made
    stop.set()
    await running


async def test_a_change_whose_asker_goes_away_is_made_to_its_end(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the store would have a rule that is not in force, and the next change would lose it."""
    writing, may_write = asyncio.Event(), threading.Event()
    loop, store = asyncio.get_running_loop(), broker.access._store
    write = store.write

    def slow(grants: AccessGrants) -> None:
        loop.call_soon_threadsafe(writing.set)
        assert may_write.wait(PATIENCE_S)
        write(grants)

    monkeypatch.setattr(store, "write", slow)
    asked = asyncio.create_task(broker.access.grant(RULE))
    await writing.wait()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert broker.access.lock.locked()
    may_write.set()
    other = rule_of(["user:anna"], ["b"], allow=["publish"])
    assert await broker.access.grant(other) == "granted:2"
    assert [rule.topics for rule in broker.config.access.rule] == [("a",), ("b",)]
    assert store.read() == broker.access.grants


async def test_the_folder_is_watched_on_after_something_unforeseen(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = asyncio.Queue[int]()

    async def broken() -> None:
        looks.put_nowait(1)
        raise MemoryError

    monkeypatch.setattr(broker.access, "look", broken)
    async with asyncio.timeout(PATIENCE_S):
        await looks.get()
        await looks.get()
    assert "MemoryError" in str(broker.access.trouble)


async def test_the_last_rule_cannot_be_revoked(tmp_path: Path) -> None:
    config = load_config(
        data=tmp_path / "data",
        discovery={"udp": False},
        mqtt={"listen": "127.0.0.1:0"},
        console={"listen": "off"},
    )
    broker = Broker(config)
    name = await broker.access.grant(RULE)
    with pytest.raises(ConfigError, match="this rule is the last one"):
        await broker.access.revoke(name)
    broker.engine.stop()


async def test_who_follows_the_configuration_sees_it_before_it_is_in_force(broker: Broker) -> None:
    seen = []
    broker.on_config = lambda config: seen.append(len(config.access.rule))
    await broker.access.grant(RULE)
    assert seen == [1]


@contextmanager
def broker_of(folder: Path, text: str) -> Iterator[ConfiguredBroker]:
    made = ConfiguredBroker(folder, text)
    try:
        yield made
    finally:
        code = made.stop()
    assert code == 0


def user(name: str, *roles: str) -> str:
    password = verifier_of("secret", 4096)
    return f"[[user]]\nname = '{name}'\npassword = '{password}'\nroles = {list(roles)}\n"


def test_a_broker_whose_first_user_is_added_while_it_runs_leaves_no_core_dump(
    tmp_path: Path,
) -> None:
    with broker_of(tmp_path, "") as broker:
        pid = broker.running.process.pid
        assert resource.prlimit(pid, resource.RLIMIT_CORE) == resource.getrlimit(
            resource.RLIMIT_CORE
        )
        add = command("access", "users", "add", "anna", "--console", broker.console)
        subprocess.run(add, input="secret\n", text=True, check=True, timeout=PATIENCE_S)
        assert resource.prlimit(pid, resource.RLIMIT_CORE) == (0, 0)


@pytest.mark.parametrize("error", [StartError("no folder"), RuntimeError("ours")])
async def test_signals_are_heard_after_one_that_could_not_be_followed(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """The second may take a right back; a reader that died of the first would never take it."""
    heard, told = asyncio.Queue[int](), asyncio.Event()

    async def broken(_: object) -> None:
        heard.put_nowait(1)
        raise error

    monkeypatch.setattr(broker, "reload", broken)
    reading = asyncio.create_task(serve._reload_when_told(broker, load_config, told))
    async with asyncio.timeout(PATIENCE_S):
        for _ in range(2):
            told.set()
            await heard.get()
    reading.cancel()


BOSS = {"SLIPRING_USER": "olga", "SLIPRING_PASSWORD": "secret"}


def test_who_locks_the_last_administrator_out_is_warned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in BOSS.items():
        monkeypatch.setenv(name, value)
    people = user("anna") + user("olga", "administrator")
    with broker_of(tmp_path, people) as broker:
        at = ("--console", broker.console)
        assert not slipring("access", "deny", "user:anna", "all", "#", *at).stderr
        done = slipring("access", "deny", "user:olga", "administer", "access", *at)
        assert done.stdout == "rule granted:2 is in force\n"
        assert "warning: nobody may administer access any more" in done.stderr
        assert " WARNING " in broker.line("nobody may administer access any more")
        assert slipring("access", "revoke", "granted:2", *at, code=1).stdout == ""
        broker.reload(people + user("otto", "administrator"))
        assert "is new" in broker.line("user 'otto'")
        monkeypatch.setenv("SLIPRING_USER", "otto")
        assert not slipring("access", "revoke", "granted:2", *at).stderr


@pytest.mark.parametrize("who", ["anyone", "known", "role:administrator"])
def test_a_rule_that_no_administrator_could_take_back_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    for name, value in BOSS.items():
        monkeypatch.setenv(name, value)
    with broker_of(tmp_path, user("olga", "administrator")) as broker:
        at = ("--console", broker.console)
        done = slipring("access", "deny", who, "all", "#", *at, code=1)
        assert "no administrator could take this rule back" in done.stderr
        assert "granted" not in slipring("access", "list", *at).stdout


def test_who_adds_the_first_user_without_an_administrator_is_warned(tmp_path: Path) -> None:
    with broker_of(tmp_path, "") as broker:
        add = command("access", "users", "add", "anna", "--console", broker.console)
        done = subprocess.run(
            add, input="secret\n", text=True, check=True, timeout=PATIENCE_S, capture_output=True
        )
        assert "warning: nobody may administer access any more" in done.stderr
