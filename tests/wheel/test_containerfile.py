"""The Containerfile: each line is compared with what it names, and what can be run is run."""

import json
import os
import re
import subprocess
import sys
from fnmatch import fnmatch

import pytest

from tests.cli.commands import slipring
from tests.running_broker import RunningBroker, kept_address
from tests.wheel.made import ROOT

TEXT = re.sub(r"\\\n\s*", "", (ROOT / "Containerfile").read_text())
BUILD, FINAL = re.split(r"^FROM .*\n", TEXT, flags=re.MULTILINE)[1:]


def said(stage: str, word: str) -> list[str]:
    """What a stage says after a word, line by line."""
    return re.findall(rf"^{word} (.*)$", stage, re.MULTILINE)


def in_brackets(stage: str, word: str) -> list[str]:
    """The list that a word is given, also behind its options."""
    (text,) = re.findall(rf"^{word}\b.*?(\[.*\])$", stage, re.MULTILINE)
    listed: list[str] = json.loads(text)
    return listed


def test_the_build_calls_what_is_there() -> None:
    runs = "\n".join(said(BUILD, "RUN"))
    (target,) = re.findall(r"make needs= (\S+)", runs)
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for module in re.findall(r"-m (scripts\.\w+)", runs):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists()
    ignored = (ROOT / ".containerignore").read_text().splitlines()[1:]
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not [
        path
        for path in tracked.stdout.splitlines()
        if any(fnmatch(path, one) or path.startswith(f"{one}/") for one in ignored)
    ]


def test_the_last_stage_takes_what_the_first_has_made() -> None:
    (copied,) = said(FINAL, "COPY")
    assert copied == "--from=build /opt/slipring /opt/slipring"
    assert "python3 -m venv /opt/slipring" in BUILD
    # The environment has links to the interpreter: both stages need that of the same Debian.
    bases = re.findall(r"^FROM \S*?:\S*?(\w+)(?:-slim)?(?: AS .*)?$", TEXT, re.MULTILINE)
    assert len(bases) == 2
    assert bases[0] == bases[1]
    assert in_brackets(FINAL, "ENTRYPOINT") == ["/opt/slipring/bin/slipring"]


def test_it_runs_as_a_user_without_rights_that_owns_its_data() -> None:
    (user,) = said(FINAL, "USER")
    assert int(user) > 0
    assert f"--uid {user}" in FINAL
    (volume,), command = said(FINAL, "VOLUME"), in_brackets(FINAL, "CMD")
    assert f"--owner slipring --group slipring --mode 700 {volume}" in FINAL
    assert command[command.index("--data") + 1] == volume
    options = {word for word in command if word.startswith("--")}
    shown = slipring("serve", "--help").stdout
    assert all(option in shown for option in options)


@pytest.mark.parametrize("is_served", [True, False])
def test_it_is_healthy_while_the_broker_is_ready(broker: RunningBroker, *, is_served: bool) -> None:
    _, *arguments = in_brackets(FINAL, "HEALTHCHECK")
    (given,) = re.findall(r"^ENV SLIPRING_READY=(\S+)", FINAL, re.MULTILINE)
    assert given.endswith("/ready")
    with kept_address() as nobody:
        console = broker.console if is_served else f"http://{nobody}"
        done = subprocess.run(
            [sys.executable, *arguments],
            env=os.environ | {"SLIPRING_READY": f"{console}/ready"},
            capture_output=True,
            check=False,
        )
    assert (done.returncode == 0) == is_served
