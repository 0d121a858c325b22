//! The server's side of one address, as a node has it: who has shown to be there, and who says so.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use lapwing_oracle::allocations;

use crate::authority::Authority;
use crate::dtls::{Dtls, DtlsOutput, DtlsSettings, DtlsStage, is_client_hello};
use crate::settings::ClientCertificate;
use crate::tls::Certificates;

/// What is kept of somebody who has not shown where he is, and of anybody.
const UNPROVEN_BYTES_MAX: isize = 128 << 10;
const HELD_BYTES_MAX: isize = 384 << 10;
/// Beside it, while a datagram is looked at.
const STEP_BYTES_MAX: usize = 128 << 10;

/// What devices have said: each message once, told apart by its number.
#[derive(Default)]
pub(super) struct Said {
    count: u32,
    heard: BTreeSet<u32>,
}

impl Said {
    pub(super) fn next(&mut self, len: u8) -> Vec<u8> {
        self.count += 1;
        [&self.count.to_be_bytes()[..], &vec![len; usize::from(len)][..]].concat()
    }

    fn hear(&mut self, message: &[u8]) {
        let (number, rest) = message.split_first_chunk().expect("a number");
        let number = u32::from_be_bytes(*number);
        assert!(
            (1..=self.count).contains(&number) && self.heard.insert(number),
            "{number} was heard, of {}",
            self.count
        );
        assert!(rest.iter().all(|byte| usize::from(*byte) == rest.len()), "{number} was changed");
    }
}

/// One connection, and what it has cost.
struct Tunnel {
    dtls: Dtls,
    came: usize,
    went: usize,
    held_bytes: isize,
}

impl Tunnel {
    fn new(kind: u8, now: Instant) -> Self {
        let listener = listener(kind);
        let (dtls, used) = allocations::count(|| listener.accept_datagrams(now).expect("a listener of datagrams"));
        Tunnel { dtls, came: 0, went: 0, held_bytes: used.kept_bytes }
    }

    fn does(&mut self, output: &mut DtlsOutput, step: impl FnOnce(&mut Dtls, &mut DtlsOutput)) {
        let before = self.dtls.stage();
        let ((), used) = allocations::count(|| step(&mut self.dtls, output));
        self.held_bytes += used.kept_bytes;
        let after = self.dtls.stage();
        assert!(rank(before) <= rank(after), "{before:?} became {after:?}");
        let held_bytes_max = if after == DtlsStage::Unproven { UNPROVEN_BYTES_MAX } else { HELD_BYTES_MAX };
        assert!(self.held_bytes <= held_bytes_max, "{} bytes are held by {after:?}", self.held_bytes);
        assert!(used.peak_bytes <= STEP_BYTES_MAX, "{} bytes for a step", used.peak_bytes);
        self.went += output.packets.iter().map(<[u8]>::len).sum::<usize>();
        if before == DtlsStage::Unproven && matches!(after, DtlsStage::Unproven | DtlsStage::Over(_)) {
            assert!(self.went <= self.came, "{} bytes for {}", self.went, self.came);
            assert_eq!(self.dtls.next_wake(), None, "nothing by a timer");
        }
        if matches!(before, DtlsStage::Over(_)) {
            assert!(is_silent(output), "something came of what is over");
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.dtls.stage(), DtlsStage::Over(_))
    }
}

fn rank(stage: DtlsStage) -> u8 {
    match stage {
        DtlsStage::Unproven => 0,
        DtlsStage::Shaking => 1,
        DtlsStage::Open => 2,
        DtlsStage::Over(_) => 3,
    }
}

fn is_silent(output: &DtlsOutput) -> bool {
    output.packets.iter().next().is_none() && output.messages.iter().next().is_none()
}

#[derive(Default)]
pub(super) struct Place {
    unproven: Option<Tunnel>,
    proven: Option<Tunnel>,
}

impl Place {
    /// A datagram comes from here; `output` has the answer. Whether a handshake was done by it.
    pub(super) fn take(
        &mut self,
        kind: u8,
        bytes: &[u8],
        now: Instant,
        output: &mut DtlsOutput,
        said: &mut Said,
    ) -> bool {
        output.clear();
        let is_hello = is_client_hello(bytes);
        let is_there = self.proven.as_ref().is_some_and(|tunnel| !is_hello || tunnel.dtls.stage() != DtlsStage::Open);
        let its = if is_there { &mut self.proven } else { &mut self.unproven };
        if !is_there && !is_hello {
            return false;
        }
        let tunnel = its.get_or_insert_with(|| Tunnel::new(kind, now));
        tunnel.came += bytes.len();
        let before = tunnel.dtls.stage();
        tunnel.does(output, |dtls, output| dtls.receive(bytes, now, output));
        let after = tunnel.dtls.stage();
        output.messages.iter().for_each(|message| said.hear(message));
        if !is_there && matches!(after, DtlsStage::Shaking | DtlsStage::Open) {
            self.proven = self.unproven.take();
        }
        self.forget();
        before != DtlsStage::Open && after == DtlsStage::Open
    }

    pub(super) fn pass(&mut self, now: Instant, output: &mut DtlsOutput) {
        output.clear();
        for tunnel in self.unproven.iter_mut().chain(&mut self.proven) {
            tunnel.does(output, |dtls, output| dtls.tick(now, output));
        }
        self.forget();
    }

    pub(super) fn say(&mut self, message: &[u8], now: Instant, output: &mut DtlsOutput) {
        output.clear();
        if let Some(tunnel) = &mut self.proven {
            let is_open = tunnel.dtls.stage() == DtlsStage::Open;
            let mut is_sent = false;
            tunnel.does(output, |dtls, output| is_sent = dtls.send(message, now, output));
            assert!(is_open || !is_sent, "something was sent before there was anybody");
        }
        self.forget();
    }

    /// It is dismissed, as one is that has to go.
    pub(super) fn close(&mut self, output: &mut DtlsOutput) {
        output.clear();
        if let Some(tunnel) = &mut self.proven {
            tunnel.does(output, Dtls::close);
            assert!(tunnel.is_over());
        }
        self.forget();
    }

    fn forget(&mut self) {
        for tunnel in [&mut self.unproven, &mut self.proven] {
            *tunnel = tunnel.take_if(|tunnel| !tunnel.is_over());
        }
    }
}

/// Whoever signs the certificates of both sides.
pub(super) fn authority() -> &'static Authority {
    static AUTHORITY: OnceLock<Authority> = OnceLock::new();
    AUTHORITY.get_or_init(Authority::new)
}

/// Two listeners: without client certificates, and with.
fn listener(kind: u8) -> &'static Arc<Certificates> {
    static LISTENERS: OnceLock<[Arc<Certificates>; 2]> = OnceLock::new();
    let listeners = LISTENERS.get_or_init(|| {
        [ClientCertificate::None, ClientCertificate::Required].map(|asked| {
            let own = DtlsSettings {
                datagram_bytes_max: 1232,
                handshake_timeout: Duration::from_secs(20),
                keys: Some(authority().write("keys", &format!("device:{}\n", "07".repeat(16)))),
            };
            Arc::new(Certificates::load_for_datagrams(Some(authority().settings(asked)), own).expect("certificates"))
        })
    });
    &listeners[usize::from(kind >> 2 & 1)]
}
