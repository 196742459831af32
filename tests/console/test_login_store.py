"""Open logins and their cookie: ids that nobody can guess, ended by time and by bounds."""

from slipring.console.cookies import LoginCookie
from slipring.console.logins import LOGINS_MAX, LOGINS_OF_USER_MAX, ConsoleLogins, Person
from tests.console.test_attempts import Clock

VERA = Person("vera", ("viewer",))


def test_a_login_ends_after_its_idle_time_and_in_any_case() -> None:
    clock = Clock()
    logins = ConsoleLogins(idle_s=100, login_s=250, now_s=clock)
    one = logins.open(VERA, b"mark")
    for _ in range(2):
        clock.now_s += 99
        found = logins.find(one)
        assert found is not None
        assert found.person == VERA
    clock.now_s += 60
    assert logins.find(one) is None, "it has lasted as long as it may"
    other = logins.open(VERA, b"mark")
    clock.now_s += 100
    assert logins.find(other) is None, "nobody used it"
    assert len(logins) == 0


def test_a_login_may_be_shorter_and_never_longer_than_all() -> None:
    clock = Clock()
    logins = ConsoleLogins(idle_s=1_000, login_s=100, now_s=clock)
    short, long = logins.open(VERA, None, lasts_s=10), logins.open(VERA, None, lasts_s=1_000)
    clock.now_s += 50
    assert logins.find(short) is None
    assert logins.find(long) is not None
    clock.now_s += 50
    assert logins.find(long) is None


def test_ids_differ_and_only_their_digest_is_kept() -> None:
    logins = ConsoleLogins(100, 100)
    ids = {logins.open(VERA, None) for _ in range(5)}
    assert len(ids) == 5
    assert not any(one.encode() in key for one in ids for key in logins._open)
    for wrong in ("", "x", "\udc80", "a" * 10_000):
        assert logins.find(wrong) is None


def test_one_user_and_all_together_have_a_bound() -> None:
    clock = Clock()
    logins = ConsoleLogins(1e6, 1e6, clock)
    first = logins.open(VERA, None)
    for _ in range(LOGINS_OF_USER_MAX):
        clock.now_s += 1
        logins.open(VERA, None)
    assert len(logins) == LOGINS_OF_USER_MAX
    assert logins.find(first) is None
    others = [logins.open(Person(f"user {number}"), None) for number in range(LOGINS_MAX)]
    assert len(logins) == LOGINS_MAX
    assert logins.find(others[-1]) is not None
    assert logins.find(others[0]) is not None, "the user with the most loses one first"


def test_all_logins_of_a_user_end_and_those_of_nobody_else() -> None:
    clock = Clock()
    logins = ConsoleLogins(1e6, 100, clock)
    own = [logins.open(VERA, b"mark"), logins.open(VERA, None)]
    other = logins.open(Person("otto"), None)
    clock.now_s += 40
    found = logins.find(other)
    assert found is not None
    assert logins.left_s(found) == 60
    assert logins.end_all_of("vera") == 2
    assert [logins.find(one) for one in own] == [None, None]
    assert logins.find(other) is found


def headers(*cookies: str) -> list[tuple[bytes, bytes]]:
    return [(b"cookie", one.encode("latin-1")) for one in cookies]


def test_a_cookie_is_read_only_if_it_is_there_once() -> None:
    cookie = LoginCookie("0123456789abcdef", is_secure=False)
    assert cookie.name == "slipring-01234567"
    assert cookie.read(headers("a=b; slipring-01234567=id; c=d")) == "id"
    assert cookie.read(headers("a=b", "slipring-01234567=id")) == "id"
    for wrong in ("", "slipring-01234567=", "slipring-01234567", "slipring-0=id", "=;;="):
        assert cookie.read(headers(wrong)) is None
    assert cookie.read(headers("slipring-01234567=1; slipring-01234567=2")) is None
    assert cookie.read(headers("slipring-01234567=id; x=" + "y" * 10_000)) is None


def test_with_tls_the_cookie_is_bound_to_the_host() -> None:
    cookie = LoginCookie("0123456789abcdef", is_secure=True)
    wanted = "__Host-slipring-01234567=id; Path=/; HttpOnly; SameSite=Strict; Secure"
    assert cookie.set("id") == wanted
    assert cookie.cleared().endswith("; Secure; Max-Age=0")
