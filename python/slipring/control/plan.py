"""Makes the engine's plan from the configuration: one immutable value, replaced as a whole."""

from slipring.control.access import policy
from slipring.control.config import Config
from slipring.control.journal import DurabilitySection
from slipring.control.memory import default_budget_bytes
from slipring.control.priorities import PrioritySection
from slipring.control.stand_in_key import read_stand_in_key
from slipring.native import Plan, TokenRules


def make_plan(
    config: Config, tokens: TokenRules | None = None, *, memory_bytes: int | None = None
) -> Plan:
    """Collect everything the engine needs to decide without asking Python.

    Without `tokens` a running engine keeps those that it has. `memory_bytes` is a memory budget
    that was set while running.
    """
    budget = memory_bytes or config.limits.memory_bytes or default_budget_bytes()
    return Plan(
        config.limits.model_dump() | {"memory_bytes": budget},
        listeners=[listener.limits(config.limits) for listener in config.listeners],
        journal=config.journal.model_dump() | {"rules": _levels(config.durability)},
        priorities=_levels(config.priority),
        table=config.table.model_dump(),
        alarms=config.alarms.model_dump(),
        sys_interval_s=config.mqtt.sys_interval_s,
        server_reference=config.mqtt.server_reference or None,
        users={user.name: user.password.get_secret_value() for user in config.user},
        anonymous=config.allow_anonymous,
        tokens=tokens,
        asks=bool(config.hook.url),
        stand_in_key=read_stand_in_key(config.data),
        access=policy(
            config.access,
            {user.name: user.roles for user in config.user},
            is_enforced=config.has_users,
        ),
        quotas=[table.tuple() for table in config.quota],
        audit=config.audit.rules(has_users=config.has_users),
        requests={
            "timeouts": [
                (topic, rule.timeout_s) for rule in config.request for topic in rule.topics
            ],
            "strategies": [
                (topic, rule.strategy) for rule in config.balance for topic in rule.topics
            ],
        },
    )


def _levels(
    rules: tuple[DurabilitySection, ...] | tuple[PrioritySection, ...],
) -> list[tuple[str, str]]:
    """The level of each filter, in the order in which they are tried."""
    return [(topic, rule.level) for rule in rules for topic in rule.topics]
