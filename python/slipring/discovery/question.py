"""The question of who looks for brokers, as a datagram. Pure."""

import re

from slipring.discovery.announcement import ANSWER_BYTES_MAX

PORT = 18830
"""Where brokers answer, by default."""
QUESTION_BYTES_MAX = 1472
"""What fits into one packet; a longer datagram is no question."""
QUESTION = re.compile(rb"slipring\?1(?: (?P<nonce>[!-~]{1,32}))? *(?:\n.*)?", re.DOTALL)


def encode_question(nonce: str) -> bytes:
    """Write a question that is long enough for any answer."""
    return f"slipring?1 {nonce}\n".encode().ljust(ANSWER_BYTES_MAX)


def decode_question(datagram: bytes) -> tuple[str | None] | None:
    """Read the nonce of a question, if it has one; None where it is no question."""
    if len(datagram) > QUESTION_BYTES_MAX:
        return None
    asked = QUESTION.fullmatch(datagram)
    if asked is None:
        return None
    nonce: bytes | None = asked["nonce"]
    return (nonce.decode("ascii") if nonce else None,)
