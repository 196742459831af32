"""Which connection closes when there are too many."""

from slipring.console.eviction import ConnectionUse, Stage, connection_to_close, page_to_close

WAITING, ANSWERED, PAGE = Stage.WAITING, Stage.ANSWERED, Stage.PAGE


def uses(*rows: tuple[str, float, Stage]) -> list[ConnectionUse]:
    return [ConnectionUse(address, since_s, stage) for address, since_s, stage in rows]


def test_of_those_that_wait_the_oldest_of_the_greediest_goes() -> None:
    known = uses(("a", 1, WAITING), ("b", 3, WAITING), ("b", 2, WAITING), ("b", 0, ANSWERED))
    assert connection_to_close(known, "b") is known[2]


def test_a_request_that_is_answered_stays_while_another_waits() -> None:
    known = uses(("a", 0, ANSWERED), ("b", 5, WAITING), ("a", 1, PAGE))
    assert connection_to_close(known, "c") is known[1]


def test_where_none_waits_an_address_with_fewer_takes_a_place() -> None:
    known = uses(("a", 2, PAGE), ("a", 1, PAGE), ("b", 0, PAGE))
    assert connection_to_close(known, "c") is known[1]
    assert connection_to_close(known, "b") is None
    assert connection_to_close(known, "a") is None


def test_two_addresses_do_not_take_turns_at_one_place() -> None:
    pages = uses(("a", 1, PAGE), ("b", 0, PAGE))
    assert page_to_close(pages, "c") is None
    assert page_to_close([], "c") is None


def test_a_page_takes_the_place_of_a_page_only() -> None:
    known = uses(("a", 0, ANSWERED), ("a", 3, PAGE), ("a", 2, PAGE), ("a", 1, WAITING))
    assert page_to_close(known, "b") is known[2]
