//! Binds a Unix socket: replaces the file of a broker that died, but not of one that answers, and removes its own file
//! in the end.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use socket2::{Domain, SockAddr, Socket, Type};

use super::BACKLOG;

/// Bytes of a path that fit into an address, by unix(7), less the zero at the end.
const PATH_BYTES_MAX: usize = 107;

/// The file of a listening socket. Removed on drop, if it is still ours.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|file| (file.dev(), file.ino()) == (self.device, self.inode));
        if ours {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Listens on a path.
pub(super) fn bind(path: &Path) -> Result<(UnixListener, SocketFile)> {
    let length = path.as_os_str().as_bytes().len();
    if length > PATH_BYTES_MAX {
        let why =
            format!("the path has {length} bytes, a Unix socket takes {PATH_BYTES_MAX} at most");
        return Err(Error::new(ErrorKind::InvalidInput, why));
    }
    let address = SockAddr::unix(path)?;
    let socket = socket()?;
    match socket.bind(&address) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            remove_stale(path, &address)?;
            socket.bind(&address)?;
        }
        result => result?,
    }
    let file = fs::symlink_metadata(path)?;
    let file = SocketFile { path: path.into(), device: file.dev(), inode: file.ino() };
    socket.listen(BACKLOG)?;
    Ok((socket.into(), file))
}

fn socket() -> Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Removes a socket file if no process answers there.
fn remove_stale(path: &Path, address: &SockAddr) -> Result<()> {
    if !fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(Error::new(ErrorKind::AlreadyExists, "a file that is no socket is there"));
    }
    match socket()?.connect(address) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(error),
        // Connected, or its queue is full: either way somebody listens.
        _ => Err(Error::new(ErrorKind::AddrInUse, "another process answers there")),
    }
}
