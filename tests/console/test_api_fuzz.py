"""Schemathesis against the HTTP API of a real broker: no failure of the broker, and answers and
refusals as the description says. The seed is printed: SLIPRING_FUZZ_SEED=N plays it again.
"""

import json
import os
import secrets
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from slipring import Parameter, sync
from tests.console.test_login import PASSWORD, USERS, VERIFIER
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in

SEED = "SLIPRING_FUZZ_SEED"
SPAN_S = int(os.environ.get("SLIPRING_FUZZ_S", "30"))
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "allow_header_conformance",
)
# Wrong passwords slow their address down, and then every other question of it.
LEFT_OUT = "^/api/(login|token|logout.*|oidc/.*)$"
ADMINISTRATOR = {"user": "anna", "password": PASSWORD}


@pytest.fixture
def people(tmp_path: Path) -> Iterator[RunningBroker]:
    """A broker with users that gives tokens: no password is checked for each question."""
    with broker_in(tmp_path, config=f"[token]\nenabled = true\n{USERS}") as running:
        yield running


def strict(described: dict[str, Any]) -> dict[str, Any]:
    """The description, with which a field that it does not have is a mistake in an answer."""
    for name, schema in described["components"]["schemas"].items():
        if not name.endswith("Body"):
            schema["additionalProperties"] = False
    return described


def test_the_api_keeps_to_its_description_whatever_it_is_asked(
    people: RunningBroker, tmp_path: Path
) -> None:
    seed = os.environ.get(SEED) or str(secrets.randbelow(2**32))
    sys.stdout.write(f"{SEED}={seed}\n")
    token = httpx.post(f"{people.console}/api/token", json=ADMINISTRATOR, timeout=PATIENCE_S)
    bearer = f"Authorization: Bearer {token.json()['token']}"
    address = f"{people.console}/api/openapi.json"
    described = strict(httpx.get(address, timeout=PATIENCE_S).json())
    document, seen = tmp_path / "openapi.json", tmp_path / "seen.har"
    document.write_text(json.dumps(described))
    with sync.connect(people.url, user="anna", password=PASSWORD) as bus:
        jet = bus.declare("own/jet", {"rpm": Parameter("f64", unit="1/min"), "on": "bool"})
        jet.write({"rpm": 12034.5, "on": True})
        bus.publish("own/plain", b"\xff\xfe", retain=True, qos=1)
        run = subprocess.run(
            [
                sys.executable, "-m", "schemathesis.cli", "run", str(document),
                "--url", people.console, "-H", bearer, "--seed", seed,
                "--checks", ",".join(CHECKS), "--max-time", str(SPAN_S), "--no-color",
                "--exclude-path-regex", LEFT_OUT, "--generation-database", "none",
                "--phases", "examples,coverage,fuzzing", "--report-har-path", str(seen),
                "--suppress-health-check", "all", "--warnings", "off", "--max-failures", "5",
            ],
            capture_output=True, text=True, cwd=tmp_path, check=False,
        )  # fmt: skip
    assert run.returncode == 0, f"{SEED}={seed}\n{run.stdout[-12_000:]}{run.stderr[-2_000:]}"
    answers = [one["response"] for one in json.loads(seen.read_text())["log"]["entries"]]
    statuses = Counter(answer["status"] for answer in answers)
    assert statuses[200] > 50, statuses
    assert statuses[400] > 50, statuses
    for answer in answers:
        text = answer["content"].get("text") or ""
        for secret in (PASSWORD, VERIFIER, VERIFIER.rpartition("$")[2], "Traceback"):
            assert secret not in text, (SEED, seed, text[:500])
