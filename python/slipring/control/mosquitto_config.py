"""Mosquitto's configuration as a broker's: what can be taken over, and of each other line why not.

It does no I/O: it gets lines, and the texts of the files that they name.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from secrets import token_urlsafe

from slipring.control.mosquitto_access import imported, toml_text, users_of
from slipring.control.mosquitto_settings import (
    LISTENER_WORDS,
    PLUGIN_WORDS,
    SETTINGS,
    MosquittoLine,
    is_true,
    why_not,
)
from slipring.control.users import verifier_of

LEVELS = ("debug", "info", "warning", "error")
LOOPBACK = ("127.0.0.1", "::1", "localhost")
EVERYTHING = '["#", "$SYS/#"]'
ANONYMOUS = "allow_anonymous"
OF_ONE_LISTENER = f"listener_{ANONYMOUS}"
ON_THIS_MACHINE = "so it listens on this machine only; add users, then change its address"
NO_USERS = "nobody has proved a name there so far"


@dataclass(frozen=True, slots=True)
class MosquittoFiles:
    """The texts of the files that the configuration names; None for one that cannot be read."""

    passwords: str | None = ""
    acl: str | None = ""


@dataclass(frozen=True, slots=True)
class ImportedConfig:
    """A config file, and a sentence for each line that was not taken over."""

    toml: str
    notes: list[str]


@dataclass(slots=True)
class _Listener:
    """A listener, and its own lines by their words."""

    place: str
    port: str = "1883"
    host: str = ""
    lines: dict[str, MosquittoLine] = field(default_factory=dict)

    def says(self, word: str) -> str:
        return self.lines[word].value if word in self.lines else ""

    def allows_anonymous(self, reading: "_Reading") -> bool:
        """Whether clients need no name: its own line, or the last of the whole file."""
        own = self.says(OF_ONE_LISTENER)
        if not own and reading.is_per_listener:
            own = self.says(ANONYMOUS) or "false"
        return is_true(own) if own else reading.is_anonymous


@dataclass(slots=True)
class _Reading:
    """What was read so far."""

    listeners: list[_Listener] = field(default_factory=list)
    by_section: dict[str, dict[str, object]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    is_anonymous: bool = False
    is_per_listener: bool = False
    has_passwords: bool = False
    has_plugin: bool = False

    def note(self, line: MosquittoLine, why: str) -> None:
        self.notes.append(f"{line.place}: {line.word}: {why}")


def imported_config(lines: Iterable[MosquittoLine], files: MosquittoFiles) -> ImportedConfig:
    """Read all lines, those of included files in their places."""
    reading, first = _Reading(), _Listener("the default listener")
    current = first
    for line in lines:
        if line.word == "listener":
            port, _, host = line.value.partition(" ")
            current = _Listener(line.place, port, host.strip())
            reading.listeners.append(current)
        else:
            _take(reading, current, first, line)
    if any(not LISTENER_WORDS.get(word) for word in first.lines.keys() - {ANONYMOUS}):
        first.port = first.says("port") or first.port
        first.host = first.says("bind_address")
        reading.listeners.insert(0, first)
    return ImportedConfig(_toml(reading, files), reading.notes)


def _take(reading: _Reading, current: _Listener, first: _Listener, line: MosquittoLine) -> None:
    if line.word in ("port", "bind_address"):
        first.lines[line.word] = line
    elif line.word in LISTENER_WORDS:
        current.lines[line.word] = line
        if told := LISTENER_WORDS[line.word]:
            reading.note(line, told)
    elif line.word in (ANONYMOUS, OF_ONE_LISTENER):
        current.lines[line.word] = line
        if line.word == ANONYMOUS:
            reading.is_anonymous = is_true(line.value)
    elif line.word == "password_file":
        reading.has_passwords = True
    elif line.word in SETTINGS:
        _take_setting(reading, line)
    elif line.word != "acl_file":
        reading.is_per_listener |= line.word == "per_listener_settings" and is_true(line.value)
        reading.has_plugin |= line.word in PLUGIN_WORDS
        reading.note(line, why_not(line.word))


def _take_setting(reading: _Reading, line: MosquittoLine) -> None:
    section, key, convert = SETTINGS[line.word]
    try:
        value = convert(line.value)
    except ValueError as error:
        reading.note(line, f"not taken over: {error}")
        return
    keys = reading.by_section.setdefault(section, {})
    if key == "level" and key in keys:  # each log_type adds some
        value = min(str(value), str(keys[key]), key=LEVELS.index)
    keys[key] = value


def _toml(reading: _Reading, files: MosquittoFiles) -> str:
    users = dict(users_of(files.passwords or ""))
    anonymous = [one.allows_anonymous(reading) for one in reading.listeners]
    is_anonymous = all(anonymous) if anonymous else reading.is_anonymous
    if len(set(anonymous)) > 1:
        reading.notes.append("allow_anonymous differs by listener: here nobody is anonymous")
    top: dict[str, object] = {"data": "/var/lib/slipring"}
    if is_anonymous:
        top["allow_anonymous"] = True
    if reading.listeners:
        reading.by_section.setdefault("mqtt", {})["listen"] = "off"
    names = set[str]()
    is_open = is_anonymous or bool(users)
    parts = [
        _table("", top),
        *(_table(f"[{name}]", keys) for name, keys in _sections(reading)),
        *(_listener(reading, one, names, is_open=is_open) for one in reading.listeners),
    ]
    parts += map(_user, users)
    parts.append(_rules(reading, files, is_anonymous=is_anonymous))
    reading.notes += [
        f"the password of {name!r} is not taken over: {kind} cannot be turned into what checks a "
        "password here; run `slipring password`, and put its line into the [[user]] of that name"
        for name, kind in users.items()
    ]
    return "\n".join(filter(None, parts))


def _sections(reading: _Reading) -> list[tuple[str, dict[str, object]]]:
    order = ("mqtt", "journal", "limits", "log")
    return [(name, reading.by_section[name]) for name in order if name in reading.by_section]


def _listener(reading: _Reading, listener: _Listener, names: set[str], *, is_open: bool) -> str:
    tls = _tls(reading, listener)
    keys: dict[str, object] = {
        "name": _free_name(listener, names),
        "listen": _address(reading, listener, _unguarded(reading, listener, tls, is_open=is_open)),
    }
    if listener.says("protocol") == "websockets":
        keys["websocket"] = True
    most = listener.says("max_connections")
    if most.isdigit() and int(most) > 0:
        keys["connections"] = min(int(most), 1_000_000)
    return _table("[[listener]]", keys | tls)


def _tls(reading: _Reading, listener: _Listener) -> dict[str, object]:
    """The certificate, and whether clients need one. Mosquitto asks for none by `cafile` alone."""
    says = listener.says
    if not (says("certfile") and says("keyfile")):
        return {}
    keys: dict[str, object] = {"certificate": says("certfile"), "key": says("keyfile")}
    if is_true(says("require_certificate")) and says("cafile"):
        keys["client_ca"] = says("cafile")
        if says("crlfile"):
            keys["client_crl"] = [says("crlfile")]
        if not is_true(says("use_identity_as_username")):
            line = listener.lines["require_certificate"]
            reading.note(line, "here the certificate also names the user, without a password")
    return keys


def _unguarded(
    reading: _Reading, listener: _Listener, tls: dict[str, object], *, is_open: bool
) -> str:
    """Why others must not reach the listener yet: what let clients in there is missing here."""
    gone = "its guard was {}, which is not taken over"
    if "client_ca" in tls:
        return ""
    if is_true(listener.says("require_certificate")):
        return gone.format("certificates of clients")
    if "psk_hint" in listener.lines:
        return gone.format("shared keys")
    if reading.has_plugin:
        return gone.format("a plugin")
    return "" if is_open else NO_USERS


def _address(reading: _Reading, listener: _Listener, unguarded: str) -> str:
    if listener.port == "0" and listener.host.startswith("/"):
        return f"unix:{listener.host}"
    host = listener.host or ("::" if listener.says("socket_domain") == "ipv6" else "0.0.0.0")  # noqa: S104 (as it was)
    if host not in LOOPBACK and unguarded:
        reading.notes.append(f"{listener.place}: {unguarded}, {ON_THIS_MACHINE}")
        host = "127.0.0.1"
    return f"[{host}]:{listener.port}" if ":" in host else f"{host}:{listener.port}"


def _free_name(listener: _Listener, names: set[str]) -> str:
    stem = "unix" if listener.port == "0" else f"port-{listener.port}"
    count = 1
    while (name := stem if count == 1 else f"{stem}-{count}") in names:
        count += 1
    names.add(name)
    return name


def _user(name: str) -> str:
    """A user whose password nobody knows: it takes the place of the one to come."""
    table = _table("[[user]]", {"name": name, "password": verifier_of(token_urlsafe(), 4_096)})
    return (
        f"# Nobody knows this password: replace the line with one of `slipring password`.\n{table}"
    )


def _rules(reading: _Reading, files: MosquittoFiles, *, is_anonymous: bool) -> str:
    """Those of the ACL file; without one everybody who is let in may do everything."""
    if files.acl is None or files.acl:
        found = imported(files.acl or "")
        reading.notes += [f"ACL file: {note}" for note in found.notes]
        return found.toml
    if not reading.has_passwords:
        return ""
    who = "anyone" if is_anonymous else "known"
    rights = '["publish", "retain", "subscribe"]'
    return f'[[access.rule]]\nwho = ["{who}"]\nallow = {rights}\ntopics = {EVERYTHING}\n'


def _table(title: str, keys: dict[str, object]) -> str:
    lines = [f"{key} = {toml_text(value)}" for key, value in keys.items()]
    return "\n".join([*([title] if title else []), *lines, ""])
