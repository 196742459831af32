"""Rows about SUBSCRIBE and SUBACK."""

from tests.conformance.row import rows

ROWS = rows(
    r"""
A SUBSCRIBE is answered with the QoS that was granted
    3.1.1: 3.8.4-1 3.8.4-2 3.8.4-5 2.3.1-7 3.9.3-2
    5.0: 3.8.4-1 3.8.4-2 3.8.4-6 3.8.4-7 2.2.1-6 3.9.3-2
    a connects
    a > SUBSCRIBE id=4660 filter={t}/0:0
    a < SUBACK id=4660 reasons=0
    a > SUBSCRIBE id=65535 filter={t}/1:1
    a < SUBACK id=65535 reasons=1
    a > SUBSCRIBE id=1 filter={t}/2:2
    a < SUBACK id=1 reasons=2

Many filters have one answer in their order
    3.1.1: 3.8.4-4 3.8.4-5 3.9.3-1
    5.0: 3.8.4-5 3.8.4-6 3.9.3-1
    a connects
    a > SUBSCRIBE id=1 filter={t}/2:2 filter={t}/0:0 filter={t}/1:1
    a < SUBACK id=1 reasons=2,0,1
    pub connects
    pub > PUBLISH topic={t}/0 + PUBLISH topic={t}/1 + PUBLISH topic={t}/2
    a < PUBLISH topic={t}/0
    a < PUBLISH topic={t}/1
    a < PUBLISH topic={t}/2

A filter that is not valid is refused and the others are granted
    3.1.1: 3.8.4-5 3.9.3-1 3.9.3-2 4.7.1-2
    5.0: 3.8.4-7 3.9.3-1 3.9.3-2 4.7.1-1
    a connects
    a > SUBSCRIBE id=1 filter={t}/a:1 filter={t}/#/b:1 filter={t}/c:2
    a < SUBACK id=1 reasons=1,0x8f,2
    pub connects
    pub > PUBLISH topic={t}/a + PUBLISH topic={t}/c
    a < PUBLISH topic={t}/a
    a < PUBLISH topic={t}/c

The same filter again replaces the subscription
    3.1.1: 3.8.4-3
    5.0: 3.8.4-3
    sub connects
    sub subscribes {t}:2
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH qos=2 id=1
    pub < PUBREC id=1
    pub > PUBREL id=1
    pub < PUBCOMP id=1
    sub < PUBLISH qos=0
    sub < quiet

The same filter twice in one packet is one subscription with the later options
    3.1.1: 3.8.4-4 3.8.4-3
    5.0: 3.8.4-5 3.8.4-3
    sub connects
    sub > SUBSCRIBE id=1 filter={t}:2 filter={t}:1
    sub < SUBACK id=1 reasons=2,1
    pub connects
    pub > PUBLISH qos=2 id=1
    pub < PUBREC id=1
    pub > PUBREL id=1
    pub < PUBCOMP id=1
    sub < PUBLISH qos=1
    sub < quiet

Nothing is lost while a subscription is replaced
    3.1.1: 3.8.4-3
    5.0: 3.8.4-4
    sub connects
    sub subscribes {t}:1
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1
    pub < PUBACK id=1
    sub > SUBSCRIBE id=9 filter={t}:1
    pub > PUBLISH payload=2 qos=1 id=2
    pub < PUBACK id=2
    sub < PUBLISH payload=1 qos=1
    sub ~ SUBACK id=9 reasons=1
    sub ~ PUBLISH payload=2 qos=1
    sub < quiet

A message comes at the lower of its QoS and that granted
    3.1.1: 3.8.4-6
    5.0: 3.8.4-8
    zero connects
    zero subscribes {t}:0
    one connects
    one subscribes {t}:1
    two connects
    two subscribes {t}:2
    pub connects
    pub > PUBLISH payload=0
    zero < PUBLISH payload=0
    one < PUBLISH payload=0
    two < PUBLISH payload=0
    pub > PUBLISH payload=1 qos=1 id=1
    pub < PUBACK id=1
    zero < PUBLISH payload=1
    one < PUBLISH payload=1 qos=1
    two < PUBLISH payload=1 qos=1
    pub > PUBLISH payload=2 qos=2 id=1 + PUBREL id=1
    pub < PUBREC id=1
    pub < PUBCOMP id=1
    zero < PUBLISH payload=2
    one < PUBLISH payload=2 qos=1
    two < PUBLISH payload=2 qos=2

A SUBSCRIBE with wrong flags ends the connection
    3.1.1: 3.8.1-1 2.2.2-2 2.2.2-1
    5.0: 3.8.1-1 2.1.3-1
    a connects
    a > SUBSCRIBE filter={t}:0 first=0x80
    a < ended 0x81

A SUBSCRIBE with further flags ends the connection
    3.1.1: 3.8.1-1
    5.0: 3.8.1-1
    a connects
    a > SUBSCRIBE filter={t}:0 first=0x8a
    a < ended 0x81

A SUBSCRIBE without a filter ends the connection
    3.1.1: 3.8.3-3 4.8.0-1
    5.0: 3.8.3-2 4.13.1-1
    a connects
    a > SUBSCRIBE id=1
    a < ended 0x81|0x82

A SUBSCRIBE with the identifier 0 ends the connection
    3.1.1: 2.3.1-1
    5.0: 2.2.1-3
    a connects
    a > SUBSCRIBE id=0 filter={t}:0
    a < ended 0x81|0x82

A SUBSCRIBE with QoS 3 ends the connection
    3.1.1: 3.8.3-4
    5.0: 3.8.3-5
    a connects
    a > SUBSCRIBE filter={t}:3
    a < ended 0x81|0x82

A SUBSCRIBE with reserved bits ends the connection
    3.1.1: 3.8.3-4
    5.0: 3.8.3-5
    a connects
    4 a > SUBSCRIBE filter={t}:0x04
    5 a > SUBSCRIBE filter={t}:0x40
    a < ended 0x81

A SUBSCRIBE with the highest reserved bit ends the connection
    3.1.1: 3.8.3-4
    5.0: 3.8.3-5
    a connects
    a > SUBSCRIBE filter={t}:0x81
    a < ended 0x81

A SUBSCRIBE with retain handling 3 ends the connection
    5.0: 4.13.1-1
    a connects
    a > SUBSCRIBE filter={t}:0x30
    a < ended 0x81|0x82

A SUBSCRIBE with a filter without options ends the connection
    3.1.1: 3.8.3-3
    5.0: 3.8.3-2
    a connects
    4 a > bytes 82 0001 '{t}'
    5 a > bytes 82 0001 00 '{t}'
    a < ended 0x81|0x82

A filter that is not UTF 8 ends the connection
    3.1.1: 3.8.3-1 1.5.3-1
    5.0: 3.8.3-1 1.5.4-1
    a connects
    a > SUBSCRIBE filter=b'a\xff':0
    a < ended 0x81|0x8f

An empty filter is refused
    3.1.1: 4.7.3-1
    5.0: 4.7.3-1
    a connects
    a > SUBSCRIBE filter='':0
    a < SUBACK reasons=0x8f

Filters with wildcards are there
    3.1.1: 3.8.3-2
    5.0: 3.8.4-7
    a connects
    a subscribes {t}/+:0 {t}/#:1 +/{t}:2
    a < quiet

No local keeps a client's own messages from it
    5.0: 3.8.3-3
    a connects
    a subscribes {t}:1,nl
    b connects
    b subscribes {t}:1
    a > PUBLISH payload=mine qos=1 id=9
    a < PUBACK id=9
    b < PUBLISH payload=mine qos=1
    a < quiet
    b > PUBLISH payload=yours
    a < PUBLISH payload=yours

No local of one subscription does not hide the message from another
    5.0: 3.8.3-3
    a connects
    a subscribes {t}:1,nl {t}/#:0
    a > PUBLISH payload=mine
    a < PUBLISH payload=mine
    a < quiet

A subscription identifier comes with every message
    5.0: 3.3.4-3 3.3.4-4
    a connects
    a > SUBSCRIBE filter={t}:0 subscription_id=1
    a < SUBACK reasons=0
    b connects
    b > SUBSCRIBE filter={t}:0 subscription_id=268435455
    b < SUBACK reasons=0
    pub connects
    pub > PUBLISH
    a < PUBLISH subscription_id=1
    b < PUBLISH subscription_id=268435455

One copy has the identifiers of all matching subscriptions
    5.0: 3.3.4-3 3.3.4-4 3.3.4-2
    a connects
    a > SUBSCRIBE id=1 filter={t}/#:0 subscription_id=11
    a < SUBACK id=1 reasons=0
    a > SUBSCRIBE id=2 filter={t}/a:1 subscription_id=12
    a < SUBACK id=2 reasons=1
    a > SUBSCRIBE id=3 filter={t}/+:2
    a < SUBACK id=3 reasons=2
    a > SUBSCRIBE id=4 filter={t}/b:2 subscription_id=14
    a < SUBACK id=4 reasons=2
    pub connects
    pub > PUBLISH topic={t}/a qos=2 id=1 + PUBREL id=1
    a < PUBLISH topic={t}/a qos=2 subscription_id=11 subscription_id=12
    a < quiet

A subscription that is replaced has the new identifier
    5.0: 3.8.4-3
    a connects
    a > SUBSCRIBE id=1 filter={t}:0 subscription_id=5
    a < SUBACK id=1
    a > SUBSCRIBE id=2 filter={t}:0 subscription_id=6
    a < SUBACK id=2
    pub connects
    pub > PUBLISH payload=1
    a < PUBLISH payload=1 subscription_id=6
    a > SUBSCRIBE id=3 filter={t}:0
    a < SUBACK id=3
    pub > PUBLISH payload=2
    a < PUBLISH payload=2

A subscription identifier is kept in the session
    5.0: 3.1.2-23 3.3.4-3
    a connects clean=0 session_expiry=600
    a > SUBSCRIBE id=1 filter={t}:1 subscription_id=5
    a < SUBACK id=1 reasons=1
    a > DISCONNECT
    a < closed
    pub connects
    pub > PUBLISH qos=1 id=1
    pub < PUBACK id=1
    a' connects clean=0
    a' < PUBLISH qos=1 subscription_id=5

A subscription identifier of 0 ends the connection
    5.0: 4.13.1-1
    a connects
    a > SUBSCRIBE filter={t}:0 subscription_id=0
    a < ended 0x81|0x82

Two subscription identifiers end the connection
    5.0: 4.13.1-1
    a connects
    a > SUBSCRIBE filter={t}:0 subscription_id=1 subscription_id=2
    a < ended 0x82

User properties of a SUBSCRIBE are taken
    5.0: 3.8.4-1 2.2.2-1
    a connects
    a > SUBSCRIBE filter={t}:0 user=a:b user=a:b
    a < SUBACK reasons=0
"""
)
