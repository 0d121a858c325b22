//! What lies between the kernel and MQTT on one connection: a PROXY header, TLS, WebSocket, each if it is asked for.

use std::io::{self, IoSlice, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;

use crate::proxy::{Awaited, HeaderReader};
use crate::stream::Stream;
use crate::tls::{CertificateName, Lapse, Proof, Tls};
use crate::web::WebSocket;

/// The layers of one connection, from the kernel upwards.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    /// A PROXY header is still to come; nothing else is read before.
    pub(crate) header: Option<HeaderReader>,
    /// There was one.
    had_header: bool,
    /// The source that it named.
    told: Option<SocketAddr>,
    pub(crate) tls: Option<Box<Tls>>,
    pub(crate) web: Option<WebSocket>,
    /// What the client has shown where its bytes came from: in a handshake that was not done here.
    pub(crate) shown: Option<Arc<Proof>>,
    /// The last read ended because the kernel had no more.
    drained: bool,
}

impl Layers {
    /// None, on a connection whose client has shown this.
    pub(crate) fn showing(shown: Arc<Proof>) -> Self {
        Layers { shown: Some(shown), ..Layers::default() }
    }

    /// Whether there is anything here at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.header.is_none() && self.tls.is_none() && self.web.is_none()
    }

    pub(crate) fn read(&mut self, stream: &mut Stream, buffer: &mut [u8]) -> io::Result<usize> {
        self.drained = false;
        if !self.take_header(stream)? {
            return Ok(0);
        }
        let mut kernel = Kernel { stream, drained: &mut self.drained };
        match (&mut self.tls, &mut self.web) {
            (None, None) => kernel.read(buffer),
            (Some(tls), None) => tls.over(&mut kernel).read(buffer),
            (None, Some(web)) => web.read(&mut kernel, buffer),
            (Some(tls), Some(web)) => web.read(&mut tls.over(&mut kernel), buffer),
        }
    }

    /// Reads the header, if one is still to come; false when the peer has ended instead.
    fn take_header(&mut self, stream: &mut Stream) -> io::Result<bool> {
        let Some(header) = &self.header else { return Ok(true) };
        match header.read(&mut Kernel { stream, drained: &mut self.drained })? {
            Awaited::Ended => return Ok(false),
            Awaited::Source(told) => self.told = told,
        }
        self.header = None;
        self.had_header = true;
        Ok(true)
    }

    /// Goes on with what comes before the first byte of the application's protocol, WebSocket's included: the header and the
    /// handshake of TLS. True once both are done and nothing of it waits for the kernel.
    pub(crate) fn shake_hands(&mut self, stream: &mut Stream) -> io::Result<bool> {
        self.drained = false;
        if self.header.is_some() {
            // Whom it names is to be known before anything is done for them.
            return if self.take_header(stream)? { Ok(false) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        match &mut self.tls {
            None => Ok(true),
            Some(tls) => tls.over(&mut Kernel { stream, drained: &mut self.drained }).shake_hands(),
        }
    }

    /// Whether the handshake of TLS was cut short by what an earlier connection of the client has agreed on.
    pub(crate) fn is_resumed(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_resumed())
    }

    pub(crate) fn may_hold_more(&self) -> bool {
        !self.drained
    }

    pub(crate) fn write(&mut self, stream: &mut Stream, bytes: &[u8]) -> io::Result<usize> {
        match (&mut self.tls, &mut self.web) {
            (None, None) => stream.write(bytes),
            (Some(tls), None) => tls.over(stream).write(bytes),
            (None, Some(web)) => web.write(stream, bytes),
            (Some(tls), Some(web)) => web.write(&mut tls.over(stream), bytes),
        }
    }

    pub(crate) fn has_unsent(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.has_unsent()) || self.web.as_ref().is_some_and(WebSocket::has_unsent)
    }

    pub(crate) fn flush(&mut self, stream: &mut Stream) -> io::Result<()> {
        match (&mut self.tls, &mut self.web) {
            (None, None) => Ok(()),
            (Some(tls), None) => tls.over(stream).flush(),
            (None, Some(web)) => web.flush(stream),
            (Some(tls), Some(web)) => {
                let mut lower = tls.over(stream);
                web.flush(&mut lower)?;
                lower.flush()
            }
        }
    }

    /// The last words of each layer, as far as the kernel takes them now.
    pub(crate) fn say_goodbye(&mut self, stream: &mut Stream) {
        match (&mut self.tls, &mut self.web) {
            (None, Some(web)) => web.close(stream),
            (Some(tls), Some(web)) => web.close(&mut tls.over(stream)),
            (_, None) => {}
        }
        if let Some(tls) = &mut self.tls {
            tls.close(stream);
        }
    }

    /// Bytes held here of what has come: see [`crate::Socket::held_bytes`].
    pub(crate) fn held_bytes(&self) -> usize {
        self.tls.as_ref().map_or(0, |tls| tls.held_bytes()) + self.web.as_ref().map_or(0, WebSocket::held_bytes)
    }

    pub(crate) fn told(&self) -> Option<SocketAddr> {
        self.told
    }

    /// Whether the connection has come through a proxy that said so. A header counts whomever it named: a proxy that
    /// does not know its client is one nevertheless, and its own checks of health are no members of groups.
    pub(crate) fn is_proxied(&self) -> bool {
        self.had_header || self.web.as_ref().is_some_and(WebSocket::is_forwarded)
    }

    pub(crate) fn certificate_lapse(&self, now: SystemTime) -> Option<Lapse> {
        match &self.tls {
            Some(tls) => tls.certificate_lapse(now),
            None => self.shown.as_ref()?.lapse(now),
        }
    }

    pub(crate) fn certificate_expires_at(&self) -> Option<SystemTime> {
        match &self.tls {
            Some(tls) => tls.certificate_expires_at(),
            None => self.shown.as_ref()?.expires_at(),
        }
    }

    pub(crate) fn certificate_name(&self, which: CertificateName) -> Option<String> {
        match &self.tls {
            Some(tls) => tls.certificate_name(which),
            None => self.shown.as_ref()?.certificate_name(which),
        }
    }

    pub(crate) fn key_name(&self) -> Option<&str> {
        self.shown.as_ref()?.key_name()
    }
}

/// The kernel's stream, and whether it has said that it is empty.
pub(crate) struct Kernel<'a> {
    pub(crate) stream: &'a mut Stream,
    drained: &'a mut bool,
}

impl Kernel<'_> {
    /// Looks at what is there without taking it.
    pub(crate) fn peek(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.peek(buffer)
    }

    /// What was looked at is not enough: only new bytes, and so a new event, can help.
    pub(crate) fn wait(&mut self) -> io::Error {
        *self.drained = true;
        io::ErrorKind::WouldBlock.into()
    }
}

impl Read for Kernel<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.stream.read(buffer);
        *self.drained = matches!(&result, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        result
    }
}

impl Write for Kernel<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.stream.write_vectored(slices)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
