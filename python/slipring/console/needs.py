"""What each route needs: a right to watch, or to administer an area. A route that is not listed
needs the right to administer access, so that a forgotten one is closed.
"""

from collections.abc import Callable

from slipring.console.visitor import Visitor

Need = Callable[[Visitor], bool]
READS = ("GET", "HEAD")


def anybody(_: Visitor) -> bool:
    """Open to everybody."""
    return True


def watch_some(visitor: Visitor) -> bool:
    """To watch at least one topic; the answer has only what may be watched."""
    return visitor.watched != "nothing"


def watch_all(visitor: Visitor) -> bool:
    """To watch everything: the answer names clients, sessions or any topic."""
    return visitor.watched == "all"


def watch_figures(visitor: Visitor) -> bool:
    """To watch the broker's own figures."""
    return visitor.may_watch_all_of("$SYS/#")


def administer(area: str) -> Need:
    """To administer an area."""

    def may_administer(visitor: Visitor) -> bool:
        return visitor.may("administer", area)

    may_administer.__doc__ = f"To administer {area}."
    return may_administer


def _nobody(_: Visitor) -> bool:
    """To be on a broker without users."""
    return False


PATHS: dict[str, tuple[Need, Need]] = {
    "/metrics": (watch_figures, _nobody),
    "/api/openapi.json": (anybody, _nobody),
    "/api/me": (anybody, _nobody),
    "/api/login": (anybody, anybody),
    "/api/logout": (anybody, anybody),
    "/api/logout/everywhere": (_nobody, anybody),
    "/api/token": (_nobody, anybody),
    "/api/overview": (watch_some, _nobody),
    "/api/live": (watch_some, _nobody),
    "/api/parameters": (watch_some, _nobody),
    "/api/quick-look": (watch_some, _nobody),
    "/api/history": (watch_some, _nobody),
    "/api/history.csv": (watch_some, _nobody),
    "/api/range": (watch_some, _nobody),
    "/api/values": (watch_some, _nobody),
    "/api/samples": (watch_some, _nobody),
    "/api/layouts": (watch_some, _nobody),
    "/api/parameters/branches": (watch_some, _nobody),
    "/api/parameters/words": (watch_some, _nobody),
    "/api/parameters/one": (watch_some, _nobody),
    "/api/health": (watch_figures, _nobody),
    "/api/clients": (watch_all, _nobody),
    "/api/topics": (watch_some, _nobody),
    "/api/storage": (watch_all, _nobody),
    "/api/grafana/series": (watch_some, _nobody),
    "/api/grafana/values": (watch_some, _nobody),
    "/api/memory": (watch_all, administer("memory")),
    "/api/sessions": (watch_all, _nobody),
    "/api/sessions/end": (_nobody, administer("clients")),
    "/api/clients/disconnect": (_nobody, administer("clients")),
    "/api/log": (watch_all, administer("log")),
    "/api/alarms": (watch_some, _nobody),
    "/api/alarms/acknowledge": (_nobody, administer("alarms")),
    "/api/alarms/shelve": (_nobody, administer("alarms")),
    "/api/alarms/unshelve": (_nobody, administer("alarms")),
    "/api/alarms/comment": (_nobody, administer("alarms")),
    "/api/requests": (watch_all, _nobody),
    "/api/services": (watch_all, _nobody),
    "/api/subscribers": (watch_all, _nobody),
}
"""What reading needs, and what changing needs."""
BELOW: dict[str, tuple[Need, Need]] = {
    "/api/requests/": (watch_all, _nobody),
    "/api/oidc/": (anybody, _nobody),
    "/api/layouts/": (watch_some, administer("layouts")),
}
"""The same for every path that begins so."""
OTHERS = (administer("access"), administer("access"))


def need_of(path: str, method: str) -> Need:
    """What a request needs. The page itself and the probes of health are open."""
    if path != "/metrics" and not (path == "/api" or path.startswith("/api/")):
        return anybody
    below = next((needs for start, needs in BELOW.items() if path.startswith(start)), OTHERS)
    to_read, to_change = PATHS.get(path, below)
    return to_read if method in READS else to_change


def right_to_read(path: str) -> str | None:
    """The right that reading takes, for the audit; None if everybody may."""
    needs = need_of(path, "GET")
    if needs is anybody:
        return None
    return "administer" if needs is OTHERS[0] else "watch"
