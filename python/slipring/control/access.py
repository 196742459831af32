"""Rights in the configuration: who may do what on which topics. What no rule allows is denied."""

from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import AfterValidator, ConfigDict, Field, PrivateAttr, model_validator

from slipring.control.section import Section
from slipring.errors import PlanError
from slipring.native import NativeRule

Right = Literal[
    "publish",
    "subscribe",
    "retain",
    "declare",
    "select",
    "stream",
    "request",
    "serve",
    "journal",
    "replay",
    "watch",
    "administer",
    "all",
]
"""What a rule can be about; `all` stands for every other one."""

RIGHTS = tuple(right for right in get_args(Right) if right != "all")
TOPICS_MAX = 1_024
"""Topics of a rule, and names in it."""
RULES_MAX = 1_000_000
EVERYWHERE = ("#", "$SYS/#", "$slipring/to/#")
AREAS = ("clients", "memory", "log", "requests", "alarms", "layouts")
"""What an operator may administer; an administrator may administer `access` and `tokens`, too."""

RuleTuple = tuple[list[str], bool, list[str], list[str]]
"""A rule in words: who, whether it allows, the rights, the topics."""


class RuleSection(Section):
    """A rule: these people may, or may not, do this on those topics. A rule that denies wins."""

    # A topic and a name may begin and end with spaces; without them they are others.
    model_config: ClassVar[ConfigDict] = ConfigDict(str_strip_whitespace=False)

    who: tuple[str, ...] = Field(
        min_length=1,
        max_length=TOPICS_MAX,
        description="`user:NAME`, `role:NAME`, `claim:NAME=VALUE` of a token, `known` (everybody "
        "who has proved a name), `anonymous` (everybody else) or `anyone`.",
        examples=[("role:engineer", "user:anna")],
    )
    allow: tuple[Right, ...] = Field(
        (),
        description=f"What they may do: {', '.join(RIGHTS)}, or all.",
        examples=[("subscribe", "select")],
    )
    deny: tuple[Right, ...] = Field((), description="What they may not do, whatever is allowed.")
    topics: tuple[str, ...] = Field(
        EVERYWHERE,
        min_length=1,
        max_length=TOPICS_MAX,
        description="Topic filters; `%u` is the user, `%c` the client, `%{NAME}` a claim. For "
        "`administer` they are areas: clients, memory, log, requests, alarms, layouts, access, "
        "tokens.",
    )

    _native: NativeRule = PrivateAttr()

    @model_validator(mode="after")
    def _is_a_rule(self) -> "RuleSection":
        if bool(self.allow) == bool(self.deny):
            raise ValueError("a rule needs either allow or deny")
        try:
            self._native = NativeRule(*self.tuple())
        except PlanError as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def native(self) -> NativeRule:
        """The rule as the engine takes it."""
        # As `self._native`, which pydantic finds slowly; there may be very many rules.
        native: NativeRule = (self.__pydantic_private__ or {})["_native"]
        return native

    def tuple(self) -> RuleTuple:
        """The rule in words: who, whether it allows, the rights, the topics."""
        named = self.allow or self.deny
        rights = list(RIGHTS) if "all" in named else list(named)
        return list(self.who), bool(self.allow), rights, list(self.topics)


class AccessSection(Section):
    """Who may do what (docs/access.md). Without users and rules, everybody may do everything."""

    wide: Literal["refuse", "narrow"] = Field(
        "refuse",
        description="What happens to a subscription to more than its client may read: `refuse` it "
        "(0x87), or `narrow` it to what the client may read. Selections of parameters are always "
        "narrowed.",
    )
    folder: str = Field(
        "",
        max_length=4_096,
        description="Folder of further files with `[[access.rule]]` and `[[user]]`, `*.toml` in "
        "the order of their names; read again within a second when they change. A relative path "
        "begins at the config file.",
    )
    rule: tuple[RuleSection, ...] = Field((), max_length=RULES_MAX, description="Rules.")


BUILT_IN: tuple[RuleTuple, ...] = (
    (["role:administrator"], True, list(RIGHTS), [*EVERYWHERE]),
    (["role:operator"], True, ["watch"], [*EVERYWHERE]),
    (["role:operator"], True, ["administer"], list(AREAS)),
    (["role:viewer"], True, ["watch"], [*EVERYWHERE]),
)
"""The rules of the built-in roles, before all others."""
BUILT_IN_NATIVE = tuple(NativeRule(*rule) for rule in BUILT_IN)


def policy(
    section: AccessSection, roles: dict[str, tuple[str, ...]], *, is_enforced: bool
) -> dict[str, Any]:
    """The policy as the engine takes it; `roles` are those of the users."""
    return {
        "is_enforced": is_enforced,
        "narrows": section.wide == "narrow",
        "rules": [*BUILT_IN_NATIVE, *(rule.native for rule in section.rule)],
        "roles": {user: list(names) for user, names in roles.items() if names},
    }


def _is_role(name: str) -> str:
    if not name.isprintable() or not name:
        raise ValueError("a role needs a name without control characters")
    return name


Role = Annotated[str, AfterValidator(_is_role)]
