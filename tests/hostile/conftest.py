"""A besieged broker for each test, on each transport."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.siege import Siege, laid_to
from tests.hostile.transports import TRANSPORTS, Transport
from tests.raw_mqtt import V5, V311, Version
from tests.running_broker import RunningBroker


@pytest.fixture(scope="module", params=TRANSPORTS, ids=lambda transport: transport.name)
def transport(request: pytest.FixtureRequest) -> Transport:
    found: Transport = request.param
    return found


@pytest.fixture(params=[V311, V5], ids=["v311", "v5"])
def version(request: pytest.FixtureRequest) -> Version:
    found: Version = request.param
    return found


@pytest.fixture(scope="module")
def fortress(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningBroker]:
    """One broker for all tests of a file, with the file's `CONFIG` if it has one."""
    folder: Path = tmp_path_factory.mktemp("fortress")
    config = folder / "broker.toml"
    config.write_text(getattr(request.module, "CONFIG", ""), encoding="utf-8")
    broker = RunningBroker.start(folder / "data", "--config", str(config), "--console", "off")
    yield broker
    if broker.process.poll() is None:
        code, errors = broker.stop()
        assert code == 0, errors


@pytest.fixture
def siege(fortress: RunningBroker, transport: Transport) -> Iterator[Siege]:
    with laid_to(fortress, transport) as begun:
        yield begun
