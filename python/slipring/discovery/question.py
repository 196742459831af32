"""The discovery question as a datagram. Pure."""

import re

from slipring.discovery.announcement import ANSWER_BYTES_MAX

PORT = 18830
"""The default port on which brokers answer."""
QUESTION_BYTES_MAX = 1472
"""What fits into one packet; a longer datagram is not a question."""
QUESTION = re.compile(rb"slipring\?1(?: (?P<nonce>[!-~]{1,32}))? *(?:\n.*)?", re.DOTALL)


def encode_question(nonce: str) -> bytes:
    """A question, padded so that no answer is longer."""
    return f"slipring?1 {nonce}\n".encode().ljust(ANSWER_BYTES_MAX)


def decode_question(datagram: bytes) -> tuple[str | None] | None:
    """The nonce of a question, or (None,) if it has none; None if it is not a question."""
    if len(datagram) > QUESTION_BYTES_MAX:
        return None
    asked = QUESTION.fullmatch(datagram)
    if asked is None:
        return None
    nonce: bytes | None = asked["nonce"]
    return (nonce.decode("ascii") if nonce else None,)
