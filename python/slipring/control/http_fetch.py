"""Asks a server over HTTP: bounded in time and size, no redirects, certificates checked."""

import ssl
import time
import urllib.error
import urllib.request
from typing import IO, Any

from slipring.control.token_sections import is_trusted_address

CHUNK_BYTES = 16 << 10


class FetchError(Exception):
    """No usable answer; `status` is the server's, if it gave one."""

    def __init__(self, why: str, status: int | None = None) -> None:
        """Say why."""
        super().__init__(why)
        self.status = status


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect could lead to anybody, so it is an answer like any other: refused."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def fetch(
    url: str, *, timeout_s: float, bytes_max: int, ca: str = "", body: bytes | None = None
) -> bytes:
    """GET, or POST a JSON body; FetchError unless the answer is 200, whole, in time and small."""
    if not is_trusted_address(url):
        raise FetchError(f"{url} is neither https nor on this machine")
    ends_s = time.monotonic() + timeout_s
    request = urllib.request.Request(url, data=body, headers={"Accept": "application/json"})  # noqa: S310 (checked above)
    if body is not None:
        request.add_header("Content-Type", "application/json")
    try:
        with _opener(ca).open(request, timeout=timeout_s) as answer:
            if answer.status != 200:
                raise FetchError(f"the answer is {answer.status}", answer.status)
            return _read(answer, bytes_max, ends_s)
    except urllib.error.HTTPError as error:
        raise FetchError(f"the answer is {error.code}", error.code) from None
    except urllib.error.URLError as error:
        raise FetchError(str(error.reason)) from None
    except (OSError, ValueError) as error:
        raise FetchError(str(error) or type(error).__name__) from None


def _opener(ca: str) -> urllib.request.OpenerDirector:
    context = ssl.create_default_context(cafile=ca or None)
    return urllib.request.build_opener(
        _NoRedirect, urllib.request.HTTPSHandler(context=context), urllib.request.ProxyHandler({})
    )


def _read(answer: IO[bytes], bytes_max: int, ends_s: float) -> bytes:
    """Read all; a server that sends byte by byte does not get more time."""
    found = bytearray()
    read: Any = getattr(answer, "read1", answer.read)
    while chunk := read(CHUNK_BYTES):
        found += chunk
        if len(found) > bytes_max:
            raise FetchError(f"the answer is longer than {bytes_max} bytes")
        if time.monotonic() > ends_s:
            raise FetchError("the answer takes too long")
    return bytes(found)
