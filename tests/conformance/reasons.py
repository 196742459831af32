"""What the rows do not say: tests elsewhere, what cannot be seen, choices and deviations."""

WEBSOCKET = "crates/engine/tests/transports/websocket.rs"
TWO_BYTES = "The length in front of a string has two bytes, so that more cannot be written"
EXCHANGE = "tests/auth/test_exchange.py"
BARE_AUTH = "The broker's AUTH has neither a reason string nor user properties"

ELSEWHERE: dict[str, dict[str, str]] = {
    "3.1.1": {"6.0.0-1": WEBSOCKET, "6.0.0-2": WEBSOCKET, "6.0.0-4": WEBSOCKET},
    "5.0": {
        "4.12.0-2": EXCHANGE,
        "4.12.0-5": EXCHANGE,
        "6.0.0-1": WEBSOCKET,
        "6.0.0-2": WEBSOCKET,
        "6.0.0-4": WEBSOCKET,
    },
}
"""By version and statement, the file that tests what needs more than packets over a TCP socket."""

NOT_TESTED: dict[str, dict[str, str]] = {
    "3.1.1": {
        "4.7.3-3": TWO_BYTES,
        "7.0.0-1": "The broker does not connect to other brokers",
    },
    "5.0": {
        "3.3.4-5": "One copy is sent for all matching subscriptions: see 3.3.4-4",
        "3.15.2-2": BARE_AUTH,
        "3.15.2-3": BARE_AUTH,
        "4.7.3-3": TWO_BYTES,
    },
}
"""By version and statement, why nothing tests it. Statements for clients need no reason."""

CHOICES = """
A malformed packet, or one against the protocol: The connection is closed. MQTT 5 is told why
    by DISCONNECT, or by CONNACK once its version has been read
The protocol name is not MQTT: The connection is closed without an answer
A version nobody knows: CONNACK with return code 1, then closed
MQTT 3.1: Spoken as 3.1.1, with its own name and level, without *session present*; a refused
    subscription is acknowledged, because it has no word for it; identifiers may be longer than 23
An empty client identifier: Accepted, and a unique one is assigned; in MQTT 3.1.1 only with
    clean session
Longer identifiers than 23 bytes: Accepted up to `limits.client_id_bytes`
QoS 1 and 2, retained messages, wildcards, subscription identifiers, shared subscriptions: All
    there
QoS 0 messages for a client that is away: Not stored
Overlapping subscriptions: One copy at the highest QoS, with all their identifiers
A filter that is not valid in a SUBSCRIBE that is: That filter is refused in SUBACK (0x8F, in
    MQTT 3.1.1 0x80), the others are granted
Nobody subscribed to a message: PUBACK and PUBREC say 0x10
Publishing to a topic that begins with `$`: Refused with 0x87 in PUBACK or PUBREC; in MQTT
    3.1.1 and at QoS 0 acknowledged as usual and dropped
A PUBREC or PUBREL of an unknown identifier: Answered with PUBREL or PUBCOMP that says 0x92
Delivery at QoS 2: Onward at once, before PUBREL; a second PUBLISH of the same identifier is
    answered and not delivered
A keep-alive of 0, or above `limits.keep_alive_s`: MQTT 5 is told to use that limit; earlier
    versions cannot be told, and keep what they ask for: 0 is never
A message too large for a subscriber, or dropped at a limit: The next message to that MQTT 5
    client tells how many by the user property `slipring-dropped`
An authentication method: SCRAM-SHA-256 where there are users; others are refused with 0x8C
An authentication that fails: CONNACK 0x87, or DISCONNECT 0x87 when it was a second one
"""
"""Where the standards leave a choice, and what was chosen."""

DEVIATIONS = """
"""
"""Statements that are not kept, with the reason."""
