"""A broker: starts the engine, polls its events and counters, and applies changed plans."""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from slipring.control.access_changes import AccessChanges
from slipring.control.access_merge import with_granted
from slipring.control.access_places import AccessTables
from slipring.control.access_store import AccessStore
from slipring.control.alarm_keeper import AlarmKeeper
from slipring.control.archive import archive_location, make_archive
from slipring.control.audit import AuditFields, AuditKind, AuditLine
from slipring.control.broker_log import BrokerLog
from slipring.control.budget_watch import BudgetWatch
from slipring.control.cached import Cached
from slipring.control.config import Config
from slipring.control.consumer_watch import ConsumerWatch
from slipring.control.descriptors import log_line as descriptors_line
from slipring.control.discovery import Discovery, endpoints
from slipring.control.health import Trouble, trouble
from slipring.control.memory import share_free_memory
from slipring.control.overview import WINDOW_S, Overview
from slipring.control.plan import make_plan
from slipring.control.pulse import Pulse
from slipring.control.question_desk import QuestionDesk
from slipring.control.receipt import log_lines
from slipring.control.reload import Reload, applied_text, audit_text, reload, waiting_text
from slipring.control.row_rates import stream_row
from slipring.control.sample_ages import AgeSample
from slipring.control.starting import (
    journal_folder,
    make_audit_folder,
    make_stand_in_key,
    start_engine,
    start_tokens,
)
from slipring.control.tls_watch import TlsWatch
from slipring.control.token_issuing import ClaimValue, IssuedToken, issue
from slipring.control.tokens import Tokens
from slipring.discovery.announcement import Announcement
from slipring.discovery.endpoint import Endpoint
from slipring.errors import (
    ConfigError,
    EngineError,
    PlanError,
    StartError,
    TokenError,
)
from slipring.native import Engine, Plan, TokenRules, version
from slipring.status.engine import AwayStatus, OwnerShare, SessionStatus, StartReceipt
from slipring.status.measured import SampleAges

if TYPE_CHECKING:
    from slipring.archive.service import ArchiveService

POLL_S = 0.25
"""How often the control plane fetches the engine's events and counters."""
AWAY_MAX = 200
"""Sessions of absent clients that are shown."""
OWNERS_MAX = 5
"""Owners of each limit that are shown: those that hold most."""
HOLDERS_MAX = 10
"""Sessions with the most waiting messages that are shown."""
PREFIXES_MAX = 2_000
"""More prefixes than the engine counts separately."""
STREAMS_SHOWN = 100
"""How many streams are shown: the first by index."""

log: logging.Logger = logging.getLogger("slipring.broker")


class Broker:
    """Starts the engine when made; `run` it until it is told to stop."""

    def __init__(self, config: Config) -> None:
        """Open the journal and listen; StartError says why not."""
        store = AccessStore(config.data)
        grants = store.read()
        config = with_granted(config, AccessTables(grants.rules, grants.users))
        self.config: Config = config
        self._started_s = time.monotonic()
        self.overview: Overview = Overview()
        self.polled: asyncio.Condition = asyncio.Condition()
        self.on_config: Callable[[Config], None] = lambda _: None
        """Called with each configuration just before it comes into force."""
        archive, folder = archive_location(config), journal_folder(config)
        share_free_memory()
        self.tokens: Tokens = start_tokens(config, self._apply_tokens)
        make_stand_in_key(config)
        self.plan: Plan = make_plan(config, self.tokens.rules)
        self.engine: Engine = start_engine(config, self.plan, folder)
        self.access: AccessChanges = AccessChanges(self, store, grants)
        self.tokens.note = self._note_change
        self.log: BrokerLog = BrokerLog(config.name, self.engine)
        self.alarms: AlarmKeeper = AlarmKeeper(self.engine, config.data, self._note_event)
        try:
            self.log.apply(config.log)
        except ConfigError as error:
            self.engine.stop()
            raise StartError(str(error)) from None
        self.receipt: StartReceipt | None = self.engine.receipt
        self.archive: ArchiveService | None = make_archive(config, archive, folder)
        self.id: str = self.receipt["identity"] if self.receipt else secrets.token_hex(16)
        self._table: int = json.loads(self.engine.ask_table("find", b'{"names": []}'))["table"]
        self.console: Endpoint | None = None
        """Where the console is, once it listens."""
        self.discovery: Discovery = Discovery(config.discovery, self._announce)
        self.away: Cached[list[AwayStatus]] = Cached(lambda: self.engine.away(AWAY_MAX))
        self.owners: Cached[list[OwnerShare]] = Cached(lambda: self.engine.owners(OWNERS_MAX))
        self.sample_ages: Cached[SampleAges] = Cached(
            AgeSample(self.engine.ask_table, self._parameters).look
        )
        self.holders: Cached[list[SessionStatus]] = Cached(
            lambda: self.engine.sessions(HOLDERS_MAX)[0]
        )
        self._trouble: Trouble | None = None
        self.pulse: Pulse = Pulse(self.engine)
        self._tls = TlsWatch(self.engine, config.listeners)
        self._budget = BudgetWatch()
        self.consumers: ConsumerWatch = ConsumerWatch(folder)
        self._questions = QuestionDesk(self.engine, self.tokens, config)
        if self.receipt:
            for level, line in log_lines(self.receipt):
                log.log(level, "%s", line)
        log.log(*descriptors_line(*self.engine.descriptors, config.limits.connections))
        if config.allow_anonymous:
            log.warning("allow_anonymous: clients are let in without proving who they are")
        if not config.console.is_private and config.console.allow_anonymous:
            log.warning("console.allow_anonymous: everyone who can connect sees the console")
        for doubt in config.doubts:
            log.warning("config: %s", doubt)

    async def reload(self, read: Callable[[], Config]) -> None:
        """Apply what can change while running; after a ConfigError nothing has changed."""
        try:
            await self._reload(read)
        except ConfigError:
            detail = "the file is not in force: the log says why"
            self.audit("changed", topic="config", outcome="refused", detail=detail)
            raise

    async def _reload(self, read: Callable[[], Config]) -> None:
        async with self.access.lock:
            try:
                found, plan = await asyncio.to_thread(self._read_again, read)
                try:
                    self.log.apply(found.config.log)
                except ConfigError:
                    await asyncio.to_thread(self.tokens.follow, self.config)
                    raise
                await asyncio.to_thread(self.access.look_for_lockout, found.config, plan)
                await self.apply(found.config, plan)
            finally:
                # What was revoked while the plan was made is not in it.
                await asyncio.to_thread(self.tokens.enforce)
            self.access.forget_folder()
        self._questions.follow(found.config)
        self._tls.read_all()
        self._tell_reload(found)

    async def apply(self, config: Config, plan: Plan) -> None:
        """Have the engine follow another plan.

        The old plan is given up here first: so the engine is the last that has it, and frees what
        may be very many rules without the interpreter's lock.
        """
        names = {user.name for user in config.user}
        gone = {user.name for user in self.config.user} - names
        self.config, self.plan = config, plan
        self.on_config(config)
        if gone and (config.token.enabled or config.issuer):
            await asyncio.to_thread(self.tokens.revoke_users, gone)
        await asyncio.to_thread(self.engine.apply, plan)

    def _read_again(self, read: Callable[[], Config]) -> tuple[Reload, Plan]:
        # What was granted while running stays, also if the file names another data folder.
        grants = self.access.grants
        wanted = with_granted(read(), AccessTables(grants.rules, grants.users))
        found = reload(self.config, wanted, journaling=self.receipt is not None)
        make_audit_folder(found.config)
        try:
            rules = self.tokens.follow(found.config)
        except TokenError as error:
            raise ConfigError(str(error)) from None
        try:
            return found, make_plan(found.config, rules)
        except PlanError as error:
            self.tokens.follow(self.config)
            raise ConfigError(str(error)) from None

    def _tell_reload(self, found: Reload) -> None:
        for change in found.applied:
            log.info("config: %s", applied_text(change))
            self.audit("changed", topic=change.key, detail=audit_text(change))
        is_told = any(change.key == "limits.memory_bytes" for change in found.applied)
        if not is_told and (again := self._budget.restored(self.engine)):
            log.info("config: %s", again)
        self.access.tell_lockout()
        for change in found.waiting:
            log.warning("config: %s", waiting_text(change))
        if not found.applied and not found.waiting:
            log.info("config: read again, nothing has changed")
        for doubt in found.config.doubts if found.applied else ():
            log.warning("config: %s", doubt)

    def audit(self, kind: AuditKind, **fields: Unpack[AuditFields]) -> None:
        """Record what somebody did through the control plane.

        Never pass a password, a token or a payload. Does nothing while no audit is kept.
        """
        self.engine.audit(kind, **fields)

    def _note_change(self, kind: AuditKind, topic: str, detail: str) -> None:
        self.audit(kind, topic=topic, detail=detail)

    def _apply_tokens(self, rules: TokenRules) -> None:
        self.engine.apply_tokens(rules)

    def issue_token(
        self,
        user: str,
        roles: Sequence[str] = (),
        claims: Mapping[str, ClaimValue] | None = None,
        lifetime_s: int | None = None,
    ) -> IssuedToken:
        """Make a token of our own; TokenError says why not."""
        if not self.config.token.enabled:
            raise TokenError("this broker makes no tokens; set enabled = true under [token]")
        folder, section = self.tokens.folder, self.config.token
        made = issue(folder, section, user, roles=roles, claims=claims, lifetime_s=lifetime_s)
        self.tokens.poll()  # the key may be new
        return made

    def verify_token(self, text: str) -> dict[str, Any]:
        """Who a token names: user, roles, claims, issuer, id, expires_s; TokenError if refused."""
        return self.tokens.rules.verify(text.encode(), int(time.time()))

    @property
    def trouble(self) -> Trouble | None:
        """Why QoS 1 and 2 messages are not acknowledged, or no client is served. Never waits."""
        if self.pulse.is_busy:
            return self.pulse.trouble or self._trouble
        return trouble(self.engine.status()["journal"])

    def _parameters(self) -> int:
        return self.engine.status()["table"]["parameters"]

    def _announce(self) -> Announcement:
        """What this broker announces to those who look for brokers."""
        return Announcement(
            self.id,
            self.config.name,
            version,
            endpoints(self.config.listeners, self.engine.addresses),
            uptime_s=time.monotonic() - self._started_s,
            table=self._table,
            console=self.console,
        )

    def abandon(self) -> None:
        """End what the start began, instead of running."""
        self.engine.stop()
        self._questions.stop()
        self.log.finish()

    async def run(self, stop: asyncio.Event) -> None:
        """Poll the engine until told to stop; then stop the engine."""
        watching = [
            asyncio.create_task(self.consumers.run(stop)),
            asyncio.create_task(self.access.watch(stop)),
            asyncio.create_task(self._tls.run(stop)),
            asyncio.create_task(self.alarms.run(stop)),
            asyncio.create_task(self.tokens.watch(stop)),
        ]
        try:
            await self.discovery.open()
            if self.archive:
                self.archive.start()
            while not stop.is_set():
                self.poll()
                async with self.polled:
                    self.polled.notify_all()
                await _wait(stop, POLL_S)
        finally:
            stops = [self.engine.stop, self._questions.stop]
            stops += [self.archive.stop] if self.archive else []
            stop.set()
            await asyncio.gather(*map(asyncio.to_thread, stops), self.discovery.close(), *watching)
            if not self.engine.failure:
                self.poll()
            await asyncio.to_thread(self.log.finish)

    def poll(self) -> None:
        """Fetch events and counters once."""
        events, lost, more = self.engine.take_events()
        now_ns, now_s = time.time_ns(), time.monotonic()
        self.overview.lines_max = self.config.log.burst
        for entry in self.overview.add_events(events, lost, now_ns, more):
            self.log.write(entry)
        for record in self.engine.take_audit():
            self.log.write_audit(AuditLine.of(record))
        if self.engine.failure:
            raise EngineError(f"the engine cannot continue: {self.engine.failure}; start it again")
        if news := self.pulse.news():
            self.log.write(self.overview.add_own_event(*news, now_ns))
        for kind, text in self.archive.news() if self.archive else ():
            self.log.write(self.overview.add_own_event(kind, text, now_ns))
        if self.pulse.is_busy:
            return  # the calls below would wait for it, and block the event loop
        self.alarms.poll(now_ns, now_s)
        status = self.engine.status()
        self._report_trouble(trouble(status["journal"]), now_ns)
        if status["journal"]:
            self.consumers.synced_offset = status["journal"]["synced_offset"]
        self._budget.see(status["memory"])
        self.overview.sample(now_s, status)
        self.overview.reach(status["reached"], now_ns)
        prefixes = self.overview.prefixes
        if prefixes.at_s is None or now_s >= prefixes.at_s + WINDOW_S:
            prefixes.sample(now_s, self.engine.prefixes(PREFIXES_MAX))
            self.overview.streams.sample(now_s, self._streams())

    def _note_event(self, kind: str, text: str, now_ns: int) -> None:
        self.log.write(self.overview.add_own_event(kind, text, now_ns))

    def _streams(self) -> list[dict[str, Any]]:
        answer = self.engine.ask_streams("list", b'{"count": %d}' % STREAMS_SHOWN)
        return [stream_row(listed) for listed in json.loads(answer)["streams"]]

    def _report_trouble(self, now: Trouble | None, now_ns: int) -> None:
        """Report when the journal gets into trouble, and when the trouble ends."""
        before, self._trouble = self._trouble, now
        if now and (before is None or now.state != before.state):
            self.log.write(self.overview.add_own_event(now.state, f"journal: {now}", now_ns))
        elif before and now is None:
            healed = self.overview.add_own_event("healed", "journal: there is room again", now_ns)
            self.log.write(healed)


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):  # wait_for would make a task at every poll
            await stop.wait()
    except TimeoutError:
        return
