"""Which tokens a broker accepts: keeps our keys, those of other issuers and what was revoked.

Files are looked at four times a second; what comes over the network is read by other threads.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from slipring.control.audit import AuditKind
from slipring.control.config import Config
from slipring.control.token_folder import Revoked, TokenFolder
from slipring.control.token_issuing import own_issuer
from slipring.control.token_keys import KeySource
from slipring.control.token_sections import TokenSection
from slipring.errors import TokenError
from slipring.native import TokenRules

LOOK_S = 0.25
"""How often the files are looked at."""

log: logging.Logger = logging.getLogger("slipring.tokens")


NoteChange = Callable[[AuditKind, str, str], None]
"""Takes the kind of record, what was changed, and how."""


def _unnoted(_kind: AuditKind, _topic: str, _detail: str) -> None:
    """Before the audit is there, nothing is recorded."""


@dataclass(frozen=True, slots=True)
class OwnTokens:
    """What the folder of our own tokens has."""

    stamp: tuple[object, ...]
    keys: list[str]
    """Public keys that check."""
    first_end_s: float
    """When the first of them checks no more."""
    revoked: Revoked


@dataclass(frozen=True, slots=True)
class TokenState:
    """What decides which tokens are accepted."""

    own: list[str]
    """Our public keys."""
    others: dict[str, str]
    """The keys of each other issuer, by its name."""
    revoked: Revoked


class Tokens:
    """Makes the engine's rules about tokens, and makes them again when something has changed."""

    def __init__(self, config: Config, apply: Callable[[TokenRules], None]) -> None:
        """Read what is in files; TokenError if our own keys or revocations cannot be read."""
        self._apply = apply
        # Held while rules are made and applied: an older state never overwrites a newer.
        self._changing = threading.Lock()
        self._in_force = TokenState([], {}, Revoked({}, {}))
        self._told: dict[str, str] = {}
        self.note: NoteChange = _unnoted
        """Called with each change while the broker runs; for the audit."""
        self._follow(config, {})
        self.rules: TokenRules = self._made()

    def follow(self, config: Config) -> TokenRules:
        """Use another configuration; the rules for its plan."""
        with self._changing:
            before = self._in_force
            self._follow(config, {one.section.issuer: one for one in self.sources})
            self.rules = self._made()
            self._note_revoked(before.revoked, self._in_force.revoked)
            self._note_keys(before, self._in_force)
            return self.rules

    def _follow(self, config: Config, known: dict[str, KeySource]) -> None:
        folder = TokenFolder(config.token_folder)
        self._found = _read(folder, config.token)  # raises before anything has changed
        self._section = config.token
        self.folder: TokenFolder = folder
        self.sources: list[KeySource] = []
        for section in config.issuer:
            earlier = known.get(section.issuer)
            is_same = earlier is not None and earlier.section == section
            self.sources.append(earlier if earlier and is_same else KeySource(section))
        for source in self.sources:
            if not source.section.is_remote and source.is_due:
                source.read()
                self._tell(source)

    def enforce(self) -> None:
        """Hand the engine the rules of now, after a plan that may have older ones."""
        with self._changing:
            self._apply(self.rules)

    async def watch(self, stop: asyncio.Event) -> None:
        """Look at the files until told to stop, on a thread: a list of revocations may be long."""
        while not stop.is_set():
            try:
                await asyncio.to_thread(self.poll)
            except Exception:
                # Whatever it is: what is revoked next has to be heard of.
                log.exception("cannot look at the files of tokens; trying again")
            try:
                async with asyncio.timeout(LOOK_S):
                    await stop.wait()
            except TimeoutError:
                continue

    def revoke_users(self, users: Collection[str]) -> None:
        """Take back the tokens of users who are removed; they are on the disk when it returns."""
        try:
            self.folder.revoke_users(users, int(time.time()))
        except TokenError as error:
            named = ", ".join(sorted(users)[:4])
            log.error("the tokens of removed users (%s, ...) stay valid: %s", named, error)  # noqa: TRY400
        self.poll()

    def poll(self) -> None:
        """Look at the files, and apply what has changed."""
        for source in self.sources:
            if not source.section.is_remote and source.is_due:
                source.read()
                self._tell(source)
        self._apply_changes()

    def read_again(self, issuer: str, asked_s: float) -> None:
        """Read the keys of an issuer for a token whose key is not known, and apply them.

        `asked_s` is when the token came, by the monotonic clock.
        """
        for source in self.sources:
            if source.section.issuer == issuer:
                source.read_if_allowed(asked_s)
                self._tell(source)
        self._apply_changes()

    def due(self) -> list[str]:
        """Issuers whose keys are old and come over the network."""
        return [one.section.issuer for one in self.sources if one.section.is_remote and one.is_due]

    def fetch_due(self, issuer: str | None = None) -> None:
        """Fetch keys that are old, of one issuer or of all; takes as long as the servers do."""
        for source in self.sources:
            is_asked = issuer is None or source.section.issuer == issuer
            if is_asked and source.section.is_remote and source.is_due:
                source.read()
                self._tell(source)
        self._apply_changes()

    def _apply_changes(self) -> None:
        """Hand the engine what is not in force yet; when this returns, all that was read is."""
        with self._changing:
            self._look_at_folder()
            before = self._in_force
            if self._state() != before:
                self.rules = self._made()
                self._apply(self.rules)
                self._note_keys(before, self._in_force)

    def _state(self) -> TokenState:
        others = {source.section.name: source.text for source in self.sources}
        return TokenState(self._found.keys, others, self._found.revoked)

    def _made(self) -> TokenRules:
        section, self._in_force = self._section, self._state()
        own = [own_issuer(section, self._found.keys)] if section.enabled else []
        revoked = self._found.revoked
        return TokenRules([*own, *map(_issuer, self.sources)], revoked.tokens, revoked.users)

    def _look_at_folder(self) -> None:
        found = self._found
        if self.folder.stamp() == found.stamp and time.time() < found.first_end_s:
            return
        try:
            self._found = _read(self.folder, self._section)
            self._told.pop("folder", None)
            self._note_revoked(found.revoked, self._found.revoked)
        except TokenError as error:
            self._say("folder", f"{error}; what was read before stays in force")

    def _note_revoked(self, before: Revoked, now: Revoked) -> None:
        for token in now.tokens.keys() - before.tokens.keys():
            self.note("token_revoked", "tokens", f"token {token}")
        for user, until_s in now.users.items() - before.users.items():
            at = datetime.fromtimestamp(until_s, UTC)
            self.note("token_revoked", "tokens", f"all of user {user} made until {at:%FT%TZ}")

    def _note_keys(self, before: TokenState, now: TokenState) -> None:
        if before.own != now.own:
            new, gone = len({*now.own} - {*before.own}), len({*before.own} - {*now.own})
            self.note("changed", "tokens", f"signing keys: {new} new, {gone} gone")
        for name, keys in now.others.items():
            if before.others.get(name, keys) != keys:
                self.note("changed", "tokens", f"issuer {name}: its keys were read, and are others")

    def _tell(self, source: KeySource) -> None:
        name = source.section.name
        if source.trouble:
            self._say(name, f"issuer '{name}': {source.trouble}; the keys read before stay in use")
        elif source.refused:
            self._say(name, f"issuer '{name}': left out: {'; '.join(source.refused[:4])}")
        else:
            self._told.pop(name, None)

    def _say(self, name: str, text: str) -> None:
        if self._told.get(name) != text:
            self._told[name] = text
            log.warning("%s", text)


def _read(folder: TokenFolder, section: TokenSection) -> OwnTokens:
    """Keys that check, and revocations. A key whose last token has ended checks no more."""
    stamp, now_s = folder.stamp(), time.time()
    keys = folder.all_keys() if section.enabled else []
    live = [key for key in keys[:-1] if key.ends_s + section.leeway_s > now_s]
    first_end_s = min((key.ends_s + section.leeway_s for key in live), default=float("inf"))
    public = [key.public for key in [*live, *keys[-1:]]]
    return OwnTokens(stamp, public, first_end_s, folder.revoked())


def _issuer(source: KeySource) -> dict[str, object]:
    section = source.section
    return {
        "issuer": section.issuer,
        "keys": [source.text],
        "audience": list(section.audience),
        "user_claim": section.user_claim,
        "roles_claim": section.roles_claim,
        "leeway_s": section.leeway_s,
    }
