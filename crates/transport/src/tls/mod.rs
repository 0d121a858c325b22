//! TLS 1.2 and 1.3, by `rustls`: one connection's side of it, and the certificates of a listener.

mod certificates;
mod every_list;
mod files;
mod name;
mod proof;
mod rsa;
mod times;
mod trust;

use std::io::{self, IoSlice, Read, Write};
use std::sync::Arc;
use std::time::SystemTime;

use rustls::{HandshakeKind, ServerConnection};

use crate::refusal::Refusal;

pub use certificates::{Certificates, FreshCertificates};
pub(crate) use files::{certificates, private_key, read as read_file, wrong as wrong_file};
pub use name::CertificateName;
pub(crate) use name::is_name;
pub use proof::Proof;
pub use rsa::{WeakRsaKey, weak_rsa_key};
pub use times::{CertificateTimes, certificate_times};
pub use trust::Lapse;
pub(crate) use trust::expires_at;

/// Times that one read asks the stream below; so a peer that sends empty records keeps nobody else waiting.
const READS_MAX: usize = 32;
/// Bytes that may wait for the kernel on this side of it: four of the largest records.
const UNSENT_BYTES_MAX: usize = 64 << 10;

/// What a connection of `rustls` costs before anything has come.
const CONNECTION_BYTES: usize = 8 << 10;
/// The most that is gathered of what is no plaintext yet: a handshake message, and what a growing buffer has to spare.
const GATHERED_BYTES_MAX: u64 = 128 << 10;
/// Bytes that a client may send until the handshake is done: several times what a long chain of certificates takes. What
/// is unfinished is kept in memory, and nobody has said who they are yet.
const HANDSHAKE_BYTES_MAX: usize = 32 << 10;

/// The server's side of one TLS connection.
#[derive(Debug)]
pub(crate) struct Tls {
    connection: ServerConnection,
    /// A record was wrong, or the handshake failed: nothing more is read.
    failed: bool,
    /// Taken from below, and handed on above: the difference is here, or was a handshake.
    taken_bytes: u64,
    opened_bytes: u64,
    /// What the handshake has brought so far.
    handshake_bytes: usize,
    /// The first byte of the client; it tells MQTT and HTTP from TLS.
    first: Option<u8>,
    /// The listener's: what the client's certificate is held against later.
    certificates: Arc<Certificates>,
}

impl Tls {
    pub(crate) fn new(mut connection: ServerConnection, certificates: Arc<Certificates>) -> Self {
        connection.set_buffer_limit(Some(UNSENT_BYTES_MAX));
        Tls {
            connection,
            failed: false,
            taken_bytes: 0,
            opened_bytes: 0,
            handshake_bytes: 0,
            first: None,
            certificates,
        }
    }

    /// The plaintext of what goes over `lower`.
    pub(crate) fn over<'a, S: Read + Write>(&'a mut self, lower: &'a mut S) -> TlsStream<'a, S> {
        TlsStream { tls: self, lower }
    }

    /// Memory of a connection that has brought little so far; too much where records have been many.
    pub(crate) fn held_bytes(&self) -> usize {
        let gathered = self.taken_bytes.saturating_sub(self.opened_bytes);
        CONNECTION_BYTES + gathered.next_power_of_two().min(GATHERED_BYTES_MAX) as usize
    }

    pub(crate) fn has_unsent(&self) -> bool {
        self.connection.wants_write()
    }

    pub(crate) fn is_resumed(&self) -> bool {
        self.connection.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// Says that nothing more will come, as far as `lower` takes it.
    pub(crate) fn close(&mut self, lower: &mut (impl Read + Write)) {
        self.connection.send_close_notify();
        // The peer may be gone already; then there is nobody to tell.
        let _ = self.over(lower).flush();
    }

    /// Why the client's certificate is not good any more, if it has shown one.
    pub(crate) fn certificate_lapse(&self, now: SystemTime) -> Option<Lapse> {
        self.certificates.lapse(self.connection.peer_certificates()?, now)
    }

    /// When the client's certificate ends, if it has shown one.
    pub(crate) fn certificate_expires_at(&self) -> Option<SystemTime> {
        trust::expires_at(self.connection.peer_certificates()?)
    }

    pub(crate) fn certificate_name(&self, which: CertificateName) -> Option<String> {
        name::in_certificate(self.connection.peer_certificates()?.first()?, which)
    }
}

/// Plaintext in and out, records below.
pub(crate) struct TlsStream<'a, S> {
    tls: &'a mut Tls,
    lower: &'a mut S,
}

impl<S: Read + Write> TlsStream<'_, S> {
    /// Goes on with the handshake and no further: what the client has sent behind it stays for [`Read::read`].
    ///
    /// True once it is done and the stream below has all of it. A bounded number of records, so false does not mean that the
    /// stream below is empty.
    pub(crate) fn shake_hands(&mut self) -> io::Result<bool> {
        if self.tls.failed {
            return Err(Refusal::Tls.into());
        }
        for _ in 0..READS_MAX {
            self.flush()?;
            if !self.tls.connection.is_handshaking() {
                return Ok(true);
            }
            if !self.take_records()? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(false)
    }

    /// Takes records from below and opens them; false at their end.
    fn take_records(&mut self) -> io::Result<bool> {
        let mut lower = Noting { lower: &mut *self.lower, first: &mut self.tls.first };
        let taken = self.tls.connection.read_tls(&mut lower)?;
        self.tls.taken_bytes += taken as u64;
        if taken == 0 {
            return Ok(false);
        }
        if self.tls.connection.is_handshaking() {
            self.tls.handshake_bytes += taken;
            if self.tls.handshake_bytes > HANDSHAKE_BYTES_MAX {
                self.tls.failed = true;
                return Err(Refusal::Tls.into());
            }
        }
        let processed = self.tls.connection.process_new_packets();
        // Handshakes, key updates and alerts are answered at once; what finds no room waits for a writable event.
        let flushed = unless_blocked(self.flush());
        match processed {
            Ok(_) => flushed.map(|()| true),
            Err(_) => {
                self.tls.failed = true;
                let is_plain = self.tls.connection.is_handshaking() && self.tls.first.is_some_and(is_plain);
                Err(if is_plain { Refusal::NoTls } else { Refusal::Tls }.into())
            }
        }
    }
}

/// Whether a first byte is that of a CONNECT, or of a request of HTTP: a client that was given the wrong port or scheme.
const fn is_plain(first: u8) -> bool {
    first == 0x10 || first.is_ascii_uppercase()
}

/// The stream below, with its first byte noted as it passes.
struct Noting<'a, S> {
    lower: &'a mut S,
    first: &'a mut Option<u8>,
}

impl<S: Read> Read for Noting<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let taken = self.lower.read(buffer)?;
        if taken > 0 && self.first.is_none() {
            *self.first = buffer.first().copied();
        }
        Ok(taken)
    }
}

/// A full kernel buffer is no failure here: what it did not take is kept.
pub(crate) fn unless_blocked(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
        result => result,
    }
}

impl<S: Read + Write> Read for TlsStream<'_, S> {
    /// Fills `buffer` as far as records are there; a bounded number of them, so `WouldBlock` does not mean that the
    /// stream below is empty.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.tls.failed {
            return Err(Refusal::Tls.into());
        }
        let mut filled = 0;
        let mut ended = false;
        for _ in 0..READS_MAX {
            while filled < buffer.len() {
                match self.tls.connection.reader().read(&mut buffer[filled..]) {
                    Ok(n) if n > 0 => {
                        filled += n;
                        self.tls.opened_bytes += n as u64;
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock && !ended => break,
                    // The end, told or not: MQTT has its own word for a farewell.
                    _ => return Ok(filled),
                }
            }
            if filled == buffer.len() {
                return Ok(filled);
            }
            match self.take_records() {
                Ok(more) => ended = !more,
                // What came before the failure counts; the failure comes again with the next read.
                Err(_) if filled > 0 => return Ok(filled),
                Err(error) => return Err(error),
            }
        }
        if filled > 0 { Ok(filled) } else { Err(io::ErrorKind::WouldBlock.into()) }
    }
}

impl<S: Read + Write> Write for TlsStream<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    /// What is taken may still wait here, see [`Tls::has_unsent`].
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.flush()?;
        let taken = self.tls.connection.writer().write_vectored(slices)?;
        unless_blocked(self.flush()).map(|()| taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.tls.connection.wants_write() {
            if self.tls.connection.write_tls(self.lower)? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
