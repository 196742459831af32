"""One broker for all tests of a file: its rules change while it runs."""

from collections.abc import Iterator

import pytest

from tests.access.world import World


@pytest.fixture(scope="module")
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """A broker with the file's `EXTRA` config, and its way with wide subscriptions, `WIDE`."""
    extra, wide = getattr(request.module, "EXTRA", ""), getattr(request.module, "WIDE", "refuse")
    made = World(tmp_path_factory.mktemp("world"), extra=extra, wide=wide)
    yield made
    made.stop()
