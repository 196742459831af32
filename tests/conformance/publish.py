"""Rows about PUBLISH: its flags, its topic, and how it reaches the subscribers."""

from tests.conformance.row import rows

ROWS = rows(
    r"""
A message at QoS 0 is delivered at QoS 0 and not acknowledged
    3.1.1: 4.3.1-1 3.3.4-1 3.3.1-2 2.3.1-5
    5.0: 4.3.1-1 3.3.4-1 3.3.1-2 2.2.1-2
    sub connects
    sub subscribes {t}:2
    pub connects
    pub > PUBLISH payload=hello
    pub < quiet
    sub < PUBLISH payload=hello qos=0

A message at QoS 1 is acknowledged and delivered
    3.1.1: 4.3.2-2 3.3.4-1 4.3.2-1 2.3.1-6 2.3.1-1 2.3.1-4
    5.0: 4.3.2-4 3.3.4-1 4.3.2-1 4.3.2-2 2.2.1-4 2.2.1-5
    sub connects
    sub subscribes {t}:2
    pub connects
    pub > PUBLISH payload=hello qos=1 id=513
    pub < PUBACK id=513
    sub < PUBLISH payload=hello qos=1 id=$m dup=0
    sub > PUBACK id=$m
    sub < quiet

A message at QoS 2 is acknowledged in four steps and delivered once
    3.1.1: 4.3.3-2 3.3.4-1 4.3.3-1 2.3.1-6 2.3.1-1 2.3.1-4
    5.0: 4.3.3-8 3.3.4-1 4.3.3-1 4.3.3-2 4.3.3-4 4.3.3-11 2.2.1-4 2.2.1-5
    sub connects
    sub subscribes {t}:2
    pub connects
    pub > PUBLISH payload=hello qos=2 id=513
    pub < PUBREC id=513
    pub > PUBREL id=513
    pub < PUBCOMP id=513
    sub < PUBLISH payload=hello qos=2 id=$m dup=0
    sub > PUBREC id=$m
    sub < PUBREL id=$m
    sub > PUBCOMP id=$m
    sub < quiet

The broker's messages that wait for an acknowledgement have different identifiers
    3.1.1: 2.3.1-4 4.3.2-1 4.3.3-1
    5.0: 2.2.1-4 4.3.2-1 4.3.3-1
    sub connects
    sub subscribes {t}:2
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 + PUBLISH payload=2 qos=1 id=2 + PUBLISH payload=3 qos=2 id=3
    pub < PUBACK id=1
    pub < PUBACK id=2
    pub < PUBREC id=3
    pub > PUBREL id=3
    pub < PUBCOMP id=3
    sub < PUBLISH payload=1 qos=1 id=$a
    sub < PUBLISH payload=2 qos=1 id=$b
    sub < PUBLISH payload=3 qos=2 id=$c
    these differ $a $b $c
    sub > PUBACK id=$a + PUBACK id=$b + PUBREC id=$c
    sub < PUBREL id=$c
    sub < quiet

A message reaches everyone who subscribed
    3.1.1: 4.5.0-1 3.3.2-3
    5.0: 4.5.0-1 3.3.2-3
    one connects
    one subscribes {t}/a:0
    two connects
    two subscribes {t}/+:1
    three connects
    three subscribes {t}/#:2
    four connects
    four subscribes {t}/b:2
    pub connects
    pub > PUBLISH topic={t}/a qos=2 id=1
    pub < PUBREC id=1
    pub > PUBREL id=1
    pub < PUBCOMP id=1
    one < PUBLISH topic={t}/a
    two < PUBLISH topic={t}/a qos=1
    three < PUBLISH topic={t}/a qos=2
    four < quiet

A client gets its own messages
    3.1.1: 4.5.0-1
    5.0: 4.5.0-1
    a connects
    a subscribes {t}:1
    a > PUBLISH qos=1 id=5
    a ~ PUBACK id=5
    a ~ PUBLISH qos=1

DUP is not passed on
    3.1.1: 3.3.1-3
    5.0: 3.3.1-3
    sub connects
    sub subscribes {t}:2
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 dup=1
    pub < PUBACK id=1
    pub > PUBLISH payload=2 qos=2 id=2 dup=1
    pub < PUBREC id=2
    pub > PUBREL id=2
    pub < PUBCOMP id=2
    sub < PUBLISH payload=1 qos=1 dup=0
    sub < PUBLISH payload=2 qos=2 dup=0

After PUBACK the same identifier is a new message although it has DUP
    3.1.1: 4.3.2-2
    5.0: 4.3.2-5
    sub connects
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH payload=1 qos=1 id=7
    pub < PUBACK id=7
    pub > PUBLISH payload=2 qos=1 id=7 dup=1
    pub < PUBACK id=7
    sub < PUBLISH payload=1
    sub < PUBLISH payload=2

Before PUBREL the same identifier is the same message
    3.1.1: 4.3.3-2
    5.0: 4.3.3-10
    sub connects
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH payload=1 qos=2 id=7
    pub < PUBREC id=7
    pub > PUBLISH payload=1 qos=2 id=7 dup=1
    pub < PUBREC id=7
    pub > PUBREL id=7
    pub < PUBCOMP id=7
    sub < PUBLISH payload=1
    sub < quiet

After PUBCOMP the same identifier is a new message
    3.1.1: 4.3.3-2
    5.0: 4.3.3-12
    sub connects
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH payload=1 qos=2 id=7
    pub < PUBREC id=7
    pub > PUBREL id=7
    pub < PUBCOMP id=7
    pub > PUBLISH payload=2 qos=2 id=7 dup=1
    pub < PUBREC id=7
    pub > PUBREL id=7
    pub < PUBCOMP id=7
    sub < PUBLISH payload=1
    sub < PUBLISH payload=2

QoS 3 ends the connection
    3.1.1: 3.3.1-4 4.8.0-1
    5.0: 3.3.1-4 4.13.1-1
    a connects
    a > PUBLISH qos=3 id=1
    a < ended 0x81

DUP at QoS 0 ends the connection
    3.1.1: 3.3.1-2
    5.0: 3.3.1-2
    a connects
    a > PUBLISH dup=1
    a < ended 0x81|0x82

A PUBLISH at QoS 1 with the identifier 0 ends the connection
    3.1.1: 2.3.1-1
    5.0: 2.2.1-3 4.13.1-1
    a connects
    a > PUBLISH qos=1 id=0
    a < ended 0x81|0x82

A PUBLISH at QoS 2 with the identifier 0 ends the connection
    3.1.1: 2.3.1-1
    5.0: 2.2.1-3
    a connects
    a > PUBLISH qos=2 id=0
    a < ended 0x81|0x82

A PUBLISH without the bytes of its identifier ends the connection
    3.1.1: 2.3.1-1
    5.0: 4.13.1-1
    a connects
    a > bytes 32 '{t}' 01
    a < ended 0x81|0x82

A PUBLISH at QoS 0 has no identifier so that these bytes are payload
    3.1.1: 2.3.1-5
    sub connects
    sub subscribes {t}:0
    a connects
    a > bytes 30 '{t}' 0007
    sub < PUBLISH payload=b'\x00\x07'

A topic that is longer than its packet ends the connection
    3.1.1: 3.3.2-1 4.8.0-1
    5.0: 3.3.2-1 4.13.1-1
    a connects
    a > bytes 30 0009 61
    a < ended 0x81

A PUBLISH without a topic field ends the connection
    3.1.1: 3.3.2-1
    5.0: 3.3.2-1
    a connects
    a > bytes 30
    a < ended 0x81

A topic that is not UTF 8 ends the connection
    3.1.1: 3.3.2-1 1.5.3-1
    5.0: 3.3.2-1 1.5.4-1
    a connects
    a > PUBLISH topic=b'a\xff'
    a < ended 0x81|0x90

A topic with a wildcard for many levels ends the connection
    3.1.1: 3.3.2-2 4.7.1-1
    5.0: 3.3.2-2 4.7.0-1
    a connects
    a > PUBLISH topic={t}/#
    a < ended 0x81|0x82|0x90

A topic with a wildcard for one level ends the connection
    3.1.1: 3.3.2-2 4.7.1-1
    5.0: 3.3.2-2 4.7.0-1
    a connects
    a > PUBLISH topic={t}/+/x
    a < ended 0x81|0x82|0x90

An empty topic ends the connection
    3.1.1: 4.7.3-1
    5.0: 4.7.3-1
    a connects
    a > PUBLISH topic=''
    a < ended 0x81|0x82|0x90

A message may be empty
    3.1.1: 3.3.4-1
    5.0: 3.3.4-1
    sub connects
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH payload=''
    sub < PUBLISH payload=''

A message of a hundred thousand bytes is delivered whole
    3.1.1: 7.1.1-1
    5.0: 4.2.0-1
    sub connects
    sub subscribes {t}:1
    pub connects
    pub > PUBLISH payload={x*100000} qos=1 id=1
    pub < PUBACK id=1
    sub < PUBLISH payload={x*100000} qos=1

A message nobody subscribed to is acknowledged and said to be so
    5.0: 3.4.2-1 3.5.2-1
    pub connects
    pub > PUBLISH qos=1 id=1
    pub < PUBACK id=1 reason=0x10
    pub > PUBLISH qos=2 id=2
    pub < PUBREC id=2 reason=0x10
    pub > PUBREL id=2
    pub < PUBCOMP id=2

A message nobody subscribed to is acknowledged
    3.1.1: 4.3.2-2 4.3.3-2
    pub connects
    pub > PUBLISH qos=1 id=1
    pub < PUBACK id=1
    pub > PUBLISH qos=2 id=2
    pub < PUBREC id=2
    pub > PUBREL id=2
    pub < PUBCOMP id=2

A topic of the broker's own is not for clients to publish to
    3.1.1: 3.3.5-2
    5.0: 3.4.2-1 3.5.2-1 4.7.2-1
    pub connects
    pub > PUBLISH topic=$x/{t}
    pub < quiet
    pub > PUBLISH topic=$x/{t} qos=1 id=1
    pub < PUBACK id=1 reason=0x87
    pub > PUBLISH topic=$x/{t} qos=2 id=2
    pub < PUBREC id=2 reason=0x87
    pub < quiet

After a PUBREC that refuses the identifier is free
    5.0: 4.3.3-9
    sub connects
    sub subscribes {t}:2
    pub connects
    pub > PUBLISH topic=$x/{t} qos=2 id=2
    pub < PUBREC id=2 reason=0x87
    pub > PUBLISH qos=2 id=2
    pub < PUBREC id=2
    pub > PUBREL id=2
    pub < PUBCOMP id=2
    sub < PUBLISH qos=2

The broker acknowledges in the order of the messages
    3.1.1: 4.6.0-2 4.6.0-3
    5.0: 4.3.2-4 4.3.3-8
    sub connects
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH qos=1 id=3 + PUBLISH qos=1 id=1 + PUBLISH qos=1 id=2
    pub < PUBACK id=3
    pub < PUBACK id=1
    pub < PUBACK id=2
    pub > PUBLISH qos=2 id=6 + PUBLISH qos=2 id=4 + PUBLISH qos=2 id=5
    pub < PUBREC id=6
    pub < PUBREC id=4
    pub < PUBREC id=5

The broker releases in the order of the acknowledgements
    3.1.1: 4.6.0-4
    5.0: 4.3.3-4
    sub connects
    sub subscribes {t}:2
    pub connects
    pub > PUBLISH payload=1 qos=2 id=1 + PUBLISH payload=2 qos=2 id=2
    pub < PUBREC id=1
    pub < PUBREC id=2
    pub > PUBREL id=1 + PUBREL id=2
    pub < PUBCOMP id=1
    pub < PUBCOMP id=2
    sub < PUBLISH payload=1 qos=2 id=$a
    sub < PUBLISH payload=2 qos=2 id=$b
    sub > PUBREC id=$b + PUBREC id=$a
    sub < PUBREL id=$b
    sub < PUBREL id=$a

Messages of one client and topic arrive in their order
    3.1.1: 4.6.0-5 4.6.0-6
    5.0: 4.6.0-5 4.6.0-6
    sub connects
    sub subscribes {t}:2
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 + PUBLISH payload=2 qos=1 id=2 + PUBLISH payload=3 qos=1 id=3
    pub > PUBLISH payload=4 qos=1 id=4 + PUBLISH payload=5 qos=1 id=5
    sub < PUBLISH payload=1 qos=1
    sub < PUBLISH payload=2 qos=1
    sub < PUBLISH payload=3 qos=1
    sub < PUBLISH payload=4 qos=1
    sub < PUBLISH payload=5 qos=1

Overlapping subscriptions deliver one copy at the highest QoS
    3.1.1: 3.3.5-1
    5.0: 3.3.4-2
    sub connects
    sub subscribes {t}/#:1 {t}/+:2 {t}/a:0
    pub connects
    pub > PUBLISH topic={t}/a qos=2 id=1
    pub < PUBREC id=1
    pub > PUBREL id=1
    pub < PUBCOMP id=1
    sub < PUBLISH topic={t}/a qos=2
    sub < quiet
"""
)
