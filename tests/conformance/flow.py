"""Rows about MQTT 5's flow control, topic aliases, sizes and expiry."""

from tests.conformance.row import rows

FLOW = rows(
    r"""
The broker does not send more than the receive maximum
    5.0: 3.3.4-9 4.9.0-1 4.9.0-2
    sub connects receive_maximum=2
    sub subscribes {t}:2
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 + PUBLISH payload=2 qos=2 id=2 + PUBREL id=2
    sub < PUBLISH payload=1 qos=1 id=$a
    sub < PUBLISH payload=2 qos=2 id=$b
    pub < PUBACK id=1
    pub < PUBREC id=2
    pub < PUBCOMP id=2
    pub > PUBLISH payload=3 qos=1 id=3
    pub < PUBACK id=3
    sub < quiet
    sub > PUBREC id=$b
    sub < PUBREL id=$b
    sub < quiet
    sub > PUBCOMP id=$b
    sub < PUBLISH payload=3 qos=1

A PUBACK gives quota back
    5.0: 3.3.4-9 4.9.0-2
    sub connects receive_maximum=1
    sub subscribes {t}:1
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 + PUBLISH payload=2 qos=1 id=2
    sub < PUBLISH payload=1 qos=1 id=$a
    sub < quiet
    sub > PUBACK id=$a
    sub < PUBLISH payload=2 qos=1

A receive maximum of its own holds what is sent again too
    5.0: 3.3.4-9 4.9.0-1
    sub connects clean=0 session_expiry=600
    sub subscribes {t}:1
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 + PUBLISH payload=2 qos=1 id=2
    sub < PUBLISH payload=1 qos=1 id=$a
    sub < PUBLISH payload=2 qos=1 id=$b
    sub closes
    sub' connects clean=0 receive_maximum=1
    sub' < PUBLISH payload=1 qos=1 id=$a dup=1
    sub' < quiet
    sub' > PUBACK id=$a
    sub' < PUBLISH payload=2 qos=1 id=$b dup=1

Messages at QoS 0 do not need quota
    5.0: 4.9.0-3
    sub connects receive_maximum=1
    sub subscribes {t}:1
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 + PUBLISH payload=2 qos=1 id=2 + PUBLISH payload=0
    sub < PUBLISH payload=1 qos=1
    sub < PUBLISH payload=0
    sub < quiet

All other packets go on without quota
    5.0: 3.3.4-10 4.9.0-3
    sub connects receive_maximum=1
    sub subscribes {t}:1
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 + PUBLISH payload=2 qos=1 id=2
    sub < PUBLISH payload=1 qos=1
    sub > SUBSCRIBE id=5 filter={t}/x:0
    sub < SUBACK id=5
    sub > UNSUBSCRIBE id=6 filter={t}/x
    sub < UNSUBACK id=6
    sub > PUBLISH topic={t}/y qos=1 id=7
    sub < PUBACK id=7 reason=0x10
    sub > PUBLISH topic={t}/y qos=2 id=8
    sub < PUBREC id=8 reason=0x10
    sub > PUBREL id=8
    sub < PUBCOMP id=8
    sub > PINGREQ
    sub < PINGRESP
"""
)

ALIASES = rows(
    r"""
A topic alias stands for its topic
    5.0: 3.3.2-12
    sub connects
    sub subscribes {t}/#:0
    pub connects
    pub > PUBLISH topic={t}/a topic_alias=1 payload=1 + PUBLISH topic='' topic_alias=1 payload=2
    sub < PUBLISH topic={t}/a payload=1
    sub < PUBLISH topic={t}/a payload=2

A topic alias can be given to another topic
    5.0: 3.3.2-12
    sub connects
    sub subscribes {t}/#:0
    pub connects
    pub > PUBLISH topic={t}/a topic_alias=1 payload=1 + PUBLISH topic={t}/b topic_alias=1 payload=2
    pub > PUBLISH topic='' topic_alias=1 payload=3
    sub < PUBLISH topic={t}/a payload=1
    sub < PUBLISH topic={t}/b payload=2
    sub < PUBLISH topic={t}/b payload=3

Every topic alias up to the maximum is accepted
    5.0: 3.3.2-12 3.2.2-17
    pub > CONNECT
    pub < CONNACK topic_alias_maximum=$max
    sub connects
    sub subscribes {t}/#:0
    pub > PUBLISH topic={t}/a topic_alias=1 payload=1 + PUBLISH topic={t}/b topic_alias=$max
        ... payload=2
    pub > PUBLISH topic='' topic_alias=1 payload=3 + PUBLISH topic='' topic_alias=$max payload=4
    sub < PUBLISH topic={t}/a payload=1
    sub < PUBLISH topic={t}/b payload=2
    sub < PUBLISH topic={t}/a payload=3
    sub < PUBLISH topic={t}/b payload=4

A topic alias is used with QoS 2
    5.0: 3.3.2-12
    sub connects
    sub subscribes {t}/#:2
    pub connects
    pub > PUBLISH topic={t}/a topic_alias=1 payload=1 qos=1 id=1 + PUBLISH topic='' topic_alias=1
        ... payload=2 qos=2 id=2
    pub < PUBACK id=1
    pub < PUBREC id=2
    pub > PUBREL id=2
    pub < PUBCOMP id=2
    sub < PUBLISH topic={t}/a payload=1 qos=1
    sub < PUBLISH topic={t}/a payload=2 qos=2

A topic alias above the maximum ends the connection
    5.0: 3.3.2-9 3.2.2-17
    a connects
    a > PUBLISH topic_alias=65535
    a < ended 0x94

A topic alias of 0 ends the connection
    5.0: 3.3.2-8
    a connects
    a > PUBLISH topic_alias=0
    a < ended 0x94

A topic alias that was never given a topic ends the connection
    5.0: 4.13.1-1
    a connects
    a > PUBLISH topic='' topic_alias=3
    a < ended 0x82|0x94

An empty topic without an alias ends the connection
    5.0: 4.13.1-1 4.7.3-1
    a connects
    a > PUBLISH topic=''
    a < ended 0x81|0x82|0x90

Topic aliases do not outlive the connection
    5.0: 3.3.2-7
    a connects clean=0 session_expiry=600
    a > PUBLISH topic={t}/a topic_alias=1
    a > DISCONNECT
    a < closed
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    a' > PUBLISH topic='' topic_alias=1
    a' < ended 0x82|0x94

A client that gives no maximum is sent no alias
    5.0: 3.1.2-27 3.3.2-11
    sub connects
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH topic_alias=1 + PUBLISH topic='' topic_alias=1
    sub < PUBLISH
    sub < PUBLISH

A client that gives a maximum of 0 is sent no alias
    5.0: 3.1.2-27 3.3.2-11
    sub connects topic_alias_maximum=0
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH + PUBLISH
    sub < PUBLISH
    sub < PUBLISH

The broker's aliases keep to the client's maximum and are always given a topic first
    5.0: 3.1.2-26 3.3.2-11 3.3.2-8
    sub connects topic_alias_maximum=1
    sub subscribes {t}/#:0
    pub connects
    pub > PUBLISH topic={t}/a payload=1 + PUBLISH topic={t}/b payload=2 + PUBLISH topic={t}/a
        ... payload=3
    sub < PUBLISH topic={t}/a payload=1
    sub < PUBLISH topic={t}/b payload=2
    sub < PUBLISH topic={t}/a payload=3
"""
)

SIZES = rows(
    r"""
A message too large for its subscriber is discarded for it alone
    5.0: 3.1.2-24 3.1.2-25
    small connects maximum_packet_size=100
    small subscribes {t}:1
    large connects
    large subscribes {t}:1
    pub connects
    pub > PUBLISH payload={x*200} qos=1 id=1 + PUBLISH payload=2 qos=1 id=2
    pub < PUBACK id=1
    pub < PUBACK id=2
    large < PUBLISH payload={x*200} qos=1
    large < PUBLISH payload=2 qos=1
    small < PUBLISH payload=2 qos=1
    small < quiet

A message too large does not use up the quota
    5.0: 3.1.2-25
    small connects maximum_packet_size=100 receive_maximum=1
    small subscribes {t}:2
    pub connects
    pub > PUBLISH payload={x*200} qos=1 id=1 + PUBLISH payload={x*200} qos=2 id=2 + PUBLISH
        ... payload=2 qos=1 id=3
    small < PUBLISH payload=2 qos=1
    small < quiet

A message too large is not kept for a client that is away
    5.0: 3.1.2-25
    small connects clean=0 session_expiry=600 maximum_packet_size=100
    small subscribes {t}:1
    small > DISCONNECT
    small < closed
    pub connects
    pub > PUBLISH payload={x*200} qos=1 id=1 + PUBLISH payload=2 qos=1 id=2
    pub < PUBACK id=1
    pub < PUBACK id=2
    small' > CONNECT clean=0 maximum_packet_size=100
    small' < CONNACK session_present=1
    small' < PUBLISH payload=2 qos=1
    small' < quiet

A message that is just small enough is sent
    5.0: 3.1.2-24
    small connects maximum_packet_size=100
    small subscribes a/{t}:0
    pub connects
    pub > PUBLISH topic=a/{t} payload={x*70} + PUBLISH topic=a/{t} payload={x*99} + PUBLISH
        ... topic=a/{t} payload=2
    small < PUBLISH topic=a/{t} payload={x*70} size=1..100
    small < PUBLISH topic=a/{t} payload=2

Answers fit into the client's maximum
    5.0: 3.4.2-2 3.4.2-3 3.5.2-2 3.5.2-3 3.6.2-2 3.6.2-3 3.7.2-2 3.7.2-3 3.9.2-1 3.9.2-2 3.11.2-1
        ... 3.11.2-2 3.1.2-24
    a connects maximum_packet_size=60
    a > SUBSCRIBE id=1 filter={t}/#/a:0
    a < SUBACK id=1 reasons=0x8f size=1..60
    a > UNSUBSCRIBE id=2 filter={t}
    a < UNSUBACK id=2 reasons=0x11 size=1..60
    a > PUBLISH topic=$x/{t} qos=1 id=3
    a < PUBACK id=3 reason=0x87 size=1..60
    a > PUBLISH topic=$x/{t} qos=2 id=4
    a < PUBREC id=4 reason=0x87 size=1..60
    a > PUBREL id=5
    a < PUBCOMP id=5 reason=0x92 size=1..60
    a > PUBREC id=6
    a < PUBREL id=6 reason=0x92 size=1..60

The last words fit into the client's maximum
    5.0: 3.14.2-3 3.14.2-4
    a connects session_expiry=0 maximum_packet_size=60
    a > DISCONNECT session_expiry=60
    a < DISCONNECT reason=0x82 size=1..60
    a < closed
"""
)

EXPIRY = rows(
    r"""
A message expiry is passed on
    5.0: 3.3.2-6
    sub connects
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH message_expiry=100
    sub < PUBLISH message_expiry=99..100

A message that has expired is not delivered and one that has not is told its rest
    5.0: 3.3.2-5 3.3.2-6
    a connects clean=0 session_expiry=600
    a subscribes {t}:2
    a > DISCONNECT
    a < closed
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 message_expiry=1 + PUBLISH payload=2 qos=1 id=2
        ... message_expiry=100
    pub > PUBLISH payload=3 qos=1 id=3 + PUBLISH payload=4 qos=2 id=4 message_expiry=1 + PUBREL id=4
    pub < PUBACK id=1
    pub < PUBACK id=2
    pub < PUBACK id=3
    pub < PUBREC id=4
    pub < PUBCOMP id=4
    clock connects keep_alive=1
    clock < ended 0x8d
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    a' < PUBLISH payload=2 qos=1 message_expiry=1..99
    a' < PUBLISH payload=3 qos=1
    a' < quiet

A message that waits for quota expires
    5.0: 3.3.2-5
    a connects receive_maximum=1
    a subscribes {t}:1
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 + PUBLISH payload=2 qos=1 id=2 message_expiry=1 + PUBLISH
        ... payload=3 qos=1 id=3
    a < PUBLISH payload=1 qos=1 id=$a
    clock connects keep_alive=1
    clock < ended 0x8d
    a > PUBACK id=$a
    a < PUBLISH payload=3 qos=1

A message at QoS 2 that was sent does not expire
    5.0: 4.3.3-7
    a connects clean=0 session_expiry=600
    a subscribes {t}:2
    pub connects
    pub > PUBLISH qos=2 id=1 message_expiry=4 + PUBREL id=1
    pub < PUBREC id=1
    pub < PUBCOMP id=1
    a < PUBLISH qos=2 id=$m message_expiry=0..4
    a closes
    clock connects keep_alive=3
    clock < ended 0x8d
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    a' < PUBLISH qos=2 id=$m dup=1 message_expiry=0..4
    a' > PUBREC id=$m
    a' < PUBREL id=$m

The exchange at QoS 2 goes on although the message has expired
    5.0: 4.3.3-13
    pub connects
    pub > PUBLISH qos=2 id=1 message_expiry=1
    pub < PUBREC id=1 reason=0x10
    clock connects keep_alive=1
    clock < ended 0x8d
    pub > PUBLISH qos=2 id=1 message_expiry=1 dup=1
    pub < PUBREC id=1 reason=0|0x10
    pub > PUBREL id=1
    pub < PUBCOMP id=1
"""
)
