"""Keys of a terminal as they are pressed. Gives the terminal back as it was, whatever happens."""

import asyncio
import codecs
import os
import re
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager

READ_BYTES = 1024
NAMES = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1b[C": "right",
    "\x1b[D": "left",
    "\x1b[5~": "page up",
    "\x1b[6~": "page down",
    "\x1b[H": "home",
    "\x1b[1~": "home",
    "\x1b[F": "end",
    "\x1b[4~": "end",
    "\x1b": "escape",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
}
KEY = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Za-z]|.", re.DOTALL)


def keys_of(text: str) -> list[str]:
    """The keys that send this text: characters as they are, others by name.

    Many terminals send arrows as ESC O A once a program has asked for it.
    """
    found = (one.replace("\x1bO", "\x1b[") for one in KEY.findall(text))
    return [NAMES.get(one, one) for one in found if one in NAMES or one.isprintable()]


@contextmanager
def pressed_keys(descriptor: int, press: Callable[[str], None]) -> Iterator[None]:
    """Call `press` with each key, on the running loop; the end of input is `q`."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="ignore")
    loop = asyncio.get_running_loop()

    def read() -> None:
        content = os.read(descriptor, READ_BYTES)
        if not content:
            loop.remove_reader(descriptor)
        for key in keys_of(decoder.decode(content)) if content else ["q"]:
            press(key)

    with _without_line_editing(descriptor):
        loop.add_reader(descriptor, read)
        try:
            yield
        finally:
            loop.remove_reader(descriptor)


@contextmanager
def _without_line_editing(descriptor: int) -> Iterator[None]:
    """Keys come at once, unseen. Ctrl-C stays; Ctrl-Z, which would leave our screen, does not."""
    before = termios.tcgetattr(descriptor)
    changed = termios.tcgetattr(descriptor)
    changed[3] &= ~(termios.ICANON | termios.ECHO)
    changed[6][termios.VSUSP] = b"\x00"
    try:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, changed)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
