"""Changes of rights while the broker runs: granted, revoked, or found in the folder.

Each makes a new configuration and plan, which the engine takes as a whole. Work that grows with the
number of rules is done in threads, so that neither traffic nor the console waits for it.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from slipring.control.access import RuleSection
from slipring.control.access_folder import FolderState, folder_state, read_folder
from slipring.control.access_grants import AccessGrants
from slipring.control.access_lockout import LOCKED_OUT, NO_WAY_BACK, can_administer, is_mendable
from slipring.control.access_merge import with_folder, with_granted
from slipring.control.access_places import AccessTables
from slipring.control.access_store import AccessStore
from slipring.control.audit import ActedBy
from slipring.control.config import Config
from slipring.control.plan import make_plan
from slipring.control.reload import Change, applied_text, changes, refuse_opening
from slipring.control.users import UserSection
from slipring.errors import ConfigError, SlipringError
from slipring.native import Plan

if TYPE_CHECKING:
    from slipring.control.broker import Broker

LOOK_S = 0.25
"""How often the folder is looked at. A change counts when the next look finds the same."""
AGAIN_S = 10.0
"""Files that were refused are read again after this time, even if they seem unchanged: perhaps
there were no descriptors left, or the disk failed for a moment."""
TOLD_MAX = 20
"""Changes of one reading of the folder that get an event each."""
LAST_ONE = (
    "{} is the last one, and without users and rules everybody may do everything; "
    "add another before you remove it"
)


log: logging.Logger = logging.getLogger("slipring.broker")

NOBODY: ActedBy = {}
"""The files have changed, and nobody says who changed them."""


class AccessChanges:
    """Makes changes one at a time; `lock` is held while one is made, by a reload too."""

    def __init__(self, broker: "Broker", store: AccessStore, grants: AccessGrants) -> None:
        self._broker = broker
        self._store = store
        self.grants: AccessGrants = grants
        self.lock: asyncio.Lock = asyncio.Lock()
        self.trouble: str | None = None
        """Why the files of the folder are not in force as they are; None if they are."""
        self.warning: str | None = None
        """That a change has taken from the last who had it the right to make another."""
        self._again_s = 0.0
        self._in_force: FolderState | str | None = None
        self._seen: FolderState | str | None = None

    async def grant(self, rule: RuleSection, by: ActedBy = NOBODY) -> str:
        """Add a rule that allows or denies; return its name."""
        name = ""

        def add(grants: AccessGrants) -> AccessGrants:
            nonlocal name
            grants, name = grants.with_rule(rule)
            return grants

        await self._change(add, lambda: f"rule {name} is new: {rule_words(rule)}", by)
        return name

    async def revoke(self, name: str, by: ActedBy = NOBODY) -> None:
        """Remove a rule that was granted while running."""
        await self._change(lambda grants: grants.without_rule(name), f"rule {name} is gone", by)

    async def add_user(self, user: UserSection, by: ActedBy = NOBODY) -> None:
        """Add a user, who may connect at once."""
        await self._change(lambda grants: grants.with_user(user), f"user '{user.name}' is new", by)

    async def remove_user(self, name: str, by: ActedBy = NOBODY) -> None:
        """Remove a user, whose connections end at once."""
        await self._change(lambda grants: grants.without_user(name), f"user '{name}' is gone", by)

    async def change_user(
        self,
        name: str,
        *,
        verifier: str | None = None,
        roles: tuple[str, ...] | None = None,
        by: ActedBy = NOBODY,
    ) -> None:
        """Give a user another password, other roles, or both."""
        what = [*(["another password"] if verifier else []), *(_roles(roles))]
        await self._change(
            lambda grants: grants.with_changed_user(name, verifier=verifier, roles=roles),
            f"user '{name}' has {' and '.join(what)}",
            by,
        )

    async def watch(self, stop: asyncio.Event) -> None:
        """Look at the folder until told to stop."""
        while not stop.is_set():
            try:
                await self.look()
            except Exception as error:
                # Our mistake; but who looks no more would never take a right back.
                log.exception("access: the folder of rules could not be looked at")
                self.trouble = f"the folder could not be looked at ({type(error).__name__})"
            try:
                async with asyncio.timeout(LOOK_S):
                    await stop.wait()
            except TimeoutError:
                continue

    async def look(self) -> None:
        """Read the files of the folder again if they have changed, and change no more."""
        folder = self._broker.config.access.folder
        if not folder:
            return
        state = await asyncio.to_thread(_state, Path(folder))
        is_settled, self._seen = state == self._seen, state
        is_again = self.trouble is not None and time.monotonic() >= self._again_s
        if is_settled and (state != self._in_force or is_again):
            await self._read(Path(folder), state)

    def forget_folder(self) -> None:
        """Have the folder read again: another one may be meant."""
        self._in_force = None

    def look_for_lockout(self, config: Config, plan: Plan) -> None:
        """Find out whether anybody may change rights by this plan, before it comes into force."""
        running = self._broker
        is_lost = self.warning is not None or can_administer(running.config, running.plan)
        self.warning = LOCKED_OUT if is_lost and not can_administer(config, plan) else None

    async def _read(self, folder: Path, state: FolderState | str) -> None:
        self._in_force = state
        try:
            # Before the lock: files of very many rules take seconds, and nobody's change waits.
            tables = await asyncio.to_thread(read_folder, folder)
            async with self.lock:
                await self._follow(folder, state, tables)
        except SlipringError as error:
            self._again_s = time.monotonic() + AGAIN_S
            if self.trouble != str(error):
                self.trouble = str(error)
                self._tell("rights kept", f"the rules in force stay: {error}")

    async def _follow(self, folder: Path, state: FolderState | str, tables: AccessTables) -> None:
        running = self._broker.config
        is_named = Path(running.access.folder) == folder
        if not is_named or await asyncio.to_thread(_state, folder) != state:
            self._in_force = None  # what was read is old by now, and a reload may have read more
            return
        config, plan, found = await asyncio.to_thread(self._planned, running, tables)
        self.trouble = None
        if found:
            await self._apply(config, plan)
        for change in found[:TOLD_MAX]:
            self._tell("rights changed", applied_text(change))
        if len(found) > TOLD_MAX:
            self._tell("rights changed", f"and {len(found) - TOLD_MAX} more in {folder}")

    def _planned(self, running: Config, tables: AccessTables) -> tuple[Config, Plan, list[Change]]:
        config = with_folder(running, tables)
        refuse_opening(running, config)
        return config, self._plan(config), changes(running, config)

    async def _change(
        self,
        make: Callable[[AccessGrants], AccessGrants],
        told: str | Callable[[], str],
        by: ActedBy,
    ) -> None:
        # Whoever asked may go away meanwhile: what is written must come into force, and nobody
        # else may write before it is.
        await asyncio.shield(self._make_change(make, told, by))

    async def _make_change(
        self,
        make: Callable[[AccessGrants], AccessGrants],
        told: str | Callable[[], str],
        by: ActedBy,
    ) -> None:
        async with self.lock:
            grants, config, plan = await asyncio.to_thread(self._changed, make)
            if grants == self.grants:
                return
            await asyncio.to_thread(self._store.write, grants)
            self.grants = grants
            await self._apply(config, plan)
        self._tell("rights changed", told if isinstance(told, str) else told(), by)

    def _changed(
        self, make: Callable[[AccessGrants], AccessGrants]
    ) -> tuple[AccessGrants, Config, Plan]:
        running = self._broker.config
        grants = make(self.grants)
        config = with_granted(running, AccessTables(grants.rules, grants.users))
        if running.user and not config.user:
            raise ConfigError(LAST_ONE.format("this user"))
        if running.has_users and not config.has_users:
            raise ConfigError(LAST_ONE.format("this rule"))
        plan = self._plan(config)
        if not is_mendable(plan) and is_mendable(self._broker.plan):
            raise ConfigError(NO_WAY_BACK)
        return grants, config, plan

    def _plan(self, config: Config) -> Plan:
        """A plan in which only rights change: the memory budget may be that of an operator."""
        budget = self._broker.engine.status()["memory"]["budget"]
        return make_plan(config, memory_bytes=budget)

    async def _apply(self, config: Config, plan: Plan) -> None:
        await asyncio.to_thread(self.look_for_lockout, config, plan)
        await self._broker.apply(config, plan)
        self.tell_lockout()

    def tell_lockout(self) -> None:
        """Write the warning into the log."""
        if self.warning:
            log.warning("access: %s", self.warning)

    def _tell(self, kind: str, text: str, by: ActedBy = NOBODY) -> None:
        outcome = "refused" if kind == "rights kept" else "ok"
        self._broker.audit("changed", **by, topic="access", outcome=outcome, detail=text)
        text = text if text.startswith("access: ") else f"access: {text}"
        self._broker.log.write(self._broker.overview.add_own_event(kind, text, time.time_ns()))


def rule_words(rule: RuleSection) -> str:
    """A rule as a sentence."""
    verb, rights = ("may", rule.allow) if rule.allow else ("may not", rule.deny)
    return f"{', '.join(rule.who)} {verb} {', '.join(rights)} on {', '.join(rule.topics)}"


def _roles(roles: tuple[str, ...] | None) -> list[str]:
    return [] if roles is None else [f"the roles {', '.join(roles)}" if roles else "no role"]


def _state(folder: Path) -> FolderState | str:
    try:
        return folder_state(folder)
    except ConfigError as error:
        return str(error)
