//! The file of a reader's token, read for each connection. A token that the broker has refused is not sent again.

use std::path::PathBuf;

use slipring_client::read_secret_file;
use slipring_protocol::ConnectionLoss;
use zeroize::Zeroizing;

use crate::RemoteError;

type Token = Zeroizing<Vec<u8>>;

/// The file, and the token of it that was refused.
pub(crate) struct TokenFile {
    path: PathBuf,
    refused: Option<(Token, ConnectionLoss)>,
}

impl TokenFile {
    pub fn new(path: PathBuf) -> Self {
        Self { path, refused: None }
    }

    /// The token that the file has now; an error if it is the one that was refused.
    pub fn token(&self) -> Result<Token, RemoteError> {
        let token = read_secret_file(&self.path).map_err(RemoteError::Secret)?;
        if token.is_empty() {
            let path = self.path.display();
            return Err(RemoteError::Secret(format!(
                "{path} has no token in its first line; write one there"
            )));
        }
        match &self.refused {
            Some((refused, loss)) if *refused == token => Err(RemoteError::Lost(loss.clone())),
            _ => Ok(token),
        }
    }

    /// Remembers that the broker has refused this token, if that is the error.
    pub fn note(&mut self, error: &RemoteError, token: Option<&Token>) {
        if let (Some(loss), Some(token)) = (error.refused_proof(), token) {
            self.refused = Some((token.clone(), loss.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::{env, fs, process};

    use slipring_wire::Reason;

    use super::*;

    #[test]
    fn a_refused_token_is_not_sent_again_until_the_file_has_another_one() {
        let path = env::temp_dir().join(format!("slipring-token-{}", process::id()));
        let write = |token: &str| {
            fs::write(&path, token).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        };
        write("first\n");
        let mut file = TokenFile::new(path.clone());
        let first = file.token().unwrap();
        let refused = |reason| {
            RemoteError::Lost(ConnectionLoss::Refused { reason, text: Some("ended".to_owned()) })
        };
        file.note(&refused(Reason::ServerBusy), Some(&first));
        assert_eq!(*file.token().unwrap(), b"first");
        file.note(&refused(Reason::NotAuthorized), Some(&first));
        assert!(file.token().unwrap_err().to_string().contains("ended"));
        write("second");
        assert_eq!(*file.token().unwrap(), b"second");
        write("\n");
        assert!(file.token().unwrap_err().to_string().contains("no token in its first line"));
        fs::remove_file(&path).unwrap();
    }
}
