"""Priorities by topic in the configuration: read in order, checked, and handed to the engine."""

import re
import textwrap
from pathlib import Path

from slipring.control.config import Config, load_config
from slipring.control.plan import make_plan

ALARMS = {"topics": ["alarm/#", "+/abort"], "level": "high"}
LOGS = {"topics": ["log/#"], "level": "low"}
PAGE = Path(__file__).parents[2] / "docs" / "priorities.md"


def test_without_a_word_every_topic_is_normal() -> None:
    assert Config().priority == ()
    assert "priority: PriorityRule { rules: [] }" in repr(make_plan(Config()))


def test_the_plan_has_the_priorities_in_their_order() -> None:
    config = load_config(priority=[ALARMS, LOGS])
    assert [(one.topics, one.level) for one in config.priority] == [
        (("alarm/#", "+/abort"), "high"),
        (("log/#",), "low"),
    ]
    assert 'rules: [("alarm/#", High), ("+/abort", High), ("log/#", Low)]' in repr(
        make_plan(config)
    )


def test_the_config_of_the_page_is_read(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    file = tmp_path / "broker.toml"
    file.write_text(textwrap.dedent(shown))
    assert load_config(file).priority == load_config(priority=[ALARMS, LOGS]).priority


def test_a_rule_that_never_counts_is_a_doubt() -> None:
    config = load_config(priority=[ALARMS, {"topics": ["alarm/fire"], "level": "low"}])
    assert config.doubts == [
        "[[priority]] number 2: 'alarm/fire' never counts, number 1 has 'alarm/#' before"
    ]
