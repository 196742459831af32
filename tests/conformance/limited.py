"""Rows about limits, on a broker of their own whose limits are low."""

from tests.conformance.row import rows

CONFIG = """
[limits]
packet_bytes = 1024
receive_max = 2
topic_aliases = 0
subscriptions = 2
session_expiry_s = 1
"""

ROWS = rows(
    r"""
A packet above the maximum ends the connection
    3.1.1: 4.8.0-2
    5.0: 3.2.2-15 4.13.1-1
    a > CONNECT
    5 a < CONNACK maximum_packet_size=1024
    4 a < CONNACK
    a > raw 30 80 10
    a < ended 0x95

A packet of just the maximum is taken
    5.0: 3.2.2-15
    a connects
    a > PUBLISH topic=1234567 payload={x*1011} qos=0 + PINGREQ
    a < PINGRESP

A client that exceeds the receive maximum is cut off
    5.0: 3.3.4-7 4.9.0-2
    a > CONNECT
    a < CONNACK receive_maximum=2
    a > PUBLISH qos=2 id=1 + PUBLISH qos=2 id=2
    a < PUBREC id=1 reason=0x10
    a < PUBREC id=2 reason=0x10
    a > PUBREL id=1
    a < PUBCOMP id=1
    a > PUBLISH qos=2 id=3
    a < PUBREC id=3 reason=0x10
    a > PUBLISH qos=2 id=4
    a < ended 0x93

Messages at QoS 1 that were acknowledged do not count
    5.0: 3.3.4-7
    a connects
    a > PUBLISH qos=1 id=1 + PUBLISH qos=1 id=2 + PUBLISH qos=1 id=3
    a < PUBACK id=1 reason=0x10
    a < PUBACK id=2 reason=0x10
    a < PUBACK id=3 reason=0x10

A client that was given no aliases may use none
    5.0: 3.2.2-18
    a > CONNECT
    a < CONNACK topic_alias_maximum=!
    a > PUBLISH topic_alias=1
    a < ended 0x94

A subscription above the limit is refused
    3.1.1: 3.8.4-5 3.9.3-2
    5.0: 3.8.4-7 3.9.3-2
    a connects
    a > SUBSCRIBE filter={t}/a:0 filter={t}/b:1 filter={t}/c:2
    a < SUBACK reasons=0,1,0x97

A session expiry above the limit is told to the client
    5.0: 4.1.0-2
    a > CONNECT clean=0 session_expiry=600
    a < CONNACK session_expiry=1
"""
)
