"""Dictionaries in the Vehicle Signal Specification, as `vspec export json` writes them.

A leaf becomes a parameter: `Vehicle.Cabin.Door` becomes `Vehicle/Cabin/Door`.
"""

import math
from collections.abc import Iterator
from typing import Any

from slipring.dictionary.draft import Draft
from slipring.dictionary.json_tree import JsonNode, NotJson, parse
from slipring.dictionary.problem import Findings
from slipring.dictionary.unit_words import translation

BRANCH = "branch"
LEAVES = ("sensor", "actuator", "attribute")
STRUCTS = ("struct", "property")
TYPES = {
    "uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16", "uint32": "u32",
    "int32": "i32", "uint64": "u64", "int64": "i64", "boolean": "bool", "float": "f32",
    "double": "f64", "string": "text",
}  # fmt: skip
FLOAT_MAX = 10**308
FLOATS = ("f32", "f64")


def read_vss(text: str, findings: Findings) -> Iterator[Draft]:
    """The leaves as drafts, in the file's order."""
    try:
        tree = parse(text)
    except NotJson as error:
        findings.error(error.line, f"this is not JSON: {error}")
        return
    if not _is_tree(tree):
        text = 'this is not VSS: it begins like {"Vehicle": {"type": "branch", "children": ...}}'
        findings.error(tree.line, text)
        return
    yield from _below("", tree.value, findings)


def _is_tree(tree: JsonNode) -> bool:
    return isinstance(tree.value, dict) and any(
        isinstance(node.value, dict) and ("children" in node.value or "type" in node.value)
        for node in tree.value.values()
    )


def _below(above: str, children: dict[str, JsonNode], findings: Findings) -> Iterator[Draft]:
    for name, node in children.items():
        if any(sign in name for sign in "./"):
            findings.error(node.line, f"{above}{name}: a node's name has neither . nor /")
        yield from _drafts(f"{above}{name}", node, findings)


def _drafts(name: str, node: JsonNode, findings: Findings) -> Iterator[Draft]:
    """The leaves at and below a node."""
    if not isinstance(node.value, dict):
        findings.error(node.line, f"{name}: a node is an object with a type, not {node.value!r}")
        return
    kind = _text(node, "type", name, findings)
    if kind == BRANCH:
        yield from _branch(name, node, findings)
    elif kind in LEAVES:
        draft = _leaf(name, node, kind, findings)
        if draft is not None:
            yield draft
    elif kind in STRUCTS:
        findings.warning(node.line, f"{name}: a {kind} is not a single value; it is left out")
    else:
        known = ", ".join((BRANCH, *LEAVES))
        findings.error(node.line, f"{name}: {kind!r} is not a type of a node; give one of {known}")


def _branch(name: str, node: JsonNode, findings: Findings) -> Iterator[Draft]:
    if "instances" in node.value:
        line = node.value["instances"].line
        findings.error(line, f"{name}: instances are not expanded; use vspec export json --expand")
        return
    children = node.value.get("children", JsonNode(node.line, {}))
    if not isinstance(children.value, dict):
        findings.error(children.line, f"{name}: children are an object, by name")
        return
    yield from _below(f"{name}/", children.value, findings)


def _leaf(name: str, node: JsonNode, kind: str, findings: Findings) -> Draft | None:
    datatype = _text(node, "datatype", name, findings)
    becomes = _type(name, node, datatype, findings)
    if becomes is None:
        return None
    allowed = _allowed(name, node, findings)
    words = [one for one in allowed if isinstance(one, str)]
    least, greatest = (_number(node, key, name, findings) for key in ("min", "max"))
    if becomes in FLOATS and (least is None) != (greatest is None):
        least = greatest = None
    if allowed and not words and least is None and becomes != "text":
        least, greatest = min(allowed), max(allowed)
    is_enum = becomes == "text" and bool(words) and datatype == "string"
    return Draft(
        name,
        node.line,
        "enum" if is_enum else becomes,
        _unit(node, name, findings),
        _text(node, "description", name, findings),
        least=least,
        greatest=greatest,
        source=kind,
        labels=dict(enumerate(words)) if is_enum else {},
    )


def _type(name: str, node: JsonNode, datatype: str, findings: Findings) -> str | None:
    """Our type for a datatype; None, and reported, if there is none."""
    line = node.value["datatype"].line if "datatype" in node.value else node.line
    if datatype in TYPES:
        return TYPES[datatype]
    if datatype.endswith("[]") and datatype[:-2] in TYPES:
        findings.note(line, f"{name}: {datatype} is an array; its values are JSON as text")
        return "text"
    if not datatype:
        findings.error(line, f"{name}: the datatype is missing; give one of {', '.join(TYPES)}")
    elif "." in datatype:
        findings.warning(line, f"{name}: {datatype} is a struct; it is left out")
    else:
        known = ", ".join(TYPES)
        findings.error(line, f"{name}: {datatype!r} is not a datatype; give one of {known}")
    return None


def _unit(node: JsonNode, name: str, findings: Findings) -> str:
    unit = _text(node, "unit", name, findings)
    return translation(unit) if unit else ""


def _text(node: JsonNode, key: str, name: str, findings: Findings) -> str:
    found = node.value.get(key)
    if found is None:
        return ""
    if not isinstance(found.value, str):
        findings.error(found.line, f"{name}: {key} is text in quotes, not {found.plain()!r}")
        return ""
    return " ".join(found.value.split())


def _number(node: JsonNode, key: str, name: str, findings: Findings) -> float | None:
    found = node.value.get(key)
    if found is None:
        return None
    if isinstance(found.value, bool) or not isinstance(found.value, (int, float)):
        findings.error(found.line, f"{name}: {key} is a number, not {found.plain()!r}")
        return None
    return float(found.value) if abs(found.value) < FLOAT_MAX else math.inf


def _allowed(name: str, node: JsonNode, findings: Findings) -> list[Any]:
    """The values that are allowed: all words, or all numbers."""
    found = node.value.get("allowed")
    if found is None:
        return []
    values = found.plain()
    is_list = isinstance(values, list) and values
    if is_list and (all(isinstance(one, str) for one in values) or all(map(_is_number, values))):
        return list(values)
    findings.error(found.line, f"{name}: allowed is a list of words, or of numbers")
    return []


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
