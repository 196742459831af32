"""Rules and users of all places in one configuration: replaced by place, and named. Pure."""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from slipring.control.access import BUILT_IN, RULES_MAX, RuleSection
from slipring.control.access_places import GRANTED, AccessTables, PlacedRule, PlacedUser
from slipring.control.config import Config
from slipring.control.mistakes import explain
from slipring.errors import ConfigError

BUILT_IN_PLACE = "built-in"
OWN_PLACE = "toml"


def with_folder(config: Config, tables: AccessTables) -> Config:
    """The configuration with these rules and users of its folder instead of those it had."""
    return _merged(config, tables, _granted(config))


def with_granted(config: Config, tables: AccessTables) -> Config:
    """The configuration with these changes while running instead of those it had."""
    return _merged(config, _of_folder(config), tables)


def rule_names(config: Config) -> list[str]:
    """The names of all rules, in the order of the plan."""
    return [*(name for name, _ in built_in_rules()), *(name for name, _ in named_rules(config))]


def built_in_rules() -> Iterator[tuple[str, RuleSection]]:
    """The rules of the built-in roles with their names."""
    for number, (who, _, rights, topics) in enumerate(BUILT_IN, 1):
        values: dict[str, Any] = {"who": tuple(who), "allow": tuple(rights), "topics": topics}
        yield f"{BUILT_IN_PLACE}:{number}", RuleSection.model_validate(values)


def named_rules(config: Config) -> Iterator[tuple[str, RuleSection]]:
    """The other rules with their names, in the order of the plan."""
    for number, rule in enumerate(config.access.rule, 1):
        yield (rule.name if isinstance(rule, PlacedRule) else f"{OWN_PLACE}:{number}"), rule


def _merged(config: Config, folder: AccessTables, granted: AccessTables) -> Config:
    own_rules = (rule for rule in config.access.rule if not isinstance(rule, PlacedRule))
    own_users = (user for user in config.user if not isinstance(user, PlacedUser))
    rules = (*own_rules, *folder.rules, *granted.rules)
    users = (*own_users, *folder.users, *granted.users)
    if len(rules) > RULES_MAX:
        raise ConfigError(f"there are {len(rules)} rules; at most {RULES_MAX} are possible")
    access = config.access.model_copy(update={"rule": rules})
    kept = {name: getattr(config, name) for name in config.model_fields_set}
    try:
        return Config.model_validate(kept | {"user": users, "access": access})
    except ValidationError as error:
        raise ConfigError(explain(error, Config)) from None


def _of_folder(config: Config) -> AccessTables:
    return _where(config, is_granted=False)


def _granted(config: Config) -> AccessTables:
    return _where(config, is_granted=True)


def _where(config: Config, *, is_granted: bool) -> AccessTables:
    def is_wanted(name: str) -> bool:
        return (name.partition(":")[0] == GRANTED) == is_granted

    rules = (rule for rule in config.access.rule if isinstance(rule, PlacedRule))
    users = (user for user in config.user if isinstance(user, PlacedUser))
    return AccessTables(
        tuple(rule for rule in rules if is_wanted(rule.name)),
        tuple(user for user in users if is_wanted(user.place)),
    )
