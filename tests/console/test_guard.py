"""Who may talk to the console."""

import pytest

from slipring.console.guard import is_ours
from slipring.control.address import Address

LOOPBACK = Address("127.0.0.1", 8080)
EVERYWHERE = Address("0.0.0.0", 8080)


@pytest.mark.parametrize(
    ("headers", "ours"),
    [
        ({"host": "127.0.0.1:8080"}, True),
        ({"host": "localhost:8080", "origin": "http://localhost:8080"}, True),
        ({"host": "[::1]:8080", "origin": "http://[::1]:8080"}, True),
        ({"host": "127.0.0.1:8080", "origin": "http://evil.example"}, False),
        ({"host": "127.0.0.1:8080", "origin": "null"}, False),
        ({"host": "127.0.0.1:8080", "origin": "http://127.0.0.1:9999"}, False),
        ({"host": "evil.example:8080", "origin": "http://evil.example:8080"}, False),
        ({}, False),
    ],
)
def test_only_pages_of_this_machine_read_a_local_console(
    headers: dict[str, str], ours: bool
) -> None:
    assert is_ours(headers, LOOPBACK) is ours


def test_a_public_console_answers_to_any_name_but_only_its_own_page() -> None:
    host = {"host": "lab.example:8080"}
    assert is_ours(host, EVERYWHERE)
    assert is_ours(host | {"origin": "http://lab.example:8080"}, EVERYWHERE)
    assert not is_ours(host | {"origin": "http://evil.example"}, EVERYWHERE)
