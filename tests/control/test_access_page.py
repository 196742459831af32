"""Every example of docs/access.md: the configurations load and decide as their tables say, and the
commands run as they stand on a real broker.
"""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from slipring.control.access import BUILT_IN, RIGHTS
from slipring.control.access_explanation import AccessQuestion, explain_access
from slipring.control.config import Config, load_config
from slipring.control.plan import make_plan
from slipring.control.users import verifier_of
from tests.cli.commands import SLIPRING
from tests.running_broker import PATIENCE_S, RunningBroker

PAGE = (Path(__file__).parents[2] / "docs" / "access.md").read_text()
EXAMPLES = ("control room", "fleet", "utilities")


def blocks(kind: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return [block for name, block in found if name == kind]


def example(name: str) -> str:
    [found] = [block for block in blocks("toml") if block.startswith(f"# {name}\n")]
    return found


def table_after(text: str) -> list[list[str]]:
    """The cells of the first table behind a text of the page."""
    table = PAGE.partition(text)[2].split("\n|---")[1].split("\n\n")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[1:]]


def loaded(folder: Path, text: str) -> Config:
    file = folder / "broker.toml"
    file.write_text(f"data = '{folder}/data'\n{text}")
    return load_config(file)


def question(who: str, right: str, topic: str) -> AccessQuestion:
    name, *more = [part.strip() for part in who.split(",")]
    words: dict[str, list[Any]] = {"role": [], "claim": [], "client": []}
    for part in more:
        kind, _, value = part.partition(" ")
        words[kind].append(tuple(value.split("=")) if kind == "claim" else value)
    user = None if name == "-" else name
    client = "".join(words["client"])
    return AccessQuestion(
        user, right, topic, tuple(words["role"]), tuple(words["claim"]), client=client
    )


def answer(config: Config, asked: AccessQuestion) -> str:
    found = explain_access(config, make_plan(config), asked)
    word = {"whole": "yes", "nothing": "no", "part": "part"}[found.extent]
    return f"{word}: {found.rule['name']}" if found.rule else word


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_decides_as_its_table_says(name: str, tmp_path: Path) -> None:
    text = example(name)
    config = loaded(tmp_path, text)
    rows = table_after(text)
    assert len(rows) > 10
    shown = [(who, right, topic, told) for who, right, topic, told in rows]
    decided = [(*row[:3], answer(config, question(*row[:3]))) for row in shown]
    assert decided == shown


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_rule_of_an_example_decides_a_row(name: str, tmp_path: Path) -> None:
    config = loaded(tmp_path, example(name))
    named = {row[3].partition(": ")[2] for row in table_after(example(name))}
    assert {f"toml:{number}" for number in range(1, len(config.access.rule) + 1)} <= named


def test_every_block_of_toml_is_executed(tmp_path: Path) -> None:
    (tmp_path / "access.d").mkdir()
    firsts = [block.split("\n")[0].removeprefix("# ") for block in blocks("toml")]
    assert firsts == ["one rule", "broker.toml", *EXAMPLES]
    assert loaded(tmp_path, example("one rule")).access.rule[0].allow == ("subscribe", "select")
    assert loaded(tmp_path, example("broker.toml")).has_users


def test_the_table_of_rights_has_every_right() -> None:
    assert [row[0].strip("`") for row in table_after("### What")] == list(RIGHTS)


def test_the_roles_that_are_built_in_are_those_of_the_page() -> None:
    roles = {who.partition(":")[2] for names, *_ in BUILT_IN for who in names}
    sentence = PAGE.partition("Three roles are built in:")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(viewer|operator|administrator)`", sentence)) == roles
    areas = next(row[1] for row in table_after("### What") if row[0] == "`administer`")
    assert all(f"`{area}`" in areas for area in ("clients", "memory", "log", "requests"))


BOSS = f"""
[[user]]
name = "olga"
password = "{verifier_of("secret", 4096)}"
roles = ["administrator"]
"""
"""Who types the commands."""


@pytest.fixture
def broker(tmp_path: Path) -> Any:
    file = tmp_path / "broker.toml"
    file.write_text(f"{example('control room')}\n{BOSS}")
    running = RunningBroker.start(tmp_path / "data", "--config", str(file))
    yield running
    code, errors = running.stop()
    assert code == 0, errors


def test_the_commands_run_as_they_stand(broker: RunningBroker, tmp_path: Path) -> None:
    (tmp_path / "password.txt").write_text("pencil\n")
    (tmp_path / "acl.txt").write_text("user a\ntopic read b\n")
    (tmp_path / "passwd").write_text("a:$7$101$c2FsdA==$aGFzaA==\n")
    (tmp_path / "access.d").mkdir()
    script = "\n".join(blocks("sh"))
    script = re.sub(r"^slipring access (?!import)(.*?)( <|$)", r"slipring access \1 AT\2", script,
                    flags=re.MULTILINE)  # fmt: skip
    script = script.replace(" AT", f" --console {broker.console}")
    script = script.replace("http://127.0.0.1:8080", broker.console)
    script = re.sub(r"^slipring ", f"{SLIPRING} ", script, flags=re.MULTILINE)
    done = subprocess.run(
        ["sh", "-ec", script], cwd=tmp_path, capture_output=True, text=True, check=False,
        timeout=PATIENCE_S * 3,
        env={**os.environ, "SLIPRING_USER": "olga", "SLIPRING_PASSWORD": "secret"},
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout, done.stderr)
    [printed] = [block for block in blocks("") if block.startswith("yes: ")]
    assert printed in done.stdout
    assert '{"rule":"granted:3"}' in done.stdout
    assert "[[access.rule]]" in (tmp_path / "access.d" / "10-mosquitto.toml").read_text()
