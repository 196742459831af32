"""The audit: its section of the configuration, its rules in the plan, lines for log servers.

Records are written by the engine, and nothing here can change or remove one.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypedDict, get_args

from pydantic import Field

from slipring.control.journal import CENTURY_S, FOR_EVER, PIB
from slipring.control.limits import KIB, MIB
from slipring.control.section import Section, between

AuditKind = Literal[
    "connected",
    "disconnected",
    "refused",
    "subscribed",
    "selected",
    "read",
    "denied",
    "changed",
    "login",
    "logout",
    "token_issued",
    "token_revoked",
    "quota",
]
"""The kinds of records that can be chosen. `started`, `stopped` and `lost` are always written."""

KINDS: tuple[AuditKind, ...] = get_args(AuditKind)
ALWAYS = ("started", "stopped", "lost")
FOLDER = "audit"
"""The folder of its journal, in the data folder."""


class ActedBy(TypedDict, total=False):
    """Who acts through the control plane, from where, and by which right."""

    user: str
    address: str
    proof: str
    right: str


class AuditFields(TypedDict, total=False):
    """What is known of a record beside its kind. Never a password, a token or a payload."""

    user: str
    client: str
    address: str
    listener: str
    proof: str
    """How the user was proved, such as `password`."""
    right: str
    topic: str
    """A topic, the key of a setting, or an area of operators such as `memory`."""
    rule: int | None
    outcome: str
    """`ok` unless it is given; `refused` if it was."""
    detail: str


class AuditSection(Section):
    """Who connected, was refused, read or changed what (docs/audit.md)."""

    keep: Literal["with_users", "always", "never"] = Field(
        "with_users",
        description="When an audit is kept: as soon as there are users or rules (`with_users`), "
        "`always` or `never`.",
    )
    kinds: tuple[AuditKind, ...] = Field(
        KINDS, description="What is recorded; `started`, `stopped` and `lost` are always."
    )
    required: bool = Field(
        False, description="Let no client in while the audit cannot be written (0x88)."
    )
    segment_bytes: Annotated[int, between(64 * KIB, 4096 * MIB)] = Field(
        16 * MIB, description="Size at which a new segment file begins."
    )
    retain_age_s: Annotated[int, between(0, CENTURY_S)] = Field(
        90 * 24 * 3_600, description="Seconds after which records are removed; 0 keeps them."
    )
    retain_bytes: Annotated[int, between(0, PIB)] = Field(
        256 * MIB,
        description="Bytes above which the oldest records are removed; "
        f"{FOR_EVER} leaves it to the disk.",
    )

    def is_kept(self, *, has_users: bool) -> bool:
        """Whether there is an audit."""
        return self.keep == "always" or (self.keep == "with_users" and has_users)

    def rules(self, *, has_users: bool) -> dict[str, Any]:
        """The rules as the engine takes them; no kind at all means no audit."""
        kinds = [*self.kinds, *ALWAYS] if self.is_kept(has_users=has_users) else []
        return {
            "kinds": kinds,
            "retain_age_s": self.retain_age_s,
            "retain_bytes": self.retain_bytes,
            "required": self.required,
        }


def audit_folder(data: Path) -> Path:
    """The folder of the audit's journal."""
    return data / FOLDER


@dataclass(frozen=True, slots=True)
class AuditLine:
    """A record as a line of the log: what log servers get."""

    at_ns: int
    kind: str
    text: str
    client: str | None
    topic: str | None
    detail: str | None
    room: str = FOLDER
    request: None = None

    @classmethod
    def of(cls, record: bytes) -> Self:
        """The line of a record, which is JSON."""
        found = json.loads(record)
        named = {key: value for key, value in found.items() if key != "at_ns" and value is not None}
        words = (f"{key}={_value(value)}" for key, value in named.items())
        return cls(
            found["at_ns"],
            f"audit {found['kind']}",  # the log has events of the same names
            f"audit {' '.join(words)}",
            found["client"],
            found["topic"],
            found["detail"],
        )


def _value(value: object) -> str:
    """A value that stands between spaces: text with others in it is quoted, as JSON."""
    text = str(value)
    is_plain = text.isprintable() and not set(text) & set(' "=')
    return text if is_plain else json.dumps(text)
