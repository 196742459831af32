"""`slipring alarms ...`: shown, watched, acknowledged, shelved and commented from a terminal."""

import json
import subprocess
import sys
from typing import Any

import pytest

from slipring import sync
from tests.alarm_peers import EGT, alarms_when, console
from tests.cli.commands import slipring
from tests.running_broker import PATIENCE_S, RunningBroker

HOSTILE = "jet/[bold]\x1b[2Jegt"


def run(broker: RunningBroker, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    return slipring("alarms", *arguments, "--console", broker.console, code=code)


def raised(broker: RunningBroker, name: str, value: float = 860.0) -> dict[str, Any]:
    """Raise an alarm, which stays active; what the console says of it."""
    with sync.connect(broker.url) as bus, console(broker) as client:
        bus.declare("", {name: EGT}).sample(name, value)
        return alarms_when(client, lambda told: told["active"] > 0)[0]


def test_alarms_are_shown_with_who_has_seen_them_and_a_name_writes_no_control_code(
    broker: RunningBroker,
) -> None:
    assert run(broker).stdout == "no alarms\n"
    alarm = raised(broker, HOSTILE)
    shown = run(broker).stdout
    assert "[bold]" in shown
    assert "\x1b" not in shown
    assert "high 850" in shown
    done = run(broker, "acknowledge", alarm["id"], "--comment", "seen")
    assert (done.returncode, done.stdout) == (0, "1 alarm acknowledged\n")
    assert "seen by somebody at 127.0.0.1; somebody at 127.0.0.1: seen" in run(broker).stdout
    [told] = json.loads(run(broker, "--json", "--state", "active").stdout)["alarms"]
    assert told["comments"][0]["text"] == "seen"
    assert run(broker, "--state", "history").stdout == "no alarms\n"


def test_alarms_are_shelved_taken_back_and_commented_by_the_name_of_a_parameter(
    broker: RunningBroker,
) -> None:
    raised(broker, "jet/egt", 950.0)
    for arguments, told in (
        (("shelve", "--parameter", "jet/egt", "--for", "60"), "2 alarms shelved\n"),
        (("unshelve", "--all"), "2 alarms no longer shelved\n"),
        (("comment", "a leak", "--parameter", "jet/egt"), "2 alarms commented\n"),
    ):
        assert run(broker, *arguments).stdout == told
    assert run(broker).stdout.count("somebody at 127.0.0.1: a leak") == 2


@pytest.mark.parametrize("arguments", [(), ("1", "--all"), ("--all", "--parameter", "x")])
def test_it_is_said_once_which_alarms_are_meant(
    shared_broker: RunningBroker, arguments: tuple[str, ...]
) -> None:
    ended = run(shared_broker, "acknowledge", *arguments, code=2)
    assert "--parameter" in ended.stderr


def test_what_is_not_in_the_list_is_told_by_name_and_exit_code(
    shared_broker: RunningBroker,
) -> None:
    ended = run(shared_broker, "acknowledge", "99", "7", code=1)
    assert ended.stdout == "0 alarms acknowledged; not in the list: 99, 7\n"
    refused = run(shared_broker, "--state", "asleep", code=1)
    assert "'state' is one of: active, ended" in refused.stderr


def test_each_change_is_a_line_while_watched(broker: RunningBroker) -> None:
    command = [sys.executable, "-m", "slipring", "alarms", "--watch", "--json"]
    with subprocess.Popen(
        [*command, "--console", broker.console], stdout=subprocess.PIPE, text=True
    ) as watching:
        try:
            assert watching.stdout is not None
            alarm = raised(broker, "jet/egt")
            first = json.loads(watching.stdout.readline())
            assert (first["id"], first["acknowledged_by"]) == (alarm["id"], None)
            run(broker, "acknowledge", alarm["id"])
            second = json.loads(watching.stdout.readline())
            assert second["acknowledged_by"] == "somebody at 127.0.0.1"
        finally:
            watching.terminate()
            watching.wait(PATIENCE_S)
