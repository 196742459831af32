"""TLS to log servers: who the server is, is always checked. It blocks for a bounded time."""

import contextlib
import ssl
from pathlib import Path
from socket import socket

from slipring.errors import ConfigError

WRONG_NAMES = frozenset({62, 64})
"""OpenSSL's codes for a certificate of another host and of another IP address."""


def tls_context(ca: Path | None) -> ssl.SSLContext:
    """Trust the authorities in this file, or those of the system; ConfigError if it has none."""
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:  # SSLError is one
        why = error.strerror if not isinstance(error, ssl.SSLError) else "it is no PEM file"
        raise ConfigError(f"cannot read the ca of a log server, {ca}: {why}") from None


def secured(opened: socket, host: str, context: ssl.SSLContext) -> ssl.SSLSocket:
    """Speak TLS on a connection; OSError says in words why that cannot be."""
    try:
        return context.wrap_socket(opened, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        hint = "" if error.verify_code in WRONG_NAMES else "; name its authority with `ca`"
        raise OSError(f"its certificate is refused: {error.verify_message}{hint}") from None
    except ssl.SSLError as error:
        raise OSError(f"it does not speak TLS as we do: {error.reason or error}") from None


def say_goodbye(opened: ssl.SSLSocket) -> None:
    """Say that nothing follows (RFC 5425, 4.4), and wait for no answer."""
    opened.settimeout(0)
    with contextlib.suppress(OSError, ValueError):
        opened.unwrap()


def is_over(opened: ssl.SSLSocket, timeout_s: float) -> bool:
    """Whether the server has closed. Bytes that came may be messages of TLS itself."""
    opened.settimeout(0)
    try:
        return not opened.recv(4_096)
    except ssl.SSLWantReadError:
        return False
    finally:
        opened.settimeout(timeout_s)
