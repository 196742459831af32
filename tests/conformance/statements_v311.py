"""The normative statements of MQTT 3.1.1 (its Appendix B), each in our words.

A line is the number, whom it binds (server, client, or both), and what it asks. A statement that
binds clients is `both` where a broker answers the breach of it.
"""

STATEMENTS = """
1.5.3-1  both    Strings are well-formed UTF-8 without surrogates; others end the connection
1.5.3-2  both    Strings do not contain U+0000; one that does ends the connection
1.5.3-3  both    EF BB BF in a string is the character U+FEFF and is kept
2.2.2-1  both    Reserved flags of the first byte have their listed values
2.2.2-2  both    Wrong flags in the first byte end the connection
2.3.1-1  both    SUBSCRIBE, UNSUBSCRIBE and PUBLISH above QoS 0 have an identifier that is not 0
2.3.1-2  client  A new packet takes an identifier that is not in use
2.3.1-3  client  A packet that is sent again keeps its identifier until it is acknowledged
2.3.1-4  server  The broker does the same for its own PUBLISH packets above QoS 0
2.3.1-5  both    PUBLISH at QoS 0 has no identifier
2.3.1-6  both    PUBACK, PUBREC and PUBREL have the identifier of their PUBLISH
2.3.1-7  server  SUBACK and UNSUBACK have the identifier of what they answer
3.1.0-1  both    The first packet of a client is CONNECT
3.1.0-2  server  A second CONNECT ends the connection
3.1.2-1  server  A wrong protocol name is not processed by these rules
3.1.2-2  server  An unknown protocol level is answered with return code 1, and the end
3.1.2-3  server  The reserved connect flag is 0, or the connection ends
3.1.2-4  server  Without clean session the stored session is resumed, or a new one is made and kept
3.1.2-5  server  QoS 1 and 2 messages are stored for a session whose client is away
3.1.2-6  server  With clean session old state is discarded, and the new one ends with the connection
3.1.2-7  server  Retained messages outlive the session
3.1.2-8  server  The will is stored with an accepted connection, and published when that is lost
3.1.2-9  both    With the will flag, will topic and will message are in the payload
3.1.2-10 server  The will is removed once it is published or the client has disconnected
3.1.2-11 both    Without the will flag, will QoS and retain are 0 and no will is in the payload
3.1.2-12 server  Without the will flag nothing is published when the connection ends
3.1.2-13 both    Without the will flag the will QoS is 0
3.1.2-14 both    The will QoS is not 3
3.1.2-15 both    Without the will flag the will retain flag is 0
3.1.2-16 server  A will without will retain is published as not retained
3.1.2-17 server  A will with will retain is published as retained
3.1.2-18 both    Without the user name flag no user name is in the payload
3.1.2-19 both    With the user name flag a user name is in the payload
3.1.2-20 both    Without the password flag no password is in the payload
3.1.2-21 both    With the password flag a password is in the payload
3.1.2-22 both    The password flag needs the user name flag
3.1.2-23 client  A client sends something, at least PINGREQ, within its keep-alive
3.1.2-24 server  A client silent for one and a half keep-alives is cut off as if the network failed
3.1.3-1  both    The fields of the payload come in their order
3.1.3-2  both    The client identifier names the session
3.1.3-3  both    The client identifier is the first field of the payload
3.1.3-4  both    The client identifier is a UTF-8 string
3.1.3-5  server  Identifiers of 1 to 23 letters and digits are allowed
3.1.3-6  server  An empty identifier is replaced by a unique one
3.1.3-7  both    An empty identifier comes with clean session
3.1.3-8  server  An empty identifier without clean session is refused with return code 2
3.1.3-9  server  A refused identifier is answered with return code 2, and the end
3.1.3-10 both    The will topic is a UTF-8 string
3.1.3-11 both    The user name is a UTF-8 string
3.1.4-1  server  A malformed CONNECT ends the connection without CONNACK
3.1.4-2  server  An identifier that connects again cuts off its earlier connection
3.1.4-3  server  A good CONNECT has its clean session flag obeyed
3.1.4-4  server  A good CONNECT is answered with return code 0
3.1.4-5  server  After a refused CONNECT nothing more is processed
3.2.0-1  server  The first packet from the broker is CONNACK
3.2.2-1  server  With clean session, session present is 0
3.2.2-2  server  Without clean session and with a stored session, session present is 1
3.2.2-3  server  Without clean session and without a stored session, session present is 0
3.2.2-4  server  A refusal has session present 0
3.2.2-5  server  A refusal is followed by the end of the connection
3.2.2-6  server  Where no return code fits, the connection ends without CONNACK
3.3.1-1  both    A PUBLISH that is sent again has DUP
3.3.1-2  both    QoS 0 never has DUP
3.3.1-3  server  DUP of the incoming packet is not passed on
3.3.1-4  both    QoS 3 ends the connection
3.3.1-5  server  A message with RETAIN is stored with its QoS for later subscribers
3.3.1-6  server  A new subscription gets the last retained message of each matching topic
3.3.1-7  server  A retained message at QoS 0 replaces what was retained before
3.3.1-8  server  RETAIN is 1 on what is sent because of a new subscription
3.3.1-9  server  RETAIN is 0 on what is sent to a subscription that was there
3.3.1-10 server  An empty retained message is delivered, and removes what was retained
3.3.1-11 server  An empty message is not retained
3.3.1-12 server  A message without RETAIN leaves what is retained as it is
3.3.2-1  both    The topic is the first field of PUBLISH, and a UTF-8 string
3.3.2-2  both    The topic of PUBLISH has no wildcards
3.3.2-3  server  The topic sent to a subscriber matches its filter
3.3.4-1  both    A PUBLISH is answered as its QoS asks: nothing, PUBACK, or PUBREC
3.3.5-1  server  Overlapping subscriptions deliver at the highest QoS among them
3.3.5-2  server  A PUBLISH not permitted is acknowledged all the same, or ends the connection
3.6.1-1  both    The flags of PUBREL are 0010; others end the connection
3.8.1-1  both    The flags of SUBSCRIBE are 0010; others end the connection
3.8.3-1  both    The filters of SUBSCRIBE are UTF-8 strings
3.8.3-2  server  A broker without wildcards refuses filters that have them
3.8.3-3  both    SUBSCRIBE has at least one filter
3.8.3-4  server  Reserved bits, or QoS 3, in the payload of SUBSCRIBE end the connection
3.8.4-1  server  SUBSCRIBE is answered with SUBACK
3.8.4-2  server  SUBACK has the identifier of the SUBSCRIBE
3.8.4-3  server  The same filter again replaces the subscription, and retained messages come again
3.8.4-4  server  Many filters in one packet are treated one after the other, and answered at once
3.8.4-5  server  SUBACK has a return code for each filter: the QoS that was granted, or the failure
3.8.4-6  server  A message comes at the lower of its own QoS and that granted
3.9.3-1  server  Return codes come in the order of the filters
3.9.3-2  server  Return codes are 0, 1, 2 or 128
3.10.1-1 both    The flags of UNSUBSCRIBE are 0010; others end the connection
3.10.3-1 both    The filters of UNSUBSCRIBE are UTF-8 strings
3.10.3-2 both    UNSUBSCRIBE has at least one filter
3.10.4-1 server  Filters are compared character by character; an equal one is removed
3.10.4-2 server  After UNSUBSCRIBE no new messages are added
3.10.4-3 server  What was begun at QoS 1 or 2 before UNSUBSCRIBE is finished
3.10.4-4 server  UNSUBSCRIBE is answered with UNSUBACK of the same identifier
3.10.4-5 server  UNSUBACK comes even if nothing was removed
3.10.4-6 server  Many filters in one packet are treated one after the other, and answered at once
3.12.4-1 server  PINGREQ is answered with PINGRESP
3.14.1-1 server  Reserved bits in DISCONNECT end the connection
3.14.4-1 client  After DISCONNECT the client closes the connection
3.14.4-2 client  After DISCONNECT the client sends nothing more
3.14.4-3 server  DISCONNECT discards the will
4.1.0-1  both    Session state is stored as long as the session lasts
4.1.0-2  both    A session lasts at least as long as its connection
4.3.1-1  both    QoS 0 is sent with QoS 0 and without DUP
4.3.2-1  both    The sender at QoS 1: an unused identifier, no DUP, unacknowledged until PUBACK
4.3.2-2  both    The receiver at QoS 1: PUBACK, after which the identifier is a new message
4.3.3-1  both    The sender at QoS 2: PUBLISH until PUBREC, then PUBREL until PUBCOMP
4.3.3-2  both    The receiver at QoS 2: PUBREC, no second delivery until PUBREL, then PUBCOMP
4.4.0-1  both    Unacknowledged PUBLISH and PUBREL are sent again when the session is resumed
4.5.0-1  server  A message is added to the session of each client with a matching subscription
4.5.0-2  client  A client acknowledges every PUBLISH, whether it uses it or not
4.6.0-1  both    What is sent again is sent in its first order
4.6.0-2  both    PUBACK packets are sent in the order of the PUBLISH packets
4.6.0-3  both    PUBREC packets are sent in the order of the PUBLISH packets
4.6.0-4  both    PUBREL packets are sent in the order of the PUBREC packets
4.6.0-5  server  Every topic is ordered unless somebody has said otherwise
4.6.0-6  server  Messages of one client, topic and QoS reach each subscriber in their order
4.7.1-1  both    Wildcards are not used in topics
4.7.1-2  both    `#` stands alone or after `/`, and last
4.7.1-3  both    `+` fills a whole level
4.7.2-1  server  A filter that begins with a wildcard does not match topics that begin with `$`
4.7.3-1  both    Topics and filters have at least one character
4.7.3-2  both    Topics and filters do not contain U+0000
4.7.3-3  both    Topics and filters have at most 65,535 bytes
4.7.3-4  server  Topics and filters are matched as they are, without normalisation
4.8.0-1  both    A protocol violation ends the connection
4.8.0-2  both    A transient error while a packet is processed ends the connection
6.0.0-1  both    Over WebSocket, packets come in binary frames; others end the connection
6.0.0-2  both    Over WebSocket, packets need not begin and end with frames
6.0.0-3  client  The client offers the sub-protocol `mqtt`
6.0.0-4  server  The broker selects the sub-protocol `mqtt`
7.0.0-1  server  A broker that connects to others is a conformant client too
7.0.0-2  both    No extension is needed to interoperate
7.1.1-1  server  The transport is an ordered, lossless stream of bytes
7.1.2-1  client  The client's transport is an ordered, lossless stream of bytes
"""
