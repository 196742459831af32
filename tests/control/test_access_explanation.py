"""Explanations name the rule that decided and its place, and say what would be needed."""

from typing import Any

import pytest

from slipring.control.access_explanation import AccessQuestion, explain_access
from slipring.control.config import Config, load_config
from slipring.control.plan import make_plan
from slipring.control.users import EXAMPLE_VERIFIER
from slipring.errors import ConfigError


def user(name: str, *roles: str) -> dict[str, Any]:
    return {"name": name, "password": EXAMPLE_VERIFIER, "roles": roles}


def rule(who: str, topics: str, **rights: str) -> dict[str, Any]:
    named = {verb: words.split() for verb, words in rights.items()}
    return {"who": who.split(), "topics": topics.split(), **named}


CONFIG = load_config(
    user=[user("anna", "engineer"), user("ben"), user("root", "administrator")],
    access={
        "rule": [
            rule("role:engineer", "plant/#", allow="publish subscribe"),
            rule("known", "notes/%u/#", allow="publish"),
            rule("user:anna", "plant/secret", deny="subscribe"),
            rule("claim:site=north", "north/%{site}", allow="publish"),
            rule("anyone", "open/%c", allow="publish"),
            rule("anonymous", "hall", allow="publish"),
        ]
    },
)


def asked(config: Config, name: str | None, right: str, topic: str, **more: Any) -> Any:
    return explain_access(config, make_plan(config), AccessQuestion(name, right, topic, **more))


@pytest.mark.parametrize(
    ("name", "right", "topic", "more", "is_allowed", "decided"),
    [
        ("anna", "subscribe", "plant/1", {}, True, "toml:1"),
        ("anna", "subscribe", "plant/secret", {}, False, "toml:3"),
        ("ben", "subscribe", "plant/1", {}, False, None),
        ("ben", "subscribe", "plant/1", {"roles": ("engineer",)}, True, "toml:1"),
        ("ben", "publish", "notes/ben/1", {}, True, "toml:2"),
        ("ben", "publish", "notes/anna/1", {}, False, None),
        ("ben", "publish", "north/north", {"claims": (("site", "north"),)}, True, "toml:4"),
        ("root", "administer", "access", {}, True, "built-in:1"),
        (None, "publish", "open/pad", {"client": "pad"}, True, "toml:5"),
        (None, "publish", "open/pad", {"client": "#"}, False, None),
        (None, "publish", "hall", {}, True, "toml:6"),
        ("ben", "publish", "hall", {}, False, None),
    ],
)
def test_the_rule_that_decides_is_named(  # noqa: PLR0917 (a row)
    name: str | None,
    right: str,
    topic: str,
    more: dict[str, Any],
    is_allowed: bool,
    decided: str | None,
) -> None:
    found = asked(CONFIG, name, right, topic, **more)
    assert found.is_allowed == is_allowed
    assert (found.rule["name"] if found.rule else None) == decided


def test_every_other_rule_about_it_is_shown() -> None:
    found = asked(CONFIG, "anna", "subscribe", "plant/secret")
    assert [other["name"] for other in found.others] == ["toml:1"]
    assert found.others[0]["text"] == "role:engineer may publish, subscribe on plant/#"


@pytest.mark.parametrize(
    ("topic", "extent", "decided", "others"),
    [
        ("plant/1/+", "whole", "toml:1", []),
        ("plant/+", "part", None, ["toml:1", "toml:3"]),
        ("#", "part", None, ["toml:1", "toml:3"]),
        ("other/#", "nothing", None, []),
    ],
)
def test_a_filter_is_allowed_whole_in_part_or_not(
    topic: str, extent: str, decided: str | None, others: list[str]
) -> None:
    found = asked(CONFIG, "anna", "subscribe", topic)
    assert (found.extent, found.is_allowed) == (extent, extent == "whole")
    assert (found.rule["name"] if found.rule else None) == decided
    assert [other["name"] for other in found.others] == others


def test_it_says_what_would_be_needed() -> None:
    denied = asked(CONFIG, "anna", "subscribe", "plant/secret").notes
    assert any("it would have to change: toml:3" in note for note in denied)
    missing = asked(CONFIG, "ben", "subscribe", "plant/it's").notes
    assert "slipring access grant user:ben subscribe 'plant/it'\\''s'" in missing[0]
    assert "rule toml:1 allows it to role:engineer" in missing
    stranger = asked(CONFIG, "carl", "publish", "notes/carl/1")
    assert stranger.is_allowed
    assert "no user 'carl'" in stranger.notes[0]


def test_without_users_and_rules_everybody_may_and_it_says_so() -> None:
    found = asked(load_config(), None, "publish", "a")
    assert found.is_allowed
    assert "everybody" in found.notes[0]


def test_a_question_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="'write' is no right: publish"):
        asked(CONFIG, "anna", "write", "a")
    with pytest.raises(ConfigError, match="name a topic"):
        asked(CONFIG, "anna", "publish", "")


FILTERS = load_config(
    user=[user("anna")],
    access={
        "rule": [
            rule("user:anna", "a/b", allow="subscribe"),
            rule("user:anna", "a/#", allow="subscribe"),
            rule("user:anna", "c/#", allow="subscribe"),
            rule("user:anna", "c/1", deny="subscribe"),
            rule("user:anna", "c/2/#", deny="subscribe"),
            rule("anyone", "open", allow="subscribe"),
        ]
    },
)


@pytest.mark.parametrize(
    ("topic", "extent", "decided"),
    [
        ("a/+", "whole", "toml:2"),  # the first is about a part of it, and decides nothing
        ("a/b", "whole", "toml:1"),
        ("c/+", "part", None),
        ("c/2/+", "nothing", "toml:5"),
        ("$share/group/a/+", "whole", "toml:2"),
        ("$share/group/d/+", "nothing", None),
    ],
)
def test_a_rule_about_a_part_of_a_filter_does_not_decide(
    topic: str, extent: str, decided: str | None
) -> None:
    found = asked(FILTERS, "anna", "subscribe", topic)
    assert (found.extent, found.rule and found.rule["name"]) == (extent, decided)


def test_a_group_without_a_filter_is_no_question() -> None:
    with pytest.raises(ConfigError, match="names no filter"):
        asked(FILTERS, "anna", "subscribe", "$share/group")


def test_who_is_not_let_in_without_a_name_is_told_so() -> None:
    found = asked(FILTERS, None, "subscribe", "open")
    assert found.is_allowed
    assert "clients without a name are not let in here" in found.notes[0]
    assert not asked(FILTERS, "anna", "subscribe", "open").notes
