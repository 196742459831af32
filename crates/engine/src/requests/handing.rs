//! Hands requests out to services, once the journal knows who has them: without a retry a request is computed at most
//! once, also when the broker is killed.

use std::sync::Arc;

use slipring_core::ledger::{DeliveryManner, DeliveryRecord, RequestRecord};
use slipring_core::requests::{Handing, RequestEvent};
use slipring_core::{Delivery, Durability};
use slipring_wire::QoS;

use super::Job;
use crate::broker::Broker;
use crate::client::Client;
use crate::event::EventKind;
use crate::post::Post;

/// Bytes that a packet has beside its topic, its properties and its payload, at most.
const HEAD_BYTES_MAX: usize = 32;
const TOO_LARGE: &str = "the request is larger than the Maximum Packet Size of its service";
const TOO_LONG: &str =
    "its service gets it on `$slipring/request/KEY/TOPIC`, and that is longer than 65,535 bytes";

impl Broker {
    /// Gives requests to their services.
    pub fn hand_out(&self, mut handings: Vec<Handing<Client>>, post: &mut Post) {
        handings.retain(|handing| {
            let problem = problem_of(handing);
            if problem.is_some() {
                self.requests.later(Job::End(handing.key, RequestEvent::Fail, problem));
            }
            problem.is_none()
        });
        if handings.is_empty() {
            return;
        }
        let (mut records, mut level) = (Vec::new(), Durability::Memory);
        for handing in handings.iter().filter(|handing| handing.is_recorded) {
            write_down(handing, &mut records);
            if let (true, Some(place)) = (handing.is_single, handing.message.place) {
                level = level.max(place.durability);
            }
        }
        let Some(gate) = self.journal.record_all(&mut records, level) else {
            return self.requests.later(Job::HandOut(handings));
        };
        let mut single = Vec::new();
        for handing in handings {
            let (name, topic) = (&handing.client.name, handing.message.topic());
            self.tell_request(EventKind::RequestDelivered, handing.key, name, topic, &"");
            let delivery = Delivery::new(Arc::clone(&handing.message), manner(&handing));
            if handing.is_recorded && handing.is_single {
                single.push((handing.client, delivery));
            } else {
                post.hand_over(self, &handing.client, delivery);
            }
        }
        if !single.is_empty() {
            post.send_after(self, gate, single);
        }
    }
}

/// How its service gets a request.
fn manner(handing: &Handing<Client>) -> DeliveryManner {
    let Handing { qos, priority, by_topic, .. } = *handing;
    let identifiers = handing.identifiers.clone();
    DeliveryManner { qos, retain: false, identifiers, priority, of_request: true, by_topic }
}

/// Why a service cannot get a request, if it cannot.
fn problem_of(handing: &Handing<Client>) -> Option<&'static str> {
    let mut bytes = handing.message.bytes() + HEAD_BYTES_MAX;
    if handing.by_topic {
        let topic_bytes = handing.key.request_topic(handing.message.topic()).len();
        if topic_bytes > usize::from(u16::MAX) {
            return Some(TOO_LONG);
        }
        bytes += topic_bytes - handing.message.topic().len();
    }
    (!handing.client.outgoing().takes_packet(bytes)).then_some(TOO_LARGE)
}

fn write_down(handing: &Handing<Client>, records: &mut Vec<u8>) {
    let (key, service) = (handing.key, handing.client.key);
    RequestRecord::Handed { key, service }.encode(records);
    let is_kept = handing.client.is_durable && handing.qos > QoS::AtMostOnce;
    if let Some(place) = handing.message.place.filter(|_| is_kept) {
        let (session, bytes) = (service, handing.message.bytes() as u32);
        let (offset, count, manner) = (place.offset, 1, manner(handing));
        DeliveryRecord::DeliveredAt { session, offset, count, bytes, manner }.encode(records);
    }
}
