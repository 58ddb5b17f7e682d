//! TLS to the backend, whose certificate has to be signed by a root of the system.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// A TCP stream under TLS; its calls fail with `WouldBlock` where those of the TCP stream would.
pub type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// Puts TLS over a stream; the handshake is made by the first read or write.
///
/// # Errors
/// The system has no roots, or the name cannot be in a certificate.
pub fn over(stream: TcpStream, host: &str) -> io::Result<TlsStream> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map(ToString::to_string).unwrap_or_default();
        return Err(io::Error::other(format!("the system has no root certificates: {why}")));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let session = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(session, stream))
}
