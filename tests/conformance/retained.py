"""Rows about retained messages: which are kept, who gets them, and how they are marked."""

from tests.conformance.row import rows

ROWS = rows(
    r"""
A retained message is kept with its QoS for those who subscribe later
    3.1.1: 3.3.1-5 3.3.1-6 3.3.1-8
    5.0: 3.3.1-5 3.3.1-9
    pub connects
    pub > PUBLISH payload=kept qos=1 id=1 retain=1
    pub < PUBACK id=1 reason=0|0x10
    sub connects
    sub subscribes {t}:2
    sub < PUBLISH payload=kept qos=1 retain=1

A retained message comes at the lower of its QoS and that granted
    3.1.1: 3.8.4-6
    5.0: 3.8.4-8
    pub connects
    pub > PUBLISH payload=kept qos=2 id=1 retain=1
    pub < PUBREC id=1 reason=0|0x10
    pub > PUBREL id=1
    pub < PUBCOMP id=1
    sub connects
    sub subscribes {t}:0
    sub < PUBLISH payload=kept qos=0 retain=1

A retained message at QoS 2 is delivered in four steps
    3.1.1: 3.3.1-6
    5.0: 3.3.1-9
    pub connects
    pub > PUBLISH payload=kept qos=2 id=1 retain=1
    pub < PUBREC id=1 reason=0|0x10
    pub > PUBREL id=1
    pub < PUBCOMP id=1
    sub connects
    sub subscribes {t}:2
    sub < PUBLISH payload=kept qos=2 retain=1 id=$m
    sub > PUBREC id=$m
    sub < PUBREL id=$m

A new subscription gets the retained message of each matching topic
    3.1.1: 3.3.1-6
    5.0: 3.3.1-9
    pub connects
    pub > PUBLISH topic={t}/a payload=1 retain=1 + PUBLISH topic={t}/b/c payload=2 retain=1
    pub > PUBLISH topic={t}x payload=3 retain=1 + PINGREQ
    pub < PINGRESP
    sub connects
    sub subscribes {t}/#:0
    sub ~ PUBLISH topic={t}/a payload=1 retain=1
    sub ~ PUBLISH topic={t}/b/c payload=2 retain=1
    sub < quiet

The last retained message replaces the one before
    3.1.1: 3.3.1-7 3.3.1-6
    5.0: 3.3.1-5
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 retain=1
    pub < PUBACK id=1 reason=0|0x10
    pub > PUBLISH payload=2 retain=1 + PINGREQ
    pub < PINGRESP
    sub connects
    sub subscribes {t}:1
    sub < PUBLISH payload=2 retain=1
    sub < quiet

A message to a subscription that is there is not marked as retained
    3.1.1: 3.3.1-9
    5.0: 3.3.1-12
    sub connects
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH payload=kept retain=1
    sub < PUBLISH payload=kept retain=0

An empty retained message is delivered and removes what was retained
    3.1.1: 3.3.1-10 3.3.1-11
    5.0: 3.3.1-6 3.3.1-7
    pub connects
    pub > PUBLISH payload=kept retain=1 + PINGREQ
    pub < PINGRESP
    sub connects
    sub subscribes {t}:0
    sub < PUBLISH payload=kept retain=1
    pub > PUBLISH payload='' retain=1
    sub < PUBLISH payload='' retain=0
    late connects
    late subscribes {t}:0
    late < quiet

An empty message is not retained where there was none
    3.1.1: 3.3.1-11
    5.0: 3.3.1-7
    pub connects
    pub > PUBLISH payload='' qos=1 id=1 retain=1
    pub < PUBACK id=1 reason=0|0x10
    sub connects
    sub subscribes {t}:0
    sub < quiet

A message without retain leaves what is retained
    3.1.1: 3.3.1-12
    5.0: 3.3.1-8
    pub connects
    pub > PUBLISH payload=kept retain=1 + PUBLISH payload=passing + PUBLISH payload='' + PINGREQ
    pub < PINGRESP
    sub connects
    sub subscribes {t}:0
    sub < PUBLISH payload=kept retain=1
    sub < quiet

A message without retain is not retained
    3.1.1: 3.3.1-12
    5.0: 3.3.1-8
    pub connects
    pub > PUBLISH payload=passing qos=1 id=1
    pub < PUBACK id=1 reason=0|0x10
    sub connects
    sub subscribes {t}:0
    sub < quiet

Subscribing again brings the retained message again
    3.1.1: 3.8.4-3
    5.0: 3.8.4-4 3.3.1-9
    pub connects
    pub > PUBLISH payload=kept retain=1 + PINGREQ
    pub < PINGRESP
    sub connects
    sub subscribes {t}:0
    sub < PUBLISH payload=kept retain=1
    sub subscribes {t}:1
    sub < PUBLISH payload=kept retain=1

Two filters that match bring the retained message for each
    3.1.1: 3.8.4-4
    5.0: 3.8.4-5
    pub connects
    pub > PUBLISH payload=kept retain=1 + PINGREQ
    pub < PINGRESP
    sub connects
    sub subscribes {t}:0 {t}/#:0
    sub < PUBLISH payload=kept retain=1
    sub < PUBLISH payload=kept retain=1
    sub < quiet

A session that is resumed does not get the retained messages again
    3.1.1: 3.3.1-6
    5.0: 3.3.1-9
    pub connects
    pub > PUBLISH payload=kept retain=1 + PINGREQ
    pub < PINGRESP
    sub connects clean=0 session_expiry=600
    sub subscribes {t}:0
    sub < PUBLISH payload=kept retain=1
    sub > DISCONNECT
    sub < closed
    sub' > CONNECT clean=0
    sub' < CONNACK session_present=1
    sub' < quiet

Retain handling 1 brings retained messages to a new subscription only
    5.0: 3.3.1-10
    pub connects
    pub > PUBLISH payload=kept retain=1 + PINGREQ
    pub < PINGRESP
    sub connects
    sub subscribes {t}:0,rh1
    sub < PUBLISH payload=kept retain=1
    sub subscribes {t}:0,rh1
    sub < quiet

Retain handling 1 counts a subscription that was removed as new
    5.0: 3.3.1-10
    pub connects
    pub > PUBLISH payload=kept retain=1 + PINGREQ
    pub < PINGRESP
    sub connects
    sub subscribes {t}:0,rh1
    sub < PUBLISH payload=kept retain=1
    sub > UNSUBSCRIBE id=2 filter={t}
    sub < UNSUBACK id=2
    sub subscribes {t}:0,rh1
    sub < PUBLISH payload=kept retain=1

Retain handling 1 knows the subscription of a resumed session
    5.0: 3.3.1-10
    pub connects
    pub > PUBLISH payload=kept retain=1 + PINGREQ
    pub < PINGRESP
    sub connects clean=0 session_expiry=600
    sub subscribes {t}:0,rh1
    sub < PUBLISH payload=kept retain=1
    sub > DISCONNECT
    sub < closed
    sub' connects clean=0
    sub' subscribes {t}:0,rh1
    sub' < quiet

Retain handling 2 brings no retained messages
    5.0: 3.3.1-11
    pub connects
    pub > PUBLISH payload=kept retain=1 + PINGREQ
    pub < PINGRESP
    sub connects
    sub subscribes {t}:0,rh2
    sub < quiet
    pub > PUBLISH payload=new
    sub < PUBLISH payload=new

Retain as published passes the mark on
    5.0: 3.3.1-13
    sub connects
    sub subscribes {t}:0,rap
    pub connects
    pub > PUBLISH payload=1 retain=1 + PUBLISH payload=2
    sub < PUBLISH payload=1 retain=1
    sub < PUBLISH payload=2 retain=0

Without retain as published the mark is taken off
    5.0: 3.3.1-12
    sub connects
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH payload=1 retain=1
    sub < PUBLISH payload=1 retain=0

A retained message keeps its properties
    5.0: 3.3.2-4 3.3.2-15 3.3.2-16 3.3.2-17 3.3.2-20
    pub connects
    pub > PUBLISH payload=kept retain=1 payload_format=1 content_type=text response_topic={t}/r
        ... correlation_data=c user=k:v user=a:b
    pub > PINGREQ
    pub < PINGRESP
    sub connects
    sub > SUBSCRIBE id=3 filter={t}:0 subscription_id=7
    sub < SUBACK id=3
    sub < PUBLISH payload=kept retain=1 payload_format=1 content_type=text response_topic={t}/r
        ... correlation_data=c user=k:v user=a:b subscription_id=7

A retained message that has expired is not sent
    5.0: 3.3.2-5
    pub connects
    pub > PUBLISH payload=kept retain=1 message_expiry=1 + PINGREQ
    pub < PINGRESP
    clock connects keep_alive=1
    clock < ended 0x8d
    sub connects
    sub subscribes {t}:0
    sub < quiet

A retained message's expiry is less by the time it waited
    5.0: 3.3.2-6
    pub connects
    pub > PUBLISH payload=kept retain=1 message_expiry=100 + PINGREQ
    pub < PINGRESP
    clock connects keep_alive=1
    clock < ended 0x8d
    sub connects
    sub subscribes {t}:0
    sub < PUBLISH payload=kept retain=1 message_expiry=1..99
"""
)
