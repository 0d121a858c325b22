//! DTLS 1.2 and 1.3, by `dimpl`: one peer's side of it, without I/O and without a clock of its own.
//!
//! Who sends a datagram has not shown that it is at the address it came from. So until a peer has sent back the cookie that it was
//! sent, it gets no more bytes than came from it, and nothing by a timer ([`DtlsStage::Unproven`]). And until it has shaken hands,
//! it may make us keep so much and no more (`budget`).

mod budget;
mod crypto;
mod keys;
mod output;
mod parts;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

use dimpl::{Error, Output};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::ClientCertVerifier;

use crate::tls::{Certificates, Proof};
use budget::{Budget, Taken};

#[cfg(any(test, feature = "oracle"))]
pub(crate) use crypto::provider;
pub(crate) use keys::SharedKey;
pub use output::{DtlsOutput, Pieces};
pub(crate) use parts::DtlsParts;
pub use parts::DtlsSettings;

/// What a record may put around a message: header, nonce and tag of DTLS 1.2, where they are largest.
pub const DTLS_RECORD_BYTES: u16 = 13 + 8 + 16;

/// How far a peer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DtlsStage {
    /// It may be at another address than the one it came from.
    Unproven,
    /// The handshake is under way.
    Shaking,
    /// Messages come and go.
    Open,
    /// Nothing more comes or goes.
    Over(DtlsEnd),
}

/// Why a connection is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DtlsEnd {
    /// One side has said so, with a `close_notify`.
    Closed,
    /// The peer breaks the protocol, has nothing in common with us, or sends more than a handshake takes.
    Failed,
    /// Its certificate is not to be trusted, or it has shown neither one nor a key.
    Untrusted,
    /// It has not answered in time.
    TimedOut,
}

/// The server's side of one connection.
#[derive(Debug)]
pub struct Dtls {
    inner: dimpl::Dtls,
    stage: DtlsStage,
    budget: Budget,
    /// Bytes that an unproven peer may be sent.
    allowance: usize,
    /// Datagrams that went nowhere for that.
    withheld: u64,
    wake_at: Option<Instant>,
    certificates: Arc<Certificates>,
    verifier: Option<Arc<dyn ClientCertVerifier>>,
    /// The key that its device is to have; it has it once the handshake is done.
    claimed: Option<Arc<SharedKey>>,
    shown: Option<Arc<Proof>>,
}

impl Dtls {
    pub(crate) fn new(certificates: Arc<Certificates>, parts: &DtlsParts, now: Instant) -> Self {
        Dtls {
            inner: match &parts.certificate {
                Some(certificate) => dimpl::Dtls::new_auto(parts.config.clone(), certificate.clone(), now),
                None => dimpl::Dtls::new_12_psk(parts.config.clone(), now),
            },
            stage: DtlsStage::Unproven,
            budget: Budget::default(),
            allowance: 0,
            withheld: 0,
            wake_at: None,
            certificates,
            verifier: parts.verifier.clone(),
            claimed: None,
            shown: None,
        }
    }

    /// How far it is.
    pub fn stage(&self) -> DtlsStage {
        self.stage
    }

    /// When [`Dtls::tick`] has something to do; `None`: never.
    pub fn next_wake(&self) -> Option<Instant> {
        self.wake_at.filter(|_| matches!(self.stage, DtlsStage::Shaking | DtlsStage::Open))
    }

    /// Datagrams that were not sent because the peer has not shown where it is.
    pub fn withheld(&self) -> u64 {
        self.withheld
    }

    /// What the peer has shown: a certificate that was verified, or that it has a key.
    pub fn shown(&self) -> Option<&Arc<Proof>> {
        self.shown.as_ref()
    }

    /// Takes a datagram of the peer's. `output` gets what it meant, and what is to be sent.
    pub fn receive(&mut self, datagram: &[u8], now: Instant, output: &mut DtlsOutput) {
        output.clear();
        let taken = match self.stage {
            DtlsStage::Unproven => self.budget.hello(datagram),
            DtlsStage::Shaking => self.budget.step(datagram),
            DtlsStage::Open => Taken::Read,
            DtlsStage::Over(_) => Taken::Ignored,
        };
        match taken {
            Taken::Read => {}
            Taken::Ignored => return,
            Taken::Enough => return self.end(DtlsEnd::Failed),
        }
        if self.stage == DtlsStage::Unproven {
            self.allowance += datagram.len();
        }
        keys::asked();
        let taken = self.inner.handle_timeout(now).and_then(|()| self.inner.handle_packet(datagram));
        self.claimed = keys::asked().or(self.claimed.take());
        self.settle(taken, output);
    }

    /// Time has passed: what has met no answer goes again, or it is over.
    pub fn tick(&mut self, now: Instant, output: &mut DtlsOutput) {
        output.clear();
        if self.next_wake().is_some() {
            let passed = self.inner.handle_timeout(now);
            self.settle(passed, output);
        }
    }

    /// Seals one message; false: nothing can be sent.
    pub fn send(&mut self, message: &[u8], now: Instant, output: &mut DtlsOutput) -> bool {
        output.clear();
        if self.stage != DtlsStage::Open {
            return false;
        }
        let sent = self.inner.handle_timeout(now).and_then(|()| self.inner.send_application_data(message));
        let is_sent = matches!(sent, Ok(taken) if taken == message.len());
        self.settle(sent.map(drop), output);
        is_sent
    }

    /// Ends it; the peer is told if it is there.
    pub fn close(&mut self, output: &mut DtlsOutput) {
        output.clear();
        if self.stage == DtlsStage::Open {
            let closed = self.inner.close();
            self.settle(closed, output);
        }
        self.end(DtlsEnd::Closed);
    }

    fn is_over(&self) -> bool {
        matches!(self.stage, DtlsStage::Over(_))
    }

    /// The first reason counts.
    fn end(&mut self, why: DtlsEnd) {
        if !self.is_over() {
            self.stage = DtlsStage::Over(why);
        }
    }

    /// Takes what has come of a step.
    fn settle(&mut self, done: Result<(), Error>, output: &mut DtlsOutput) {
        let Err(error) = done else { return self.drain(output) };
        // Every error is the last: the alert that it may have left is all that is still to be had.
        if self.inner.protocol_version().is_some() {
            self.drain(output);
        }
        self.end(if matches!(error, Error::Timeout(_)) { DtlsEnd::TimedOut } else { DtlsEnd::Failed });
    }

    fn drain(&mut self, output: &mut DtlsOutput) {
        let Dtls { inner, stage, allowance, withheld, wake_at, certificates, verifier, claimed, shown, .. } = self;
        let DtlsOutput { scratch, packets, messages } = output;
        loop {
            match inner.poll_output(scratch) {
                Output::BufferTooSmall { needed } => scratch.resize(needed, 0),
                Output::Packet(packet) if *stage == DtlsStage::Unproven => {
                    if !asks_for_cookie(packet) {
                        *stage = DtlsStage::Shaking;
                    } else if packet.len() > *allowance {
                        *withheld += 1;
                        continue;
                    } else {
                        *allowance -= packet.len();
                    }
                    packets.push(packet);
                }
                Output::Packet(packet) => packets.push(packet),
                Output::PeerCert(der) => {
                    let der = CertificateDer::from(der.to_vec());
                    let is_good = verifier
                        .as_ref()
                        .is_some_and(|verifier| verifier.verify_client_cert(&der, &[], UnixTime::now()).is_ok());
                    if !is_good {
                        *stage = DtlsStage::Over(DtlsEnd::Untrusted);
                        return;
                    }
                    *shown = Some(Arc::new(Proof::of_certificate(der, certificates.clone())));
                }
                Output::Connected => {
                    if let Some(key) = claimed.take() {
                        *shown = Some(Arc::new(Proof::of_key(key, certificates.clone())));
                    }
                    // Whoever is asked for a certificate shows one, whatever suite was agreed on, or has a key.
                    if verifier.is_some() && shown.is_none() {
                        *stage = DtlsStage::Over(DtlsEnd::Untrusted);
                        return;
                    }
                    *stage = DtlsStage::Open;
                }
                Output::ApplicationData(message) if *stage == DtlsStage::Open => messages.push(message),
                Output::CloseNotify => *stage = DtlsStage::Over(DtlsEnd::Closed),
                Output::Timeout(at) => {
                    *wake_at = Some(at);
                    return;
                }
                // Keys of SRTP, for which nobody has asked.
                _ => {}
            }
        }
    }
}

/// What tells a HelloRetryRequest from a ServerHello (RFC 8446, 4.1.3).
const RETRY_RANDOM: [u8; 32] = [
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91, 0xC2, 0xA2, 0x11,
    0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
];
const HANDSHAKE: u8 = 22;
const SERVER_HELLO: u8 = 2;
/// Where a handshake's type stands in a datagram, and the random of a ServerHello.
const TYPE_AT: usize = 13;
const RANDOM_AT: usize = TYPE_AT + 12 + 2;

/// Whether a datagram of ours is anything but a ServerHello, which nobody gets before its cookie.
fn asks_for_cookie(packet: &[u8]) -> bool {
    let is_hello = packet.first() == Some(&HANDSHAKE) && packet.get(TYPE_AT) == Some(&SERVER_HELLO);
    let random = packet.get(RANDOM_AT..RANDOM_AT + RETRY_RANDOM.len());
    !is_hello || random.is_none_or(|random| random == RETRY_RANDOM)
}

/// Whether a datagram begins as one of somebody does who has no connection: with a ClientHello that is not sealed.
pub fn is_client_hello(datagram: &[u8]) -> bool {
    const CLIENT_HELLO: u8 = 1;
    let is_handshake = datagram.first() == Some(&HANDSHAKE) && datagram.get(3..5) == Some(&[0, 0]);
    is_handshake && datagram.get(TYPE_AT) == Some(&CLIENT_HELLO)
}
