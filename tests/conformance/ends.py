"""Rows about PINGREQ, DISCONNECT and AUTH."""

from tests.conformance.row import rows

PINGREQ = rows(
    r"""
A PINGREQ is answered
    3.1.1: 3.12.4-1
    5.0: 3.12.4-1
    a connects
    a > PINGREQ
    a < PINGRESP
    a > PINGREQ + PINGREQ
    a < PINGRESP
    a < PINGRESP

A PINGREQ with wrong flags ends the connection
    3.1.1: 2.2.2-1 2.2.2-2
    5.0: 2.1.3-1
    a connects
    a > raw c1 00
    a < ended 0x81

A PINGREQ with a body ends the connection
    3.1.1: 4.8.0-1
    5.0: 4.13.1-1
    a connects
    a > raw c0 01 00
    a < ended 0x81

A client that is silent beyond its keep alive is cut off and its will is published
    3.1.1: 3.1.2-24 3.1.2-8
    5.0: 3.1.2-22 3.2.2-22 3.1.2-8 3.14.2-1
    sub connects
    sub subscribes {t}:0
    a connects keep_alive=1 will.topic={t} will.payload=silent
    a < ended 0x8d
    sub < PUBLISH payload=silent
"""
)

DISCONNECT = rows(
    r"""
After DISCONNECT the connection is closed
    3.1.1: 3.14.4-3
    5.0: 3.14.4-3
    a connects
    a > DISCONNECT
    a < closed

Nothing is processed after DISCONNECT
    3.1.1: 3.14.4-3
    5.0: 3.14.4-3
    sub connects
    sub subscribes {t}:0
    a connects
    a > DISCONNECT + PUBLISH
    a < closed
    a' connects
    sub < quiet

A DISCONNECT with its reason written out is normal
    5.0: 3.14.2-1 3.14.4-3
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t}
    a > raw e0 01 00
    a < closed
    a' connects will.topic={t}
    a' > raw e0 02 00 00
    a' < closed
    a'' connects
    sub < quiet

A DISCONNECT with properties is normal
    5.0: 3.14.4-3
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t}
    a > DISCONNECT reason_string=bye user=k:v
    a < closed
    a' connects
    sub < quiet

A DISCONNECT with wrong flags ends the connection and keeps the will
    3.1.1: 3.14.1-1 2.2.2-2 2.2.2-1
    5.0: 3.14.1-1 2.1.3-1
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t} will.payload=gone
    a > raw e1 00
    a < ended 0x81
    sub < PUBLISH payload=gone

A DISCONNECT with a body is malformed in MQTT 3.1.1
    3.1.1: 4.8.0-1
    sub connects
    sub subscribes {t}:0
    a connects will.topic={t} will.payload=gone
    a > raw e0 01 00
    a < closed
    sub < PUBLISH payload=gone

A DISCONNECT with a reason it does not have is malformed
    5.0: 3.14.2-1 4.13.1-1
    a connects
    a > DISCONNECT reason=0x01
    a < ended 0x81|0x82

A session that ends with its connection cannot be prolonged by DISCONNECT
    5.0: 4.13.1-1
    a connects session_expiry=0
    a > DISCONNECT session_expiry=60
    a < ended 0x82

A session can be prolonged by DISCONNECT
    5.0: 3.1.2-23
    a connects clean=0 session_expiry=1
    a > DISCONNECT session_expiry=600
    a < closed
    a' > CONNECT clean=0
    a' < CONNACK session_present=1

The broker's DISCONNECT says one of the reasons and no session expiry and is the last
    5.0: 3.14.2-1 3.14.2-2 3.14.4-1 3.14.4-2 4.13.2-1
    a connects clean=0 session_expiry=600
    a subscribes {t}:1
    pub connects
    a > CONNECT
    a < DISCONNECT reason=0x82 session_expiry=!
    a < closed
    pub > PUBLISH qos=1 id=1
    pub < PUBACK id=1
    pub < quiet
"""
)

AUTH = rows(
    r"""
A method that is not known is refused
    5.0: 4.12.0-1 3.1.4-2 3.2.2-7 3.2.2-8 4.13.2-1 4.12.0-4
    a > CONNECT auth_method=unknown
    a < CONNACK reason=0x8c session_present=0
    a < closed

A method that is not known is refused with its data
    5.0: 4.12.0-1 4.12.0-4
    a > CONNECT auth_method=SCRAM-SHA-1 auth_data=b'\x00\x01'
    a < CONNACK reason=0x8c
    a < closed

Data without a method is a protocol error
    5.0: 4.13.1-1 3.1.4-1
    a > CONNECT auth_data=b'\x00\x01'
    a < refused 0x81|0x82

A client that names no method is sent none
    5.0: 4.12.0-6
    a > CONNECT
    a < CONNACK auth_method=! auth_data=!
    a < quiet

An AUTH of a client that named no method ends the connection
    5.0: 4.12.0-7 4.12.1-2 4.13.1-1
    a connects
    a > AUTH reason=0x19 auth_method=x
    a < ended 0x82

An AUTH without a method ends the connection
    5.0: 4.12.0-7
    a connects
    a > AUTH reason=0x18
    a < ended 0x82

An AUTH with wrong flags ends the connection
    5.0: 3.15.1-1 2.1.3-1
    a connects
    a > AUTH reason=0x19 auth_method=x first=0xf1
    a < ended 0x81

An AUTH with a reason it does not have ends the connection
    5.0: 3.15.2-1
    a connects
    a > AUTH reason=0x01 auth_method=x
    a < ended 0x81|0x82

There is no AUTH in MQTT 3.1.1
    3.1.1: 2.2.2-2 4.8.0-1
    a connects
    a > raw f0 00
    a < closed
"""
)
