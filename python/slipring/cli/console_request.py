"""Requests to the console of a running broker."""

import http.client
import json
import ssl
import urllib.error
import urllib.request
from typing import Any

from slipring.cli.console_access import CONSOLE, ConsoleAccess
from slipring.cli.display import printable
from slipring.credentials import TOKEN
from slipring.errors import ConnectError

TIMEOUT_S = 60
ERROR_BYTES_MAX = 500
Json = dict[str, Any]
LOG_IN = f"; run `slipring login`, give --user, or set {TOKEN}"


def ask(
    access: ConsoleAccess, path: str, body: Json | None = None, method: str | None = None
) -> Json:
    """The console's answer; a request with a body asks it to do something."""
    url = access.console
    address = f"{url.rstrip('/')}{path}"
    if not address.startswith(("http://", "https://")):
        raise ConnectError(f"'{url}' is not the address of a console, such as {CONSOLE}")
    request = urllib.request.Request(address, method=method)  # noqa: S310 (checked)
    if (authorization := access.authorization) is not None:
        request.add_unredirected_header("authorization", authorization)
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("content-type", "application/json")
    try:
        with _opener(access).open(request, timeout=TIMEOUT_S) as answer:
            content: Json = json.load(answer)
    except urllib.error.HTTPError as error:
        text = printable(error.read(ERROR_BYTES_MAX).decode(errors="replace").strip())
        advice = LOG_IN if error.code == 401 and authorization is None else ""
        raise ConnectError(f"the broker at {url} refused ({error.code}): {text}{advice}") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = printable(str(getattr(error, "reason", error)).strip())
        raise ConnectError(
            f"no broker's console answers at {url}: {reason}; "
            f"`slipring serve` prints its address, as console={CONSOLE}"
        ) from None
    return content


def _opener(access: ConsoleAccess) -> urllib.request.OpenerDirector:
    """Asks a console of this machine directly: a proxy elsewhere would read the password."""
    by_tls = urllib.request.HTTPSHandler(context=_tls(access))
    if not access.is_on_this_machine:
        return urllib.request.build_opener(by_tls)
    return urllib.request.build_opener(by_tls, urllib.request.ProxyHandler({}))


def _tls(access: ConsoleAccess) -> ssl.SSLContext | None:
    if not access.console.startswith("https://"):
        return None
    return ssl.create_default_context(cafile=access.ca)
