"""From the configuration to the engine's plan: one immutable value, swapped whole."""

from slipring.control.config import Config
from slipring.native import Plan


def make_plan(config: Config) -> Plan:
    """Everything the engine has to know to decide without asking."""
    return Plan(**config.limits.model_dump(), journal=list(config.journal.topics))
