"""Tokens against our own broker: every transport, renewed before they end, ended with them."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import slipring
from slipring.credentials import BrokerCredentials, token_end_s
from slipring.journal.location import JournalBroker
from tests.client.issuing_broker import IssuingBroker, issuing_broker
from tests.client.test_secure import echo


@pytest.fixture(scope="module")
def issuing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IssuingBroker]:
    with issuing_broker(tmp_path_factory.mktemp("issuing")) as broker:
        yield broker


@pytest.mark.parametrize("authentication", ["token", "password"])
@pytest.mark.parametrize("transport", ["plain", "web"])
async def test_a_token_proves_a_name(
    issuing: IssuingBroker, transport: str, authentication: str
) -> None:
    web = f"ws://{issuing.running.further['web']}"
    async with slipring.connect(
        issuing.url if transport == "plain" else web,
        token=issuing.token(),
        authentication=authentication,  # type: ignore[arg-type]
    ) as bus:
        assert await echo(bus, b"heard") == b"heard"


async def test_a_token_that_is_renewed_outlives_its_end_on_one_connection(
    issuing: IssuingBroker,
) -> None:
    given: list[str] = []

    def token() -> str:
        given.append(issuing.token(3))
        return given[-1]

    async with slipring.connect(issuing.url, token=token) as bus:
        changes = bus.changes()
        end_s = token_end_s(given[0].encode())
        assert end_s is not None
        while time.time() < end_s + 2:
            await bus.ping()
            await asyncio.sleep(0.05)
        assert len(given) > 1
        await bus.close()
        assert [change async for change in changes] == []  # it was one connection all the time


async def test_a_token_that_is_not_renewed_ends_with_its_connection(
    issuing: IssuingBroker,
) -> None:
    async with slipring.connect(issuing.url, token=issuing.token(2)) as bus:
        changes = [change async for change in bus.changes()]
    assert not any(change.connected for change in changes)
    assert changes[-1].retry_s is None


async def test_a_wrong_token_is_refused_without_being_shown(issuing: IssuingBroker) -> None:
    token = issuing.token()
    head, claims, signature = token.split(".")
    wrong = f"{head}.{claims}.{signature[:-4]}AAAA"
    with pytest.raises(slipring.ConnectError) as told:
        await slipring.connect(issuing.url, token=wrong)
    assert claims not in str(told.value)


def test_a_journal_is_read_with_a_token_of_a_file_or_by_scram(
    issuing: IssuingBroker, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.touch(0o600)
    file.write_text(issuing.token())
    by_file = JournalBroker(issuing.url, BrokerCredentials(token_file=str(file))).open()
    scram = BrokerCredentials("gripen", b"pencil", authentication="scram")
    by_scram = JournalBroker(issuing.url, scram).open()
    assert by_file.identity == by_scram.identity
    file.chmod(0o644)
    with pytest.raises(slipring.ConnectError, match=f"chmod 600 {file}"):
        JournalBroker(issuing.url, BrokerCredentials(token_file=str(file))).open()
