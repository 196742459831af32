"""Which tokens a broker accepts: keeps our keys, those of other issuers and what was revoked.

Files are looked at four times a second; what comes over the network is read by other threads.
"""

import logging
import threading
import time
from collections.abc import Callable

from slipring.control.config import Config
from slipring.control.token_folder import Revoked, TokenFolder
from slipring.control.token_issuing import own_issuer
from slipring.control.token_keys import KeySource
from slipring.errors import TokenError
from slipring.native import TokenRules

log = logging.getLogger("slipring.tokens")


class Tokens:
    """Makes the engine's rules about tokens, and makes them again when something has changed."""

    def __init__(self, config: Config, apply: Callable[[TokenRules], None]) -> None:
        """Read what is in files; TokenError if our own keys or revocations cannot be read."""
        self._apply = apply
        # Held while rules are made and applied: an older state never overwrites a newer.
        self._changing = threading.Lock()
        self._told: dict[str, str] = {}
        self._revoked = Revoked({}, {})
        self._own: list[str] = []
        self._first_end_s = float("inf")
        self._follow(config, {})
        self.rules = self._made()

    def follow(self, config: Config) -> TokenRules:
        """Use another configuration; the rules for its plan."""
        with self._changing:
            self._follow(config, {one.section.issuer: one for one in self.sources})
            self.rules = self._made()
            return self.rules

    def _follow(self, config: Config, known: dict[str, KeySource]) -> None:
        self._section = config.token
        self.folder = TokenFolder(config.token_folder)
        self._stamp: tuple[object, ...] = ()
        self.sources: list[KeySource] = []
        for section in config.issuer:
            earlier = known.get(section.issuer)
            is_same = earlier is not None and earlier.section == section
            self.sources.append(earlier if earlier and is_same else KeySource(section))
        self._read_folder()
        for source in self.sources:
            if not source.section.is_remote and source.is_due:
                source.read()
                self._tell(source)

    def poll(self) -> None:
        """Look at the files, and apply what has changed."""
        changed = self._has_changed_folder()
        for source in self.sources:
            if not source.section.is_remote and source.is_due:
                changed |= source.read()
                self._tell(source)
        if changed:
            self.apply()

    def read_again(self, issuer: str) -> None:
        """Read the keys of an issuer for a token whose key is not known, and apply them."""
        changed = self._has_changed_folder() if issuer == self._section.issuer else False
        for source in self.sources:
            if source.section.issuer == issuer:
                changed |= source.read_if_allowed()
                self._tell(source)
        if changed:
            self.apply()

    def fetch_due(self) -> None:
        """Fetch keys that are old; takes as long as the servers do."""
        for source in self.sources:
            if source.section.is_remote and source.is_due:
                if source.read():
                    self.apply()
                self._tell(source)

    @property
    def is_remote(self) -> bool:
        """Whether some keys come over the network."""
        return any(source.section.is_remote for source in self.sources)

    def apply(self) -> None:
        """Make the rules again, and hand them to the engine."""
        with self._changing:
            self.rules = self._made()
            self._apply(self.rules)

    def _made(self) -> TokenRules:
        section = self._section
        own = [own_issuer(section, self._own)] if section.enabled else []
        return TokenRules(
            [*own, *map(_issuer, self.sources)], self._revoked.tokens, self._revoked.users
        )

    def _has_changed_folder(self) -> bool:
        if self.folder.stamp() == self._stamp and time.time() < self._first_end_s:
            return False
        try:
            self._read_folder()
        except TokenError as error:
            self._say("folder", f"{error}; what was read before stays in force")
            return False
        return True

    def _read_folder(self) -> None:
        """Keys that check, and revocations. A key whose last token has ended checks no more."""
        self._stamp, now_s = self.folder.stamp(), time.time()
        revoked = self.folder.revoked()
        leeway_s = self._section.leeway_s
        keys = self.folder.keys() if self._section.enabled else []
        live = [key for key in keys[:-1] if key.ends_s + leeway_s > now_s]
        self._first_end_s = min((key.ends_s + leeway_s for key in live), default=float("inf"))
        self._own = [key.public for key in [*live, *keys[-1:]]]
        self._revoked = revoked

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
