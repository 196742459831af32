"""A broker that takes tokens, and the key that signs them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from slipring.control.token_folder import TokenFolder
from slipring.control.token_issuing import issue
from slipring.control.token_sections import TokenSection
from tests.access_rules import ALL
from tests.auth.scram import verifier
from tests.running_broker import RunningBroker, broker_in

CONFIG = f"""
[token]
enabled = true

[[listener]]
name = "web"
listen = "127.0.0.1:0"
websocket = true

[[user]]
name = "gripen"
password = "{verifier("pencil")}"
{ALL}
"""


@dataclass(frozen=True)
class IssuingBroker:
    """The broker, and who may sign for it."""

    running: RunningBroker

    @property
    def url(self) -> str:
        return self.running.url

    def token(self, lifetime_s: int = 1000, user: str = "gripen") -> str:
        folder = TokenFolder(self.running.data / "tokens")
        section = TokenSection(enabled=True)
        return issue(folder, section, user, roles=(), claims={}, lifetime_s=lifetime_s).text


@contextmanager
def issuing_broker(folder: Path, more: str = "") -> Iterator[IssuingBroker]:
    with broker_in(folder, "--console", "off", config=more + CONFIG) as running:
        yield IssuingBroker(running)
