"""Warns of a secret that a network would carry in clear. Never decides whether it is sent."""

import ipaddress
import logging
from urllib.parse import urlsplit

from slipring.credentials.broker_credentials import BrokerCredentials

PLAIN = ("mqtt", "ws")
WARNED_MAX = 64
"""Addresses that are remembered, so that each is warned of once."""

_warned = set[str]()

log: logging.Logger = logging.getLogger("slipring.client")


def warn_of_plain_text(url: str, credentials: BrokerCredentials) -> None:
    """Logs a warning, once for each address, if a network would carry the secret as it is."""
    if not _is_readable(credentials) or not _is_elsewhere(url) or url in _warned:
        return
    if len(_warned) < WARNED_MAX:
        _warned.add(url)
    what = "the token" if credentials.password is None else "the password"
    advice = "use mqtts:// or wss://"
    if credentials.password is not None:
        advice += ", or authentication scram"
    log.warning("%s goes to %s in clear: whoever reads the network has it; %s", what, url, advice)


def _is_readable(credentials: BrokerCredentials) -> bool:
    secrets = (credentials.password, credentials.token, credentials.token_file)
    return credentials.method != "scram" and any(one is not None for one in secrets)


def _is_elsewhere(url: str) -> bool:
    """Whether a network is on the way; a name other than localhost may be anywhere."""
    parts = urlsplit(url)
    host = parts.hostname or "localhost"
    if parts.scheme.lower() not in PLAIN or host == "localhost":
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True
