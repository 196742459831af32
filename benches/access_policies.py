"""Policies for the benchmark of rights: many users, many rules, most of them about others."""

from slipring.control.config import Config, load_config
from slipring.control.users import EXAMPLE_VERIFIER
from slipring.native import make_verifier

USERS = 10_000
RULES = 1_000
SWAPPED_RULES = 100_000


def rights_config() -> str:
    """Tables of a config file: the load's clients prove nothing and may do everything."""
    stored = make_verifier(b"pencil", b"salt of 16 bytes", 4096)
    first = f'[[user]]\nname = "user"\npassword = "{stored}"\n'
    others = "".join(
        f'[[user]]\nname = "u{number}"\npassword = "{EXAMPLE_VERIFIER}"\n'
        f'roles = ["r{number % 50}"]\n'
        for number in range(USERS - 1)
    )
    anyone = '[[access.rule]]\nwho = ["anyone"]\nallow = ["all"]\n'
    rules = "".join(
        f'[[access.rule]]\nwho = ["{_who(number)}"]\nallow = ["publish", "subscribe"]\n'
        f'topics = ["site{number}/%u/#", "+/shared/{number}"]\n'
        for number in range(RULES - 1)
    )
    return first + others + anyone + rules


def _who(number: int) -> str:
    return ("known", f"role:r{number % 50}", f"user:u{number}")[number % 3]


def swapped_configs() -> tuple[Config, Config]:
    """Two configurations of very many rules, which differ in what some people may do."""
    return _config("north"), _config("south")


def _config(site: str) -> Config:
    return load_config(
        allow_anonymous=True,
        user=[{"name": "user", "password": EXAMPLE_VERIFIER}],
        access={
            "rule": [
                {"who": ["anyone"], "allow": ["all"]},
                *(
                    {
                        "who": [f"user:u{number % USERS}"],
                        "allow": ["publish", "subscribe"],
                        "topics": [f"{site if number % 2 else 'all'}/{number}/%u/#"],
                    }
                    for number in range(SWAPPED_RULES)
                ),
            ]
        },
    )
