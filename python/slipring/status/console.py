"""The console's own figures, and who a page's visitor is."""

from typing import Annotated, TypedDict

from slipring.status.description import Counter, Gauge


class ConsoleFigures(TypedDict):
    """The console's own connections: see its [limits](console.md#limits)."""

    connections: Annotated[int, "Connections to the console.", Gauge("console_connections")]
    connections_max: Annotated[
        int, "Connections to the console at most.", Gauge("console_connections_max")
    ]
    pages: Annotated[int, "Open pages (WebSockets).", Gauge("console_pages")]
    pages_max: Annotated[int, "Open pages at most.", Gauge("console_pages_max")]
    accepted: Annotated[int, "Connections that the console accepted.", Counter("console_accepted")]
    turned_away: Annotated[
        dict[str, int],
        "Connections that the console refused or ended: `no_place`, `displaced` by a newcomer, "
        "`too_slow`, `no_page`.",
        Counter("console_turned_away", "why"),
    ]


class LoginFigures(TypedDict):
    """Logins to the console ([console.md](console.md#log-in))."""

    open: Annotated[int, "Open logins of the console.", Gauge("console_logins")]
    attempts: Annotated[
        dict[str, int],
        "Passwords and tokens sent to the console, by their end: `accepted`, `wrong`, `slowed` "
        "(429), `busy` (503); and requests that were `refused`, because whoever sent them has no "
        "right to them.",
        Counter("console_login_attempts", "outcome"),
    ]


class ConsoleVisitor(TypedDict):
    """Who a page's visitor is, and what they may do."""

    needs_login: Annotated[bool, "Whether nothing is shown before a login."]
    has_users: Annotated[bool, "Whether the broker has users, so that people can log in."]
    user: Annotated[str | None, "The user name; null if nobody has logged in."]
    role: Annotated[
        str | None,
        "What the user is, by its rights: `administrator`, `operator`, `viewer`, `viewer of some "
        "topics` or `no rights here`.",
    ]
    watches: Annotated[str, "How much the visitor may watch: `all`, `some` or `nothing`."]
    administers: Annotated[list[str], "The areas that the visitor may administer."]
    csrf: Annotated[
        str | None, "What the page sends as `x-slipring-csrf` with requests that change something."
    ]
    oidc: Annotated[str | None, "The name of the identity provider; null if there is none."]
