"""Rows about UNSUBSCRIBE and UNSUBACK."""

from tests.conformance.row import rows

ROWS = rows(
    r"""
After UNSUBSCRIBE no message comes
    3.1.1: 3.10.4-1 3.10.4-2 3.10.4-4 2.3.1-7
    5.0: 3.10.4-1 3.10.4-2 3.10.4-4 3.10.4-5 3.11.3-2 2.2.1-6
    a connects
    a subscribes {t}:1
    a > UNSUBSCRIBE id=4660 filter={t}
    a < UNSUBACK id=4660 reasons=0
    pub connects
    pub > PUBLISH qos=1 id=1
    pub < PUBACK id=1 reason=0x10
    a < quiet

An UNSUBSCRIBE of what is not subscribed is answered
    3.1.1: 3.10.4-5
    5.0: 3.10.4-5 3.11.3-2
    a connects
    a > UNSUBSCRIBE id=7 filter={t}
    a < UNSUBACK id=7 reasons=0x11

Filters are compared character by character
    3.1.1: 3.10.4-1
    5.0: 3.10.4-1
    a connects
    a subscribes {t}/+:0
    a > UNSUBSCRIBE id=1 filter={t}/a
    a < UNSUBACK id=1 reasons=0x11
    a > UNSUBSCRIBE id=2 filter={t}/#
    a < UNSUBACK id=2 reasons=0x11
    a > UNSUBSCRIBE id=3 filter={t}/+/
    a < UNSUBACK id=3 reasons=0x11
    pub connects
    pub > PUBLISH topic={t}/a
    a < PUBLISH topic={t}/a
    a > UNSUBSCRIBE id=4 filter={t}/+
    a < UNSUBACK id=4 reasons=0
    pub > PUBLISH topic={t}/a
    a < quiet

Many filters to remove have one answer in their order
    3.1.1: 3.10.4-6
    5.0: 3.10.4-6 3.11.3-1 3.11.3-2
    a connects
    a subscribes {t}/a:0 {t}/b:0 {t}/c:0
    a > UNSUBSCRIBE id=9 filter={t}/a filter={t}/x filter={t}/c filter={t}/a
    a < UNSUBACK id=9 reasons=0,0x11,0,0x11
    pub connects
    pub > PUBLISH topic={t}/a + PUBLISH topic={t}/b + PUBLISH topic={t}/c
    a < PUBLISH topic={t}/b
    a < quiet

What was begun at QoS 1 is finished after UNSUBSCRIBE
    3.1.1: 3.10.4-3
    5.0: 3.10.4-3
    a connects clean=0 session_expiry=600
    a subscribes {t}:1
    pub connects
    pub > PUBLISH qos=1 id=1
    pub < PUBACK id=1
    a < PUBLISH qos=1 id=$m
    a > UNSUBSCRIBE id=2 filter={t}
    a < UNSUBACK id=2
    a closes
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    a' < PUBLISH qos=1 id=$m dup=1
    a' > PUBACK id=$m
    a' < quiet

What was begun at QoS 2 is finished after UNSUBSCRIBE
    3.1.1: 3.10.4-3
    5.0: 3.10.4-3
    a connects
    a subscribes {t}:2
    pub connects
    pub > PUBLISH qos=2 id=1 + PUBREL id=1
    pub < PUBREC id=1
    pub < PUBCOMP id=1
    a < PUBLISH qos=2 id=$m
    a > UNSUBSCRIBE id=2 filter={t}
    a < UNSUBACK id=2
    a > PUBREC id=$m
    a < PUBREL id=$m
    a > PUBCOMP id=$m
    a < quiet

An UNSUBSCRIBE with wrong flags ends the connection
    3.1.1: 3.10.1-1 2.2.2-2 2.2.2-1
    5.0: 3.10.1-1 2.1.3-1
    a connects
    a > UNSUBSCRIBE filter={t} first=0xa0
    a < ended 0x81

An UNSUBSCRIBE with further flags ends the connection
    3.1.1: 3.10.1-1
    5.0: 3.10.1-1
    a connects
    a > UNSUBSCRIBE filter={t} first=0xa3
    a < ended 0x81

An UNSUBSCRIBE without a filter ends the connection
    3.1.1: 3.10.3-2 4.8.0-1
    5.0: 3.10.3-2 4.13.1-1
    a connects
    a > UNSUBSCRIBE id=1
    a < ended 0x81|0x82

An UNSUBSCRIBE with the identifier 0 ends the connection
    3.1.1: 2.3.1-1
    5.0: 2.2.1-3
    a connects
    a > UNSUBSCRIBE id=0 filter={t}
    a < ended 0x81|0x82

A filter that is not UTF 8 ends the connection here too
    3.1.1: 3.10.3-1 1.5.3-1
    5.0: 3.10.3-1 1.5.4-1
    a connects
    a > UNSUBSCRIBE filter=b'a\xff'
    a < ended 0x81|0x8f

A filter that is longer than its packet ends the connection
    3.1.1: 3.10.3-1
    5.0: 3.10.3-1
    a connects
    4 a > bytes a2 0001 0009 61
    5 a > bytes a2 0001 00 0009 61
    a < ended 0x81

User properties of an UNSUBSCRIBE are taken
    5.0: 3.10.4-4 2.2.2-1
    a connects
    a > UNSUBSCRIBE id=1 filter={t} user=a:b
    a < UNSUBACK id=1 reasons=0x11
"""
)
