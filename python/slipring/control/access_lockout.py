"""Whether anybody can still change rights through the console and its API. Pure.

If nobody can, a file has to be changed: allowed, but seldom meant.
"""

from collections.abc import Iterator

from slipring.control.access_merge import built_in_rules, named_rules
from slipring.control.config import Config
from slipring.native import Plan

LOCKED_OUT = (
    "nobody may administer access any more; to change rights again, add a user with the role "
    "administrator to the config file or its folder (kill -HUP reads the file again)"
)
NO_WAY_BACK = (
    "no administrator could take this rule back: it denies to all of them to administer access; "
    "deny it to fewer people, or on fewer topics"
)
TO_CHANGE_RIGHTS = ("administer", "access")
ADMINISTRATOR = "administrator"
SOMEBODY = "?"
"""The name of somebody whom no rule names."""

Person = tuple[str, list[str], list[tuple[str, str]]]
"""A user, and the roles and claims that a token gives."""


def can_administer(config: Config, plan: Plan) -> bool:
    """Whether somebody may change rights."""
    if not config.has_users:
        return True
    return any(plan.decide(*person, "", *TO_CHANGE_RIGHTS)[0] for person in _people(config))


def is_mendable(plan: Plan) -> bool:
    """Whether a new administrator could change rights."""
    return plan.decide(SOMEBODY, [ADMINISTRATOR], [], "", *TO_CHANGE_RIGHTS)[0]


def _people(config: Config) -> Iterator[Person]:
    """Who could be asked about: all users; those that tokens name, as far as rules name them."""
    yield from ((user.name, [], []) for user in config.user)
    if not (config.asks_or_checks or config.console.oidc.is_on):
        return
    for _, rule in (*built_in_rules(), *named_rules(config)):
        if "administer" in rule.allow or "all" in rule.allow:
            yield from (_named(who) for who in rule.who)


def _named(who: str) -> Person:
    kind, _, name = who.partition(":")
    if kind == "user":
        return name, [], []
    if kind == "role":
        return SOMEBODY, [name], []
    if kind == "claim":
        claim, _, value = name.partition("=")
        return SOMEBODY, [], [(claim, value)]
    return SOMEBODY, [], []
