"""Rules and users that are not in the config file, each with the place that has it.

A rule has a name by which people speak of it: `toml:3` is the third of the config file,
`20-fleet.toml:1` the first of a file of the folder, `granted:7` one that was granted while running.
"""

from dataclasses import dataclass

from slipring.control.access import RuleSection
from slipring.control.users import UserSection

GRANTED = "granted"
"""The place of everything that was changed while running."""


class PlacedRule(RuleSection):
    """A rule of the folder or of the store."""

    name: str


class PlacedUser(UserSection):
    """A user of the folder or of the store."""

    place: str

    @property
    def where(self) -> str:
        """The place that has this user, for people."""
        return "added while running" if self.place == GRANTED else self.place


@dataclass(frozen=True, slots=True)
class AccessTables:
    """The rules and users of one place."""

    rules: tuple[PlacedRule, ...] = ()
    users: tuple[PlacedUser, ...] = ()


def placed_rule(rule: RuleSection, name: str) -> PlacedRule:
    """A rule with its name."""
    return PlacedRule.model_validate(dict(rule) | {"name": name})


def placed_user(user: UserSection, place: str) -> PlacedUser:
    """A user that was checked already, with its place."""
    return PlacedUser.model_construct(**dict(user) | {"place": place})
