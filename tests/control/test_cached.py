"""An answer that is kept for a moment."""

from itertools import count

from slipring.control.cached import Cached


def test_it_asks_once_in_a_while_however_many_want_to_know() -> None:
    answers = count(1)
    remembered = Cached(lambda: next(answers), for_s=1.0)
    asked = [remembered(now_s) for now_s in (10.0, 10.2, 10.99, 11.0, 11.5, 13.0)]
    assert asked == [1, 1, 1, 2, 2, 3]
