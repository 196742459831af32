"""The console's certificate: read at the start, and again when its files change."""

import asyncio
import logging
import ssl
from pathlib import Path

from slipring.control.console import ConsoleSection
from slipring.errors import SecretError, StartError
from slipring.native import check_secret_file

LOOK_S = 1.0

log: logging.Logger = logging.getLogger("slipring.console")


class ConsoleCertificate:
    """TLS 1.2 or newer with the certificate in force."""

    def __init__(self, certificate: Path, key: Path | None) -> None:
        """Read both files; StartError says what is wrong with them."""
        self._files = (certificate, key)
        self.context: ssl.SSLContext = self._made()
        self._stamp = self._seen()

    @classmethod
    def of(cls, section: ConsoleSection) -> "ConsoleCertificate | None":
        """None if the console speaks plain HTTP."""
        return None if section.certificate is None else cls(section.certificate, section.key)

    async def follow(self) -> None:
        """Look at the files until cancelled."""
        while True:
            await asyncio.sleep(LOOK_S)
            self.look()

    def look(self) -> None:
        """Use the files for new connections if they have changed; a mistake changes nothing."""
        if (stamp := self._seen()) == self._stamp:
            return
        self._stamp = stamp
        try:
            self._made()  # both files fit together, else the context in force would be half new
            self._load(self.context)
        except StartError as error:
            log.error("%s; the certificate that was read before stays in force", error)  # noqa: TRY400
            return
        log.info("console: the certificate was read again")

    def _made(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        self._load(context)
        return context

    def _load(self, context: ssl.SSLContext) -> None:
        certificate, key = self._files
        try:
            if key is not None and key.exists():
                check_secret_file(key)
            context.load_cert_chain(certificate, key, password=_no_password)
        except SecretError as error:
            raise StartError(f"the console: {error}") from None
        except (OSError, ValueError) as error:
            raise StartError(
                f"the console cannot use the certificate {certificate} with the key {key}: {error}"
            ) from None

    def _seen(self) -> tuple[object, ...]:
        return tuple(_stamp(file) for file in self._files if file is not None)


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


def _no_password() -> str:
    """Nobody is asked for the password of an encrypted key."""
    raise ValueError("the key is encrypted; store it without a password, for the broker only")
