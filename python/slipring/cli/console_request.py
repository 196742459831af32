"""Requests to the console of a running broker."""

import http.client
import json
import os
import urllib.error
import urllib.request
from typing import Annotated, Any

import typer

from slipring.cli.display import printable
from slipring.cli.token_store import stored_token
from slipring.credentials import TOKEN
from slipring.errors import ConnectError

TIMEOUT_S = 60
ERROR_BYTES_MAX = 500
Json = dict[str, Any]
ConsoleUrl = Annotated[
    str, typer.Option("--console", help="Address of the console, as `slipring serve` prints it.")
]
CONSOLE = "http://127.0.0.1:8080"


def ask(url: str, path: str, body: Json | None = None, method: str | None = None) -> Json:
    """The console's answer; a request with a body asks it to do something."""
    address = f"{url.rstrip('/')}{path}"
    if not address.startswith(("http://", "https://")):
        raise ConnectError(f"'{url}' is not the address of a console, such as {CONSOLE}")
    request = urllib.request.Request(address, method=method)  # noqa: S310 (checked)
    if (token := _token(url)) is not None:
        request.add_header("authorization", f"Bearer {token}")
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("content-type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310 (checked)
            content: Json = json.load(answer)
    except urllib.error.HTTPError as error:
        text = printable(error.read(ERROR_BYTES_MAX).decode(errors="replace").strip())
        raise ConnectError(f"the broker at {url} refused ({error.code}): {text}") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = printable(str(getattr(error, "reason", error)).strip())
        raise ConnectError(
            f"no broker's console answers at {url}: {reason}; "
            f"`slipring serve` prints its address, as console={CONSOLE}"
        ) from None
    return content


def _token(url: str) -> str | None:
    """The token of the environment, or that of `slipring login`."""
    if TOKEN in os.environ:
        return os.environ[TOKEN]
    stored = stored_token(url)
    return None if stored is None else stored.decode()
