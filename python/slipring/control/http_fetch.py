"""Asks a server over HTTP: bounded in time and size, no redirects, certificates checked."""

import time
from typing import IO, TYPE_CHECKING, Any

from slipring.control.token_sections import is_trusted_address

if TYPE_CHECKING:
    from urllib.request import OpenerDirector

CHUNK_BYTES = 16 << 10


class FetchError(Exception):
    """No usable answer; `status` is the server's, if it gave one."""

    def __init__(self, why: str, status: int | None = None) -> None:
        """Say why."""
        super().__init__(why)
        self.status = status


def fetch(
    url: str, *, timeout_s: float, bytes_max: int, ca: str = "", body: bytes | None = None
) -> bytes:
    """GET, or POST a JSON body; FetchError unless the answer is 200, whole, in time and small."""
    import urllib.error  # here, because most brokers ask nobody, and start without it
    import urllib.request

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


def _opener(ca: str) -> "OpenerDirector":
    import ssl
    from urllib.request import HTTPRedirectHandler, HTTPSHandler, ProxyHandler, build_opener

    class NoRedirect(HTTPRedirectHandler):
        """A redirect could lead to anybody, so it is an answer like any other: refused."""

        def redirect_request(self, *_: Any, **__: Any) -> None:
            return None

    context = ssl.create_default_context(cafile=ca or None)
    return build_opener(NoRedirect, HTTPSHandler(context=context), ProxyHandler({}))


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
