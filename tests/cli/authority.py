"""An authority for tests: signs certificates with openssl, and revokes them."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
SETTINGS = """
[ca]
default_ca = own
[own]
database = {folder}/{name}.index
crlnumber = {folder}/{name}.number
default_md = sha256
default_crl_days = 30
crl_extensions = list
certificate = {folder}/{name}.pem
private_key = {folder}/{name}.key
[list]
authorityKeyIdentifier = keyid
"""


def openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Authority:
    """Its certificate is `NAME.pem` in its folder, its revocation list `NAME.crl`."""

    folder: Path
    name: str

    @classmethod
    def made(cls, folder: Path, name: str) -> "Authority":
        own = cls(folder, name)
        openssl(
            *("req", "-x509", *EC, "-days", "30", "-subj", f"/CN=Authority {name}"),
            *("-keyout", folder / f"{name}.key", "-out", own.file),
        )
        (folder / f"{name}.cnf").write_text(SETTINGS.format(folder=folder, name=name))
        (folder / f"{name}.index").touch()
        (folder / f"{name}.number").write_text("01\n")
        own.publish()
        return own

    @property
    def file(self) -> Path:
        return self.folder / f"{self.name}.pem"

    @property
    def revoked(self) -> Path:
        return self.folder / f"{self.name}.crl"

    def sign(self, subject: str, names: str = "", usage: str = "clientAuth") -> Certificate:
        """A certificate for a subject such as `/CN=x`, with alternative names such as `DNS:x`."""
        stem = self.folder / f"{self.name}-{len(list(self.folder.glob('*.csr')))}"
        request, extensions = stem.with_suffix(".csr"), stem.with_suffix(".ext")
        certificate, key = stem.with_suffix(".crt"), stem.with_suffix(".key")
        openssl("req", *EC, "-subj", subject, "-keyout", key, "-out", request)
        alternative = f"subjectAltName={names}\n" if names else ""
        extensions.write_text(f"{alternative}extendedKeyUsage={usage}\n")
        openssl(
            *("x509", "-req", "-in", request, "-CA", self.file, "-days", "30"),
            *("-CAkey", self.folder / f"{self.name}.key", "-CAcreateserial"),
            *("-extfile", extensions, "-out", certificate),
        )
        return Certificate(certificate, key)

    def server(self, common: str = "broker") -> Certificate:
        return self.sign(f"/CN={common}", "DNS:localhost,IP:127.0.0.1", "serverAuth")

    def revoke(self, shown: Certificate) -> None:
        """Puts it on the list, and publishes that."""
        self._ca("-revoke", shown.certificate)
        self.publish()

    def publish(self) -> None:
        """Writes the list, replaced as a whole."""
        new = self.revoked.with_suffix(".new")
        self._ca("-gencrl", "-out", new)
        new.replace(self.revoked)

    def _ca(self, *words: str | Path) -> None:
        openssl("ca", "-config", self.folder / f"{self.name}.cnf", *words)
