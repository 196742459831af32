"""Who makes a request to the console, and what rules allow them. Has no rules of its own."""

from collections.abc import Sequence
from typing import Literal

from slipring.console.logins import Person
from slipring.native import Engine

Asker = tuple[str | None, list[str], list[tuple[str, str]], str]
"""Somebody as the engine's rules see them: user, roles, claims, client identifier."""
AREAS = ("clients", "memory", "log", "requests", "alarms", "layouts", "access", "tokens")
"""What can be administered."""
EVERYTHING = ("#", "$SYS/#")

Watched = Literal["all", "some", "nothing"]


class Visitor:
    """A person, or nobody in particular. Answers are those of the plan in force."""

    def __init__(self, engine: Engine, person: Person | None, *, is_let_in: bool = True) -> None:
        """`is_let_in`: whether rules are asked at all; if not, nothing is allowed."""
        self.person = person
        self._engine = engine
        self._is_let_in = is_let_in
        self._watched: tuple[int, Watched] | None = None
        self._areas: tuple[int, tuple[str, ...]] | None = None

    @property
    def name(self) -> str | None:
        """The user name; None if nobody has logged in."""
        return self.person.user if self.person else None

    @property
    def is_restricted(self) -> bool:
        """Whether rules decide what this visitor may do; without users everybody may everything."""
        return self._engine.is_access_enforced

    @property
    def asker(self) -> Asker:
        """The visitor as rules see it. A browser has no client identifier."""
        if self.person is None:
            return None, [], [], ""
        return self.person.user, list(self.person.roles), list(self.person.claims), ""

    @property
    def watched(self) -> Watched:
        """How much of all topics and parameters this visitor may watch."""
        plan = self._engine.plans_applied
        if self._watched is None or self._watched[0] != plan:
            self._watched = (plan, self._ask_watched())
        return self._watched[1]

    @property
    def areas(self) -> tuple[str, ...]:
        """What this visitor may administer."""
        plan = self._engine.plans_applied
        if self._areas is None or self._areas[0] != plan:
            self._areas = (plan, tuple(area for area in AREAS if self.may("administer", area)))
        return self._areas[1]

    @property
    def plan(self) -> int:
        """The number of the plan in force: what was made for an earlier one is out of date."""
        return self._engine.plans_applied

    @property
    def key(self) -> tuple[object, ...]:
        """The same for all who may watch the same by the plan in force."""
        if self.watched == "all":
            return ()
        user, roles, claims, client_id = self.asker
        return self.plan, user, tuple(roles), tuple(claims), client_id

    def may(self, right: str, topic: str) -> bool:
        """Whether this is allowed on a topic, or in an area."""
        if not self.is_restricted:
            return True
        return self._is_let_in and self._engine.permits(self.asker, right, [topic])[0]

    def may_watch_all_of(self, filter_: str) -> bool:
        """Whether every topic of a filter may be watched."""
        return self._access(filter_) == "whole"

    def may_watch_each(self, topics: Sequence[str]) -> list[bool]:
        """Whether each of these topics may be watched."""
        if self.watched == "all":
            return [True] * len(topics)
        if self.watched == "nothing":
            return [False] * len(topics)
        return self._engine.permits(self.asker, "watch", list(topics))

    def _ask_watched(self) -> Watched:
        answers = {self._access(filter_) for filter_ in EVERYTHING}
        if answers == {"whole"}:
            return "all"
        return "nothing" if answers == {"nothing"} else "some"

    def _access(self, filter_: str) -> str:
        if not self.is_restricted:
            return "whole"
        if not self._is_let_in:
            return "nothing"
        return self._engine.filter_access(self.asker, "watch", filter_)


def described(visitor: Visitor) -> str:
    """What this visitor is, in a word or two, by the rights that it has."""
    if visitor.may("administer", "access"):
        return "administrator"
    if visitor.areas:
        return "operator"
    words = {"all": "viewer", "some": "viewer of some topics", "nothing": "no rights here"}
    return words[visitor.watched]
