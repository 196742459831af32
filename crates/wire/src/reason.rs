//! Reason codes of MQTT 5, and the error that carries one.

macro_rules! reasons {
    ($($name:ident = $code:literal, $text:literal;)*) => {
        /// A reason code (MQTT 5, section 2.4).
        ///
        /// 0x00 to 0x02 mean success, a normal disconnection or a granted QoS, depending on the packet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Reason {
            $(#[doc = $text] $name = $code,)*
        }

        impl Reason {
            /// Every reason code there is.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The reason with this code, if the standard defines it.
            pub fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$name),)* _ => None }
            }

            /// The reason in words.
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

reasons! {
    Success = 0x00, "success";
    GrantedQoS1 = 0x01, "granted QoS 1";
    GrantedQoS2 = 0x02, "granted QoS 2";
    DisconnectWithWill = 0x04, "disconnect with will message";
    NoMatchingSubscribers = 0x10, "no matching subscribers";
    NoSubscriptionExisted = 0x11, "no subscription existed";
    ContinueAuthentication = 0x18, "continue authentication";
    ReAuthenticate = 0x19, "re-authenticate";
    UnspecifiedError = 0x80, "unspecified error";
    MalformedPacket = 0x81, "malformed packet";
    ProtocolError = 0x82, "protocol error";
    ImplementationSpecificError = 0x83, "implementation specific error";
    UnsupportedProtocolVersion = 0x84, "unsupported protocol version";
    ClientIdentifierNotValid = 0x85, "client identifier not valid";
    BadUserNameOrPassword = 0x86, "bad user name or password";
    NotAuthorized = 0x87, "not authorized";
    ServerUnavailable = 0x88, "server unavailable";
    ServerBusy = 0x89, "server busy";
    Banned = 0x8a, "banned";
    ServerShuttingDown = 0x8b, "server shutting down";
    BadAuthenticationMethod = 0x8c, "bad authentication method";
    KeepAliveTimeout = 0x8d, "keep alive timeout";
    SessionTakenOver = 0x8e, "session taken over";
    TopicFilterInvalid = 0x8f, "topic filter invalid";
    TopicNameInvalid = 0x90, "topic name invalid";
    PacketIdentifierInUse = 0x91, "packet identifier in use";
    PacketIdentifierNotFound = 0x92, "packet identifier not found";
    ReceiveMaximumExceeded = 0x93, "receive maximum exceeded";
    TopicAliasInvalid = 0x94, "topic alias invalid";
    PacketTooLarge = 0x95, "packet too large";
    MessageRateTooHigh = 0x96, "message rate too high";
    QuotaExceeded = 0x97, "quota exceeded";
    AdministrativeAction = 0x98, "administrative action";
    PayloadFormatInvalid = 0x99, "payload format invalid";
    RetainNotSupported = 0x9a, "retain not supported";
    QoSNotSupported = 0x9b, "QoS not supported";
    UseAnotherServer = 0x9c, "use another server";
    ServerMoved = 0x9d, "server moved";
    SharedSubscriptionsNotSupported = 0x9e, "shared subscriptions not supported";
    ConnectionRateExceeded = 0x9f, "connection rate exceeded";
    MaximumConnectTime = 0xa0, "maximum connect time";
    SubscriptionIdentifiersNotSupported = 0xa1, "subscription identifiers not supported";
    WildcardSubscriptionsNotSupported = 0xa2, "wildcard subscriptions not supported";
}

impl Reason {
    /// The code on the wire.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Whether the standard counts this as a failure (0x80 and above).
    pub fn is_error(self) -> bool {
        self.code() >= 0x80
    }

    /// The CONNACK return code a 3.1.1 client understands (MQTT 3.1.1, table 3.1).
    pub(crate) fn connack_v311(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::UnsupportedProtocolVersion => 1,
            Self::ClientIdentifierNotValid => 2,
            Self::BadUserNameOrPassword => 4,
            Self::NotAuthorized | Self::Banned => 5,
            _ => 3,
        }
    }

    pub(crate) fn from_connack_v311(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Success,
            1 => Self::UnsupportedProtocolVersion,
            2 => Self::ClientIdentifierNotValid,
            3 => Self::ServerUnavailable,
            4 => Self::BadUserNameOrPassword,
            5 => Self::NotAuthorized,
            _ => return None,
        })
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (0x{:02x})", self.text(), self.code())
    }
}

/// The peer broke the rules: what it did, and the reason code to tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: {what}")]
pub struct Violation {
    /// The code for CONNACK or DISCONNECT.
    pub reason: Reason,
    /// What was wrong, for a person.
    pub what: &'static str,
}

impl Violation {
    /// Bytes that do not follow the packet format.
    pub(crate) fn malformed(what: &'static str) -> Self {
        Self { reason: Reason::MalformedPacket, what }
    }

    /// Well-formed bytes that the protocol does not allow here.
    pub fn protocol(what: &'static str) -> Self {
        Self { reason: Reason::ProtocolError, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_found_by_its_code() {
        for reason in Reason::ALL {
            assert_eq!(Reason::from_code(reason.code()), Some(*reason));
        }
        assert_eq!(Reason::from_code(0x7f), None);
    }
}
