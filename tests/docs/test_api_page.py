"""docs/api.md: it names every route, has a line for each, and every line can be typed."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

import slipring
from slipring import AlarmLimits, Parameter, sync
from slipring.console.openapi import PATH as DESCRIPTION
from tests.console.test_login import PASSWORD, USERS
from tests.docs.page_shell import DOCS, page_blocks
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in

PAGE = "docs/api.md"
TEXT = (DOCS / "api.md").read_text(encoding="utf-8")
BLOCKS = page_blocks(PAGE)
CONSOLE = "http://127.0.0.1:8080"
KEY = "5f0c7a1e22b90d41"
"""The request that the page takes for an example."""
IN_A_BROWSER = {
    "GET /api/oidc/login",
    "GET /api/oidc/callback",
    "POST /api/logout/everywhere",
}
"""Without a line: it takes an identity provider, or ends what others do."""
PLACE = re.compile(r"{\w+}")


def solved(request: slipring.ThreadRequest) -> str:
    return f"solved {request.text}"


@pytest.fixture
def flown(tmp_path: Path) -> Iterator[RunningBroker]:
    """A broker with all that the lines name."""
    with ExitStack() as stack:
        broker = stack.enter_context(broker_in(tmp_path))
        bus = stack.enter_context(sync.connect(broker.url))
        egt = Parameter("f64", unit="Cel", limits=AlarmLimits(high=850))
        engine = bus.declare(
            "gripen/39-7/engine", {"egt": egt, "rpm": Parameter("f64", unit="1/min")}, qos=1
        )
        engine.write({"egt": 900.0, "rpm": 12034.5})
        stack.enter_context(sync.connect(broker.url, client_id="recorder-17", session_expiry_s=600))
        stack.enter_context(bus.serve("solver/linear", solved))
        assert bus.request("solver/linear", "1").text == "solved 1"
        yield broker


@pytest.fixture
def people(tmp_path: Path) -> Iterator[RunningBroker]:
    with broker_in(tmp_path, config=f"[token]\nenabled = true\n{USERS}") as running:
        yield running


def typed(broker: RunningBroker, block: str, folder: Path, key: str = KEY) -> None:
    """Paste a block into a shell, with the address of this broker; each line must succeed."""
    script = block.replace(CONSOLE, broker.console).replace(KEY, key)
    script = script.replace("anna:secret", f"'anna:{PASSWORD}'").replace(
        '"secret"', f'"{PASSWORD}"'
    )
    done = subprocess.run(
        ["bash", "-exo", "pipefail", "-c", script],
        cwd=folder,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr[-3_000:]}"


def test_every_line_about_what_is_shown_can_be_typed(flown: RunningBroker, tmp_path: Path) -> None:
    asked = httpx.get(f"{flown.console}/api/requests", timeout=PATIENCE_S).json()["requests"]
    for block in BLOCKS:
        if "anna" not in block:
            typed(flown, block, tmp_path, asked[0]["key"])


def test_every_line_for_a_broker_with_users_can_be_typed(
    people: RunningBroker, tmp_path: Path
) -> None:
    of_users = [block for block in BLOCKS if "anna" in block]
    assert len(of_users) == 2
    for block in of_users:
        typed(people, block, tmp_path)


def test_the_page_names_every_route_and_has_a_line_for_each(shared_broker: RunningBroker) -> None:
    described = httpx.get(f"{shared_broker.console}{DESCRIPTION}", timeout=PATIENCE_S).json()
    routes = {
        f"{method.upper()} {path}"
        for path, by_method in described["paths"].items()
        for method in by_method
    }
    named = set(re.findall(r"`((?:GET|POST|PUT|DELETE) [^`?]+)`", TEXT))
    assert named == routes
    assert routes - IN_A_BROWSER - {one for one in routes if has_line(one)} == set()
    for path in described["x-websockets"]:
        assert f"`{path}`" in TEXT


def has_line(route: str) -> bool:
    """Whether a line of curl asks it."""
    method, _, path = route.partition(" ")
    address = re.escape(CONSOLE) + PLACE.sub(r"[\\w$]+", path.replace(".", r"\."))
    return any(
        method_of(line) == method and re.search(rf"{address}(?=[?'\s)]|$)", line)
        for block in BLOCKS
        for line in block.splitlines()
    )


def method_of(line: str) -> str:
    """As curl chooses it."""
    given = re.search(r"-X (\w+)", line)
    return given[1] if given else "POST" if "--json" in line else "GET"
