"""Signs tokens with openssl, written from RFC 7515 and RFC 7518.

It knows nothing of the broker's own code, so that the two can disagree.
"""

import base64
import json
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MAKE = {
    "EdDSA": ["-algorithm", "ed25519"],
    "ES256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "RS256": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
}
ISSUER = "https://id.example"


class Signer:
    """A key pair of one algorithm."""

    def __init__(self, folder: Path, algorithm: str, kid: str) -> None:
        self.algorithm, self.kid = algorithm, kid
        self._key = folder / f"{kid}.pem"
        _openssl("genpkey", *MAKE[algorithm], "-out", str(self._key))

    @property
    def jwk(self) -> dict[str, str]:
        """The public key."""
        public = _openssl("pkey", "-in", str(self._key), "-pubout", "-outform", "DER")
        named = {"kid": self.kid, "use": "sig", "alg": self.algorithm}
        if self.algorithm == "EdDSA":
            return named | {"kty": "OKP", "crv": "Ed25519", "x": text(public[-32:])}
        if self.algorithm == "ES256":
            x, y = text(public[-64:-32]), text(public[-32:])
            return named | {"kty": "EC", "crv": "P-256", "x": x, "y": y}
        modulus = _openssl("rsa", "-in", str(self._key), "-modulus", "-noout").decode()
        number = bytes.fromhex(modulus.strip().removeprefix("Modulus="))
        return named | {"kty": "RSA", "n": text(number), "e": "AQAB"}

    def token(self, claims: Mapping[str, Any], header: Mapping[str, Any] | None = None) -> bytes:
        """A token with these claims."""
        header = {"alg": self.algorithm, "kid": self.kid} if header is None else header
        signed = f"{text(json.dumps(header).encode())}.{text(json.dumps(claims).encode())}"
        return f"{signed}.{text(self.sign(signed.encode()))}".encode()

    def sign(self, message: bytes) -> bytes:
        file = self._key.with_suffix(".message")
        file.write_bytes(message)
        if self.algorithm == "EdDSA":
            signing = ["pkeyutl", "-sign", "-rawin", "-inkey", str(self._key), "-in", str(file)]
            return _openssl(*signing)
        signature = _openssl("dgst", "-sha256", "-sign", str(self._key), str(file))
        return _plain(signature) if self.algorithm == "ES256" else signature


def claims(user: str = "anna", lasts_s: int = 600, **more: Any) -> dict[str, Any]:
    """Claims of a good token, and these; None leaves one out."""
    now_s = int(time.time())
    usual = {"iss": ISSUER, "sub": user, "aud": "bus", "iat": now_s, "exp": now_s + lasts_s}
    return {name: value for name, value in (usual | more).items() if value is not None}


def jwks(*signers: Signer) -> str:
    return json.dumps({"keys": [signer.jwk for signer in signers]})


def text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _plain(der: bytes) -> bytes:
    """The two numbers of an ECDSA signature, 32 bytes each (RFC 7518, 3.4)."""
    length = der[3]
    r, s = der[4 : 4 + length], der[6 + length :]
    return b"".join(number.lstrip(b"\0").rjust(32, b"\0") for number in (r, s))


def _openssl(*arguments: str) -> bytes:
    done = subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)
    return done.stdout
