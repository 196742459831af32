"""Writes what follows from descriptions in the code: the page's types, and parts of the docs.

The status is described in python/slipring/status, the configuration in its sections.
"""

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, is_typeddict

from slipring.cli.config import documented_defaults
from slipring.status.alarms import AlarmsMessage
from slipring.status.console import ConsoleVisitor
from slipring.status.description import families, fields, without_links
from slipring.status.engine import SessionStatus
from slipring.status.message import LiveMessage, Scrape
from slipring.status.parameters import (
    BranchesMessage,
    ParameterMessage,
    ParametersMessage,
    WordsMessage,
)
from slipring.status.requests import OneRequestMessage, RequestsMessage, TopicStatus

MESSAGES = (
    LiveMessage,
    ParametersMessage,
    RequestsMessage,
    OneRequestMessage,
    ConsoleVisitor,
    AlarmsMessage,
    BranchesMessage,
    WordsMessage,
    ParameterMessage,
)
ROOT = Path(__file__).parents[1]
CONTRACT = ROOT / "web" / "src" / "model" / "contract.ts"
DOCS = ROOT / "docs"
HEAD = """\
// What the broker sends to the page. Written by `make reference` from python/slipring/status.
import { %s, type TypeOf } from "../shape.ts";
"""
MAKERS = ("fields", "list", "oneOf", "orNull")
CONTRACT_HEAD = """\
// All that the broker sends to the page. Written by `make reference` from slipring.status.
"""
LINES = textwrap.TextWrapper(width=118, initial_indent="  ", subsequent_indent="  ")
INNER_SPACE = "\N{NO-BREAK SPACE}"
"""Where a line must not end, until it is written."""
WORDS_MAX = 6
"""Words of a choice that are kept in one line."""
SHAPES = {int: "number", float: "number", str: "text", bool: "truth"}
WORDS = {int: "number", float: "number", str: "text", bool: "true or false"}


def written() -> dict[Path, str]:
    """Every file that follows from the description, as it has to be."""
    return {
        **contract(),
        **_page("configuration.md", keys=f"```toml\n{documented_defaults()}```"),
        **_page(
            "console.md",
            live=message_table(LiveMessage),
            parameters=message_table(ParametersMessage),
            branches=message_table(BranchesMessage),
            words=message_table(WordsMessage),
            parameter=message_table(ParameterMessage),
            requests=message_table(RequestsMessage),
            subscribers=message_table(TopicStatus),
            visitor=message_table(ConsoleVisitor),
        ),
        **_page("alarms.md", alarms=message_table(AlarmsMessage)),
        **_page("observing.md", metrics=metrics_table(), sessions=message_table(SessionStatus)),
    }


def contract() -> dict[Path, str]:
    """The shapes and types of the page: a file for each module that describes some."""
    described: dict[type, None] = {}
    for message in MESSAGES:
        _collect(message, described)
    modules = sorted({_module(one) for one in described})
    files = {CONTRACT: CONTRACT_HEAD + "".join(map(_reexport, modules))}
    for module in modules:
        own = [one for one in described if _module(one) == module]
        shapes = "".join(map(_shape, own))
        head = HEAD % ", ".join(maker for maker in MAKERS if f"{maker}(" in shapes)
        imports = "".join(_imports(own, module))
        files[CONTRACT.with_suffix("") / f"{module}.ts"] = head + imports + shapes
    return files


def _module(described: type) -> str:
    return described.__module__.rpartition(".")[2]


def _reexport(module: str) -> str:
    return f'export * from "./contract/{module}.ts";\n'


def _imports(own: list[type], module: str) -> Iterator[str]:
    """What the shapes of one file have from others."""
    inner = {field.inner for one in own for field in fields(one) if field.inner is not None}
    others = sorted({_module(one) for one in inner} - {module})
    for other in others:
        names = sorted(one.__name__ for one in inner if _module(one) == other)
        yield f'import {{ {", ".join(names)} }} from "./{other}.ts";\n'


def metrics_table() -> str:
    """Every metric."""
    rows = ["| name | what |", "|---|---|"]
    for family in families(Scrape, []):
        labels = family.metric.labels
        label = f"{{{','.join(labels)}}}" if labels else ""
        rows.append(f"| `{family.metric.name}{label}` | {family.meaning} |")
    return "\n".join(rows)


def message_table(message: type) -> str:
    """Every field of a message, by its path."""
    return "\n".join(["| field | type | what |", "|---|---|---|", *_rows(message, "")])


def _collect(described: type, into: dict[type, None]) -> None:
    for field in fields(described):
        if field.inner is not None and field.inner not in into:
            _collect(field.inner, into)
    into[described] = None


def _shape(described: type) -> str:
    name, meaning = described.__name__, without_links(described.__doc__ or "")
    all_fields = (
        f"{one.name}:{INNER_SPACE}{_typescript(one.annotation)}," for one in fields(described)
    )
    rows = LINES.fill(" ".join(all_fields)).replace(INNER_SPACE, " ")
    return (
        f"\n/** {meaning} */\nexport const {name} = fields({{\n{rows}\n}});\n"
        f"export type {name} = TypeOf<typeof {name}>;\n"
    )


def _typescript(kind: Any) -> str:
    inner = [one for one in get_args(kind) if one is not NoneType]
    if is_typeddict(kind):
        return str(kind.__name__)
    if get_origin(kind) is Literal:
        words = [json.dumps(word).replace(" ", INNER_SPACE) for word in inner]
        return f"oneOf({(', ' if len(words) > WORDS_MAX else f',{INNER_SPACE}').join(words)})"
    if get_origin(kind) is list:
        return f"list({_typescript(inner[0])})"
    if get_origin(kind) is tuple:
        return json.dumps("pair")
    if NoneType in get_args(kind):
        return f"orNull({_typescript(inner[0])})"
    return json.dumps(SHAPES.get(kind, "scalar"))


def _rows(described: type, prefix: str) -> Iterator[str]:
    for field in fields(described):
        path = f"{prefix}{field.name}"
        yield f"| `{path}` | {_words(field.annotation)} | {field.meaning} |"
        if field.inner is not None:
            is_list = any(
                get_origin(one) is list for one in (field.annotation, *get_args(field.annotation))
            )
            yield from _rows(field.inner, f"{path}{'[]' if is_list else ''}.")


def _words(kind: Any) -> str:
    inner = [one for one in get_args(kind) if one is not NoneType]
    if is_typeddict(kind):
        return "object"
    if get_origin(kind) is Literal:
        return ", ".join(f"`{word}`" for word in inner)
    if get_origin(kind) is list:
        return f"list of {_words(inner[0])}s"
    if get_origin(kind) is tuple:
        return "two numbers"
    if NoneType in get_args(kind):
        return f"{_words(inner[0])} or null"
    return WORDS.get(kind, "number, text, true or false")


def _page(name: str, **parts: str) -> dict[Path, str]:
    """A page with these parts between their marks."""
    text = (DOCS / name).read_text(encoding="utf-8")
    for part, content in parts.items():
        begin, end = f"<!-- {part}: written by `make reference` -->\n", "<!-- end -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}{content}\n{end}{rest.partition(end)[2]}"
    return {DOCS / name: text}


if __name__ == "__main__":
    for file, text in written().items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
