"""Who has to go when there are too many connections."""

from slipring.console.visits import Stage, Visit, which_page_leaves, who_leaves

WAITING, ANSWERED, PAGE = Stage.WAITING, Stage.ANSWERED, Stage.PAGE


def visits(*rows: tuple[str, float, Stage]) -> list[Visit]:
    return [Visit(address, since_s, stage) for address, since_s, stage in rows]


def test_of_those_that_wait_the_oldest_of_the_greediest_goes() -> None:
    known = visits(("a", 1, WAITING), ("b", 3, WAITING), ("b", 2, WAITING), ("b", 0, ANSWERED))
    assert who_leaves(known, "b") is known[2]


def test_a_request_that_is_answered_stays_while_another_waits() -> None:
    known = visits(("a", 0, ANSWERED), ("b", 5, WAITING), ("a", 1, PAGE))
    assert who_leaves(known, "c") is known[1]


def test_where_none_waits_an_address_with_fewer_takes_a_place() -> None:
    known = visits(("a", 2, PAGE), ("a", 1, PAGE), ("b", 0, PAGE))
    assert who_leaves(known, "c") is known[1]
    assert who_leaves(known, "b") is None
    assert who_leaves(known, "a") is None


def test_two_addresses_do_not_take_turns_at_one_place() -> None:
    pages = visits(("a", 1, PAGE), ("b", 0, PAGE))
    assert which_page_leaves(pages, "c") is None
    assert which_page_leaves([], "c") is None


def test_a_page_takes_the_place_of_a_page_only() -> None:
    known = visits(("a", 0, ANSWERED), ("a", 3, PAGE), ("a", 2, PAGE), ("a", 1, WAITING))
    assert which_page_leaves(known, "b") is known[2]
