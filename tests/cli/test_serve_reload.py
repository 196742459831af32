"""`kill -HUP` of a real broker: its file is read again, and the log says what came of it."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from slipring.control.users import verifier_of
from tests.cli.commands import slipring
from tests.configured_broker import ConfiguredBroker
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import RunningBroker


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[ConfiguredBroker]:
    made = ConfiguredBroker(tmp_path, "[limits]\nsubscriptions = 1\n")
    yield made
    assert made.stop() == 0


def connect(broker: ConfiguredBroker, **options: object) -> int:
    """What a client is answered."""
    with RawPeer(broker.running.host, broker.running.port) as peer:
        return peer.connect("x", **options).reason


def test_a_changed_limit_rules_the_next_client(broker: ConfiguredBroker) -> None:
    broker.reload("[limits]\nsubscriptions = 2\n")
    assert " INFO config: limits.subscriptions is 2 now, was 1" in broker.line("config:")
    with broker.peer("reader") as peer:
        peer.send(V5.subscribe(1, "a", "b", "c"))
        assert [reason < 0x80 for reason in peer.packet().reasons] == [True, True, False]


@pytest.mark.parametrize("text", ["[limits]\nsubscriptions = 0\n", "nonsense", "[no_such]\n"])
def test_a_file_with_a_mistake_changes_nothing_and_says_why(
    broker: ConfiguredBroker, text: str
) -> None:
    broker.reload(f"name = 'changed'\n{text}")
    line = broker.line("config:")
    assert " ERROR config: nothing is changed: " in line
    assert "broker.toml" in line
    broker.reload("[limits]\nsubscriptions = 1\n")
    assert "read again, nothing has changed" in broker.line("config:")


def test_a_file_that_is_gone_changes_nothing(broker: ConfiguredBroker) -> None:
    broker.file.unlink()
    broker.running.process.send_signal(signal.SIGHUP)
    assert "nothing is changed: cannot read the config file" in broker.line("config:")


def test_what_needs_a_restart_is_named_and_the_rest_holds(broker: ConfiguredBroker) -> None:
    broker.reload("threads = 7\n[limits]\nsubscriptions = 3\n[journal]\nsegment_bytes = 65536\n")
    assert "limits.subscriptions is 3 now" in broker.line("config:")
    lines = [broker.line("until a restart") for _ in range(2)]
    assert all(" WARNING config: " in line for line in lines)
    assert sum("threads stays 0" in line for line in lines) == 1
    assert sum("journal.segment_bytes stays 67108864" in line for line in lines) == 1


def test_what_the_command_line_says_still_counts(broker: ConfiguredBroker) -> None:
    broker.reload("[mqtt]\nlisten = '127.0.0.1:7'\n[limits]\nsubscriptions = 1\n")
    assert "read again, nothing has changed" in broker.line("config:")


def test_users_are_let_in_as_the_new_file_says(broker: ConfiguredBroker) -> None:
    user = f"[[user]]\nname = 'a'\npassword = '{verifier_of('secret', 4096)}'\n"
    broker.reload(f"[limits]\nsubscriptions = 1\n{user}")
    assert "user 'a' is new" in broker.line("config:")
    assert connect(broker) == 0x87
    assert connect(broker, username="a", password=b"secret") == 0
    broker.reload("allow_anonymous = true\n[limits]\nsubscriptions = 1\n")
    assert "user 'a' is gone" in broker.line("is gone")
    assert connect(broker) == 0


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[ConfiguredBroker]:
    """A broker with one user."""
    user = f"[[user]]\nname = 'a'\npassword = '{verifier_of('secret', 4096)}'\n"
    made = ConfiguredBroker(tmp_path, f"name = 'lab'\n{user}")
    yield made
    assert made.stop() == 0


def unlink(file: Path) -> None:
    file.unlink()


def replace_by_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda file: file.write_text(""), "is empty"),
        (lambda file: file.write_text("name = 'lab'\n"), "write allow_anonymous = true"),
        (lambda file: file.write_text("name = 'lab'\n[[user]]\nname ="), "is not valid TOML"),
        (lambda file: file.write_bytes(bytes(100)), "is not valid TOML"),
        (unlink, "cannot read the config file"),
        (replace_by_a_folder, "cannot read the config file"),
    ],
    ids=["empty", "cut", "torn", "zeros", "missing", "unreadable"],
)
def test_a_file_that_is_spoilt_lets_nobody_in(
    guarded: ConfiguredBroker, spoil: Callable[[Path], None], why: str
) -> None:
    """CVE-2018-12550: the broker goes on as it was, and says why."""
    assert connect(guarded) == 0x87
    spoil(guarded.file)
    guarded.running.process.send_signal(signal.SIGHUP)
    line = guarded.line("config:")
    assert " ERROR config: nothing is changed: " in line
    assert why in line
    assert connect(guarded) == 0x87
    assert connect(guarded, username="a", password=b"secret") == 0


def test_the_log_changes_its_level_and_its_form(broker: ConfiguredBroker) -> None:
    broker.reload("[limits]\nsubscriptions = 1\n[log]\nlevel = 'warning'\nformat = 'json'\n")
    assert "log.level is 'warning' now" in broker.line("config:")
    connect(broker)
    broker.reload("name = 0\n")
    assert broker.line("nothing is changed").startswith('{"time"')


def test_many_at_once_end_with_the_last_file(broker: ConfiguredBroker) -> None:
    for number in range(2, 30):
        broker.reload(f"[limits]\nsubscriptions = {number}\n")
    assert "limits.subscriptions is 29 now" in broker.line("is 29 now")


def test_without_a_file_it_ends_cleanly_like_with_its_terminal(tmp_path: Path) -> None:
    running = RunningBroker.start(tmp_path / "data", "--console", "off")
    assert running.stop(signal.SIGHUP)[0] == 0


def test_the_help_tells_of_it() -> None:
    assert "kill -HUP" in slipring("serve", "--help").stdout
