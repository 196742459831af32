"""Clients of requests for every test of this room."""

import pytest

from tests.requests.request_peer import peers

__all__ = ["peers", "topic"]


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic that no other test has."""
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    return f"solve/{name}"
