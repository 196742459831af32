"""Rows about the shared subscriptions of MQTT 5."""

from tests.conformance.row import rows

ROWS = rows(
    r"""
A message goes to one of a group
    5.0: 4.8.2-1 4.8.2-3
    a connects
    a subscribes $share/g/{t}:1
    pub connects
    pub > PUBLISH qos=1 id=1
    pub < PUBACK id=1
    a < PUBLISH qos=1
    a < quiet

A message goes to one of each group and to everyone outside
    5.0: 4.8.2-2 4.5.0-1
    a connects
    a subscribes $share/g/{t}/#:0
    b connects
    b subscribes $share/h/{t}/+:0
    c connects
    c subscribes {t}/a:0
    pub connects
    pub > PUBLISH topic={t}/a
    a < PUBLISH topic={t}/a
    b < PUBLISH topic={t}/a
    c < PUBLISH topic={t}/a

A shared and another subscription of one client are two
    5.0: 4.5.0-1
    a connects
    a subscribes $share/g/{t}:0 {t}:0
    pub connects
    pub > PUBLISH
    a < PUBLISH
    a < PUBLISH
    a < quiet

The QoS granted to who gets the message is respected
    5.0: 4.8.2-3
    a connects
    a subscribes $share/g/{t}:0
    b connects
    b subscribes $share/h/{t}:1
    pub connects
    pub > PUBLISH qos=2 id=1 + PUBREL id=1
    a < PUBLISH qos=0
    b < PUBLISH qos=1

Retained messages are not sent to a shared subscription
    5.0: 4.8.2-1
    pub connects
    pub > PUBLISH payload=kept retain=1 + PINGREQ
    pub < PINGRESP
    a connects
    a subscribes $share/g/{t}:0
    a < quiet

No local on a shared subscription ends the connection
    5.0: 3.8.3-4
    a connects
    a > SUBSCRIBE filter=$share/g/{t}:0,nl
    a < ended 0x82

A shared filter without a name is refused
    5.0: 4.8.2-1
    a connects
    a > SUBSCRIBE filter=$share//{t}:0
    a < SUBACK reasons=0x8f

A shared filter without a filter is refused
    5.0: 4.8.2-2
    a connects
    a > SUBSCRIBE filter=$share/g:0 filter=$share/g/:0
    a < SUBACK reasons=0x8f,0x8f

A share name with a wildcard is refused
    5.0: 4.8.2-2
    a connects
    a > SUBSCRIBE filter=$share/+/{t}:0 filter=$share/g#/{t}:0 filter=$share/g+/{t}:0
    a < SUBACK reasons=0x8f,0x8f,0x8f

A shared subscription is removed by its whole filter
    5.0: 3.10.4-1
    a connects
    a subscribes $share/g/{t}:0
    a > UNSUBSCRIBE id=2 filter={t}
    a < UNSUBACK id=2 reasons=0x11
    a > UNSUBSCRIBE id=3 filter=$share/g/{t}
    a < UNSUBACK id=3 reasons=0
    pub connects
    pub > PUBLISH
    a < quiet

A shared message at QoS 2 that was begun is finished with the same client
    5.0: 4.8.2-4
    a connects clean=0 session_expiry=600
    a subscribes $share/g/{t}:2
    pub connects
    pub > PUBLISH qos=2 id=1 + PUBREL id=1
    pub < PUBREC id=1
    pub < PUBCOMP id=1
    a < PUBLISH qos=2 id=$m
    b connects
    b subscribes $share/g/{t}:2
    a closes
    b < quiet
    a' > CONNECT clean=0
    a' < CONNACK session_present=1
    a' < PUBLISH qos=2 id=$m dup=1
    a' > PUBREC id=$m
    a' < PUBREL id=$m
    a' > PUBCOMP id=$m
    b < quiet

A shared message at QoS 2 that was begun goes to nobody else when the session ends
    5.0: 4.8.2-5
    a connects
    a subscribes $share/g/{t}:2
    pub connects
    pub > PUBLISH qos=2 id=1 + PUBREL id=1
    pub < PUBREC id=1
    pub < PUBCOMP id=1
    a < PUBLISH qos=2
    b connects
    b subscribes $share/g/{t}:2
    a > DISCONNECT
    a < closed
    a' connects
    b < quiet

A shared message that was refused goes to nobody else
    5.0: 4.8.2-6
    a connects
    a subscribes $share/g/{t}:2
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 + PUBLISH payload=2 qos=2 id=2 + PUBREL id=2
    pub < PUBACK id=1
    pub < PUBREC id=2
    pub < PUBCOMP id=2
    a < PUBLISH payload=1 qos=1 id=$a
    a < PUBLISH payload=2 qos=2 id=$b
    b connects
    b subscribes $share/g/{t}:2
    a > PUBACK id=$a reason=0x80 + PUBREC id=$b reason=0x80
    a < quiet
    b < quiet

A client that has gone gets none of the shared messages
    5.0: 4.8.2-1
    a connects
    a subscribes $share/g/{t}:1
    b connects
    b subscribes $share/g/{t}:1
    b > DISCONNECT
    b < closed
    b' connects
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 + PUBLISH payload=2 qos=1 id=2
    a < PUBLISH payload=1 qos=1
    a < PUBLISH payload=2 qos=1
"""
)
