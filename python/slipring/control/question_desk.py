"""Answers the engine's questions about clients that want to connect, on threads of its own.

A slow service delays only the clients that it is asked about.
"""

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from slipring.control.config import Config
from slipring.control.hook import Hook
from slipring.control.tokens import Tokens
from slipring.native import Engine

log = logging.getLogger("slipring.tokens")

WAIT_S = 0.25
"""How soon the thread sees that it has to end."""
KEY_THREADS = 4
FETCH_S = 1.0
"""How often old keys are looked for."""


class QuestionDesk:
    """Fetches questions, and has threads answer them."""

    def __init__(self, engine: Engine, tokens: Tokens, config: Config) -> None:
        """Answer nothing before `start`."""
        self._engine, self._tokens = engine, tokens
        self._hook: Hook | None = None
        self._logins: ThreadPoolExecutor | None = None
        self._keys = ThreadPoolExecutor(KEY_THREADS, "slipring-keys")
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_away = False
        self.follow(config)

    def follow(self, config: Config) -> None:
        """Use another configuration."""
        names = [listener.name for listener in config.listeners]
        if config.hook.url and (self._hook is None or self._hook.section != config.hook):
            self._hook = Hook(config.hook, names)
            earlier = self._logins
            self._logins = ThreadPoolExecutor(config.hook.concurrency, "slipring-hook")
            if earlier:
                earlier.shutdown(wait=False)
        elif not config.hook.url:
            self._hook = None
        if config.asks_or_checks and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="slipring-questions")
            self._thread.start()

    def stop(self) -> None:
        """End the threads; questions that are open stay unanswered."""
        self._stop.set()
        if self._thread:
            self._thread.join()
        self._keys.shutdown(wait=False, cancel_futures=True)
        if self._logins:
            self._logins.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        fetched_s = float("-inf")
        while not self._stop.is_set():
            for question in self._engine.take_questions(WAIT_S):
                self._take(question)
            if time.monotonic() >= fetched_s + FETCH_S and self._tokens.is_remote:
                fetched_s = time.monotonic()
                self._keys.submit(self._tokens.fetch_due)

    def _take(self, question: dict[str, Any]) -> None:
        if question["kind"] == "keys":
            self._keys.submit(self._answer_keys, question)
        elif self._logins:
            self._logins.submit(self._answer_login, question)
        else:
            self._engine.answer_login(question["number"], None, None)

    def _answer_keys(self, question: dict[str, Any]) -> None:
        try:
            self._tokens.read_again(question["issuer"])
        finally:
            self._engine.answer_keys(question["number"])

    def _answer_login(self, question: dict[str, Any]) -> None:
        hook, allowed, who = self._hook, None, None
        try:
            if hook:
                allowed, who = hook.answer(question)
        finally:
            self._engine.answer_login(question["number"], allowed, who)
        self._tell(is_away=allowed is None)

    def _tell(self, *, is_away: bool) -> None:
        if is_away != self._is_away:
            self._is_away = is_away
            if is_away:
                log.warning("hook: the service does not answer as it should; clients are refused")
            else:
                log.info("hook: the service answers again")
