//! Why a token or a key is refused.

macro_rules! token_errors {
    ($($(#[$doc:meta])* $name:ident = $what:literal;)*) => {
        /// Why a token proves nothing. Each is a fixed text, so that nothing of the token reaches a log or an answer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TokenError { $($(#[$doc])* $name,)* }

        impl TokenError {
            /// The reason in words.
            pub fn what(self) -> &'static str {
                match self { $(Self::$name => $what,)* }
            }
        }
    };
}

token_errors! {
    /// Longer than a token may be.
    TooLong = "the token is longer than 8 KiB";
    /// Not three parts of base64url with JSON objects in them.
    Malformed = "the token is not a JWT in compact form";
    /// Signed in a way that is not accepted, such as `none` or HS256.
    Algorithm = "the token's algorithm is none of EdDSA, ES256 and RS256";
    /// The header has `crit`, or a `typ` of another use.
    Header = "the token's header asks for something that is not supported";
    /// Nobody here trusts who signed it.
    UnknownIssuer = "the token's issuer is not known here";
    /// The issuer is known, the key is not.
    UnknownKey = "the token is signed with a key that is not known here";
    /// The key is for another algorithm, or the signature does not match.
    Signature = "the token's signature is wrong";
    /// A claim is missing that every token must have.
    Missing = "the token lacks its end (exp) or its user";
    /// A claim is not of the type that RFC 7519 gives it.
    ClaimType = "a claim of the token has the wrong type";
    /// More claims or roles than a token may have, or a user name that cannot be one.
    TooManyClaims = "the token has too many claims, or too long ones";
    /// It has ended.
    Ended = "the token has ended";
    /// It is not valid yet, or says that it was made in the future.
    NotYet = "the token is not valid yet";
    /// It is for others.
    Audience = "the token is for another audience";
    /// It was taken back.
    Revoked = "the token was revoked";
    /// The client gives another user name than the token.
    OtherUser = "the token belongs to another user name than the client gives";
}

impl std::fmt::Display for TokenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.what())
    }
}

impl std::error::Error for TokenError {}

/// Why a key cannot check tokens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenKeyError {
    /// Not JSON, or not a key or a set of keys.
    #[error("this is neither a JSON Web Key nor a set of them (JWKS): {0}")]
    Malformed(String),
    /// No key of the set can be used.
    #[error("none of the keys can check tokens: {0}")]
    NoneUsable(String),
    /// More keys than a set may have.
    #[error("a set has at most {0} keys")]
    TooMany(usize),
}
