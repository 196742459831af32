"""Answers the engine's questions about clients that want to connect, on threads of its own.

A slow service delays only the clients that it is asked about.
"""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from slipring.control.config import Config
from slipring.control.hook import Hook
from slipring.control.tokens import Tokens
from slipring.native import Engine

log: logging.Logger = logging.getLogger("slipring.tokens")

WAIT_S = 0.25
"""How soon the thread sees that it has to end."""
FETCH_S = 1.0
"""How often old keys are looked for."""
NO_HOOK_LOGINS = 1
"""Logins taken at once if there is no service: each is answered at once."""


class QuestionDesk:
    """Fetches questions, and has threads answer them.

    Each issuer has one thread, so that a server of keys that hangs delays no other issuer.
    """

    def __init__(self, engine: Engine, tokens: Tokens, config: Config) -> None:
        """Answer nothing before `follow` finds something to answer."""
        self._engine, self._tokens = engine, tokens
        self._hook: Hook | None = None
        self._listeners: list[str] = []
        # Held while the threads are chosen and given work: none gets any after its end.
        self._lock = threading.Lock()
        self._logins: ThreadPoolExecutor | None = None
        self._keys: dict[str, ThreadPoolExecutor] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_away = False
        self.follow(config)

    def follow(self, config: Config) -> None:
        """Use another configuration."""
        with self._lock:
            self._follow_hook(config)
            issuers = {section.issuer for section in config.issuer}
            for gone in self._keys.keys() - issuers:
                self._keys.pop(gone).shutdown(wait=False)
        if config.asks_or_checks and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="slipring-questions")
            self._thread.start()

    def _follow_hook(self, config: Config) -> None:
        names = [listener.name for listener in config.listeners]
        if not config.hook.url:
            self._hook = None
            return
        if self._hook and (self._hook.section, self._listeners) == (config.hook, names):
            return
        self._hook, self._listeners = Hook(config.hook, names), names
        earlier = self._logins
        self._logins = ThreadPoolExecutor(config.hook.concurrency, "slipring-hook")
        if earlier:
            earlier.shutdown(wait=False)

    def stop(self) -> None:
        """End the threads; questions that are open stay unanswered."""
        self._stop.set()
        if self._thread:
            self._thread.join()
        for threads in [*self._keys.values(), *([self._logins] if self._logins else [])]:
            threads.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        fetched_s = float("-inf")
        while not self._stop.is_set():
            hook = self._hook
            logins_max = hook.section.concurrency if hook else NO_HOOK_LOGINS
            for question in self._engine.take_questions(WAIT_S, logins_max):
                self._take(question)
            if time.monotonic() >= fetched_s + FETCH_S:
                fetched_s = time.monotonic()
                for issuer in self._tokens.due():
                    self._have_keys_read(issuer, self._tokens.fetch_due, issuer)

    def _take(self, question: dict[str, Any]) -> None:
        if question["kind"] == "keys":
            issuer, asked_s = question["issuer"], time.monotonic()
            self._have_keys_read(issuer, self._answer_keys, question["number"], issuer, asked_s)
            return
        with self._lock:
            if self._hook and self._logins:
                self._logins.submit(self._answer_login, question)
                return
        self._engine.answer_login(question["number"], None, None)

    def _have_keys_read(self, issuer: str, read: Callable[..., None], *arguments: Any) -> None:
        with self._lock:
            if issuer not in self._keys:
                self._keys[issuer] = ThreadPoolExecutor(1, "slipring-keys")
            self._keys[issuer].submit(read, *arguments)

    def _answer_keys(self, number: int, issuer: str, asked_s: float) -> None:
        try:
            self._tokens.read_again(issuer, asked_s)
        finally:
            self._engine.answer_keys(number)

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
