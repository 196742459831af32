"""A table of a few lines, which answers as the engine does; a test changes what it has."""

import json
from typing import Any


class FakeTable:
    """Parameters by name, in the order of their indices."""

    def __init__(self, *names: str) -> None:
        self.revision = 1
        self.names = list(names)
        self.types: dict[str, str] = {}
        self.facts: dict[str, dict[str, Any]] = {}
        self.values: dict[str, Any] = {}
        self.qualities: dict[str, str] = {}
        self.received_ms: dict[str, int] = {}
        self.room = 1_000
        self.listings = 0
        self.asked: list[str] = []

    def ask(self, name: str, body: bytes) -> bytes:
        self.asked.append(name)
        answer: dict[str, Any] = getattr(self, f"_{name}")(**json.loads(body))
        return json.dumps(answer).encode()

    def _find(self, names: list[str]) -> dict[str, Any]:
        return {"table": 7, "revision": self.revision, "indices": names, "errors": []}

    def _list(self, count: int, **chosen: Any) -> dict[str, Any]:
        name_or_all, first = chosen.get("filter", "#"), chosen.get("from", 0)
        self.listings += name_or_all == "#"
        rows = [
            {"index": index, "name": name, "type": self.types.get(name, "f64"), "labels": {}}
            | self.facts.get(name, {})
            for index, name in enumerate(self.names)
            if index >= first and name_or_all in ("#", name)
        ]
        following = rows[count]["index"] if len(rows) > count else None
        return {"revision": self.revision, "next": following, "parameters": rows[:count]}

    def _values(self, **asked: Any) -> dict[str, Any]:
        names = asked.get("names", self.names)
        rows = [
            {"index": index, "name": name, "value": self.values[name], "time": 1_000_000}
            | {"received": self.received_ms.get(name, 2) * 1_000_000}
            | {"quality": self.qualities.get(name, "good")}
            for index, name in enumerate(self.names)
            if index >= asked["from"] and name in names and name in self.values
        ]
        if self.room == 0:
            return {"error": "too_large", "message": "", "problems": []}
        following = rows[self.room]["index"] if len(rows) > self.room else None
        return {"next": following, "values": rows[: self.room], "errors": []}
