"""Rows about CONNECT: what is accepted, what is refused, and what then becomes of the connection."""

from tests.conformance.row import Row

ROWS = (
    Row(
        "A good CONNECT is accepted",
        v311="3.1.4-4 3.2.0-1 7.1.1-1 7.0.0-2",
        v5="3.1.4-5 3.2.0-1 3.2.2-1 3.2.2-8 4.2.0-1",
        steps="""
        a > CONNECT
        a < CONNACK reason=0 session_present=0
        a < quiet
        """,
    ),
    Row(
        "A PINGREQ before CONNECT ends the connection",
        v311="3.1.0-1 4.8.0-1",
        v5="3.1.0-1 3.14.0-1",
        steps="""
        a > PINGREQ
        a < closed
        """,
    ),
    Row(
        "A PUBLISH before CONNECT is not delivered",
        v311="3.1.0-1",
        v5="3.1.0-1 3.14.0-1",
        steps="""
        sub connects
        sub subscribes {t}:0
        a > PUBLISH + CONNECT
        a < closed
        sub < quiet
        """,
    ),
    Row(
        "A SUBSCRIBE before CONNECT ends the connection",
        v311="3.1.0-1",
        v5="3.1.0-1 3.14.0-1",
        steps="""
        a > SUBSCRIBE filter={t}:0
        a < closed
        """,
    ),
    Row(
        "A DISCONNECT before CONNECT ends the connection",
        v311="3.1.0-1",
        v5="3.1.0-1 3.14.0-1",
        steps="""
        a > DISCONNECT
        a < closed
        """,
    ),
    Row(
        "An AUTH before CONNECT ends the connection",
        v5="3.1.0-1 3.14.0-1",
        steps="""
        a > AUTH reason=0x18 auth_method=x
        a < closed
        """,
    ),
    Row(
        "A second CONNECT ends the connection",
        v311="3.1.0-2 4.8.0-1",
        v5="3.1.0-2 3.2.0-2 4.13.1-1",
        steps="""
        a connects
        a > CONNECT
        a < ended 0x82
        """,
    ),
    Row(
        "A client need not wait for its CONNACK",
        v311="3.2.0-1",
        v5="3.2.0-1",
        steps="""
        a > CONNECT + SUBSCRIBE id=5 filter={t}:1 + PINGREQ
        a < CONNACK
        a < SUBACK id=5 reasons=1
        a < PINGRESP
        """,
    ),
    Row(
        "A CONNECT in single bytes is one packet",
        v311="7.1.1-1",
        v5="4.2.0-1",
        steps="""
        a > raw 10
        4 a > raw 0c 00 04 4d 51
        5 a > raw 0d 00 04 4d 51
        a > raw 54 54
        4 a > raw 04 02 00 00 00
        5 a > raw 05 02 00 00 00 00
        a > raw 00
        a < CONNACK
        """,
    ),
    Row(
        "Another protocol name is not spoken",
        v311="3.1.2-1",
        v5="3.1.2-1",
        steps="""
        4 a > bytes 10 'MQTQ' 04 02 0000 '{id}a'
        5 a > bytes 10 'MQTQ' 05 02 0000 00 '{id}a'
        a < refused 0x81|0x84
        """,
    ),
    Row(
        "A protocol level nobody knows is refused",
        v311="3.1.2-2 3.2.2-5",
        steps="""
        a > bytes 10 'MQTT' 06 02 0000 '{id}a'
        a < CONNACK reason=1
        a < closed
        """,
    ),
    Row(
        "A protocol version nobody knows ends the connection",
        v5="3.1.2-2",
        steps="""
        a > bytes 10 'MQTT' 06 02 0000 00 '{id}a'
        a < cut
        """,
    ),
    Row(
        "MQTT 3.1 is refused as a level that is not spoken",
        v311="3.1.2-2",
        steps="""
        a > bytes 10 'MQIsdp' 03 02 0000 '{id}a'
        a < CONNACK reason=1
        a < closed
        """,
    ),
    Row(
        "The reserved connect flag ends the connection",
        v311="3.1.2-3 3.1.4-1 3.2.2-6",
        v5="3.1.2-3 3.1.4-1",
        steps="""
        a > CONNECT flags=0x03
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "The will flag without a will in the payload is malformed",
        v311="3.1.2-9 3.1.4-1",
        v5="3.1.2-9 3.1.4-1",
        steps="""
        a > CONNECT flags=0x06
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "A will QoS without the will flag is malformed",
        v311="3.1.2-11 3.1.2-13",
        v5="3.1.2-11",
        steps="""
        a > CONNECT flags=0x0a
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "A will retain without the will flag is malformed",
        v311="3.1.2-11 3.1.2-15",
        v5="3.1.2-13",
        steps="""
        a > CONNECT flags=0x22
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "A will in the payload without the will flag is malformed",
        v311="3.1.2-11 3.1.4-1",
        v5="3.1.4-1",
        steps="""
        a > CONNECT will.topic={t} flags=0x02
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "A will QoS of 3 is malformed",
        v311="3.1.2-14",
        v5="3.1.2-12",
        steps="""
        a > CONNECT will.topic={t} will.qos=3
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "A will at QoS 0 1 and 2 is accepted",
        v311="3.1.2-14",
        v5="3.1.2-12 3.2.2-12",
        steps="""
        a connects will.topic={t} will.qos=0
        b connects will.topic={t} will.qos=1
        c connects will.topic={t} will.qos=2
        """,
    ),
    Row(
        "A retained will is accepted",
        v5="3.2.2-13",
        steps="""
        a connects will.topic={t} will.retain=1
        a > DISCONNECT
        """,
    ),
    Row(
        "A user name without its flag is malformed",
        v311="3.1.2-18",
        v5="3.1.2-16",
        steps="""
        a > CONNECT username=u flags=0x02
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "The user name flag without a user name is malformed",
        v311="3.1.2-19",
        v5="3.1.2-17",
        steps="""
        a > CONNECT flags=0x82
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "A password without its flag is malformed",
        v311="3.1.2-20",
        v5="3.1.2-18",
        steps="""
        a > CONNECT username=u password=p flags=0x82
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "The password flag without a password is malformed",
        v311="3.1.2-21",
        v5="3.1.2-19",
        steps="""
        a > CONNECT username=u flags=0xc2
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "A password without a user name is malformed in MQTT 3.1.1",
        v311="3.1.2-22 3.1.4-1",
        steps="""
        a > CONNECT password=p
        a < closed
        """,
    ),
    Row(
        "A password without a user name is allowed in MQTT 5",
        v5="3.1.2-19",
        steps="""
        a connects password=p
        """,
    ),
    Row(
        "All fields of the payload are read in their order",
        v311="3.1.3-1 3.1.2-9 3.1.2-19 3.1.2-21",
        v5="3.1.3-1 3.1.2-9 3.1.2-17 3.1.2-19",
        steps="""
        sub connects
        sub subscribes {t}/will:0
        a connects will.topic={t}/will will.payload=ended username=u password=p
        a closes
        sub < PUBLISH topic={t}/will payload=ended
        """,
    ),
    Row(
        "A CONNECT without a client identifier is malformed",
        v311="3.1.3-3 3.1.4-1",
        v5="3.1.3-3 3.1.4-1",
        steps="""
        4 a > bytes 10 'MQTT' 04 02 0000
        5 a > bytes 10 'MQTT' 05 02 0000 00
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "A CONNECT with bytes behind its payload is malformed",
        v311="3.1.4-1 3.2.2-6",
        v5="3.1.4-1",
        steps="""
        4 a > bytes 10 'MQTT' 04 02 0000 '{id}a' 00
        5 a > bytes 10 'MQTT' 05 02 0000 00 '{id}a' 00
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "A CONNECT whose identifier is longer than the packet is malformed",
        v311="3.1.4-1",
        v5="3.1.4-1",
        steps="""
        4 a > bytes 10 'MQTT' 04 02 0000 0009 61
        5 a > bytes 10 'MQTT' 05 02 0000 00 0009 61
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "A client identifier that is not UTF 8 is malformed",
        v311="3.1.3-4 1.5.3-1",
        v5="3.1.3-4 1.5.4-1",
        steps=r"""
        a > CONNECT client_id=b'a\xff'
        a < refused 0x81|0x82|0x85
        """,
    ),
    Row(
        "A will topic that is not UTF 8 is malformed",
        v311="3.1.3-10 1.5.3-1",
        v5="3.1.3-11 1.5.4-1",
        steps=r"""
        a > CONNECT will.topic=b'a\xff'
        a < refused 0x81|0x82|0x90
        """,
    ),
    Row(
        "A user name that is not UTF 8 is malformed",
        v311="3.1.3-11 1.5.3-1",
        v5="3.1.3-12 1.5.4-1",
        steps=r"""
        a > CONNECT username=b'a\xff'
        a < refused 0x81|0x82
        """,
    ),
    Row(
        "A will topic with a wildcard is refused",
        v311="4.7.1-1 3.3.2-2",
        v5="4.7.0-1 3.3.2-2",
        steps="""
        a > CONNECT will.topic={t}/#
        a < refused 0x81|0x82|0x90
        """,
    ),
    Row(
        "Identifiers of letters and digits are allowed from 1 to 23 characters",
        v311="3.1.3-5",
        v5="3.1.3-5",
        steps="""
        a connects client_id=Q
        b connects client_id=0123456789abcdefghijklm
        c connects client_id=nopqrstuvwxyzABCDEFGHIJ
        d connects client_id=KLMNOPQRSTUVWXYZ
        a < quiet
        """,
    ),
    Row(
        "Two clients without an identifier are two clients",
        v311="3.1.3-6",
        v5="3.1.3-6 3.2.2-16",
        steps="""
        a > CONNECT client_id=''
        4 a < CONNACK
        5 a < CONNACK assigned_client_id=*
        b > CONNECT client_id=''
        4 b < CONNACK
        5 b < CONNACK assigned_client_id=*
        a < quiet
        b < quiet
        """,
    ),
    Row(
        "An assigned identifier is the client's own",
        v5="3.1.3-7 3.2.2-16 3.1.3-2",
        steps="""
        a > CONNECT client_id='' clean=0 session_expiry=600
        a < CONNACK assigned_client_id=$given
        b > CONNECT client_id=''
        b < CONNACK assigned_client_id=*
        c > CONNECT client_id=$given clean=0
        c < CONNACK session_present=1 assigned_client_id=!
        a < ended 0x8e
        b < quiet
        """,
    ),
    Row(
        "A client that has an identifier is not given one",
        v5="3.2.2-16",
        steps="""
        a > CONNECT
        a < CONNACK assigned_client_id=!
        """,
    ),
    Row(
        "No identifier without clean session is refused",
        v311="3.1.3-8 3.1.3-7 3.2.2-4 3.2.2-5",
        steps="""
        a > CONNECT client_id='' clean=0
        a < CONNACK reason=2
        a < closed
        """,
    ),
    Row(
        "An identifier beyond the limit is refused",
        v311="3.1.3-9 3.2.2-4 3.2.2-5",
        v5="3.1.3-8 3.2.2-6 3.2.2-7 3.2.2-8 4.13.2-1",
        steps="""
        a > CONNECT client_id={x*1000}
        4 a < CONNACK reason=2
        5 a < CONNACK reason=0x85
        a < closed
        """,
    ),
    Row(
        "After a refused CONNECT nothing is processed",
        v311="3.1.4-5",
        v5="3.1.4-6",
        steps="""
        sub connects
        sub subscribes {t}:0
        a > CONNECT client_id={x*1000} + PUBLISH
        4 a < CONNACK reason=2
        5 a < CONNACK reason=0x85
        a < closed
        sub < quiet
        """,
    ),
    Row(
        "An identifier that connects again cuts off the earlier connection",
        v311="3.1.4-2 3.1.3-2",
        v5="3.1.4-3 3.1.3-2",
        steps="""
        a connects
        a' connects
        a < ended 0x8e
        a' < quiet
        """,
    ),
)
