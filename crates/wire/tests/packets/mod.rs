//! Random valid packets, already encoded, with how the decoded one must look.

pub mod properties;

use proptest::prelude::*;
use slipring_wire::{
    Ack, Auth, ConnAck, Connect, Disconnect, Packet, PacketId, PropertiesBuf, Publish, QoS, Reason,
    RetainHandling, SubAck, Subscribe, Subscription, UnsubAck, Unsubscribe, Version, Will,
};

/// Owned fields from which any packet is made.
#[derive(Clone, Debug)]
struct Fields {
    kind: u8,
    version: Version,
    texts: Vec<String>,
    topic: String,
    payload: Vec<u8>,
    numbers: (u16, u32),
    flags: [bool; 6],
    qos: QoS,
    reason: Reason,
    values: properties::Values,
}

fn fields() -> impl Strategy<Value = Fields> {
    (
        1u8..=15,
        prop_oneof![Just(Version::V31), Just(Version::V311), Just(Version::V5)],
        prop::collection::vec("[^\0]{0,20}", 1..4),
        "[^\0+#]{1,30}",
        prop::collection::vec(any::<u8>(), 0..300),
        (1u16.., 1u32..),
        any::<[bool; 6]>(),
        prop_oneof![Just(QoS::AtMostOnce), Just(QoS::AtLeastOnce), Just(QoS::ExactlyOnce)],
        (prop::sample::select(Reason::ALL), properties::values()),
    )
        .prop_map(
            |(kind, version, texts, topic, payload, numbers, flags, qos, (reason, values))| {
                Fields { kind, version, texts, topic, payload, numbers, flags, qos, reason, values }
            },
        )
}

/// A version, a packet's bytes at that version, and the packet as `{:?}` shows it.
pub fn encoded() -> impl Strategy<Value = (Version, Vec<u8>, String)> {
    fields().prop_filter_map("AUTH is of MQTT 5", |fields| {
        if fields.kind == 15 && fields.version != Version::V5 {
            return None;
        }
        let properties = list(&fields, fields.kind);
        let will = list(&fields, properties::WILL);
        let packet = packet(&fields, &properties, &will);
        let mut bytes = Vec::new();
        packet.encode(fields.version, &mut bytes);
        Some((fields.version, bytes, format!("{packet:?}")))
    })
}

fn list(fields: &Fields, kind: u8) -> PropertiesBuf {
    match fields.version {
        Version::V31 | Version::V311 => PropertiesBuf::new(),
        Version::V5 => fields.values.list(kind),
    }
}

fn packet<'a>(
    fields: &'a Fields,
    properties: &'a PropertiesBuf,
    will: &'a PropertiesBuf,
) -> Packet<'a> {
    let packet_id = PacketId::new(fields.numbers.0).unwrap();
    let v5 = fields.version == Version::V5;
    let reason = if v5 { reason_for(fields.kind, fields.reason) } else { Reason::Success };
    let properties = properties.borrow();
    let ack = Ack { packet_id, reason, properties };
    match fields.kind {
        1 => Packet::Connect(Box::new(connect(fields, properties, will))),
        2 => {
            let session_present = fields.flags[0] && fields.version != Version::V31;
            Packet::ConnAck(ConnAck { session_present, reason, properties })
        }
        3 => Packet::Publish(publish(fields, packet_id, properties)),
        4 => Packet::PubAck(ack),
        5 => Packet::PubRec(ack),
        6 => Packet::PubRel(ack),
        7 => Packet::PubComp(ack),
        8 => Packet::Subscribe(Subscribe {
            packet_id,
            properties,
            subscriptions: fields.texts.iter().map(|text| subscription(fields, text)).collect(),
        }),
        9 => Packet::SubAck(SubAck { packet_id, properties, reasons: answers(fields) }),
        10 => Packet::Unsubscribe(Unsubscribe {
            packet_id,
            properties,
            filters: fields.texts.iter().map(String::as_str).collect(),
        }),
        11 => {
            let count = if v5 { 2 } else { 0 };
            Packet::UnsubAck(UnsubAck { packet_id, properties, reasons: vec![reason; count] })
        }
        12 => Packet::PingReq,
        13 => Packet::PingResp,
        14 => Packet::Disconnect(Disconnect { reason, properties }),
        _ => Packet::Auth(Auth { reason, properties }),
    }
}

/// The reason itself, or one that a packet of this kind has.
fn reason_for(kind: u8, reason: Reason) -> Reason {
    let quota = reason.is_error();
    match kind {
        4 | 5 if quota => Reason::QuotaExceeded,
        6 | 7 if quota => Reason::PacketIdentifierNotFound,
        14 if quota => Reason::KeepAliveTimeout,
        15 if quota => Reason::ContinueAuthentication,
        4..=7 | 14 | 15 => Reason::Success,
        _ => reason,
    }
}

/// MQTT 3.1.1 knows the granted QoS, and failure; MQTT 3.1 no failure.
fn answers(fields: &Fields) -> Vec<Reason> {
    match fields.version {
        Version::V31 => vec![Reason::Success, Reason::GrantedQoS2],
        Version::V311 => vec![Reason::Success, Reason::GrantedQoS2, Reason::UnspecifiedError],
        Version::V5 => vec![fields.reason; 3],
    }
}

fn connect<'a>(
    fields: &'a Fields,
    properties: slipring_wire::Properties<'a>,
    will: &'a PropertiesBuf,
) -> Connect<'a> {
    Connect {
        version: fields.version,
        clean_start: fields.flags[0],
        keep_alive_s: fields.numbers.0,
        client_id: &fields.texts[0],
        properties,
        will: fields.flags[1].then_some(Will {
            topic: &fields.topic,
            payload: &fields.payload,
            qos: fields.qos,
            retain: fields.flags[2],
            properties: will.borrow(),
        }),
        user_name: fields.flags[3].then_some(fields.topic.as_str()),
        password: (fields.flags[4] && (fields.flags[3] || fields.version == Version::V5))
            .then_some(fields.payload.as_slice()),
    }
}

fn publish<'a>(
    fields: &'a Fields,
    packet_id: PacketId,
    properties: slipring_wire::Properties<'a>,
) -> Publish<'a> {
    Publish {
        dup: fields.flags[0] && fields.qos > QoS::AtMostOnce,
        qos: fields.qos,
        retain: fields.flags[1],
        topic: &fields.topic,
        packet_id: (fields.qos > QoS::AtMostOnce).then_some(packet_id),
        properties,
        payload: &fields.payload,
    }
}

fn subscription<'a>(fields: &Fields, filter: &'a str) -> Subscription<'a> {
    let v5 = fields.version == Version::V5;
    Subscription {
        filter,
        qos: fields.qos,
        no_local: v5 && fields.flags[0],
        retain_as_published: v5 && fields.flags[1],
        retain_handling: match (v5, fields.flags[2], fields.flags[3]) {
            (true, true, _) => RetainHandling::DoNotSend,
            (true, false, true) => RetainHandling::SendIfNew,
            _ => RetainHandling::Send,
        },
    }
}
