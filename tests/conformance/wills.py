"""Rows about wills: when one is published, when not, and as what."""

from tests.conformance.row import rows

ROWS = rows(
    r"""
The will is published when the connection is lost
    3.1.1: 3.1.2-8
    5.0: 3.1.2-7 3.1.2-8
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t} will.payload=gone
    a closes
    sub < PUBLISH payload=gone

The will is published when the connection is reset
    3.1.1: 3.1.2-8
    5.0: 3.1.2-8
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t} will.payload=gone
    a resets
    sub < PUBLISH payload=gone

The will is published when the client breaks the rules
    3.1.1: 3.1.2-8 4.8.0-1
    5.0: 3.1.2-8 4.13.1-1
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t} will.payload=gone
    a > CONNECT
    a < ended 0x82
    sub < PUBLISH payload=gone

The will is published when the client is taken over
    3.1.1: 3.1.2-8
    5.0: 3.1.2-8
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t} will.payload=gone
    a' connects
    a < ended 0x8e
    sub < PUBLISH payload=gone

A client that disconnects has no will published
    3.1.1: 3.1.2-10 3.14.4-3
    5.0: 3.1.2-10 3.14.4-3
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t}
    a > DISCONNECT
    a < closed
    a' connects
    sub < quiet

A client that disconnects with its will has it published
    5.0: 3.1.2-8
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t} will.payload=gone
    a > DISCONNECT reason=0x04
    a < closed
    sub < PUBLISH payload=gone

A client that disconnects because of an error has its will published
    5.0: 3.1.2-8 3.1.2-10
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t} will.payload=gone
    a > DISCONNECT reason=0x80
    a < closed
    sub < PUBLISH payload=gone

A client without a will has nothing published
    3.1.1: 3.1.2-12
    5.0: 3.1.2-11
    sub connects
    sub subscribes {t}:0
    a connects
    a closes
    a' connects
    sub < quiet

A will is published once
    3.1.1: 3.1.2-10
    5.0: 3.1.2-10
    sub connects
    sub subscribes {t}:0
    a connects clean=0 session_expiry=600 will.topic={t} will.payload=gone
    a closes
    sub < PUBLISH payload=gone
    a' connects clean=0 session_expiry=600
    a' closes
    a'' connects clean=0
    sub < quiet

A will at QoS 1 arrives at QoS 1
    3.1.1: 3.1.2-8
    5.0: 3.1.2-12
    sub connects
    sub subscribes {t}:2
    a connects will.topic={t} will.payload=gone will.qos=1
    a closes
    sub < PUBLISH payload=gone qos=1

A will at QoS 2 arrives at QoS 2
    3.1.1: 3.1.2-14
    5.0: 3.1.2-12
    sub connects
    sub subscribes {t}:2
    a connects will.topic={t} will.payload=gone will.qos=2
    a closes
    sub < PUBLISH payload=gone qos=2

A will may be empty
    3.1.1: 3.1.2-9
    5.0: 3.1.2-9
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t} will.payload=''
    a closes
    sub < PUBLISH payload=''

A will without retain is not retained
    3.1.1: 3.1.2-16
    5.0: 3.1.2-14
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t} will.payload=gone
    a closes
    sub < PUBLISH payload=gone
    late connects
    late subscribes {t}:0
    late < quiet

A will with retain is retained
    3.1.1: 3.1.2-17
    5.0: 3.1.2-15
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t} will.payload=gone will.retain=1
    a closes
    sub < PUBLISH payload=gone
    late connects
    late subscribes {t}:0
    late < PUBLISH payload=gone retain=1

The will of a refused client is not stored
    5.0: 3.1.2-7
    sub connects
    sub subscribes {t}:0
    a > CONNECT will.topic={t} auth_method=unknown
    a < CONNACK reason=0x8c
    a < closed
    a' connects
    sub < quiet

A client that is back before its will delay has no will published
    5.0: 3.1.3-9
    sub connects
    sub subscribes {t}:0
    a connects clean=0 session_expiry=600 will.topic={t} will.delay=600
    a closes
    a' connects clean=0 session_expiry=600
    sub < quiet
    a' > DISCONNECT
    a' < closed
    sub < quiet

A client that takes over its own connection has no delayed will published
    5.0: 3.1.3-9
    sub connects
    sub subscribes {t}:0
    a connects clean=0 session_expiry=600 will.topic={t} will.delay=600
    a' connects clean=0 session_expiry=600
    a < ended 0x8e
    sub < quiet

A will is published once its delay is over
    5.0: 3.1.2-8
    sub connects
    sub subscribes {t}:0
    a connects clean=0 session_expiry=600 will.topic={t} will.payload=gone will.delay=1
    a closes
    sub < quiet
    sub < PUBLISH payload=gone

A session that ends with its connection does not wait for the will delay
    5.0: 3.1.2-8
    sub connects
    sub subscribes {t}:0
    a connects session_expiry=0 will.topic={t} will.payload=gone will.delay=600
    a closes
    sub < PUBLISH payload=gone

A session that expires does not wait for the will delay
    5.0: 3.1.2-8 4.1.0-2
    sub connects
    sub subscribes {t}:0
    a connects clean=0 session_expiry=1 will.topic={t} will.payload=gone will.delay=600
    a closes
    sub < PUBLISH payload=gone
    a' > CONNECT clean=0
    a' < CONNACK session_present=0

A session that is discarded does not wait for the will delay
    5.0: 3.1.2-8 3.1.2-4
    sub connects
    sub subscribes {t}:0
    a connects clean=0 session_expiry=600 will.topic={t} will.payload=gone will.delay=600
    a closes
    a' connects clean=1
    sub < PUBLISH payload=gone

A session that is discarded by a take-over does not wait for the will delay
    5.0: 3.1.2-8 3.1.4-3
    sub connects
    sub subscribes {t}:0
    a connects clean=0 session_expiry=600 will.topic={t} will.payload=gone will.delay=600
    a' connects clean=1
    sub < PUBLISH payload=gone

The properties of a will are passed on
    5.0: 3.1.3-10 3.3.2-4 3.3.2-15 3.3.2-16 3.3.2-17 3.3.2-18 3.3.2-20
    sub connects
    sub subscribes {t}:0
    a > CONNECT will.topic={t} will.payload=gone will.payload_format=1
        ... will.content_type=text/plain will.response_topic={t}/r
        ... will.correlation_data=b'\x00\x01' will.user=b:1 will.user=a:2 will.user=b:1
    a < CONNACK
    a closes
    sub < PUBLISH payload=gone payload_format=1 content_type=text/plain response_topic={t}/r
        ... correlation_data=b'\x00\x01' user=b:1 user=a:2 user=b:1

The message expiry of a will is passed on
    5.0: 3.3.2-6
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t} will.payload=gone will.message_expiry=100
    a closes
    sub < PUBLISH payload=gone message_expiry=1..100
"""
)
