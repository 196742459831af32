"""The section `[pipeline]`: read from the broker's file, and every mistake named (D1)."""

from pathlib import Path

import pytest

from slipring.alarms import parse_length
from slipring.control.config import load_config
from slipring.errors import ConfigError
from slipring.pipeline.config import load_pipeline, parse_pipeline
from tests.cli.commands import slipring

TEXT = """
name = "test"
[pipeline.derive."jet/engine/1/egt_margin"]
unit = "Cel"
expression = "1000 - `jet/engine/1/egt`"
every = "100ms"
limits = { high = 900 }
"""


def test_the_section_is_in_the_brokers_file(tmp_path: Path) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(TEXT)
    assert load_config(file).name == "test"
    derived = load_pipeline(file).derive["jet/engine/1/egt_margin"]
    assert derived.inputs == ("jet/engine/1/egt",)
    assert derived.every_ns == 100_000_000
    definition = derived.definition()
    assert definition.limits is not None
    assert (definition.unit, definition.limits.high) == ("Cel", 900)


def test_checking_the_file_checks_the_section(tmp_path: Path) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(TEXT.replace("every", "evry"))
    told = slipring("config", "--check", file, code=1).stderr
    assert "pipeline.derive.jet/engine/1/egt_margin.evry: there is no such key" in told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "give either expression or function"),
        ({"expression": "1 + 1"}, "there are no inputs; name them in the expression"),
        ({"expression": "`a`", "function": "m:f"}, "give either expression or function"),
        ({"function": "m.f", "inputs": ["a"]}, "write MODULE:NAME"),
        ({"function": "m:f"}, "there are no inputs; name them in inputs"),
        ({"expression": "`a`", "every": "fast"}, "'fast' is not a length of time"),
        ({"expression": "`a`", "every": "0s"}, "every is 0"),
        ({"expression": "`a`", "every": 0}, "every is 0"),
        ({"expression": "`a`", "late": -1}, "-1 is not from 0 ns to 36,500 days"),
        ({"expression": "`a` + `b`", "inputs": ["a"]}, "has `b`, which is not among the inputs"),
        ({"expression": "`a`", "limits": {"low": 2, "high": 1}}, "limits must rise"),
    ],
)
def test_a_mistake_is_named_with_its_key(given: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError) as failure:
        parse_pipeline({"derive": {"x": given}})
    assert "pipeline.derive.x" in str(failure.value)
    assert told in str(failure.value)


@pytest.mark.parametrize(
    ("text", "ns"),
    [("250us", 250_000), ("100 ms", 10**8), ("2m", 120 * 10**9), ("1d", 864 * 10**11)],
)
def test_lengths_of_time_have_a_unit(text: str, ns: int) -> None:
    assert parse_length(text) == ns


def test_a_table_to_keep_that_there_is_not_is_refused() -> None:
    """Retention by a wrong name would keep everything, and say nothing."""
    with pytest.raises(ConfigError, match=r"the lake has no table sample; there are .*samples"):
        parse_pipeline({"archive": {"keep": {"sample": "30d"}}})
