"""How often data arrive at this client's selections: counted, and reported now and then.

Only with the option `report_arrivals_s` of `connect`. The cost of a frame is a handful of
additions; a report is one message for all selections.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from functools import partial

from slipring.client.choice import ParameterChoice
from slipring.client.connection import ClientConnection
from slipring.client.mirror import Mirror
from slipring.client.needs import Needs
from slipring.errors import ConnectionLost, SlipringError
from slipring.model.arrival_report import (
    ARRIVALS_TOPIC,
    LENGTH_NS_MAX,
    WISH_NS,
    WITHIN_1,
    WITHIN_5,
    ArrivalTotals,
    report_payloads,
)

SECOND_NS = 1_000_000_000
DETAILS: tuple[list[tuple[str, str]], str, None, None, None] = (
    [],
    "application/json",
    None,
    None,
    None,
)
"""User properties, content type, response topic, correlation data and expiry of a report."""

log: logging.Logger = logging.getLogger("slipring.client")


class SourceInterval:
    """How often the chosen parameters are published, by their definitions."""

    def __init__(self, mirror: Mirror, choice: ParameterChoice) -> None:
        self._mirror = mirror
        self._choice = choice
        self._edition: tuple[int, int] | None = None
        self._ns: int | None = None

    def ns(self) -> int | None:
        """That of the fastest one; None if a definition has no rate: it may be the fastest."""
        table = self._mirror.table
        if self._edition != (table.identity, table.revision):
            self._edition = (table.identity, table.revision)
            rates = [one.parameter.rate_hz for one in self._choice.entries(table)]
            known = [rate for rate in rates if rate is not None]
            is_known = bool(rates) and len(known) == len(rates)
            self._ns = min(round(SECOND_NS / max(known)), LENGTH_NS_MAX) if is_known else None
        return self._ns


class ArrivalCounter:
    """The arrivals at one selection since the last report."""

    def __init__(self, subscription: str, wish_ns: int, source: SourceInterval) -> None:
        self._subscription = subscription
        self._wish_ns = wish_ns
        self._source = source
        self._sent_ns: int | None = None
        self._last_ns: int | None = None
        self._arrivals = self._sum_ns = self._max_ns = self._within_1 = self._within_5 = 0

    def note(self, sent_ns: int, arrived_ns: int) -> None:
        """A frame came: when the broker sent it, and when it arrived, by a clock that never jumps.

        Several frames that the broker sent at one time are one arrival: one was not enough.
        """
        if sent_ns == self._sent_ns:
            return
        self._sent_ns, last_ns = sent_ns, self._last_ns
        self._last_ns = arrived_ns
        if last_ns is None:
            return
        step_ns = min(max(0, arrived_ns - last_ns), LENGTH_NS_MAX - self._sum_ns)
        off_ns = abs(step_ns - self._wish_ns)
        self._arrivals += 1
        self._sum_ns += step_ns
        self._max_ns = max(self._max_ns, step_ns)
        self._within_1 += off_ns <= self._wish_ns * WITHIN_1
        self._within_5 += off_ns <= self._wish_ns * WITHIN_5

    def take(self) -> ArrivalTotals:
        """What was counted since the last call."""
        totals = ArrivalTotals(
            self._subscription,
            self._wish_ns,
            self._arrivals,
            self._sum_ns,
            self._max_ns,
            self._within_1,
            self._within_5,
            self._source.ns(),
        )
        self._arrivals = self._sum_ns = self._max_ns = self._within_1 = self._within_5 = 0
        return totals


class ArrivalReports:
    """Publishes what the counters of one client have, every so many seconds and at the end.

    At QoS 0: a report may be lost with a connection, and is never sent twice.
    """

    def __init__(self, connection: ClientConnection, every_s: float) -> None:
        self._connection = connection
        self._every_s = every_s
        self._open: dict[ArrivalCounter, None] = {}
        self._ended: list[ArrivalTotals] = []
        self._reporting: asyncio.Task[None] | None = None

    def begin(
        self, choice: ParameterChoice, needs: Needs, filters: tuple[str, ...], mirror: Mirror
    ) -> ArrivalCounter | None:
        """Count the arrivals of a selection until `finish`; None if it has no wish to compare with.

        With a dead-band or `change`, silence is what was asked for.
        """
        if needs.rate_hz is None or needs.deadband is not None or needs.change:
            return None
        if len(filters) != 1:
            log.warning(
                "arrivals of %s are not reported: frames of several filters cannot be told apart; "
                "select each filter alone",
                choice.label,
            )
            return None
        wish_ns = min(max(round(SECOND_NS / needs.rate_hz), WISH_NS[0]), WISH_NS[1])
        counter = ArrivalCounter(choice.label, wish_ns, SourceInterval(mirror, choice))
        self._open[counter] = None
        if self._reporting is None:
            self._reporting = asyncio.get_running_loop().create_task(self._report())
        return counter

    def finish(self, counter: ArrivalCounter) -> None:
        """The selection is closed; what it counted is in the next report."""
        if counter in self._open:
            del self._open[counter]
            self._ended.append(counter.take())

    def close(self) -> None:
        """Send a last report, if there is a connection, and no more."""
        if self._reporting is not None:
            self._reporting.cancel()
        with suppress(SlipringError):
            for payload in report_payloads(self._totals()):
                self._publish(payload)

    async def _report(self) -> None:
        with suppress(ConnectionLost):  # there is nobody to report to any more
            while True:
                await asyncio.sleep(self._every_s)
                await self._send(report_payloads(self._totals()))

    async def _send(self, payloads: Iterable[bytes]) -> None:
        for payload in payloads:
            try:
                await self._connection.send(partial(self._publish, payload))
            except ConnectionLost:
                raise
            except SlipringError as error:
                url = self._connection.native.url
                log.warning("cannot report arrivals to %s: %s", url, error)

    def _publish(self, payload: bytes) -> int | None:
        return self._connection.native.publish(ARRIVALS_TOPIC, payload, 0, False, DETAILS)

    def _totals(self) -> list[ArrivalTotals]:
        ended, self._ended = self._ended, []
        return ended + [counter.take() for counter in self._open]
