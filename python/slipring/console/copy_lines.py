"""Lines that read one parameter, to copy into a shell or a program. Never runs anything."""

import shlex

from slipring.discovery.endpoint import ANY_IPV4, ANY_IPV6, UNIX, Endpoint
from slipring.status.parameters import CopyLine

CA = "ca.pem"
"""A file that whoever copies a line for TLS puts in its place."""


def copy_lines(
    name: str, endpoints: tuple[Endpoint, ...], host: str, *, user: str | None, needs_user: bool
) -> list[CopyLine]:
    """Lines of Python and mosquitto_sub for the plainest listener; `host` is where the page is."""
    usable = [one for one in endpoints if one.scheme in ("mqtt", "mqtts", UNIX)]
    if not usable:
        return []
    endpoint = min(usable, key=lambda one: (one.scheme == UNIX, one.scheme == "mqtts"))
    reached = host if endpoint.host in (ANY_IPV4, ANY_IPV6, None) else endpoint.host
    name_of_user = (user or "USER") if needs_user else None
    return [
        {"title": "Python", "text": _python(name, endpoint, str(reached), name_of_user)},
        {"title": "mosquitto_sub", "text": _mosquitto(name, endpoint, str(reached), name_of_user)},
    ]


def _python(name: str, endpoint: Endpoint, host: str, user: str | None) -> str:
    imports, options = ["import slipring.sync"], [_text(_url(endpoint, host))]
    if user is not None:
        imports.insert(0, "import os")
        options += [f"user={_text(user)}", 'password=os.environ["SLIPRING_PASSWORD"]']
    if endpoint.scheme == "mqtts":
        imports.append("from slipring import Tls")
        options.append(f'tls=Tls(ca="{CA}")')
    return "\n".join(
        [
            *imports,
            "",
            f"with slipring.sync.connect({', '.join(options)}) as bus:",
            f"    with bus.select(names=[{_text(name)}], rate_hz=10) as frames:",
            "        for frame in frames:",
            f"            print(frame[{_text(name)}].value)",
        ]
    )


def _mosquitto(name: str, endpoint: Endpoint, host: str, user: str | None) -> str:
    where = ["-h", host, "-p", str(endpoint.port)]
    if endpoint.scheme == UNIX:
        where = ["--unix", host]
    if endpoint.scheme == "mqtts":
        where += ["--cafile", CA]
    words = ["mosquitto_sub", *where, *(["-u", user] if user is not None else [])]
    password = ' -P "$SLIPRING_PASSWORD"' if user is not None else ""
    return f"{shlex.join(words)}{password} -t {shlex.quote(name)}"


def _url(endpoint: Endpoint, host: str) -> str:
    if endpoint.scheme == UNIX:
        return f"unix:{host}"
    return f"{endpoint.scheme}://{f'[{host}]' if ':' in host else host}:{endpoint.port}"


def _text(text: str) -> str:
    """A text of Python; what cannot be printed is written by its number."""
    is_plain = text.isprintable() and not {'"', "\\"} & set(text)
    return f'"{text}"' if is_plain else repr(text)
