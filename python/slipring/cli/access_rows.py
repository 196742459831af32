"""Rules, users and explanations as `slipring access` shows them."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from slipring.cli.console_access import ConsoleAccess
from slipring.cli.console_request import ask
from slipring.cli.display import counted, printable
from slipring.cli.terminal_table import plain, show, table

if TYPE_CHECKING:
    from slipring.control.access_explanation import AccessQuestion

Json = dict[str, Any]


def everything(console: ConsoleAccess) -> Json:
    """All rules and users of a running broker; it sends a thousand of each at a time."""
    whole = ask(console, "/api/access")
    seen = max(len(whole["rules"]), len(whole["users"]))
    while seen < max(whole["rules_total"], whole["users_total"]):
        more = ask(console, f"/api/access?start={seen}")
        whole["rules"] += more["rules"]
        whole["users"] += more["users"]
        step = max(len(more["rules"]), len(more["users"]))
        if not step:  # some were removed meanwhile
            break
        seen += step
    return whole


def change(console: ConsoleAccess, path: str, method: str, body: Json | None = None) -> Json:
    """Change something, and say if nobody may change it back."""
    done = ask(console, path, body, method)
    if "warning" in done:
        print(f"warning: {printable(done['warning'])}", file=sys.stderr)
    return done


def status_of_file(file: Path) -> Json:
    """The same for a config file with its folder and its store."""
    from slipring.control import load_config
    from slipring.control.access_explanation import rule_row
    from slipring.control.access_merge import built_in_rules, named_rules

    config = load_config(file)
    rules = [rule_row(*one) for one in (*built_in_rules(), *named_rules(config))]
    users = [{"name": one.name, "roles": one.roles, "where": one.where} for one in config.user]
    return {
        "is_enforced": config.has_users,
        "wide": config.access.wide,
        "folder": config.access.folder,
        "trouble": None,
        "warning": None,
        "rules_total": len(rules),
        "rules": rules,
        "users_total": len(users),
        "users": users,
    }


def explain_by_file(file: Path, question: "AccessQuestion") -> Json:
    """The answer by a config file."""
    from slipring.control import load_config
    from slipring.control.access_explanation import explain_access
    from slipring.control.plan import make_plan

    config = load_config(file)
    return asdict(explain_access(config, make_plan(config), question))


def explain_by_broker(console: ConsoleAccess, question: "AccessQuestion") -> Json:
    """The answer by a running broker."""
    asked = [("action", question.right), ("topic", question.topic), ("client", question.client)]
    asked += [("user", question.user)] if question.user is not None else []
    asked += [("role", role) for role in question.roles]
    asked += [("claim", f"{name}={value}") for name, value in question.claims]
    return ask(console, f"/api/access/explain?{urlencode(asked)}")


def show_access(status: Json) -> None:
    """Print rules and users."""
    rules = table("rule", "who", "", "rights", "topics")
    for one in status["rules"]:
        verb, rights = ("may", one["allow"]) if "allow" in one else ("may not", one["deny"])
        words = (one["name"], " ".join(one["who"]), verb, " ".join(rights))
        rules.add_row(*map(plain, words), plain(" ".join(one["topics"])))
    people = table("user", "roles", "where")
    for one in status["users"]:
        people.add_row(plain(one["name"]), plain(" ".join(one["roles"])), plain(one["where"]))
    show(rules, people if status["users"] else plain("no users"), plain(_rest(status)))


def _rest(status: Json) -> str:
    lines = []
    if status["trouble"]:
        lines.append(f"the files of the folder are not in force: {printable(status['trouble'])}")
    if status["warning"]:
        lines.append(printable(status["warning"]))
    if status["is_enforced"]:
        lines.append("what no rule allows is denied; a rule that denies wins")
    else:
        lines.append("there are no users and no rules of yours: everybody may do everything")
    return "; ".join(lines)


def show_explanation(answer: Json, user: str, action: str, topic: str) -> None:
    """Print an explanation, the answer first."""
    verdict = {"whole": "yes", "part": "only a part", "nothing": "no"}[answer["extent"]]
    who = "a client without a name" if user == "-" else user
    print(printable(f"{verdict}: {who} {action} {topic}"))
    if answer["rule"]:
        print(printable(f"decided by {_rule(answer['rule'])}"))
    elif answer["extent"] == "nothing":
        print("no rule is about it, and what no rule allows is denied")
    if answer["others"]:
        print(f"{counted(len(answer['others']), 'other rule')} about it:")
        for one in answer["others"]:
            print(printable(f"  {_rule(one)}"))
    for note in answer["notes"]:
        print(printable(note))


def _rule(rule: Json) -> str:
    return f"{rule['name']}: {rule['text']}"
