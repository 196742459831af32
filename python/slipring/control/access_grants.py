"""Rules and users that were changed while running: one immutable value. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pydantic import SecretStr, ValidationError

from slipring.control.access import RULES_MAX, RuleSection
from slipring.control.access_places import (
    GRANTED,
    PlacedRule,
    PlacedUser,
    placed_rule,
    placed_user,
)
from slipring.control.mistakes import explain
from slipring.control.users import UserSection
from slipring.errors import ConfigError

USERS_MAX = 100_000
"""Users that can be added while running."""


@dataclass(frozen=True, slots=True)
class AccessGrants:
    """What was granted, denied and added. Each change makes the next version."""

    version: int = 0
    next_number: int = 1
    """The number of the next rule; a number is never given twice."""
    rules: tuple[PlacedRule, ...] = ()
    users: tuple[PlacedUser, ...] = ()

    def with_rule(self, rule: RuleSection) -> tuple["AccessGrants", str]:
        """Add a rule, unless the same is there; return its name, too."""
        for known in self.rules:
            if known.topics == rule.topics and known.tuple() == rule.tuple():
                return self, known.name
        if len(self.rules) >= RULES_MAX:
            raise ConfigError(f"there are {RULES_MAX} granted rules already; revoke some")
        name = f"{GRANTED}:{self.next_number}"
        rules = (*self.rules, placed_rule(rule, name))
        return self._next(rules=rules, next_number=self.next_number + 1), name

    def without_rule(self, name: str) -> "AccessGrants":
        """Remove a rule."""
        left = tuple(rule for rule in self.rules if rule.name != name)
        if len(left) == len(self.rules):
            raise ConfigError(_not_here("rule", name))
        return self._next(rules=left)

    def with_user(self, user: UserSection) -> "AccessGrants":
        """Add a user. The name is checked against other places when places are merged."""
        if any(known.name == user.name for known in self.users):
            raise ConfigError(f"there is a user '{user.name}' already")
        if len(self.users) >= USERS_MAX:
            raise ConfigError(f"there are {USERS_MAX} added users already; remove some")
        return self._next(users=(*self.users, placed_user(user, GRANTED)))

    def without_user(self, name: str) -> "AccessGrants":
        """Remove a user."""
        left = tuple(user for user in self.users if user.name != name)
        if len(left) == len(self.users):
            raise ConfigError(_not_here("user", name))
        return self._next(users=left)

    def with_changed_user(
        self, name: str, *, verifier: str | None = None, roles: Iterable[str] | None = None
    ) -> "AccessGrants":
        """Give a user another password, other roles, or both."""
        known = {user.name: user for user in self.users}
        if name not in known:
            raise ConfigError(_not_here("user", name))
        old = known[name]
        changed = user_of(
            name,
            old.password.get_secret_value() if verifier is None else verifier,
            old.roles if roles is None else roles,
        )
        users = known | {name: placed_user(changed, GRANTED)}
        return self._next(users=tuple(users.values()))

    def _next(self, **changes: object) -> "AccessGrants":
        return replace(self, version=self.version + 1, **changes)  # type: ignore[arg-type]


def rule_of(who: object, topics: object, *, allow: object = (), deny: object = ()) -> RuleSection:
    """A rule from words; ConfigError says what is wrong with them."""
    values = {"who": who, "allow": allow, "deny": deny, "topics": topics}
    try:
        return RuleSection.model_validate(values)
    except ValidationError as error:
        raise ConfigError(explain(error, RuleSection)) from None


def user_of(name: object, verifier: object, roles: object) -> UserSection:
    """A user from words; ConfigError says what is wrong with them."""
    if isinstance(verifier, str):
        verifier = SecretStr(verifier)
    try:
        return UserSection.model_validate({"name": name, "password": verifier, "roles": roles})
    except ValidationError as error:
        raise ConfigError(explain(error, UserSection)) from None


def _not_here(what: str, name: str) -> str:
    return (
        f"there is no {what} '{name}' that was added while running; those of the config file and "
        "of its folder are changed there (slipring access list shows the places)"
    )
