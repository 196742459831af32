"""Rows about sessions: what is kept for a client that is away, what it gets when it is back."""

from tests.conformance.row import rows

ROWS = rows(
    r"""
QoS 1 and 2 messages wait for a client that is away
    3.1.1: 3.1.2-5 3.1.2-4 4.5.0-1 4.1.0-1
    5.0: 3.1.2-5 4.5.0-1 3.1.2-23
    a connects clean=0 session_expiry=600
    a subscribes {t}/#:2
    a > DISCONNECT
    a < closed
    pub connects
    pub > PUBLISH topic={t}/1 payload=one qos=1 id=1
    pub < PUBACK id=1
    pub > PUBLISH topic={t}/2 payload=two qos=2 id=2
    pub < PUBREC id=2
    pub > PUBREL id=2
    pub < PUBCOMP id=2
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    a' < PUBLISH topic={t}/1 payload=one qos=1
    a' < PUBLISH topic={t}/2 payload=two qos=2

QoS 0 messages do not wait for a client that is away
    3.1.1: 3.1.2-5
    5.0: 4.5.0-1
    a connects clean=0 session_expiry=600
    a subscribes {t}:2
    a > DISCONNECT
    a < closed
    pub connects
    pub > PUBLISH payload=zero + PUBLISH payload=one qos=1 id=1
    pub < PUBACK id=1
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    a' < PUBLISH payload=one qos=1
    a' < quiet

Subscriptions are part of the session
    3.1.1: 3.1.2-4 4.1.0-1
    5.0: 3.1.2-5 3.1.2-23
    a connects clean=0 session_expiry=600
    a subscribes {t}:1
    a resets
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    pub connects
    pub > PUBLISH
    a' < PUBLISH

A subscription that was removed is not in the session
    3.1.1: 4.1.0-1
    5.0: 3.1.2-23
    a connects clean=0 session_expiry=600
    a subscribes {t}/x:1 {t}/y:1
    a > UNSUBSCRIBE id=2 filter={t}/x
    a < UNSUBACK id=2
    a > DISCONNECT
    a < closed
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    pub connects
    pub > PUBLISH topic={t}/x + PUBLISH topic={t}/y
    a' < PUBLISH topic={t}/y

A clean connection discards the subscriptions and the messages that wait
    3.1.1: 3.1.2-6 3.1.4-3
    5.0: 3.1.2-4 3.1.4-4
    a connects clean=0 session_expiry=600
    a subscribes {t}:1
    a > DISCONNECT
    a < closed
    pub connects
    pub > PUBLISH qos=1 id=1
    pub < PUBACK id=1
    a' connects clean=1
    a' < quiet
    pub > PUBLISH qos=1 id=2
    4 pub < PUBACK id=2
    5 pub < PUBACK id=2 reason=0x10
    a' < quiet

A clean session ends with its connection
    3.1.1: 3.1.2-6
    a connects clean=1
    a subscribes {t}:1
    a > DISCONNECT
    a < closed
    a' > CONNECT clean=0
    a' < CONNACK session_present=0
    pub connects
    pub > PUBLISH
    a' < quiet

A session without expiry ends with its connection
    5.0: 4.1.0-2
    a connects clean=0
    a subscribes {t}:1
    a > DISCONNECT
    a < closed
    a' > CONNECT clean=0
    a' < CONNACK session_present=0
    pub connects
    pub > PUBLISH
    a' < quiet

A session that is started clean is kept if it has an expiry
    5.0: 3.1.2-23
    a connects clean=1 session_expiry=600
    a > DISCONNECT
    a < closed
    a' > CONNECT clean=0
    a' < CONNACK session_present=1

A session that never expires is kept
    5.0: 3.1.2-23
    a connects clean=1 session_expiry=0xffffffff
    a > DISCONNECT
    a < closed
    a' > CONNECT clean=0
    a' < CONNACK session_present=1

A client may end its session when it disconnects
    5.0: 4.1.0-2
    a connects clean=0 session_expiry=600
    a > DISCONNECT session_expiry=0
    a < closed
    a' > CONNECT clean=0
    a' < CONNACK session_present=0

A session is kept while its connection is open
    3.1.1: 4.1.0-2 4.1.0-1
    5.0: 4.1.0-1
    a connects clean=1 session_expiry=0
    a subscribes {t}:1
    clock connects keep_alive=1
    clock < ended 0x8d
    pub connects
    pub > PUBLISH qos=1 id=1
    pub < PUBACK id=1
    a < PUBLISH qos=1

A session is discarded once it has expired
    5.0: 4.1.0-2
    clock connects
    clock subscribes {t}/over:0
    a connects clean=0 session_expiry=1 will.topic={t}/over will.delay=600
    a subscribes {t}:1
    a closes
    clock < PUBLISH topic={t}/over payload=gone
    pub connects
    pub > PUBLISH qos=1 id=1
    pub < PUBACK id=1 reason=0x10
    a' > CONNECT clean=0
    a' < CONNACK session_present=0
    a' < quiet

Retained messages outlive the session of who published them
    3.1.1: 3.1.2-7
    5.0: 3.3.1-5
    a connects clean=1
    a > PUBLISH payload=kept retain=1 qos=1 id=1
    a < PUBACK id=1 reason=0|0x10
    a > DISCONNECT
    a < closed
    a' connects clean=1
    a' subscribes {t}:1
    a' < PUBLISH payload=kept retain=1 qos=1

A PUBLISH at QoS 1 that was not acknowledged is sent again
    3.1.1: 4.4.0-1 3.3.1-1 2.3.1-4 4.3.2-1
    5.0: 4.4.0-1 3.3.1-1 4.3.2-3
    a connects clean=0 session_expiry=600
    a subscribes {t}:1
    pub connects
    pub > PUBLISH qos=1 id=9
    pub < PUBACK id=9
    a < PUBLISH qos=1 id=$m
    a < quiet
    a closes
    a' > CONNECT clean=0 session_expiry=600
    a' < CONNACK session_present=1
    a' < PUBLISH qos=1 id=$m dup=1
    a' > PUBACK id=$m
    a' > DISCONNECT
    a' < closed
    a'' > CONNECT clean=0
    a'' < CONNACK session_present=1
    a'' < quiet

A PUBLISH at QoS 2 that was not acknowledged is sent again
    3.1.1: 4.4.0-1 3.3.1-1 2.3.1-4 4.3.3-1
    5.0: 4.4.0-1 3.3.1-1 4.3.3-3
    a connects clean=0 session_expiry=600
    a subscribes {t}:2
    pub connects
    pub > PUBLISH qos=2 id=9
    pub < PUBREC id=9
    pub > PUBREL id=9
    pub < PUBCOMP id=9
    a < PUBLISH qos=2 id=$m
    a closes
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    a' < PUBLISH qos=2 id=$m dup=1
    a' > PUBREC id=$m
    a' < PUBREL id=$m
    a' > PUBCOMP id=$m
    a' < quiet

A PUBREL that was not acknowledged is sent again
    3.1.1: 4.4.0-1 4.3.3-1 2.3.1-6
    5.0: 4.4.0-1 4.3.3-5 4.3.3-6
    a connects clean=0 session_expiry=600
    a subscribes {t}:2
    pub connects
    pub > PUBLISH qos=2 id=9
    pub < PUBREC id=9
    pub > PUBREL id=9
    pub < PUBCOMP id=9
    a < PUBLISH qos=2 id=$m
    a > PUBREC id=$m
    a < PUBREL id=$m
    a < quiet
    a closes
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    a' < PUBREL id=$m
    a' > PUBCOMP id=$m
    a' < quiet

What is sent again comes in its first order
    3.1.1: 4.6.0-1 4.6.0-6
    5.0: 4.6.0-5 4.4.0-1
    a connects clean=0 session_expiry=600
    a subscribes {t}:1
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 + PUBLISH payload=2 qos=1 id=2 + PUBLISH payload=3 qos=1 id=3
    pub < PUBACK id=1
    pub < PUBACK id=2
    pub < PUBACK id=3
    a < PUBLISH payload=1 qos=1 id=$one
    a < PUBLISH payload=2 qos=1 id=$two
    a < PUBLISH payload=3 qos=1 id=$three
    a > PUBACK id=$two
    a < quiet
    a closes
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    a' < PUBLISH payload=1 qos=1 id=$one dup=1
    a' < PUBLISH payload=3 qos=1 id=$three dup=1

What came meanwhile comes after what is sent again
    3.1.1: 4.6.0-6
    5.0: 4.6.0-5
    a connects clean=0 session_expiry=600
    a subscribes {t}:1
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1
    pub < PUBACK id=1
    a < PUBLISH payload=1 qos=1 id=$one
    a closes
    pub > PUBLISH payload=2 qos=1 id=2
    pub < PUBACK id=2
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    a' < PUBLISH payload=1 qos=1 id=$one dup=1
    a' < PUBLISH payload=2 qos=1 dup=0|1

A PUBLISH that was refused is not sent again
    5.0: 4.4.0-2
    a connects clean=0 session_expiry=600
    a subscribes {t}:2
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1
    pub < PUBACK id=1
    pub > PUBLISH payload=2 qos=2 id=2
    pub < PUBREC id=2
    pub > PUBREL id=2
    pub < PUBCOMP id=2
    a < PUBLISH payload=1 qos=1 id=$one
    a < PUBLISH payload=2 qos=2 id=$two
    a > PUBACK id=$one reason=0x83 + PUBREC id=$two reason=0x97
    a < quiet
    a closes
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    a' < quiet

A message at QoS 2 of a client that was away is not delivered twice
    3.1.1: 4.3.3-2 4.1.0-1
    5.0: 4.3.3-10 3.1.2-23
    sub connects
    sub subscribes {t}:2
    a connects clean=0 session_expiry=600
    a > PUBLISH qos=2 id=7
    a < PUBREC id=7
    a closes
    a' > CONNECT clean=0 session_expiry=600
    a' < CONNACK session_present=1
    a' > PUBLISH qos=2 id=7 dup=1
    a' < PUBREC id=7
    a' > PUBREL id=7
    a' < PUBCOMP id=7
    sub < PUBLISH qos=2
    sub < quiet

A client that starts clean begins its message at QoS 2 anew
    3.1.1: 3.1.2-6
    5.0: 3.1.2-4
    sub connects
    sub subscribes {t}/new:2
    a connects clean=0 session_expiry=600
    a > PUBLISH topic={t}/old qos=2 id=7
    5 a < PUBREC id=7 reason=0x10
    4 a < PUBREC id=7
    a closes
    a' connects clean=1
    a' > PUBLISH topic={t}/new qos=2 id=7
    a' < PUBREC id=7
    a' > PUBREL id=7
    a' < PUBCOMP id=7
    sub < PUBLISH topic={t}/new qos=2
"""
)
