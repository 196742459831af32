"""The cookie of a login: its name, how it is set and how it is read. Pure."""

from collections.abc import Iterable

COOKIES_BYTES_MAX = 8_192
"""Longer cookie headers are not read: the browser has some of other pages of this machine."""


class LoginCookie:
    """A cookie that only this broker's pages send, and no script reads."""

    def __init__(self, broker_id: str, *, is_secure: bool, suffix: str = "") -> None:
        """Brokers on one machine share a browser's cookies, so each has a name of its own."""
        self.is_secure = is_secure
        # RFC 6265bis, 4.1.3.2: `__Host-` needs Secure and Path=/, and no Domain.
        prefix = "__Host-" if is_secure else ""
        self.name: str = f"{prefix}slipring-{broker_id[:8]}{suffix}"

    def set(self, value: str, *, same_site: str = "Strict", most_s: int | None = None) -> str:
        """The value of Set-Cookie; without `most_s` the browser forgets it when it ends."""
        secure = "; Secure" if self.is_secure else ""
        lasts = "" if most_s is None else f"; Max-Age={most_s}"
        return f"{self.name}={value}; Path=/; HttpOnly; SameSite={same_site}{secure}{lasts}"

    def cleared(self) -> str:
        """The value of Set-Cookie that removes it."""
        return self.set("", most_s=0)

    def read(self, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """Its value; None if it is not there, or there twice."""
        text = "; ".join(value.decode("latin-1") for name, value in headers if name == b"cookie")
        if len(text) > COOKIES_BYTES_MAX:
            return None
        pairs = (one.strip().partition("=") for one in text.split(";"))
        found = [value for name, _, value in pairs if name == self.name]
        return found[0] if len(found) == 1 and found[0] else None
