"""Rows about what all packets share: the first byte, the length, and the properties of MQTT 5."""

from tests.conformance.row import rows

HEADER = rows(
    r"""
The packet type 0 ends the connection
    3.1.1: 4.8.0-1
    5.0: 4.13.1-1
    a connects
    a > raw 00 00
    a < ended 0x81|0x82

A CONNECT with wrong flags ends the connection
    3.1.1: 2.2.2-1 2.2.2-2 3.1.4-1
    5.0: 2.1.3-1 3.1.4-1
    a > CONNECT first=0x11
    a < refused 0x81|0x82

Packets that only a broker sends end the connection
    3.1.1: 4.8.0-1
    5.0: 4.13.1-1
    a connects
    4 a > raw 20 02 00 00
    5 a > raw 20 03 00 00 00
    a < ended 0x81|0x82
    b connects
    4 b > raw 90 03 00 01 00
    5 b > raw 90 04 00 01 00 00
    b < ended 0x81|0x82
    c connects
    4 c > raw b0 02 00 01
    5 c > raw b0 04 00 01 00 00
    c < ended 0x81|0x82
    d connects
    d > raw d0 00
    d < ended 0x81|0x82

A length of five bytes ends the connection
    3.1.1: 4.8.0-1
    5.0: 4.13.1-1
    a connects
    a > raw 30 ff ff ff ff 01
    a < ended 0x81

A length that is longer than needed ends the connection
    5.0: 1.5.5-1
    a connects
    a > raw c0 80 00
    a < ended 0x81

A length of properties that is longer than needed ends the connection
    5.0: 1.5.5-1
    a connects
    a > bytes 30 '{t}' 80 00
    a < ended 0x81

Packets may come in any pieces
    3.1.1: 7.1.1-1
    5.0: 4.2.0-1
    a connects
    4 a > raw 30 07 00
    4 a > raw 03 61 2f
    4 a > raw 62 31 32 c0 00
    5 a > raw 30 08 00
    5 a > raw 03 61 2f
    5 a > raw 62 00 31 32 c0 00
    a < PINGRESP

Many packets may come in one piece
    3.1.1: 7.1.1-1
    5.0: 4.2.0-1
    a connects
    a > PINGREQ + SUBSCRIBE id=1 filter={t}:0 + PUBLISH payload=1 + UNSUBSCRIBE id=2 filter={t} +
        ... PINGREQ
    a < PINGRESP
    a ~ SUBACK id=1
    a ~ PUBLISH payload=1
    a ~ UNSUBACK id=2
    a ~ PINGRESP
"""
)

PROPERTIES = rows(
    r"""
A property that nobody knows ends the connection
    5.0: 4.13.1-1
    a connects
    a > bytes 30 '{t}' 02 7f 00
    a < ended 0x81|0x82

A property that is longer than its packet ends the connection
    5.0: 4.13.1-1
    a connects
    a > bytes 30 '{t}' 05 02 00
    a < ended 0x81

A property that is cut short ends the connection
    5.0: 4.13.1-1
    a connects
    a > bytes 30 '{t}' 03 02 00 00
    a < ended 0x81

A packet without the length of its properties ends the connection
    5.0: 2.2.2-1
    a connects
    a > bytes 30 '{t}'
    a < ended 0x81
    b connects
    b > bytes 82 0001
    b < ended 0x81|0x82

A property of another packet ends the connection
    5.0: 4.13.1-1
    a connects
    a > PUBLISH session_expiry=1
    a < ended 0x81|0x82
    b connects
    b > SUBSCRIBE filter={t}:0 topic_alias=1
    b < ended 0x81|0x82
    c connects
    c > UNSUBSCRIBE filter={t} subscription_id=1
    c < ended 0x81|0x82
    d > CONNECT message_expiry=1
    d < refused 0x81|0x82
    e > CONNECT will.topic={t} will.topic_alias=1
    e < refused 0x81|0x82
    f connects
    f > PUBACK id=1 message_expiry=1
    f < ended 0x81|0x82
    g connects
    g > DISCONNECT content_type=a
    g < ended 0x81|0x82

A property that is given twice ends the connection
    5.0: 4.13.1-1
    a > CONNECT session_expiry=1 session_expiry=1
    a < refused 0x82
    b > CONNECT receive_maximum=1 receive_maximum=1
    b < refused 0x82
    c > CONNECT maximum_packet_size=100 maximum_packet_size=100
    c < refused 0x82
    d > CONNECT topic_alias_maximum=1 topic_alias_maximum=1
    d < refused 0x82
    e > CONNECT request_problem_info=1 request_problem_info=1
    e < refused 0x82
    f > CONNECT request_response_info=1 request_response_info=1
    f < refused 0x82
    g > CONNECT auth_method=a auth_method=a
    g < refused 0x82
    h > CONNECT will.topic={t} will.delay=1 will.delay=1
    h < refused 0x82
    i connects
    i > PUBLISH payload_format=0 payload_format=0
    i < ended 0x82
    j connects
    j > PUBLISH message_expiry=1 message_expiry=1
    j < ended 0x82
    k connects
    k > PUBLISH topic_alias=1 topic_alias=1
    k < ended 0x82
    l connects
    l > PUBLISH response_topic=a response_topic=a
    l < ended 0x82
    m connects
    m > PUBLISH correlation_data=a correlation_data=a
    m < ended 0x82
    n connects
    n > PUBLISH content_type=a content_type=a
    n < ended 0x82
    o connects
    o > DISCONNECT session_expiry=0 session_expiry=0
    o < ended 0x82
    p connects
    p > PUBACK id=1 reason_string=a reason_string=a
    p < ended 0x82

A value outside its range ends the connection
    5.0: 4.13.1-1 4.9.0-1
    a > CONNECT receive_maximum=0
    a < refused 0x81|0x82
    b > CONNECT maximum_packet_size=0
    b < refused 0x81|0x82
    c > CONNECT request_problem_info=2
    c < refused 0x81|0x82
    d > CONNECT request_response_info=2
    d < refused 0x81|0x82
    e connects
    e > PUBLISH payload_format=2
    e < ended 0x81|0x82
    f > CONNECT will.topic={t} will.payload_format=2
    f < refused 0x81|0x82

A subscription identifier from a client ends the connection
    5.0: 3.3.4-6
    a connects
    a > PUBLISH subscription_id=1
    a < ended 0x82

A response topic with a wildcard ends the connection
    5.0: 3.3.2-14
    a connects
    a > PUBLISH response_topic={t}/#
    a < ended 0x81|0x82|0x90
    b connects
    b > PUBLISH response_topic={t}/+/a
    b < ended 0x81|0x82|0x90

The properties of a message are passed on unchanged
    5.0: 3.3.2-4 3.3.2-15 3.3.2-16 3.3.2-20
    sub connects
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH payload_format=1 content_type=text/plain response_topic={t}/r
        ... correlation_data=b'\x00\xff\x01'
    sub < PUBLISH payload_format=1 content_type=text/plain response_topic={t}/r
        ... correlation_data=b'\x00\xff\x01'

A payload format of 0 is passed on as it is
    5.0: 3.3.2-4
    sub connects
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH payload_format=0
    sub < PUBLISH payload_format=0

User properties are passed on unchanged and in their order
    5.0: 3.3.2-17 3.3.2-18
    sub connects
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH user=z:1 user=a:2 user=z:3 user=z:1 user='':'' user='\U0001f6e9':'\ufeff'
    sub < PUBLISH user=z:1 user=a:2 user=z:3 user=z:1 user='':'' user='\U0001f6e9':'\ufeff'

Without problem information no reasons are told beside PUBLISH CONNACK and DISCONNECT
    5.0: 3.1.2-29
    a connects request_problem_info=0
    a > SUBSCRIBE id=1 filter={t}/#/a:0
    a < SUBACK id=1 reasons=0x8f reason_string=! user=!
    a > UNSUBSCRIBE id=2 filter={t}
    a < UNSUBACK id=2 reasons=0x11 reason_string=! user=!
    a > PUBLISH topic=$x/{t} qos=1 id=3
    a < PUBACK id=3 reason=0x87 reason_string=! user=!
    a > PUBLISH topic=$x/{t} qos=2 id=4
    a < PUBREC id=4 reason=0x87 reason_string=! user=!
    a > PUBREL id=5
    a < PUBCOMP id=5 reason=0x92 reason_string=! user=!
    a > PUBREC id=6
    a < PUBREL id=6 reason=0x92 reason_string=! user=!
"""
)
