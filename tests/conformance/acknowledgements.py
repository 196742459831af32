"""Rows about PUBACK, PUBREC, PUBREL and PUBCOMP as the broker takes and gives them."""

from tests.conformance.row import rows

PUBACK = rows(
    r"""
A PUBACK of an unknown identifier is passed over
    3.1.1: 4.3.2-1
    5.0: 4.3.2-3
    a connects
    a > PUBACK id=77
    a < quiet

A PUBACK with a reason and properties is taken
    5.0: 3.4.2-1
    sub connects
    sub subscribes {t}:1
    pub connects
    pub > PUBLISH qos=1 id=1
    pub < PUBACK id=1
    sub < PUBLISH qos=1 id=$m
    sub > PUBACK id=$m reason=0x10 reason_string=fine user=k:v
    sub < quiet

A PUBACK with a reason it does not have ends the connection
    5.0: 3.4.2-1 4.13.1-1
    sub connects
    sub subscribes {t}:1
    pub connects
    pub > PUBLISH qos=1 id=1
    pub < PUBACK id=1
    sub < PUBLISH qos=1 id=$m
    sub > PUBACK id=$m reason=0x7f
    sub < ended 0x81|0x82

A PUBACK with the identifier 0 ends the connection
    3.1.1: 4.8.0-1
    5.0: 4.13.1-1
    a connects
    a > PUBACK id=0
    a < ended 0x81|0x82

A PUBACK without an identifier ends the connection
    3.1.1: 2.3.1-6
    5.0: 2.2.1-5
    a connects
    a > bytes 40 01
    a < ended 0x81

A PUBACK with wrong flags ends the connection
    3.1.1: 2.2.2-1 2.2.2-2
    5.0: 2.1.3-1
    a connects
    a > PUBACK id=1 first=0x41
    a < ended 0x81

A PUBACK for a message at QoS 2 does not settle it
    3.1.1: 4.3.3-1
    5.0: 4.3.3-3
    sub connects clean=0 session_expiry=600
    sub subscribes {t}:2
    pub connects
    pub > PUBLISH qos=2 id=1
    pub < PUBREC id=1
    pub > PUBREL id=1
    pub < PUBCOMP id=1
    sub < PUBLISH qos=2 id=$m
    sub > PUBACK id=$m
    sub > DISCONNECT
    sub < cut
    sub' > CONNECT clean=0
    sub' < CONNACK session_present=1
    sub' < PUBLISH qos=2 id=$m dup=1

A refused message at QoS 1 is settled
    5.0: 4.4.0-2
    sub connects receive_maximum=1
    sub subscribes {t}:1
    pub connects
    pub > PUBLISH payload=1 qos=1 id=1 + PUBLISH payload=2 qos=1 id=2
    sub < PUBLISH payload=1 qos=1 id=$a
    sub < quiet
    sub > PUBACK id=$a reason=0x80
    sub < PUBLISH payload=2 qos=1
"""
)

PUBREC = rows(
    r"""
A PUBREC of an unknown identifier is answered
    5.0: 3.6.2-1 3.5.2-1
    a connects
    a > PUBREC id=77
    a < PUBREL id=77 reason=0x92

A PUBREC that refuses is not answered
    5.0: 4.3.3-4 4.4.0-2
    sub connects receive_maximum=1
    sub subscribes {t}:2
    pub connects
    pub > PUBLISH payload=1 qos=2 id=1 + PUBLISH payload=2 qos=2 id=2 + PUBREL id=1 + PUBREL id=2
    sub < PUBLISH payload=1 qos=2 id=$a
    sub > PUBREC id=$a reason=0x80
    sub < PUBLISH payload=2 qos=2

A PUBREC is answered again if it comes again
    3.1.1: 4.3.3-1
    5.0: 4.3.3-4
    sub connects
    sub subscribes {t}:2
    pub connects
    pub > PUBLISH qos=2 id=1
    pub < PUBREC id=1
    pub > PUBREL id=1
    pub < PUBCOMP id=1
    sub < PUBLISH qos=2 id=$m
    sub > PUBREC id=$m
    sub < PUBREL id=$m
    sub > PUBREC id=$m
    sub < PUBREL id=$m
    sub > PUBCOMP id=$m
    sub < quiet

A PUBREC with a reason it does not have ends the connection
    5.0: 3.5.2-1
    a connects
    a > PUBREC id=1 reason=0x7f
    a < ended 0x81|0x82

A PUBREC with wrong flags ends the connection
    3.1.1: 2.2.2-1 2.2.2-2
    5.0: 2.1.3-1
    a connects
    a > PUBREC id=1 first=0x52
    a < ended 0x81
"""
)

PUBREL = rows(
    r"""
A PUBREL of an unknown identifier is answered
    3.1.1: 4.3.3-2
    5.0: 3.7.2-1 4.3.3-11
    a connects
    a > PUBREL id=77
    a < PUBCOMP id=77 reason=0x92

A PUBREL is answered again if it comes again
    3.1.1: 4.3.3-2
    5.0: 4.3.3-11 3.7.2-1
    a connects
    a > PUBLISH qos=2 id=7
    a < PUBREC id=7 reason=0x10
    a > PUBREL id=7
    a < PUBCOMP id=7
    a > PUBREL id=7
    a < PUBCOMP id=7 reason=0x92

A PUBREL with a reason and properties is taken
    5.0: 3.6.2-1
    a connects
    a > PUBLISH qos=2 id=7
    a < PUBREC id=7 reason=0x10
    a > PUBREL id=7 reason=0x92 reason_string=lost user=k:v
    a < PUBCOMP id=7

A PUBREL with the flags of others ends the connection
    3.1.1: 3.6.1-1 2.2.2-2 2.2.2-1
    5.0: 3.6.1-1 2.1.3-1
    a connects
    a > PUBREL id=1 first=0x60
    a < ended 0x81

A PUBREL with all flags ends the connection
    3.1.1: 3.6.1-1
    5.0: 3.6.1-1
    a connects
    a > PUBREL id=1 first=0x6f
    a < ended 0x81

A PUBREL with a reason it does not have ends the connection
    5.0: 3.6.2-1
    a connects
    a > PUBREL id=1 reason=0x10
    a < ended 0x81|0x82
"""
)

PUBCOMP = rows(
    r"""
A PUBCOMP of an unknown identifier is passed over
    3.1.1: 4.3.3-1
    5.0: 3.7.2-1
    a connects
    a > PUBCOMP id=77
    a < quiet

After PUBCOMP the broker has nothing left to send
    3.1.1: 4.3.3-1 4.4.0-1
    5.0: 4.3.3-5 4.4.0-1
    sub connects clean=0 session_expiry=600
    sub subscribes {t}:2
    pub connects
    pub > PUBLISH qos=2 id=1
    pub < PUBREC id=1
    pub > PUBREL id=1
    pub < PUBCOMP id=1
    sub < PUBLISH qos=2 id=$m
    sub > PUBREC id=$m
    sub < PUBREL id=$m
    sub > PUBCOMP id=$m + DISCONNECT
    sub < closed
    sub' > CONNECT clean=0
    sub' < CONNACK session_present=1
    sub' < quiet

A PUBCOMP with wrong flags ends the connection
    3.1.1: 2.2.2-1 2.2.2-2
    5.0: 2.1.3-1
    a connects
    a > PUBCOMP id=1 first=0x72
    a < ended 0x81

A PUBCOMP with a reason it does not have ends the connection
    5.0: 3.7.2-1
    a connects
    a > PUBCOMP id=1 reason=0x10
    a < ended 0x81|0x82
"""
)
