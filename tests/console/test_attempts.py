"""Wrong passwords: the next try waits longer, and no table grows for ever."""

import pytest

from slipring.console import attempts
from slipring.console.attempts import (
    ADDRESS_FREE,
    ADDRESS_WAIT_S_MAX,
    FORGET_S,
    NAME_FREE,
    NAME_WAIT_S_MAX,
    THIS_MACHINE,
    LoginAttempts,
    network_of,
)


class Clock:
    """Shows what a test sets."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


def test_the_wait_for_a_name_begins_after_some_tries_and_doubles_to_its_bound() -> None:
    clock = Clock()
    tried = LoginAttempts(clock)
    waits = []
    for number in range(NAME_FREE + 8):
        waits.append(tried.wait_s(f"10.0.0.{number}", "vera"))
        tried.failed(f"10.0.0.{number}", "vera")
        assert tried.wait_s("10.0.1.1", "otto") == 0
    assert waits == [0] * NAME_FREE + [1, 2, 4, 8, 16, 30, 30, 30]
    assert waits[-1] == NAME_WAIT_S_MAX


def test_an_address_that_guesses_names_waits_longer() -> None:
    clock = Clock()
    tried = LoginAttempts(clock)
    for number in range(ADDRESS_FREE + 20):
        tried.failed("10.0.0.1", f"name {number}")
    assert tried.wait_s("10.0.0.1", "vera") == ADDRESS_WAIT_S_MAX
    assert tried.wait_s("10.0.0.2", "vera") == 0
    clock.now_s += ADDRESS_WAIT_S_MAX
    assert tried.wait_s("10.0.0.1", "vera") == 0
    clock.now_s += FORGET_S
    tried.failed("10.0.0.1", "vera")
    assert tried.wait_s("10.0.0.1", "vera") == 0, "all was forgotten"


def test_the_right_password_forgets_the_wrong_ones_of_the_name_only() -> None:
    tried = LoginAttempts(Clock())
    for _ in range(ADDRESS_FREE):
        tried.failed("10.0.0.1", "vera")
    tried.succeeded("10.0.0.3", "vera")
    assert tried.wait_s("10.0.0.2", "vera") == 0
    assert tried.wait_s("10.0.0.1", "vera") == 1


@pytest.mark.parametrize("home", ["10.0.0.1", "127.0.0.1", "127.0.0.9", "::1"])
def test_who_guesses_a_name_from_everywhere_does_not_keep_its_owner_out(home: str) -> None:
    """At home: where the right password came from before, or on the broker's own machine."""
    tried = LoginAttempts(Clock())
    if home == "10.0.0.1":
        tried.succeeded(home, "vera")
    for number in range(1_000):
        tried.failed(f"10.{number // 250}.1.{number % 250}", "vera")
    assert tried.wait_s("10.0.0.2", "vera") == NAME_WAIT_S_MAX
    assert tried.wait_s(home, "vera") == 0
    for _ in range(NAME_FREE):
        assert tried.wait_s(home, "vera") == 0
        tried.failed(home, "vera")
    assert tried.wait_s(home, "vera") == 1, "nobody guesses without end there, either"


def test_a_name_cannot_be_chosen_so_that_it_counts_for_another() -> None:
    tried = LoginAttempts(Clock())
    tried.succeeded("10.0.0.1", "vera")
    for name in ("", "10.0.0.1", "10.0.0.1vera", "this machine"):
        for _ in range(2 * NAME_FREE):
            tried.failed("10.0.0.2", name)
    assert tried.wait_s("10.0.0.1", "vera") == 0
    assert tried.wait_s("10.0.0.1") == 0


def test_the_tables_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "KEPT_MAX", 10)
    tried = LoginAttempts(Clock())
    for number in range(100):
        for _ in range(NAME_FREE):
            tried.failed(f"10.0.0.{number}", "n" * number + "x" * 1_000)
        tried.succeeded(f"10.0.0.{number}", f"{number}" + "x" * 1_000)
    assert len(tried._addresses.rows) == 10
    assert len(tried._names.rows) <= 10
    assert len(tried._known) == 10
    assert max(len(name) for _, name in [*tried._names.rows, *tried._known]) == 256


def test_one_host_of_ipv6_is_its_network() -> None:
    rows = [
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("fe80::1%eth0", "fe80::"),
        ("10.0.0.1", "10.0.0.1"),
        ("127.0.0.1", THIS_MACHINE),
        ("::ffff:127.1.2.3", THIS_MACHINE),
        ("::1", THIS_MACHINE),
        ("", ""),
    ]
    for address, network in rows:
        assert network_of(address) == network
