//! Records about sessions: when clients come and go, and what they have subscribed to and declared.

use std::borrow::Cow;

use slipring_wire::frame::RangeSet;
use slipring_wire::{Properties, Publish, QoS, check_filter, shared};

use super::fields::{RecordCursor, RecordField, What, put_number};
use super::head::record_family;
use crate::access::Identity;
use crate::table::Needs;
use crate::{Options, Priority, SessionKey, WillMessage};

/// A subscription has each need at most once.
const NEEDS_MAX: u64 = 5;

/// The byte of a subscription that names no priority.
const NO_PRIORITY: u8 = 0xff;

/// The will of a client, with its delay.
pub type RecordedWill<'a> = Option<Cow<'a, WillMessage>>;

record_family! {
    /// A change of one session. All but `Opened` are ignored if the session is not known, or is over.
    ///
    /// `expiry_s` is how long the session is kept while its client is away; 0 is not at all.
    #[allow(missing_docs, reason = "the fields mean the same everywhere")]
    SessionRecord<'a> {
        /// A client connected and got a new session. This ends an earlier session of the same client.
        Opened = 2 {
            session: SessionKey;
            client_id: &'a str,
            /// Only this user may have the session.
            user: Option<&'a str>,
            expiry_s: u32,
            will: RecordedWill<'a>,
        }
        /// The client came back to its session.
        Resumed = 3 { session: SessionKey; expiry_s: u32, will: RecordedWill<'a>, }
        /// The client disconnected; the will is here until it is published.
        Left = 4 { session: SessionKey; at_ns: i64, expiry_s: u32, will: RecordedWill<'a>, }
        /// The will was published: its message is in the same batch. Or it never will be.
        Willed = 5 { session: SessionKey; }
        /// The session is over.
        Ended = 6 { session: SessionKey; }
        /// A subscription was added or replaced.
        Subscribed = 7 { session: SessionKey; subscription: RecordedSubscription<'a>, }
        /// A subscription was removed.
        Unsubscribed = 8 { session: SessionKey; filter: &'a str, }
        /// The retained messages of a filter were sent up to this topic.
        ReplayedTo = 9 { session: SessionKey; filter: &'a str, topic: &'a str, }
        /// All retained messages of a filter were sent.
        Replayed = 10 { session: SessionKey; filter: &'a str, }
        /// The session has declared these parameters and streams, too. It keeps them until they are removed, or the
        /// session is over.
        Publishes = 32 { session: SessionKey; parameters: Cow<'a, RangeSet>, streams: Cow<'a, RangeSet>, }
        /// The roles and claims that the client has proved, besides its name; they replace the earlier ones.
        Identified = 36 { session: SessionKey; proven: RecordedIdentity<'a>, }
    }
}

/// A subscription, as a record has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedSubscription<'a> {
    /// As the client wrote it.
    pub filter: &'a str,
    /// What it asks for.
    pub options: Options,
    /// Whether retained messages are to be sent.
    pub replay: bool,
    /// The parameters of a list, if the filter names one.
    pub list: Option<Cow<'a, RangeSet>>,
}

/// The most roles, and the most claims, that a record has.
const PROVEN_MAX: u64 = 1_024;

/// Roles and claims of an identity, as a record has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedIdentity<'a> {
    /// The roles.
    pub roles: Vec<&'a str>,
    /// The claims, as pairs.
    pub claims: Vec<(&'a str, &'a str)>,
}

impl<'a> From<&'a Identity> for RecordedIdentity<'a> {
    fn from(identity: &'a Identity) -> Self {
        Self {
            roles: identity.roles.iter().map(|role| &**role).collect(),
            claims: identity.claims.iter().map(|(name, value)| (&**name, &**value)).collect(),
        }
    }
}

impl<'a> RecordField<'a> for RecordedIdentity<'a> {
    fn put(&self, out: &mut Vec<u8>) {
        put_number(out, self.roles.len() as u64);
        self.roles.iter().for_each(|role| role.put(out));
        put_number(out, self.claims.len() as u64);
        for (name, value) in &self.claims {
            name.put(out);
            value.put(out);
        }
    }

    fn read(_: u8, cursor: &mut RecordCursor<'a>) -> Result<Self, What> {
        let count = |cursor: &mut RecordCursor<'a>| match cursor.number()? {
            count if count > PROVEN_MAX => Err("an identity has too many roles or claims"),
            count => Ok(count),
        };
        let roles = (0..count(cursor)?).map(|_| cursor.text()).collect::<Result<_, What>>()?;
        let claims = (0..count(cursor)?).map(|_| Ok((cursor.text()?, cursor.text()?)));
        Ok(Self { roles, claims: claims.collect::<Result<_, What>>()? })
    }
}

impl<'a> RecordField<'a> for Cow<'a, WillMessage> {
    const SOME: u8 = 0x40; // a record with a will may have a user, too

    fn put(&self, out: &mut Vec<u8>) {
        let publish = self.publish();
        self.delay_s.put(out);
        out.push(publish.qos as u8 | u8::from(publish.retain) << 2);
        publish.topic.put(out);
        publish.properties.encoded().put(out);
        publish.payload.put(out);
    }

    fn read(_: u8, cursor: &mut RecordCursor<'a>) -> Result<Self, What> {
        let (delay_s, bits) = (cursor.small()?, cursor.byte()?);
        let qos = QoS::from_bits(bits & 3).map_err(|violation| violation.what)?;
        let (topic, properties, payload) = (cursor.text()?, cursor.bytes()?, cursor.bytes()?);
        let properties = Properties::of_publish(properties).map_err(|violation| violation.what)?;
        let retain = bits & 4 != 0;
        let publish = Publish { qos, retain, properties, ..Publish::new(topic, payload) };
        Ok(Cow::Owned(WillMessage::restored(&publish, delay_s)?))
    }
}

impl<'a> RecordField<'a> for RecordedSubscription<'a> {
    fn put(&self, out: &mut Vec<u8>) {
        let Self { filter, options, replay, list } = self;
        filter.put(out);
        let bits = u8::from(options.no_local) << 2
            | u8::from(options.retain_as_published) << 3
            | u8::from(*replay) << 4
            | u8::from(options.needs.is_some()) << 5
            | u8::from(list.is_some()) << 6
            | u8::from(options.serve > 0 || options.priority.is_some()) << 7;
        out.push(options.qos as u8 | bits);
        options.identifier.put(out);
        if bits & 128 != 0 {
            put_number(out, options.serve);
            out.push(options.priority.map_or(NO_PRIORITY, |priority| priority as u8));
        }
        if let Some(needs) = options.needs {
            let properties = needs.properties();
            put_number(out, properties.len() as u64);
            for (name, text) in properties {
                name.put(out);
                text.as_str().put(out);
            }
        }
        if let Some(list) = list {
            list.put(out);
        }
    }

    fn read(flags: u8, cursor: &mut RecordCursor<'a>) -> Result<Self, What> {
        let filter = read_filter(cursor)?;
        let bits = cursor.byte()?;
        let identifier = cursor.small()?;
        let (serve, priority) = if bits & 128 != 0 { read_service(cursor)? } else { (0, None) };
        let options = Options {
            qos: QoS::from_bits(bits & 3).map_err(|violation| violation.what)?,
            no_local: bits & 4 != 0,
            retain_as_published: bits & 8 != 0,
            identifier,
            needs: (bits & 32 != 0).then(|| read_needs(cursor)).transpose()?,
            serve,
            priority,
        };
        let list = (bits & 64 != 0).then(|| RecordField::read(flags, cursor)).transpose()?;
        Ok(Self { filter, options, replay: bits & 16 != 0, list })
    }
}

fn read_filter<'a>(cursor: &mut RecordCursor<'a>) -> Result<&'a str, What> {
    let filter = cursor.text()?;
    let topics = match shared(filter) {
        Some(Ok((_, topics))) => topics,
        Some(Err(_)) => return Err("a shared subscription is malformed"),
        None => filter,
    };
    check_filter(topics).map(|()| filter).map_err(|_| "a topic filter is malformed")
}

/// How many requests a service computes at once, and the priority of what it gets.
fn read_service(cursor: &mut RecordCursor<'_>) -> Result<(u16, Option<Priority>), What> {
    let serve =
        u16::try_from(cursor.number()?).map_err(|_| "a service computes too many at once")?;
    let priority = match cursor.byte()? {
        NO_PRIORITY => None,
        byte => Some(Priority::from_byte(byte).ok_or("there is no such priority")?),
    };
    Ok((serve, priority))
}

fn read_needs(cursor: &mut RecordCursor<'_>) -> Result<Needs, What> {
    let count = cursor.number()?;
    if count > NEEDS_MAX {
        return Err("a subscription has too many needs");
    }
    let properties = (0..count).map(|_| Ok((cursor.text()?, cursor.text()?)));
    let properties = properties.collect::<Result<Vec<_>, What>>()?;
    Needs::parse(properties).ok().flatten().ok_or("the needs of a subscription are malformed")
}
