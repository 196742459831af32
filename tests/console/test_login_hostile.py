"""What somebody tries who has no right: to keep others out, to guess faster, to stay when a right
has ended.
"""

import asyncio
import base64
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from slipring.console.attempts import NAME_FREE
from slipring.console.authenticator import CHECKS_MAX, Authenticator, Refusal
from slipring.control.address import Address
from slipring.control.console import ConsoleSection
from tests.configured_broker import Configured
from tests.console.test_login import (
    OTHER,
    PASSWORD,
    RULES,
    ended,
    logged_in,
    page,
    user,
)
from tests.console.test_login_token import TOKENS, bearer, token_of
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in


@pytest.fixture
def issuing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    with broker_in(tmp_path_factory.mktemp("issuing"), config=TOKENS) as running:
        yield running


def status(running: RunningBroker, **options: object) -> int:
    """The answer to a scrape."""
    return httpx.get(f"{running.console}/metrics", timeout=PATIENCE_S, **options).status_code  # type: ignore[arg-type]


def test_wrong_passwords_do_not_keep_tokens_out(issuing: RunningBroker) -> None:
    headers = bearer(token_of(issuing.console, "vera"))
    for name in ("", "nobody", "vera"):
        answers = [status(issuing, auth=(name, "wrong")) for _ in range(8)]
        assert 429 in answers
        assert status(issuing, headers=headers) == 200, name


def test_wrong_tokens_wait_and_keep_neither_passwords_nor_right_tokens_out(
    issuing: RunningBroker,
) -> None:
    right = bearer(token_of(issuing.console, "vera"))
    answers = Counter(status(issuing, headers=bearer("a.b.c")) for _ in range(25))
    assert answers[401] >= 20
    assert answers[429] >= 1
    assert status(issuing, headers=right) == 200
    assert status(issuing, auth=("vera", PASSWORD)) == 200


async def test_many_passwords_at_once_are_no_more_than_one_after_another() -> None:
    """They wait for their turn, and then the wrong ones before them count."""
    engine = SimpleNamespace(check_password=lambda *_: "wrong")
    broker = SimpleNamespace(
        config=SimpleNamespace(console=ConsoleSection()),
        id="0" * 32,
        engine=engine,
        audit=lambda *_, **__: None,
    )
    authenticator = Authenticator(broker, Address("127.0.0.1", 0))  # type: ignore[arg-type]
    tries = (authenticator.check("vera", f"wrong {one}", "127.0.0.1") for one in range(100))
    codes = Counter(one.status for one in await asyncio.gather(*tries) if isinstance(one, Refusal))
    assert codes.total() == codes[401] + codes[429] == 100
    assert NAME_FREE <= codes[401] <= NAME_FREE + CHECKS_MAX


def proved_by_password(console: str, name: str) -> ClientConnection:
    """A WebSocket of a script."""
    pair = base64.b64encode(f"{name}:{PASSWORD}".encode()).decode()
    address = f"{console.replace('http', 'ws', 1)}/api/live"
    return connect(address, additional_headers={"authorization": f"Basic {pair}"}, max_size=None)


EVERYTHING = '[[access.rule]]\nwho = ["user:vera"]\nallow = ["watch"]\ntopics = ["#", "$SYS/#"]\n'


@pytest.mark.parametrize(
    "users",
    [user("anna") + EVERYTHING, user("vera", verifier=OTHER) + EVERYTHING],
    ids=["removed", "another password"],
)
def test_a_script_that_gave_a_password_ends_with_it(configured: Configured, users: str) -> None:
    """Rules about the name are still there: they are no reason to go on."""
    broker = configured(user("vera") + EVERYTHING)
    with proved_by_password(broker.console, "vera") as socket:
        socket.recv(PATIENCE_S)
        broker.reload(users)
        code, reason = ended(socket)
    assert (code, reason.partition(",")[0]) == (4401, "Your user was removed")


def test_a_page_starts_anew_when_its_user_may_administer_less(configured: Configured) -> None:
    broker = configured(user("otto", "operator") + RULES)
    with logged_in(broker.console, "otto") as client, page(client) as socket:
        socket.recv(PATIENCE_S)
        broker.reload(user("otto", "viewer") + RULES)
        assert ended(socket) == (4403, "Your rights were changed.")
        assert client.get("/api/me").json()["administers"] == []
        refused = client.post("/api/memory", json={"size": "1GB"})
        assert refused.status_code == 403
