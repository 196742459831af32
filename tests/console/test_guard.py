"""Who may talk to the console."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.console.guard import Verdict, judge
from slipring.control.address import Address

LOOPBACK = Address("127.0.0.1", 8080)
EVERYWHERE = Address("0.0.0.0", 8080)
OURS, FOREIGN, MALFORMED = Verdict.OURS, Verdict.FOREIGN, Verdict.MALFORMED


def verdict(listen: Address, *headers: tuple[str, str]) -> Verdict:
    return judge([(name.encode(), value.encode("latin-1")) for name, value in headers], listen)


@pytest.mark.parametrize(
    ("host", "origin", "wanted"),
    [
        ("127.0.0.1:8080", None, OURS),
        ("localhost:8080", "http://localhost:8080", OURS),
        ("[::1]:8080", "http://[::1]:8080", OURS),
        ("127.0.0.1:8080", "http://evil.example", FOREIGN),
        ("127.0.0.1:8080", "null", FOREIGN),
        ("127.0.0.1:8080", "http://[", FOREIGN),
        ("127.0.0.1:8080", "http://127.0.0.1:9999", FOREIGN),
        ("evil.example:8080", "http://evil.example:8080", FOREIGN),
        ("", None, FOREIGN),
        ("[", None, MALFORMED),
        ("[::1", None, MALFORMED),
        ("[::1]]:8080", None, MALFORMED),
        ("127.0.0.1:port", None, MALFORMED),
        ("evil.example@127.0.0.1", None, MALFORMED),
        ("127.0.0.1/../evil", None, MALFORMED),
    ],
)
def test_only_pages_of_this_machine_read_a_local_console(
    host: str, origin: str | None, wanted: Verdict
) -> None:
    headers = [("host", host)] + ([("origin", origin)] if origin else [])
    assert verdict(LOOPBACK, *headers) is wanted


def test_a_public_console_answers_to_any_name_but_only_its_own_page() -> None:
    host = ("host", "lab.example:8080")
    assert verdict(EVERYWHERE, host) is OURS
    assert verdict(EVERYWHERE) is OURS
    assert verdict(EVERYWHERE, host, ("origin", "http://lab.example:8080")) is OURS
    assert verdict(EVERYWHERE, host, ("origin", "http://evil.example")) is FOREIGN


def test_a_header_that_must_be_there_once_is_not_there_twice() -> None:
    host, origin = ("host", "localhost"), ("origin", "http://localhost")
    assert verdict(LOOPBACK, host, host) is MALFORMED
    assert verdict(LOOPBACK, host, origin, origin) is MALFORMED


@given(
    st.sampled_from([LOOPBACK, EVERYWHERE]),
    st.lists(
        st.tuples(
            st.sampled_from([b"host", b"Host", b"origin", b"accept"]),
            st.binary(max_size=30)
            | st.sampled_from([b"[", b"//[", b"http://[", b"::", b"[]", b":"]),
        ),
        max_size=3,
    ),
)
def test_whatever_the_headers_are_there_is_a_verdict(
    listen: Address, headers: list[tuple[bytes, bytes]]
) -> None:
    assert judge(headers, listen) in Verdict
