"""Brokers that know users."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.access_rules import ALL
from tests.auth.scram import verifier
from tests.running_broker import RunningBroker

USERS = {"user": "pencil", "anna": "eraser", "a,b=ö": "pass word"}
Guarded = Callable[..., RunningBroker]


def config(folder: Path, extra: str = "", **users: str) -> Path:
    """A config file with these users and their verifiers."""
    tables = [
        f"[[user]]\nname = '{name}'\npassword = '{stored}'\n" for name, stored in users.items()
    ]
    file = folder / "broker.toml"
    file.write_text(f"{extra}\n{''.join(tables)}{ALL}")
    return file


@pytest.fixture(scope="session")
def verifiers() -> dict[str, str]:
    return {name: verifier(password) for name, password in USERS.items()}


@pytest.fixture
def guarded(tmp_path: Path, verifiers: dict[str, str]) -> Iterator[Guarded]:
    """Start a broker with these users, or with all of them, and more lines of config in front."""
    running: list[RunningBroker] = []

    def start(extra: str = "", **users: str) -> RunningBroker:
        file = config(tmp_path, extra, **(users or verifiers))
        console = ("--console", "off")
        running.append(RunningBroker.start(tmp_path / "data", *console, "--config", str(file)))
        return running[-1]

    yield start
    for broker in running:
        if broker.process.poll() is None:
            code, errors = broker.stop()
            assert code == 0, errors


@pytest.fixture(scope="module")
def strict(
    tmp_path_factory: pytest.TempPathFactory, verifiers: dict[str, str]
) -> Iterator[RunningBroker]:
    """A broker that lets nobody in who has not proved who they are."""
    folder = tmp_path_factory.mktemp("strict")
    file = config(folder, **verifiers)
    broker = RunningBroker.start(folder / "data", "--console", "off", "--config", str(file))
    yield broker
    code, errors = broker.stop()
    assert code == 0, errors
    for secret in [*USERS.values(), *verifiers.values()]:
        assert secret not in errors
