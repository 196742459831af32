"""The words of mosquitto.conf: which key each becomes, or why it is not taken over. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass

SECONDS = {"h": 3_600, "d": 86_400, "w": 7 * 86_400, "m": 30 * 86_400, "y": 365 * 86_400}
UNBOUNDED = 100_000_000
KIB, MIB = 1 << 10, 1 << 20
PACKET_EXTRA = 4_096
"""What a packet may have beside its payload: the longest topic that we take."""


@dataclass(frozen=True, slots=True)
class MosquittoLine:
    """A line that says something: where it is, its first word, and the rest."""

    place: str
    word: str
    value: str


def lines_of(file: str, text: str) -> list[MosquittoLine]:
    """The lines of one file. A number sign begins a comment only where a line begins."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        word, _, value = line.strip().partition(" ")
        if word and not line.startswith("#"):
            found.append(MosquittoLine(f"{file}:{number}", word, value.strip()))
    return found


def is_true(text: str) -> bool:
    """As Mosquitto reads it: 1 is true, too."""
    return text in ("true", "1")


def _number(least: int, most: int, *, for_zero: int | None = None) -> Callable[[str], int]:
    """A number within our bounds; what Mosquitto means by 0 where that is no bound."""

    def convert(text: str) -> int:
        if not re.fullmatch(r"\d{1,18}", text):
            raise ValueError(f"'{text}' is no number")
        given = int(text)
        if given == 0 and for_zero is not None:
            return for_zero
        return max(least, min(given, most))

    return convert


def _payload(text: str) -> int:
    """The size of packets whose payload is so long."""
    return _number(KIB, 256 * MIB, for_zero=256 * MIB)(
        str(_number(0, 1 << 40)(text) + PACKET_EXTRA)
    )


def _expiry(text: str) -> int:
    """`2w` and the like; months have 30 days, years 365."""
    match = re.fullmatch(r"(\d{1,9})([hdwmy])", text)
    if not match:
        raise ValueError(f"'{text}' is not a number with h, d, w, m or y")
    return min(int(match[1]) * SECONDS[match[2]], 2**32 - 2)


def _topics(text: str) -> list[str]:
    """What is journaled: everything, or nothing where there is no persistence."""
    return ["#"] if is_true(text) else []


def _retained(text: str) -> int:
    return 100_000 if is_true(text) else 0


def _log_level(text: str) -> str:
    return {"debug": "debug", "all": "debug", "error": "error", "warning": "warning"}.get(
        text, "info"
    )


SETTINGS: dict[str, tuple[str, str, Callable[[str], object]]] = {
    "persistence": ("journal", "topics", _topics),
    "sys_interval": ("mqtt", "sys_interval_s", _number(0, 3_600)),
    "persistent_client_expiration": ("limits", "session_expiry_s", _expiry),
    "max_inflight_messages": ("limits", "inflight", _number(1, 65_535, for_zero=65_535)),
    "max_queued_messages": ("limits", "queue_messages", _number(1, UNBOUNDED, for_zero=UNBOUNDED)),
    "max_queued_bytes": ("limits", "queue_bytes", _number(KIB, 1 << 36, for_zero=1 << 36)),
    "max_packet_size": ("limits", "packet_bytes", _number(KIB, 256 * MIB, for_zero=256 * MIB)),
    "message_size_limit": ("limits", "packet_bytes", _payload),
    "max_keepalive": ("limits", "keep_alive_s", _number(1, 65_535, for_zero=65_535)),
    "memory_limit": ("limits", "memory_bytes", _number(0, 1 << 40)),
    "retain_available": ("limits", "retained_messages", _retained),
    "log_type": ("log", "level", _log_level),
}
"""Which section and key a word becomes, and its value."""

_TLS = "not taken over: TLS 1.2 and 1.3 are spoken, with the ciphers of rustls"
_NO = "not taken over: there is nothing like it here"
_PROXY = "not taken over: no listener reads the address that a proxy sends"
LISTENER_WORDS = {
    "protocol": "",
    "certfile": "",
    "keyfile": "",
    "cafile": "",
    "crlfile": "",
    "require_certificate": "",
    "use_identity_as_username": "",
    "max_connections": "",
    "socket_domain": "",
    "use_subject_as_username": "not taken over: the user is the common name, or client_name",
    "capath": "not taken over: put the authorities into one file, and name it as client_ca",
    "tls_version": _TLS,
    "ciphers": _TLS,
    "ciphers_tls1.3": _TLS,
    "dhparamfile": _TLS,
    "tls_engine": _TLS,
    "tls_engine_kpass_sha1": _TLS,
    "tls_keyform": _TLS,
    "psk_hint": "not taken over: TLS with shared keys is not spoken; use certificates",
    "mount_point": "not taken over: topics here have no prefix by listener",
    "bind_interface": "not taken over: name an address of the interface",
    "http_dir": "not taken over: no files are served beside the console",
    "max_topic_alias": "not taken over: limits.topic_aliases is for all listeners",
    "max_qos": "not taken over: QoS 0, 1 and 2 are always there",
    "use_username_as_clientid": "not taken over: rules can name %u and %c instead",
    "accept_protocol_versions": "not taken over: MQTT 3.1, 3.1.1 and 5 are always spoken",
    "websockets_headers_size": "not needed: the opening of a WebSocket has a bound of its own",
    "disable_client_cert_date_checks": "not taken over: a certificate that has ended is refused",
    "enable_proxy_protocol": _PROXY,
    "proxy_protocol_v2_require_tls": _PROXY,
    "listener_auto_id_prefix": _NO,
    "max_topic_alias_broker": "not needed: topic aliases for subscribers have a bound of their own",
    "http_api": "not taken over: the console has an HTTP API (api.md)",
    "websockets_origin": "not taken over: list pages in `origins` of the listener",
}
"""Words that belong to the listener above them, and what is told about them."""
_JOURNAL = "not needed: the journal is in `data`, and written at once"
_SERVICE = "not needed: systemd does that (slipring service show)"
_LOG = "not taken over: the log is on standard error, and at each [[log.server]]"
_PLUGIN = "not taken over: see access.md, tokens.md and [hook] for who is let in, and may do what"
NOT_TAKEN = {
    "per_listener_settings": "not taken over: users and rules are those of all listeners",
    "persistence_location": _JOURNAL,
    "persistence_file": _JOURNAL,
    "autosave_interval": _JOURNAL,
    "autosave_on_changes": _JOURNAL,
    "pid_file": _SERVICE,
    "user": _SERVICE,
    "log_dest": _LOG,
    "log_facility": _LOG,
    "log_timestamp": _LOG,
    "log_timestamp_format": _LOG,
    "connection_messages": "not taken over: see log.rooms.connections",
    "websockets_log_level": _LOG,
    "plugin": _PLUGIN,
    "auth_plugin": _PLUGIN,
    "global_plugin": _PLUGIN,
    "psk_file": LISTENER_WORDS["psk_hint"],
    "clientid_prefixes": "not taken over: rules can name %c instead",
    "auto_id_prefix": _NO,
    "allow_zero_length_clientid": "not needed: a client without an identifier is given one",
    "allow_duplicate_messages": _NO,
    "check_retain_source": "not needed: it is always so",
    "max_inflight_bytes": "not taken over: limits.outbox_bytes bounds what waits for a client",
    "queue_qos0_messages": "not taken over: QoS 0 is not kept for clients that are away",
    "retain_expiry_interval": "not taken over: a publisher gives a message its expiry",
    "set_tcp_nodelay": "not needed: it is always set",
    "upgrade_outgoing_qos": _NO,
    "global_max_clients": "not taken over: limits.connections and limits.sessions bound clients",
    "global_max_connections": "not taken over: limits.connections bounds all listeners together",
    "packet_buffer_size": _NO,
    "retained_persistence": "not taken over: retained messages are in the journal",
    "retry_interval": "not needed: a message is sent again when its client comes back",
    "enable_control_api": "not taken over: see access.md and api.md",
    "auth_plugin_deny_special_chars": _PLUGIN,
    "plugin_load": _PLUGIN,
    "plugin_use": _PLUGIN,
}
"""Why a word is not taken over."""
_BRIDGE = frozenset(
    {"connection", "address", "addresses", "topic", "cleansession", "idle_timeout", "clientid"}
    | {"keepalive_interval", "notifications", "notifications_local_only", "notification_topic"}
    | {"restart_timeout", "round_robin", "start_type", "threshold", "try_private", "username"}
    | {"password", "tcp_keepalive"}
)
PLUGIN_WORDS = frozenset({"plugin", "auth_plugin", "global_plugin", "plugin_load"})
"""Words by which something else than users and ACL files decides who may do what."""


def why_not(word: str) -> str:
    """Why a word that becomes no key is not taken over."""
    if is_of_bridge(word):
        return "not taken over: brokers are not linked with each other yet"
    if word.startswith(("auth_opt_", "plugin_opt_")):
        return _PLUGIN
    return NOT_TAKEN.get(word, "not taken over: it is no word that we know of Mosquitto's")


def is_of_bridge(word: str) -> bool:
    """Whether a word describes a link to another broker."""
    return word in _BRIDGE or word.startswith(("bridge_", "remote_", "local_"))
