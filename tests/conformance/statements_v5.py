"""The normative statements of MQTT 5.0 (its Appendix B), each in our words.

A line is the number, whom it binds (server, client, or both), and what it asks. A statement that
binds clients is `both` where a broker answers the breach of it.
"""

STATEMENTS = """
1.5.4-1  both    Strings are well-formed UTF-8 without surrogates
1.5.4-2  both    Strings do not contain U+0000
1.5.4-3  both    EF BB BF in a string is the character U+FEFF and is kept
1.5.5-1  both    Variable byte integers are as short as can be
1.5.7-1  both    Both strings of a pair are UTF-8 strings
2.1.3-1  both    Reserved flags of the first byte have their listed values
2.2.1-2  both    PUBLISH at QoS 0 has no identifier
2.2.1-3  both    SUBSCRIBE, UNSUBSCRIBE and PUBLISH above QoS 0 take an unused identifier, not 0
2.2.1-4  server  The broker's PUBLISH above QoS 0 takes an unused identifier, not 0
2.2.1-5  both    PUBACK, PUBREC, PUBREL and PUBCOMP have the identifier of their PUBLISH
2.2.1-6  server  SUBACK and UNSUBACK have the identifier of what they answer
2.2.2-1  both    Without properties, their length of 0 is there
3.1.0-1  both    The first packet of a client is CONNECT
3.1.0-2  server  A second CONNECT is a protocol error and ends the connection
3.1.2-1  server  A wrong protocol name ends the connection, perhaps after 0x84
3.1.2-2  server  A protocol version that is not spoken ends the connection, perhaps after 0x84
3.1.2-3  server  The reserved connect flag is 0, or the packet is malformed
3.1.2-4  server  With clean start an existing session is discarded
3.1.2-5  server  Without clean start an existing session is resumed
3.1.2-6  server  Without clean start and without a session, a new one is made
3.1.2-7  server  The will is stored with the session
3.1.2-8  server  The will is published once the connection is lost and its delay or session is over
3.1.2-9  both    With the will flag, will properties, topic and payload are there
3.1.2-10 server  The will is removed once it is published or the client has disconnected normally
3.1.2-11 both    Without the will flag the will QoS is 0
3.1.2-12 both    The will QoS is 0, 1 or 2
3.1.2-13 both    Without the will flag the will retain flag is 0
3.1.2-14 server  A will without will retain is published as not retained
3.1.2-15 server  A will with will retain is published as retained
3.1.2-16 both    Without the user name flag no user name is in the payload
3.1.2-17 both    With the user name flag a user name is in the payload
3.1.2-18 both    Without the password flag no password is in the payload
3.1.2-19 both    With the password flag a password is in the payload
3.1.2-20 client  A client sends something, at least PINGREQ, within its keep-alive
3.1.2-21 client  A client uses the server keep-alive when it is told one
3.1.2-22 server  A client silent for one and a half keep-alives is cut off as if the network failed
3.1.2-23 both    Session state is stored after the connection while the session has not expired
3.1.2-24 server  No packet is larger than the client's maximum packet size
3.1.2-25 server  A message too large for the client is discarded as if it had been sent
3.1.2-26 server  No topic alias is above the client's maximum
3.1.2-27 server  Without a topic alias maximum no alias is sent
3.1.2-28 server  Response information is not sent unless it is asked for
3.1.2-29 server  Without problem information, reasons are told only in PUBLISH, CONNACK, DISCONNECT
3.1.2-30 client  With an authentication method, only AUTH or DISCONNECT is sent before CONNACK
3.1.3-1  both    The fields of the payload come in their order
3.1.3-2  both    The client identifier names the session
3.1.3-3  both    The client identifier is the first field of the payload
3.1.3-4  both    The client identifier is a UTF-8 string
3.1.3-5  server  Identifiers of 1 to 23 letters and digits are allowed
3.1.3-6  server  An empty identifier is replaced by a unique one
3.1.3-7  server  The replacement is used as if it had been sent, and told in CONNACK
3.1.3-8  server  A refused identifier ends the connection, perhaps after 0x85
3.1.3-9  server  A client that is back before the will delay is over has no will sent
3.1.3-10 server  The user properties of a will keep their order
3.1.3-11 both    The will topic is a UTF-8 string
3.1.3-12 both    The user name is a UTF-8 string
3.1.4-1  server  A malformed CONNECT ends the connection
3.1.4-2  server  A CONNECT that fails a further check ends the connection
3.1.4-3  server  An identifier that connects again cuts off its earlier connection (0x8E)
3.1.4-4  server  A good CONNECT has its clean start flag obeyed
3.1.4-5  server  A good CONNECT is answered with 0x00
3.1.4-6  server  After a refused CONNECT nothing more is processed, but AUTH
3.2.0-1  server  CONNACK with 0x00 comes before any other packet, but AUTH
3.2.0-2  server  There is one CONNACK in a connection
3.2.2-1  server  The reserved acknowledge flags are 0
3.2.2-2  server  With clean start, session present is 0
3.2.2-3  server  Without clean start, session present says whether there was a session
3.2.2-4  client  A client without session that is told of one closes the connection
3.2.2-5  client  A client with a session that is told of none discards it
3.2.2-6  server  A refusal has session present 0
3.2.2-7  server  A refusal is followed by the end of the connection
3.2.2-8  server  CONNACK uses a connect reason code
3.2.2-9  server  A broker without QoS 1 or 2 says so in maximum QoS
3.2.2-10 server  A broker without QoS 1 or 2 still accepts such subscriptions
3.2.2-11 client  A client does not publish above the maximum QoS
3.2.2-12 server  A will QoS above the broker's ability is refused
3.2.2-13 server  A retained will is refused by a broker that does not retain
3.2.2-14 client  A client does not use RETAIN where it is not available
3.2.2-15 both    A client sends no packet above the broker's maximum packet size
3.2.2-16 server  An assigned identifier is told, and is used by no other session
3.2.2-17 both    A client uses no topic alias above the broker's maximum
3.2.2-18 both    A client uses no topic alias where the maximum is absent or 0
3.2.2-19 server  A reason string does not make CONNACK too large for the client
3.2.2-20 server  User properties do not make CONNACK too large for the client
3.2.2-21 client  A client uses the server keep-alive
3.2.2-22 server  Without a server keep-alive the broker uses the client's
3.3.1-1  both    A PUBLISH that is sent again has DUP
3.3.1-2  both    QoS 0 never has DUP
3.3.1-3  server  DUP of the incoming packet is not passed on
3.3.1-4  both    QoS 3 is malformed
3.3.1-5  server  A message with RETAIN replaces what was retained for the topic
3.3.1-6  server  An empty retained message is delivered, and removes what was retained
3.3.1-7  server  An empty message is not retained
3.3.1-8  server  A message without RETAIN leaves what is retained as it is
3.3.1-9  server  Retain handling 0: retained messages are sent at every SUBSCRIBE
3.3.1-10 server  Retain handling 1: retained messages are sent only if the subscription is new
3.3.1-11 server  Retain handling 2: retained messages are not sent
3.3.1-12 server  Without retain as published, RETAIN is 0 on what is forwarded
3.3.1-13 server  With retain as published, RETAIN is as it was received
3.3.2-1  both    The topic is the first field of PUBLISH, and a UTF-8 string
3.3.2-2  both    The topic of PUBLISH has no wildcards
3.3.2-3  server  The topic sent to a subscriber matches its filter
3.3.2-4  server  The payload format is passed on unchanged
3.3.2-5  server  A message that expires before its delivery begins is deleted
3.3.2-6  server  The message expiry that is passed on is less by the time it waited
3.3.2-7  both    Topic aliases do not outlive the connection
3.3.2-8  both    The topic alias is not 0
3.3.2-9  both    A client uses no topic alias above the broker's maximum
3.3.2-10 client  A client accepts every alias up to the maximum it gave
3.3.2-11 server  The broker uses no topic alias above the client's maximum
3.3.2-12 server  The broker accepts every alias up to the maximum it gave
3.3.2-13 both    The response topic is a UTF-8 string
3.3.2-14 both    The response topic has no wildcards
3.3.2-15 server  The response topic is passed on unchanged
3.3.2-16 server  Correlation data is passed on unchanged
3.3.2-17 server  User properties are passed on unchanged
3.3.2-18 server  User properties are passed on in their order
3.3.2-19 both    The content type is a UTF-8 string
3.3.2-20 server  The content type is passed on unchanged
3.3.4-1  both    A PUBLISH is answered as its QoS asks: nothing, PUBACK, or PUBREC
3.3.4-2  server  Overlapping subscriptions deliver at the highest QoS among them
3.3.4-3  server  The subscription identifiers of overlapping subscriptions are sent
3.3.4-4  server  One copy for many subscriptions has the identifiers of all of them
3.3.4-5  server  One copy for each subscription has the identifier of that one
3.3.4-6  both    PUBLISH from a client has no subscription identifier
3.3.4-7  both    A client does not exceed the broker's receive maximum
3.3.4-8  client  A client delays nothing but PUBLISH because of the receive maximum
3.3.4-9  server  The broker does not exceed the client's receive maximum
3.3.4-10 server  The broker delays nothing but PUBLISH because of the receive maximum
3.4.2-1  both    PUBACK uses a PUBACK reason code
3.4.2-2  both    A reason string does not make PUBACK too large
3.4.2-3  both    User properties do not make PUBACK too large
3.5.2-1  both    PUBREC uses a PUBREC reason code
3.5.2-2  both    A reason string does not make PUBREC too large
3.5.2-3  both    User properties do not make PUBREC too large
3.6.1-1  both    The flags of PUBREL are 0010; others are malformed
3.6.2-1  both    PUBREL uses a PUBREL reason code
3.6.2-2  both    A reason string does not make PUBREL too large
3.6.2-3  both    User properties do not make PUBREL too large
3.7.2-1  both    PUBCOMP uses a PUBCOMP reason code
3.7.2-2  both    A reason string does not make PUBCOMP too large
3.7.2-3  both    User properties do not make PUBCOMP too large
3.8.1-1  both    The flags of SUBSCRIBE are 0010; others are malformed
3.8.3-1  both    The filters of SUBSCRIBE are UTF-8 strings
3.8.3-2  both    SUBSCRIBE has at least one filter
3.8.3-3  server  With no local, a client does not get its own messages
3.8.3-4  both    No local on a shared subscription is a protocol error
3.8.3-5  server  Reserved bits in the payload of SUBSCRIBE are malformed
3.8.4-1  server  SUBSCRIBE is answered with SUBACK
3.8.4-2  server  SUBACK has the identifier of the SUBSCRIBE
3.8.4-3  server  The same filter again replaces the subscription
3.8.4-4  server  With retain handling 0 retained messages come again, and nothing is lost in between
3.8.4-5  server  Many filters in one packet are treated one after the other, and answered at once
3.8.4-6  server  SUBACK has a reason code for each filter
3.8.4-7  server  The reason code is the QoS that was granted, or the failure
3.8.4-8  server  A message comes at the lower of its own QoS and that granted
3.9.2-1  server  A reason string does not make SUBACK too large
3.9.2-2  server  User properties do not make SUBACK too large
3.9.3-1  server  Reason codes come in the order of the filters
3.9.3-2  server  SUBACK uses subscribe reason codes
3.10.1-1 both    The flags of UNSUBSCRIBE are 0010; others are malformed
3.10.3-1 both    The filters of UNSUBSCRIBE are UTF-8 strings
3.10.3-2 both    UNSUBSCRIBE has at least one filter
3.10.4-1 server  Filters are compared character by character; an equal one is removed
3.10.4-2 server  After UNSUBSCRIBE no new messages are added
3.10.4-3 server  What was begun at QoS 1 or 2 before UNSUBSCRIBE is finished
3.10.4-4 server  UNSUBSCRIBE is answered with UNSUBACK
3.10.4-5 server  UNSUBACK has the same identifier, and comes even if nothing was removed
3.10.4-6 server  Many filters in one packet are treated one after the other, and answered at once
3.11.2-1 server  A reason string does not make UNSUBACK too large
3.11.2-2 server  User properties do not make UNSUBACK too large
3.11.3-1 server  Reason codes come in the order of the filters
3.11.3-2 server  UNSUBACK uses unsubscribe reason codes
3.12.4-1 server  PINGREQ is answered with PINGRESP
3.14.0-1 server  The broker sends no DISCONNECT before it has accepted the CONNECT
3.14.1-1 both    Reserved bits in DISCONNECT are malformed (0x81)
3.14.2-1 both    DISCONNECT uses a disconnect reason code
3.14.2-2 server  The broker's DISCONNECT has no session expiry
3.14.2-3 both    A reason string does not make DISCONNECT too large
3.14.2-4 both    User properties do not make DISCONNECT too large
3.14.4-1 both    After DISCONNECT its sender sends nothing more
3.14.4-2 both    After DISCONNECT its sender closes the connection
3.14.4-3 server  A normal DISCONNECT discards the will
3.15.1-1 both    Reserved flags in AUTH are malformed
3.15.2-1 both    AUTH uses an authenticate reason code
3.15.2-2 both    A reason string does not make AUTH too large
3.15.2-3 both    User properties do not make AUTH too large
4.1.0-1  both    Session state is kept while the connection is open
4.1.0-2  server  Session state is discarded when the connection is closed and the expiry has passed
4.2.0-1  both    The transport is an ordered, lossless stream of bytes
4.3.1-1  both    QoS 0 is sent with QoS 0 and without DUP
4.3.2-1  both    QoS 1, sender: a new message takes an unused identifier
4.3.2-2  both    QoS 1, sender: the PUBLISH has this identifier and no DUP
4.3.2-3  both    QoS 1, sender: the PUBLISH is unacknowledged until PUBACK
4.3.2-4  both    QoS 1, receiver: it answers with PUBACK of the same identifier
4.3.2-5  both    QoS 1, receiver: after PUBACK the same identifier is a new message
4.3.3-1  both    QoS 2, sender: a new message takes an unused identifier
4.3.3-2  both    QoS 2, sender: the PUBLISH has this identifier and no DUP
4.3.3-3  both    QoS 2, sender: the PUBLISH is unacknowledged until PUBREC
4.3.3-4  both    QoS 2, sender: PUBREC below 0x80 is answered with PUBREL of the same identifier
4.3.3-5  both    QoS 2, sender: the PUBREL is unacknowledged until PUBCOMP
4.3.3-6  both    QoS 2, sender: after PUBREL the PUBLISH is not sent again
4.3.3-7  both    QoS 2, sender: a PUBLISH that was sent does not expire
4.3.3-8  both    QoS 2, receiver: it answers with PUBREC of the same identifier
4.3.3-9  both    QoS 2, receiver: after PUBREC of 0x80 or more the identifier is a new message
4.3.3-10 both    QoS 2, receiver: until PUBREL the PUBLISH again is answered, not delivered again
4.3.3-11 both    QoS 2, receiver: PUBREL is answered with PUBCOMP of the same identifier
4.3.3-12 both    QoS 2, receiver: after PUBCOMP the same identifier is a new message
4.3.3-13 both    QoS 2, receiver: the acknowledgement goes on although the message expired
4.4.0-1  both    Unacknowledged PUBLISH and PUBREL are sent again only when a session resumes
4.4.0-2  both    A PUBLISH that was answered with 0x80 or more is not sent again
4.5.0-1  server  A message is added to the session of each client with a matching subscription
4.5.0-2  client  A client acknowledges every PUBLISH, whether it uses it or not
4.6.0-1  client  What a client sends again is sent in its first order
4.6.0-2  client  PUBACK packets are sent in the order of the PUBLISH packets
4.6.0-3  client  PUBREC packets are sent in the order of the PUBLISH packets
4.6.0-4  client  PUBREL packets are sent in the order of the PUBREC packets
4.6.0-5  server  Messages of one client, topic and QoS reach each subscriber in their order
4.6.0-6  server  Every topic is ordered for subscriptions that are not shared
4.7.0-1  both    Wildcards are not used in topics
4.7.1-1  both    `#` stands alone or after `/`, and last
4.7.1-2  both    `+` fills a whole level
4.7.2-1  server  A filter that begins with a wildcard does not match topics that begin with `$`
4.7.3-1  both    Topics and filters have at least one character
4.7.3-2  both    Topics and filters do not contain U+0000
4.7.3-3  both    Topics and filters have at most 65,535 bytes
4.7.3-4  server  Topics and filters are matched as they are, without normalisation
4.8.2-1  both    A shared filter begins with `$share/` and a name of at least one character
4.8.2-2  both    The share name has no `/`, `+`, `#`; a `/` and a filter follow it
4.8.2-3  server  A shared message comes at the QoS granted to the one who gets it
4.8.2-4  server  A shared QoS 2 message that was begun is finished with the same client
4.8.2-5  server  If that client's session ends, the message goes to nobody else
4.8.2-6  server  A shared message refused with 0x80 or more goes to nobody else
4.9.0-1  both    The send quota begins above 0 and not above the receive maximum
4.9.0-2  both    Without quota no PUBLISH above QoS 0 is sent
4.9.0-3  both    Without quota all other packets are still processed
4.12.0-1 server  An authentication method that is not known ends the connection, perhaps after 0x8C
4.12.0-2 server  The broker's AUTH says 0x18
4.12.0-3 client  The client's AUTH in answer says 0x18
4.12.0-4 server  A failed authentication ends the connection, perhaps after CONNACK of 0x80 or more
4.12.0-5 both    The authentication method is the same in every packet of the exchange
4.12.0-6 server  Without a method in CONNECT the broker sends no AUTH and no method
4.12.0-7 both    Without a method in CONNECT the client sends no AUTH
4.12.1-1 client  Re-authentication keeps the first method
4.12.1-2 both    A failed re-authentication ends the connection, with DISCONNECT
4.13.1-1 server  A malformed packet or a protocol error ends the connection
4.13.2-1 both    A reason of 0x80 or more in CONNACK or DISCONNECT ends the connection
6.0.0-1  both    Over WebSocket, packets come in binary frames; others end the connection
6.0.0-2  both    Over WebSocket, packets need not begin and end with frames
6.0.0-3  client  The client offers the sub-protocol `mqtt`
6.0.0-4  server  The broker selects the sub-protocol `mqtt`
"""
