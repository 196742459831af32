"""Durability and retention in the configuration: what is refused, and what is warned about."""

from pathlib import Path
from typing import Any

import pytest

from slipring.control.config import Config, load_config
from slipring.control.plan import make_plan
from slipring.errors import ConfigError


def written(tmp_path: Path, text: str) -> Config:
    file = tmp_path / "broker.toml"
    file.write_text(text)
    return load_config(file)


def rule(level: str, *topics: str) -> dict[str, Any]:
    return {"topics": topics, "level": level}


def test_without_a_word_everything_is_kept_on_disk_and_for_ever() -> None:
    journal = Config().journal
    assert (journal.durability, journal.retain_age_s, journal.retain_bytes) == ("disk", 0, 0)
    assert (journal.bytes_max, journal.keep_unread) == (0, True)
    assert Config().doubts == []


def test_rules_are_read_in_their_order(tmp_path: Path) -> None:
    config = written(
        tmp_path,
        "[journal]\ndurability = 'process'\n"
        "[[durability]]\ntopics = ['telemetry/#', 'a']\nlevel = 'memory'\n"
        "[[durability]]\ntopics = ['alarm/#']\nlevel = 'disk'\n",
    )
    assert [(one.topics, one.level) for one in config.durability] == [
        (("telemetry/#", "a"), "memory"),
        (("alarm/#",), "disk"),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[journal]\ndurability = 'tape'", "journal.durability: Input should be 'memory'"),
        ("[journal]\nretain_age_s = -1", "journal.retain_age_s: "),
        ("[journal]\nbytes_max = 9223372036854775807", "journal.bytes_max: "),
        (
            "[journal]\ntopics = ['a/#/b']",
            "journal.topics.0: 'a/#/b' is not a topic filter: # stands",
        ),
        ("[[durability]]\ntopics = ['a+']\nlevel = 'disk'", "durability.0.topics.0: 'a+' is not"),
        ("[[durability]]\ntopics = []\nlevel = 'disk'", "durability.0.topics: "),
        ("[[durability]]\ntopics = ['a']", "durability.0.level: Field required"),
    ],
)
def test_a_mistake_is_told_with_its_key(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as error:
        written(tmp_path, text)
    assert told in str(error.value)


@pytest.mark.parametrize("journaled", [(), ("gripen/#",), ("telemetry",), ("+/x",)])
def test_a_level_that_the_journal_cannot_give_is_refused(journaled: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(journal={"topics": journaled}, durability=[rule("disk", "telemetry/+/rpm")])
    assert "[[durability]] number 1 asks for 'disk' on 'telemetry/+/rpm'" in str(error.value)
    assert "add 'telemetry/+/rpm' to journal.topics" in str(error.value)


def test_memory_needs_no_journal() -> None:
    config = load_config(journal={"topics": ()}, durability=[rule("memory", "telemetry/#")])
    assert config.doubts == ["journal.topics is empty: what is acknowledged is in memory only"]


def test_a_level_that_the_journal_gives_to_some_of_the_topics_is_doubted() -> None:
    config = load_config(
        journal={"topics": ["a/b/#", "c"]}, durability=[rule("disk", "a/#"), rule("process", "c")]
    )
    assert config.doubts == [
        "[[durability]] number 1: of 'a/#' only what journal.topics covers is kept"
    ]


def test_a_rule_behind_a_wider_one_is_doubted() -> None:
    config = load_config(durability=[rule("memory", "a/#"), rule("disk", "b", "a/+/c")])
    assert config.doubts == [
        "[[durability]] number 2: 'a/+/c' never counts, number 1 has 'a/#' before"
    ]


def test_a_bound_that_retention_cannot_help_is_doubted() -> None:
    small = {"segment_bytes": 1 << 20, "bytes_max": 1 << 20, "retain_bytes": 1 << 21}
    told = load_config(journal=small).doubts
    assert [line.split(" (")[0] for line in told] == [
        "journal.bytes_max is reached before journal.retain_bytes removes anything",
        "journal.bytes_max holds less than two segments",
    ]
    assert load_config(journal=small | {"retain_bytes": 0}).doubts == []


def test_the_plan_has_the_bounds_and_nothing_where_there_is_none() -> None:
    shown = repr(make_plan(load_config(journal={"retain_age_s": 60, "bytes_max": 9})))
    assert "age_s: Some(60), bytes: None, keep_unread: true" in shown
    assert "journal_bytes_max: Some(9)" in shown


def test_the_plan_has_the_levels_in_their_order() -> None:
    rules = [rule("memory", "a/#", "b"), rule("process", "c")]
    shown = repr(make_plan(load_config(journal={"durability": "disk"}, durability=rules)))
    assert 'rules: [("a/#", Memory), ("b", Memory), ("c", Process)], otherwise: Disk' in shown
