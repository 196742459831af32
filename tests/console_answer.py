"""What a broker's console answers. An engine that is busy for a second is asked again."""

import base64
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tests.running_broker import PATIENCE_S, RunningBroker

SILENT = "it has not answered for"
"""What `/ready`, `/metrics` and `/api/overview` say (503) while the engine does not answer."""


def basic(user: str, password: str) -> dict[str, str]:
    """The header by which a script proves who it is."""
    pair = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"authorization": f"Basic {pair}"}


def answer_now(url: str, headers: Mapping[str, str] = MappingProxyType({})) -> tuple[int, str]:
    """The HTTP status and the text of one answer."""
    request = urllib.request.Request(url, headers=dict(headers))
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def answer(url: str) -> tuple[int, str]:
    """The same, once the engine answers: on a busy machine it may not for a second."""
    given_up_s = time.monotonic() + PATIENCE_S
    while True:
        code, text = answer_now(url)
        if code != 503 or SILENT not in text or time.monotonic() > given_up_s:
            return code, text


def overview(broker: RunningBroker) -> dict[str, Any]:
    """All that the console shows."""
    code, text = answer(f"{broker.console}/api/overview")
    assert code == 200, text
    shown: dict[str, Any] = json.loads(text)
    return shown
