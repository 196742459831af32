"""Rows about CONNACK: session present, and what an MQTT 5 client is told of the broker."""

from tests.conformance.row import rows

ROWS = rows(
    r"""
A clean connection has no session
    3.1.1: 3.2.2-1
    5.0: 3.2.2-2
    a > CONNECT clean=1
    a < CONNACK session_present=0

A clean connection has no session although there was one
    3.1.1: 3.2.2-1 3.1.2-6 3.1.4-3
    5.0: 3.2.2-2 3.1.2-4 3.1.4-4
    a connects clean=0 session_expiry=600
    a > DISCONNECT
    a < closed
    a' > CONNECT clean=1
    a' < CONNACK session_present=0

A client that has never been here has no session
    3.1.1: 3.2.2-3 3.1.2-4
    5.0: 3.2.2-3 3.1.2-6
    a > CONNECT clean=0 session_expiry=600
    a < CONNACK session_present=0

A client that comes back has its session
    3.1.1: 3.2.2-2 3.1.2-4 3.1.4-3
    5.0: 3.2.2-3 3.1.2-5 3.1.4-4 3.1.2-23
    a connects clean=0 session_expiry=600
    a > DISCONNECT
    a < closed
    a' > CONNECT clean=0
    a' < CONNACK session_present=1

A client whose connection was lost has its session
    3.1.1: 3.2.2-2
    5.0: 3.2.2-3 3.1.2-23
    a connects clean=0 session_expiry=600
    a resets
    a' > CONNECT clean=0
    a' < CONNACK session_present=1

A client that takes over its own connection has its session
    3.1.1: 3.2.2-2
    5.0: 3.2.2-3
    a connects clean=0 session_expiry=600
    a' > CONNECT clean=0 session_expiry=600
    a' < CONNACK session_present=1
    a < ended 0x8e

Nothing comes before CONNACK although messages wait
    3.1.1: 3.2.0-1
    5.0: 3.2.0-1
    a connects clean=0 session_expiry=600
    a subscribes {t}:1
    a > DISCONNECT
    a < closed
    pub connects
    pub > PUBLISH qos=1 id=1
    pub < PUBACK id=1
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    a' < PUBLISH qos=1

A refusal says that there is no session although there is one
    5.0: 3.2.2-6
    a connects clean=0 session_expiry=600
    a > DISCONNECT
    a < closed
    a' > CONNECT clean=0 auth_method=unknown
    a' < CONNACK reason=0x8c session_present=0
    a' < closed

All qualities of service are there
    5.0: 3.2.2-9 3.2.2-10
    a > CONNECT
    a < CONNACK maximum_qos=!
    a > SUBSCRIBE id=2 filter={t}/0:0 filter={t}/1:1 filter={t}/2:2
    a < SUBACK id=2 reasons=0,1,2

Nothing that is there is said to be missing
    5.0: 3.2.2-9
    a > CONNECT
    a < CONNACK retain_available=! wildcard_available=! shared_available=!
        ... subscription_id_available=!

The limits of the broker are told
    5.0: 3.2.2-12 3.2.2-15
    a > CONNECT
    a < CONNACK receive_maximum=* topic_alias_maximum=* maximum_packet_size=*

A keep alive that is used as it is asked for is not told
    5.0: 3.2.2-22
    a > CONNECT keep_alive=30
    a < CONNACK server_keep_alive=!

A client that asks for no keep alive is told the one that is used
    5.0: 3.2.2-22
    a > CONNECT keep_alive=0
    a < CONNACK server_keep_alive=*

Response information is not sent to a client that does not ask
    5.0: 3.1.2-28
    a > CONNECT
    a < CONNACK response_info=!
    b > CONNECT request_response_info=0
    b < CONNACK response_info=!

A refusal fits into the smallest packet the client takes
    5.0: 3.2.2-19 3.2.2-20 3.1.2-24
    a > CONNECT maximum_packet_size=5 auth_method=unknown
    a < CONNACK reason=0x8c reason_string=! user=! size=1..5
    a < closed
"""
)
