"""Rows about strings, topics and filters: what is well-formed, and what matches what."""

from tests.conformance.row import rows

UTF8 = rows(
    r"""
A surrogate in a topic ends the connection
    3.1.1: 1.5.3-1 3.3.2-1
    5.0: 1.5.4-1 3.3.2-1
    a connects
    a > PUBLISH topic=b'a\xed\xa0\x80'
    a < ended 0x81|0x90

A character written too long ends the connection
    3.1.1: 1.5.3-1
    5.0: 1.5.4-1
    a connects
    a > PUBLISH topic=b'a\xc0\xafb'
    a < ended 0x81|0x90

A character cut short ends the connection
    3.1.1: 1.5.3-1
    5.0: 1.5.4-1
    a connects
    a > PUBLISH topic=b'a\xe2\x82'
    a < ended 0x81|0x90

A character beyond Unicode ends the connection
    3.1.1: 1.5.3-1
    5.0: 1.5.4-1
    a connects
    a > PUBLISH topic=b'a\xf4\x90\x80\x80'
    a < ended 0x81|0x90

A null character in a topic ends the connection
    3.1.1: 1.5.3-2 4.7.3-2
    5.0: 1.5.4-2 4.7.3-2
    a connects
    a > PUBLISH topic='a\x00b'
    a < ended 0x81|0x90

A null character in a filter ends the connection
    3.1.1: 1.5.3-2 4.7.3-2
    5.0: 1.5.4-2 4.7.3-2
    a connects
    a > SUBSCRIBE filter='a\x00b':0
    a < ended 0x81|0x8f

A null character in a filter to remove ends the connection
    3.1.1: 1.5.3-2 4.7.3-2
    5.0: 1.5.4-2 4.7.3-2
    a connects
    a > UNSUBSCRIBE filter='a\x00b'
    a < ended 0x81|0x8f

A null character in a client identifier ends the connection
    3.1.1: 1.5.3-2
    5.0: 1.5.4-2
    a > CONNECT client_id='{id}\x00a'
    a < refused 0x81|0x82|0x85

A null character in a will topic ends the connection
    3.1.1: 1.5.3-2
    5.0: 1.5.4-2
    a > CONNECT will.topic='{t}\x00a'
    a < refused 0x81|0x82|0x90

A null character in a user name ends the connection
    3.1.1: 1.5.3-2
    5.0: 1.5.4-2
    a > CONNECT username='u\x00'
    a < refused 0x81|0x82

A null character in a protocol name ends the connection
    3.1.1: 1.5.3-2
    5.0: 1.5.4-2
    4 a > bytes 10 'MQ\x00T' 04 02 0000 '{id}a'
    5 a > bytes 10 'MQ\x00T' 05 02 0000 00 '{id}a'
    a < refused 0x81|0x82|0x84

A byte order mark is a character like others
    3.1.1: 1.5.3-3
    5.0: 1.5.4-3
    sub connects
    sub subscribes '{t}/\ufeffa':0 {t}/a:0
    pub connects
    pub > PUBLISH topic='{t}/\ufeffa'
    sub < PUBLISH topic='{t}/\ufeffa'
    sub < quiet

A string of a user property that is not UTF 8 ends the connection
    5.0: 1.5.7-1
    a connects
    a > PUBLISH user=key:b'\xff'
    a < ended 0x81
    b connects
    b > PUBLISH user=b'\xff':value
    b < ended 0x81

A null character in a user property ends the connection
    5.0: 1.5.7-1 1.5.4-2
    a connects
    a > PUBLISH user=key:'\x00'
    a < ended 0x81

A response topic that is not UTF 8 ends the connection
    5.0: 3.3.2-13
    a connects
    a > PUBLISH response_topic=b'\xff'
    a < ended 0x81|0x82

A content type that is not UTF 8 ends the connection
    5.0: 3.3.2-19
    a connects
    a > PUBLISH content_type=b'\xff'
    a < ended 0x81

An identifier that is not UTF 8 in the will's properties ends the connection
    5.0: 3.3.2-19 3.1.4-1
    a > CONNECT will.topic={t} will.content_type=b'\xff'
    a < refused 0x81|0x82
"""
)

TOPICS = rows(
    r"""
The wildcard for many levels matches its parent and all below
    3.1.1: 3.3.2-3 4.7.1-2
    5.0: 3.3.2-3 4.7.1-1
    sub connects
    sub subscribes {t}/a/#:0
    pub connects
    pub > PUBLISH topic={t}/a payload=1 + PUBLISH topic={t}/a/ payload=2 + PUBLISH topic={t}/a/b/c
        ... payload=3
    pub > PUBLISH topic={t} + PUBLISH topic={t}/ab + PUBLISH topic={t}/b
    sub < PUBLISH topic={t}/a payload=1
    sub < PUBLISH topic={t}/a/ payload=2
    sub < PUBLISH topic={t}/a/b/c payload=3
    sub < quiet

The wildcard for one level matches one level
    3.1.1: 3.3.2-3 4.7.1-3
    5.0: 3.3.2-3 4.7.1-2
    sub connects
    sub subscribes {t}/+/c:0
    pub connects
    pub > PUBLISH topic={t}/a/c payload=1 + PUBLISH topic={t}//c payload=2
    pub > PUBLISH topic={t}/c + PUBLISH topic={t}/a/b/c + PUBLISH topic={t}/a + PUBLISH
        ... topic={t}/a/c/
    sub < PUBLISH topic={t}/a/c payload=1
    sub < PUBLISH topic={t}//c payload=2
    sub < quiet

The wildcard for one level at the end matches one level
    3.1.1: 4.7.1-3
    5.0: 4.7.1-2
    sub connects
    sub subscribes {t}/+:0
    pub connects
    pub > PUBLISH topic={t}/a payload=1 + PUBLISH topic={t}/ payload=2
    pub > PUBLISH topic={t} + PUBLISH topic={t}/a/b + PUBLISH topic={t}/a/
    sub < PUBLISH topic={t}/a payload=1
    sub < PUBLISH topic={t}/ payload=2
    sub < quiet

The wildcard for one level at the start matches one level
    3.1.1: 4.7.1-3
    5.0: 4.7.1-2
    sub connects
    sub subscribes +/{t}:0 +/+/{t}/+:0
    pub connects
    pub > PUBLISH topic=a/{t} payload=1 + PUBLISH topic=/{t} payload=2 + PUBLISH topic=a//{t}/b
        ... payload=3
    pub > PUBLISH topic={t} + PUBLISH topic=/a/{t}
    sub < PUBLISH topic=a/{t} payload=1
    sub < PUBLISH topic=/{t} payload=2
    sub < PUBLISH topic=a//{t}/b payload=3
    sub < quiet

Both wildcards may be used together
    3.1.1: 4.7.1-2 4.7.1-3
    5.0: 4.7.1-1 4.7.1-2
    sub connects
    sub subscribes +/{t}/+/#:0
    pub connects
    pub > PUBLISH topic=a/{t}/b payload=1 + PUBLISH topic=a/{t}/b/c/d payload=2
    pub > PUBLISH topic=a/{t} + PUBLISH topic={t}/b
    sub < PUBLISH topic=a/{t}/b payload=1
    sub < PUBLISH topic=a/{t}/b/c/d payload=2
    sub < quiet

The wildcard for many levels is not part of a name
    3.1.1: 4.7.1-2
    5.0: 4.7.1-1
    a connects
    a > SUBSCRIBE filter={t}/a#:0
    a < SUBACK reasons=0x8f
    a > SUBSCRIBE filter={t}#:0
    a < SUBACK reasons=0x8f

The wildcard for many levels is not followed by others
    3.1.1: 4.7.1-2
    5.0: 4.7.1-1
    a connects
    a > SUBSCRIBE filter={t}/#/a:0 filter=#/{t}:0 filter={t}/##:0 filter={t}/#/:0
    a < SUBACK reasons=0x8f,0x8f,0x8f,0x8f

The wildcard for one level is not part of a name
    3.1.1: 4.7.1-3
    5.0: 4.7.1-2
    a connects
    a > SUBSCRIBE filter={t}/a+:0 filter={t}+/a:0 filter={t}/+a/b:0 filter={t}/++:0 filter={t}/+#:0
    a < SUBACK reasons=0x8f,0x8f,0x8f,0x8f,0x8f

Filters that begin with a wildcard do not match topics that begin with a dollar
    3.1.1: 4.7.2-1
    5.0: 4.7.2-1
    sub connects
    4 sub subscribes +/{t}:0
    5 sub subscribes #:0,rh2
    pub connects
    pub > PUBLISH topic=$x/{t} + PUBLISH topic=$SYS/{t} + PUBLISH topic=x/{t}
    sub < PUBLISH topic=x/{t}
    sub < quiet

A dollar inside a topic is a character like others
    3.1.1: 4.7.2-1 4.7.3-4
    5.0: 4.7.2-1 4.7.3-4
    sub connects
    sub subscribes {t}/+:0
    pub connects
    pub > PUBLISH topic={t}/$x
    sub < PUBLISH topic={t}/$x

Topics are matched by case and with their spaces
    3.1.1: 4.7.3-4
    5.0: 4.7.3-4
    sub connects
    sub subscribes '{t}/a':0 '{t}/b c':0
    pub connects
    pub > PUBLISH topic={t}/A + PUBLISH topic='{t}/a ' + PUBLISH topic='{t}/ a' + PUBLISH
        ... topic='{t}/b c'
    sub < PUBLISH topic='{t}/b c'
    sub < quiet

A slash in front or behind makes another topic
    3.1.1: 4.7.3-4
    5.0: 4.7.3-4
    sub connects
    sub subscribes {t}:0
    pub connects
    pub > PUBLISH topic=/{t} + PUBLISH topic={t}/ + PUBLISH topic={t}
    sub < PUBLISH topic={t}
    sub < quiet

Topics are not normalised
    3.1.1: 4.7.3-4
    5.0: 4.7.3-4
    sub connects
    sub subscribes '{t}/\u00e9':0 {t}/a/../b:0
    pub connects
    pub > PUBLISH topic='{t}/e\u0301' + PUBLISH topic={t}/b + PUBLISH topic='{t}/\u00e9'
    sub < PUBLISH topic='{t}/\u00e9'
    sub < quiet

Characters outside the first plane are carried
    3.1.1: 4.7.3-4 1.5.3-1
    5.0: 4.7.3-4 1.5.4-1
    sub connects
    sub subscribes '{t}/\U0001f6e9':0
    pub connects
    pub > PUBLISH topic='{t}/\U0001f6e9'
    sub < PUBLISH topic='{t}/\U0001f6e9'

A topic of slashes is a topic
    3.1.1: 4.7.3-1
    5.0: 4.7.3-1
    sub connects
    sub subscribes //{t}//:0
    pub connects
    pub > PUBLISH topic=//{t}//
    sub < PUBLISH topic=//{t}//
"""
)
