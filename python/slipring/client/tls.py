"""The files for TLS: names them, never reads them."""

from dataclasses import dataclass
from os import PathLike

Path = str | PathLike[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """For `slipring.connect("mqtts://...", tls=...)`, or `wss://`; the files are PEM.

    Without `ca`, an authority that this system trusts must have signed the broker's certificate.
    """

    ca: Path | None = None
    """Authorities that may have signed the broker's certificate, instead of the system's."""
    certificate: Path | None = None
    """This client's certificate, if the broker asks for one; with its `key`."""
    key: Path | None = None
    """The key of the certificate, without a passphrase."""
    server_name: str | None = None
    """The name the broker's certificate must hold, if not the host of the address."""

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("a certificate needs its key, and a key its certificate")
