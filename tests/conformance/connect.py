"""Rows about CONNECT: what is accepted, and what becomes of the others."""

from tests.conformance.row import rows

ROWS = rows(
    r"""
A good CONNECT is accepted
    3.1.1: 3.1.4-4 3.2.0-1 7.1.1-1 7.0.0-2
    5.0: 3.1.4-5 3.2.0-1 3.2.2-1 3.2.2-8 4.2.0-1
    a > CONNECT
    a < CONNACK reason=0 session_present=0
    a < quiet

A PINGREQ before CONNECT ends the connection
    3.1.1: 3.1.0-1 4.8.0-1
    5.0: 3.1.0-1 3.14.0-1
    a > PINGREQ
    a < closed

A PUBLISH before CONNECT is not delivered
    3.1.1: 3.1.0-1
    5.0: 3.1.0-1 3.14.0-1
    sub connects
    sub subscribes {t}:0
    a > PUBLISH + CONNECT
    a < closed
    sub < quiet

A SUBSCRIBE before CONNECT ends the connection
    3.1.1: 3.1.0-1
    5.0: 3.1.0-1 3.14.0-1
    a > SUBSCRIBE filter={t}:0
    a < closed

A DISCONNECT before CONNECT ends the connection
    3.1.1: 3.1.0-1
    5.0: 3.1.0-1 3.14.0-1
    a > DISCONNECT
    a < closed

An AUTH before CONNECT ends the connection
    5.0: 3.1.0-1 3.14.0-1
    a > AUTH reason=0x18 auth_method=x
    a < closed

A second CONNECT ends the connection
    3.1.1: 3.1.0-2 4.8.0-1
    5.0: 3.1.0-2 3.2.0-2 4.13.1-1
    a connects
    a > CONNECT
    a < ended 0x82

A client need not wait for its CONNACK
    3.1.1: 3.2.0-1
    5.0: 3.2.0-1
    a > CONNECT + SUBSCRIBE id=5 filter={t}:1 + PINGREQ
    a < CONNACK
    a < SUBACK id=5 reasons=1
    a < PINGRESP

A CONNECT in single bytes is one packet
    3.1.1: 7.1.1-1
    5.0: 4.2.0-1
    a > raw 10
    4 a > raw 0c 00 04 4d 51
    5 a > raw 0d 00 04 4d 51
    a > raw 54 54
    4 a > raw 04 02 00 00 00
    5 a > raw 05 02 00 00 00 00
    a > raw 00
    a < CONNACK

Another protocol name is not spoken
    3.1.1: 3.1.2-1
    5.0: 3.1.2-1
    4 a > bytes 10 'MQTQ' 04 02 0000 '{id}a'
    5 a > bytes 10 'MQTQ' 05 02 0000 00 '{id}a'
    a < refused 0x81|0x84

A protocol level nobody knows is refused
    3.1.1: 3.1.2-2 3.2.2-5
    a > bytes 10 'MQTT' 06 02 0000 '{id}a'
    a < CONNACK reason=1
    a < closed

A protocol version nobody knows ends the connection
    5.0: 3.1.2-2
    a > bytes 10 'MQTT' 06 02 0000 00 '{id}a'
    a < cut

MQTT 3.1 is spoken, under the name it has
    3.1.1: 3.1.2-2
    a > bytes 10 'MQIsdp' 03 02 0000 '{id}a'
    a < CONNACK

Another level under the name of MQTT 3.1 is refused
    3.1.1: 3.1.2-2
    a > bytes 10 'MQIsdp' 04 02 0000 '{id}a'
    a < CONNACK reason=1
    a < closed

The reserved connect flag ends the connection
    3.1.1: 3.1.2-3 3.1.4-1 3.2.2-6
    5.0: 3.1.2-3 3.1.4-1
    a > CONNECT flags=0x03
    a < refused 0x81|0x82

The will flag without a will in the payload is malformed
    3.1.1: 3.1.2-9 3.1.4-1
    5.0: 3.1.2-9 3.1.4-1
    a > CONNECT flags=0x06
    a < refused 0x81|0x82

A will QoS without the will flag is malformed
    3.1.1: 3.1.2-11 3.1.2-13
    5.0: 3.1.2-11
    a > CONNECT flags=0x0a
    a < refused 0x81|0x82

A will retain without the will flag is malformed
    3.1.1: 3.1.2-11 3.1.2-15
    5.0: 3.1.2-13
    a > CONNECT flags=0x22
    a < refused 0x81|0x82

A will in the payload without the will flag is malformed
    3.1.1: 3.1.2-11 3.1.4-1
    5.0: 3.1.4-1
    a > CONNECT will.topic={t} flags=0x02
    a < refused 0x81|0x82

A will QoS of 3 is malformed
    3.1.1: 3.1.2-14
    5.0: 3.1.2-12
    a > CONNECT will.topic={t} will.qos=3
    a < refused 0x81|0x82

A will at QoS 0 1 and 2 is accepted
    3.1.1: 3.1.2-14
    5.0: 3.1.2-12 3.2.2-12
    a connects will.topic={t} will.qos=0
    b connects will.topic={t} will.qos=1
    c connects will.topic={t} will.qos=2

A retained will is accepted
    5.0: 3.2.2-13
    a connects will.topic={t} will.retain=1
    a > DISCONNECT

A user name without its flag is malformed
    3.1.1: 3.1.2-18
    5.0: 3.1.2-16
    a > CONNECT username=u flags=0x02
    a < refused 0x81|0x82

The user name flag without a user name is malformed
    3.1.1: 3.1.2-19
    5.0: 3.1.2-17
    a > CONNECT flags=0x82
    a < refused 0x81|0x82

A password without its flag is malformed
    3.1.1: 3.1.2-20
    5.0: 3.1.2-18
    a > CONNECT username=u password=p flags=0x82
    a < refused 0x81|0x82

The password flag without a password is malformed
    3.1.1: 3.1.2-21
    5.0: 3.1.2-19
    a > CONNECT username=u flags=0xc2
    a < refused 0x81|0x82

A password without a user name is malformed in MQTT 3.1.1
    3.1.1: 3.1.2-22 3.1.4-1
    a > CONNECT password=p
    a < closed

A password without a user name is allowed in MQTT 5
    5.0: 3.1.2-19
    a connects password=p

All fields of the payload are read in their order
    3.1.1: 3.1.3-1 3.1.2-9 3.1.2-19 3.1.2-21
    5.0: 3.1.3-1 3.1.2-9 3.1.2-17 3.1.2-19
    sub connects
    sub subscribes {t}/will:0
    a connects will.topic={t}/will will.payload=ended username=u password=p
    a closes
    sub < PUBLISH topic={t}/will payload=ended

A CONNECT without a client identifier is malformed
    3.1.1: 3.1.3-3 3.1.4-1
    5.0: 3.1.3-3 3.1.4-1
    4 a > bytes 10 'MQTT' 04 02 0000
    5 a > bytes 10 'MQTT' 05 02 0000 00
    a < refused 0x81|0x82

A CONNECT with bytes behind its payload is malformed
    3.1.1: 3.1.4-1 3.2.2-6
    5.0: 3.1.4-1
    4 a > bytes 10 'MQTT' 04 02 0000 '{id}a' 00
    5 a > bytes 10 'MQTT' 05 02 0000 00 '{id}a' 00
    a < refused 0x81|0x82

A CONNECT whose identifier is longer than the packet is malformed
    3.1.1: 3.1.4-1
    5.0: 3.1.4-1
    4 a > bytes 10 'MQTT' 04 02 0000 0009 61
    5 a > bytes 10 'MQTT' 05 02 0000 00 0009 61
    a < refused 0x81|0x82

A client identifier that is not UTF 8 is malformed
    3.1.1: 3.1.3-4 1.5.3-1
    5.0: 3.1.3-4 1.5.4-1
    a > CONNECT client_id=b'a\xff'
    a < refused 0x81|0x82|0x85

A will topic that is not UTF 8 is malformed
    3.1.1: 3.1.3-10 1.5.3-1
    5.0: 3.1.3-11 1.5.4-1
    a > CONNECT will.topic=b'a\xff'
    a < refused 0x81|0x82|0x90

A user name that is not UTF 8 is malformed
    3.1.1: 3.1.3-11 1.5.3-1
    5.0: 3.1.3-12 1.5.4-1
    a > CONNECT username=b'a\xff'
    a < refused 0x81|0x82

A will topic with a wildcard is refused
    3.1.1: 4.7.1-1 3.3.2-2
    5.0: 4.7.0-1 3.3.2-2
    a > CONNECT will.topic={t}/#
    a < refused 0x81|0x82|0x90

Identifiers of letters and digits are allowed from 1 to 23 characters
    3.1.1: 3.1.3-5
    5.0: 3.1.3-5
    a connects client_id=Q
    b connects client_id=0123456789abcdefghijklm
    c connects client_id=nopqrstuvwxyzABCDEFGHIJ
    d connects client_id=KLMNOPQRSTUVWXYZ
    a < quiet

Two clients without an identifier are two clients
    3.1.1: 3.1.3-6
    5.0: 3.1.3-6 3.2.2-16
    a > CONNECT client_id=''
    4 a < CONNACK
    5 a < CONNACK assigned_client_id=$one
    b > CONNECT client_id=''
    4 b < CONNACK
    5 b < CONNACK assigned_client_id=$two
    5 these differ $one $two
    a < quiet
    b < quiet

An assigned identifier is the client's own
    5.0: 3.1.3-7 3.2.2-16 3.1.3-2
    a > CONNECT client_id='' clean=0 session_expiry=600
    a < CONNACK assigned_client_id=$given
    b > CONNECT client_id=''
    b < CONNACK assigned_client_id=*
    c > CONNECT client_id=$given clean=0
    c < CONNACK session_present=1 assigned_client_id=!
    a < ended 0x8e
    b < quiet

A client that has an identifier is not given one
    5.0: 3.2.2-16
    a > CONNECT
    a < CONNACK assigned_client_id=!

No identifier without clean session is refused
    3.1.1: 3.1.3-8 3.1.3-7 3.2.2-4 3.2.2-5
    a > CONNECT client_id='' clean=0
    a < CONNACK reason=2
    a < closed

An identifier beyond the limit is refused
    3.1.1: 3.1.3-9 3.2.2-4 3.2.2-5
    5.0: 3.1.3-8 3.2.2-6 3.2.2-7 3.2.2-8 4.13.2-1
    a > CONNECT client_id={x*2000}
    4 a < CONNACK reason=2
    5 a < CONNACK reason=0x85
    a < closed

After a refused CONNECT nothing is processed
    3.1.1: 3.1.4-5
    5.0: 3.1.4-6
    sub connects
    sub subscribes {t}:0
    a > CONNECT client_id={x*2000} + PUBLISH
    4 a < CONNACK reason=2
    5 a < CONNACK reason=0x85
    a < closed
    sub < quiet

An identifier that connects again cuts off the earlier connection
    3.1.1: 3.1.4-2 3.1.3-2
    5.0: 3.1.4-3 3.1.3-2
    a connects
    a' connects
    a < ended 0x8e
    a' < quiet

"""
)
