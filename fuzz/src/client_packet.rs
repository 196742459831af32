//! Well-formed packets of a client, made from a few bytes, so that a fuzzer gets past the decoder.

use arbitrary::Arbitrary;
use slipring_wire::{
    Ack, Auth, Connect, Disconnect, Packet, PacketId, Properties, PropertiesBuf, PropertyId,
    Publish, QoS, Reason, RetainHandling, Subscribe, Subscription, Unsubscribe, Value, Version,
    Will,
};

#[derive(Arbitrary, Debug)]
pub(crate) enum ClientPacket<'a> {
    Connect {
        v5: bool,
        clean: bool,
        name: &'a str,
        will: Option<(&'a str, &'a [u8])>,
        receive_max: Option<u8>,
        packet_bytes: Option<u16>,
        aliases: Option<u8>,
        expiry_s: Option<u32>,
        scram: Option<&'a [u8]>,
    },
    Publish {
        topic: &'a str,
        payload: &'a [u8],
        qos: u8,
        id: u8,
        retain: bool,
        alias: Option<u8>,
        users: u8,
    },
    Acknowledge {
        kind: u8,
        id: u8,
        refused: bool,
    },
    Subscribe {
        filters: Vec<(&'a str, u8)>,
        id: u8,
        identifier: Option<u8>,
        users: u8,
    },
    Unsubscribe {
        filters: Vec<&'a str>,
        id: u8,
    },
    Auth(bool, &'a [u8]),
    Ping,
    Disconnect(u8, Option<u32>),
}

impl ClientPacket<'_> {
    pub fn bytes(&self, version: Version) -> Vec<u8> {
        match self {
            Self::Connect { .. } => self.connect(),
            Self::Publish { topic, payload, qos, id, retain, alias, users: count } => {
                let qos = QoS::from_bits(qos % 3).expect("0, 1 or 2");
                let mut properties = users(*count);
                if let Some(alias) = alias {
                    properties.push(PropertyId::TopicAlias, Value::Two(u16::from(*alias)));
                }
                let publish = Publish {
                    qos,
                    retain: *retain,
                    packet_id: (qos > QoS::AtMostOnce).then(|| identifier(*id)),
                    properties: at(&properties, version),
                    ..Publish::new(topic, payload)
                };
                encoded(&Packet::Publish(publish), version)
            }
            Self::Acknowledge { kind, id, refused } => acknowledge(*kind, *id, *refused, version),
            Self::Subscribe { filters, id, identifier: told, users: count } => {
                let mut properties = users(*count);
                if let Some(told) = told {
                    properties
                        .push(PropertyId::SubscriptionIdentifier, Value::Varint((*told).into()));
                }
                encoded(
                    &Packet::Subscribe(Subscribe {
                        packet_id: identifier(*id),
                        properties: at(&properties, version),
                        subscriptions: filters.iter().map(subscription).collect(),
                    }),
                    version,
                )
            }
            Self::Unsubscribe { filters, id } => encoded(
                &Packet::Unsubscribe(Unsubscribe {
                    packet_id: identifier(*id),
                    properties: at(&PropertiesBuf::new(), version),
                    filters: filters.clone(),
                }),
                version,
            ),
            Self::Auth(again, data) => auth(*again, data),
            Self::Ping => encoded(&Packet::PingReq, version),
            Self::Disconnect(code, expiry_s) => disconnect(*code, *expiry_s, version),
        }
    }

    fn connect(&self) -> Vec<u8> {
        let Self::Connect {
            v5,
            clean,
            name,
            will,
            receive_max,
            packet_bytes,
            aliases,
            expiry_s,
            scram,
        } = self
        else {
            return Vec::new();
        };
        let version = if *v5 { Version::V5 } else { Version::V311 };
        let mut properties = PropertiesBuf::new();
        let mut put = |id, value: Option<Value<'_>>| {
            if let Some(value) = value {
                properties.push(id, value);
            }
        };
        put(PropertyId::ReceiveMaximum, receive_max.map(|most| Value::Two(most.into())));
        put(PropertyId::MaximumPacketSize, packet_bytes.map(|most| Value::Four(most.into())));
        put(PropertyId::TopicAliasMaximum, aliases.map(|most| Value::Two(most.into())));
        put(PropertyId::SessionExpiryInterval, expiry_s.map(Value::Four));
        put(PropertyId::AuthenticationMethod, scram.map(|_| Value::Text("SCRAM-SHA-256")));
        put(PropertyId::AuthenticationData, scram.map(Value::Binary));
        let nothing = PropertiesBuf::new();
        let connect = Connect {
            version,
            clean_start: *clean,
            keep_alive_s: 10,
            client_id: name,
            properties: at(&properties, version),
            will: will.map(|(topic, payload)| Will {
                topic,
                payload,
                qos: QoS::AtLeastOnce,
                retain: false,
                properties: at(&nothing, version),
            }),
            user_name: None,
            password: None,
        };
        encoded(&Packet::Connect(Box::new(connect)), version)
    }
}

fn acknowledge(kind: u8, id: u8, refused: bool, version: Version) -> Vec<u8> {
    let nothing = PropertiesBuf::new();
    let reason = if refused { Reason::UnspecifiedError } else { Reason::Success };
    let properties = at(&nothing, version);
    let ack = Ack { packet_id: identifier(id), reason, properties };
    let packet = match kind % 4 {
        0 => Packet::PubAck(ack),
        1 => Packet::PubRec(ack),
        2 => Packet::PubRel(Ack { reason: Reason::Success, ..ack }),
        _ => Packet::PubComp(Ack { reason: Reason::Success, ..ack }),
    };
    encoded(&packet, version)
}

fn subscription<'a>((filter, options): &(&'a str, u8)) -> Subscription<'a> {
    Subscription {
        filter,
        qos: QoS::from_bits(options % 3).expect("0, 1 or 2"),
        no_local: options & 4 != 0,
        retain_as_published: options & 8 != 0,
        retain_handling: match options >> 6 {
            0 => RetainHandling::Send,
            1 => RetainHandling::SendIfNew,
            _ => RetainHandling::DoNotSend,
        },
    }
}

fn auth(again: bool, data: &[u8]) -> Vec<u8> {
    let reason = if again { Reason::ReAuthenticate } else { Reason::ContinueAuthentication };
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::AuthenticationMethod, Value::Text("SCRAM-SHA-256"));
    properties.push(PropertyId::AuthenticationData, Value::Binary(data));
    encoded(&Packet::Auth(Auth { reason, properties: properties.borrow() }), Version::V5)
}

fn disconnect(code: u8, expiry_s: Option<u32>, version: Version) -> Vec<u8> {
    let mut properties = PropertiesBuf::new();
    if let Some(seconds) = expiry_s {
        properties.push(PropertyId::SessionExpiryInterval, Value::Four(seconds));
    }
    let reason = Reason::ALL[usize::from(code) % Reason::ALL.len()];
    let properties = at(&properties, version);
    encoded(&Packet::Disconnect(Disconnect { reason, properties }), version)
}

fn encoded(packet: &Packet<'_>, version: Version) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.encode(version, &mut bytes);
    bytes
}

/// One of eight packet identifiers, so that some are used twice.
fn identifier(number: u8) -> PacketId {
    PacketId::new(u16::from(number % 8) + 1).expect("not zero")
}

/// User properties, for packets that carry nothing else.
fn users(count: u8) -> PropertiesBuf {
    let mut properties = PropertiesBuf::new();
    for _ in 0..count % 8 {
        properties.push(PropertyId::UserProperty, Value::Pair("k", "v"));
    }
    properties
}

/// The properties in MQTT 5; none in MQTT 3.1.1.
fn at(properties: &PropertiesBuf, version: Version) -> Properties<'_> {
    if version == Version::V5 { properties.borrow() } else { Properties::NONE }
}
