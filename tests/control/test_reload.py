"""A file that was read again: what changes while running, and what waits for a restart."""

from pathlib import Path
from typing import Any

import pytest

from slipring.control.config import Config, load_config
from slipring.control.reload import Reload, applied_text, reload, waiting_text
from slipring.control.users import EXAMPLE_VERIFIER
from slipring.errors import ConfigError

OTHER = EXAMPLE_VERIFIER.replace("4096", "8192")
"""Another password."""


def reloaded(before: dict[str, Any], after: dict[str, Any], *, journaling: bool = True) -> Reload:
    return reload(load_config(**before), load_config(**after), journaling=journaling)


def applied(found: Reload) -> list[str]:
    return [applied_text(change) for change in found.applied]


def waiting(found: Reload) -> list[str]:
    return [waiting_text(change) for change in found.waiting]


def test_the_same_file_changes_nothing() -> None:
    found = reloaded({"name": "lab"}, {"name": "lab"})
    assert (found.applied, found.waiting) == ([], [])
    assert found.config == load_config(name="lab")


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ({"name": "lab"}, "name is 'lab' now, was 'slipring'"),
        ({"allow_anonymous": True}, "allow_anonymous is true now, was false"),
        ({"mqtt": {"sys_interval_s": 0}}, "mqtt.sys_interval_s is 0 now, was 10"),
        ({"console": {"mark": "DEMO DATA"}}, "console.mark is 'DEMO DATA' now, was ''"),
        ({"console": {"source": "bench 3"}}, "console.source is 'bench 3' now, was ''"),
        ({"limits": {"inflight": 7}}, "limits.inflight is 7 now, was 1024"),
        ({"log": {"level": "debug"}}, "log.level is 'debug' now, was 'info'"),
        ({"journal": {"topics": ["a", "b"]}}, "journal.topics is 'a', 'b' now, was '#'"),
        ({"journal": {"topics": []}}, "journal.topics is empty now, was '#'"),
        ({"journal": {"bytes_max": 9}}, "journal.bytes_max is 9 now, was 0"),
        ({"journal": {"durability": "memory"}}, "journal.durability is 'memory' now, was 'disk'"),
        (
            {"durability": [{"topics": ["a", "b/#"], "level": "process"}]},
            "durability is process for a b/# now, was empty",
        ),
        (
            {"priority": [{"topics": ["a", "b/#"], "level": "high"}]},
            "priority is high for a b/# now, was empty",
        ),
    ],
)
def test_what_the_plan_has_changes_while_running(after: dict[str, Any], told: str) -> None:
    found = reloaded({}, after)
    assert applied(found) == [told]
    assert found.waiting == []
    assert found.config == load_config(**after)


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ({"data": "other"}, "data stays slipring-data until a restart; the file says other"),
        ({"threads": 3}, "threads stays 0 until a restart; the file says 3"),
        ({"console": {"listen": "off"}}, "console.listen stays '127.0.0.1:8080' until a restart"),
        ({"mqtt": {"listen": "127.0.0.1:7"}}, "mqtt.listen stays '127.0.0.1:1883' until a restart"),
        ({"journal": {"segment_bytes": 1 << 20}}, "journal.segment_bytes stays 67108864 until"),
        (
            {"listener": [{"name": "web", "listen": "127.0.0.1:7"}]},
            "listener 'web' is new in the file, which needs a restart",
        ),
    ],
)
def test_what_a_start_does_waits_for_one(after: dict[str, Any], told: str) -> None:
    found = reloaded({}, after)
    assert len(found.waiting) == 1
    assert waiting(found)[0].startswith(told)
    assert found.applied == []
    assert found.config == Config()


def test_both_at_once_are_told_apart() -> None:
    journal = {"segment_bytes": 1 << 20, "retain_bytes": 5}
    found = reloaded({}, {"journal": journal})
    assert applied(found) == ["journal.retain_bytes is 5 now, was 0"]
    assert [change.key for change in found.waiting] == ["journal.segment_bytes"]


def test_what_waits_still_waits_the_next_time() -> None:
    first = reloaded({}, {"threads": 3})
    again = reload(first.config, load_config(threads=3), journaling=True)
    assert [change.key for change in again.waiting] == ["threads"]


def test_a_listener_changes_its_limits_and_nothing_else() -> None:
    web = {"name": "web", "listen": "127.0.0.1:7"}
    found = reloaded(
        {"listener": [web]}, {"listener": [web | {"connections": 5, "websocket": True}]}
    )
    assert applied(found) == ["listener 'web': connections is 5 now, was unset"]
    assert waiting(found) == [
        "listener 'web': websocket stays false until a restart; the file says true"
    ]
    assert found.config.listener[0].connections == 5


def test_a_listener_that_is_gone_from_the_file_goes_on() -> None:
    found = reloaded({"listener": [{"name": "web", "listen": "127.0.0.1:7"}]}, {})
    assert waiting(found) == ["listener 'web' is gone in the file, which needs a restart"]
    assert [one.name for one in found.config.listeners] == ["mqtt", "web"]


def test_users_come_and_go_and_no_password_is_told() -> None:
    def users(**passwords: str) -> dict[str, Any]:
        return {"user": [{"name": name, "password": text} for name, text in passwords.items()]}

    found = reloaded(
        users(a=EXAMPLE_VERIFIER, b=EXAMPLE_VERIFIER), users(a=OTHER, c=EXAMPLE_VERIFIER)
    )
    assert applied(found) == [
        "user 'a' has another password",
        "user 'b' is gone",
        "user 'c' is new",
    ]


def test_what_a_user_may_do_from_now_on_is_told() -> None:
    before = {"name": "a", "password": EXAMPLE_VERIFIER}
    after = {"name": "a", "password": OTHER, "roles": ["operator"]}
    found = reloaded({"user": [before]}, {"user": [after]})
    assert applied(found) == [
        "user 'a' has another password",
        "user 'a': roles is 'operator' now, was empty",
    ]
    assert applied(reloaded({"user": [before]}, {"user": [before | {"roles": ["operator"]}]})) == [
        "user 'a': roles is 'operator' now, was empty"
    ]


def test_an_issuer_of_tokens_changes_its_keys_and_stays() -> None:
    issuer = {"name": "company", "issuer": "https://id.example", "keys": "/keys/one.json"}
    both = {"issuer": [issuer], "allow_anonymous": True}
    assert applied(reloaded(both, both | {"name": "lab"})) == ["name is 'lab' now, was 'slipring'"]
    other = both | {"issuer": [issuer | {"keys": "/keys/two.json"}]}
    (told,) = applied(reloaded(both, other))
    assert told.startswith("issuer 'company': keys is ")


def test_what_is_safe_only_after_a_restart_changes_nothing() -> None:
    user = [{"name": "a", "password": EXAMPLE_VERIFIER}]
    with pytest.raises(ConfigError) as error:
        reloaded({"mqtt": {"listen": "0.0.0.0:1883"}, "user": user}, {})
    assert "need a restart" in str(error.value)
    assert "0.0.0.0:1883" in str(error.value)


def test_users_do_not_all_go_without_a_word() -> None:
    """CVE-2018-12550: an emptied file let everyone in."""
    user = {"user": [{"name": "a", "password": EXAMPLE_VERIFIER}]}
    with pytest.raises(ConfigError, match="write allow_anonymous = true"):
        reloaded(user, {"name": "lab"})
    found = reloaded(user, {"allow_anonymous": True})
    assert applied(found) == ["allow_anonymous is true now, was false", "user 'a' is gone"]
    assert reloaded({"allow_anonymous": True} | user, {"allow_anonymous": True}).config.user == ()


def test_what_a_listener_asks_for_stays_until_a_restart() -> None:
    secure = {"name": "web", "listen": "127.0.0.1:7", "certificate": "b.pem", "key": "b.key"}
    asking = secure | {"client_ca": "ca.pem"}
    for less in ([], [secure], [{"name": "web", "listen": "0.0.0.0:7", "certificate": "b.pem"}]):
        try:
            found = reloaded({"listener": [asking]}, {"listener": less})
        except ConfigError:
            continue
        assert found.config.listener == load_config(listener=[asking]).listener
        assert found.waiting


GUARDED = f"""\
name = "lab"
allow_anonymous = false
[mqtt]
listen = "127.0.0.1:1883"
[limits]
inflight = 7
[[user]]
name = "a"
password = "{EXAMPLE_VERIFIER}"
[[user]]
name = "b"
password = "{EXAMPLE_VERIFIER}"
roles = []
"""


def test_a_file_that_is_cut_anywhere_lets_nobody_in(tmp_path: Path) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(GUARDED)
    running = load_config(file)
    refused = 0
    for length in range(len(GUARDED)):
        file.write_text(GUARDED[:length])
        try:
            found = reload(running, load_config(file, again=True), journaling=True)
        except ConfigError:
            refused += 1
            continue
        names = {user.name for user in found.config.user}
        assert names, f"cut after {length} characters"
        assert names <= {"a", "b"}
        assert not found.config.allow_anonymous
        assert not any(user.roles for user in found.config.user)
    assert refused > len(GUARDED) // 2


@pytest.mark.parametrize("text", ["", "\n\n", "# name = 'lab'\n"])
def test_an_empty_file_is_one_to_start_with_and_none_to_change_to(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(text)
    assert load_config(file) == Config()
    with pytest.raises(ConfigError, match="is empty"):
        load_config(file, again=True, data="elsewhere")


def test_a_journal_that_is_off_waits_with_all_that_belongs_to_it() -> None:
    found = reloaded(
        {"journal": {"topics": []}},
        {"durability": [{"topics": ["a"], "level": "disk"}], "limits": {"inflight": 7}},
        journaling=False,
    )
    assert [change.key for change in found.applied] == ["limits.inflight"]
    assert [change.key for change in found.waiting] == ["journal.topics", "durability"]
