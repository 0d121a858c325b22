//! Where a client is: connected, asleep, awake for a moment, lost (6.11, 6.12, 6.14).

use std::num::NonZeroU32;

/// The states of a client, as the gateway sees it (6.14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Not connected, or no longer.
    #[default]
    Disconnected,
    /// Connected; messages go to it at once.
    Active,
    /// Connected; messages wait for it.
    Asleep,
    /// Asleep, and came for what waits; asleep again with the PINGRESP that says that nothing is left.
    Awake,
    /// Not heard within its time: its will is due.
    Lost,
}

/// One client's state and the time at which it is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    phase: Phase,
    /// The last that was heard is a CONNECT by which it came back from sleep.
    pub(super) has_returned: bool,
    /// Something has come since its CONNACK that is no CONNECT, so it has that.
    is_heard: bool,
    /// Keep Alive or sleep, with tolerance, in milliseconds; `None`: nobody waits.
    patience_ms: Option<NonZeroU32>,
    heard_ms: u64,
    /// Until then its CONNECT may come once more, late; 0: as a new one, that would end nothing.
    copies_until_ms: u64,
}

impl Life {
    /// The state.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether its session has a connection: a sleeping client has one too.
    pub const fn is_connected(&self) -> bool {
        matches!(self.phase, Phase::Active | Phase::Asleep | Phase::Awake)
    }

    /// CONNACK is sent: from every state, also back from sleep. `keep_alive_s`: 0 for none.
    pub fn connect(&mut self, keep_alive_s: u16, now_ms: u64) {
        let patience_ms = patience_ms(keep_alive_s);
        *self = Life { phase: Phase::Active, patience_ms, heard_ms: now_ms, ..Life::default() };
    }

    /// What its client begins from now on would end by its CONNECT, which the network may have a copy of till then; or the client
    /// has said it twice, and heard the first answer.
    pub(super) fn await_copies(&mut self, until_ms: u64) {
        self.copies_until_ms = until_ms;
    }

    /// Whether a CONNECT with that Keep Alive is such a copy. (75 s is not told from 55 s, for which it is waited as long.)
    pub(super) fn is_copied(&self, keep_alive_s: u16, now_ms: u64) -> bool {
        let is_late = self.phase == Phase::Active && self.is_heard && now_ms < self.copies_until_ms;
        is_late && self.patience_ms == patience_ms(keep_alive_s)
    }

    /// A message came, a CONNECT or another. An active client is there for another time; who sleeps says so with PINGREQ or
    /// DISCONNECT.
    pub fn heard(&mut self, is_connect: bool, now_ms: u64) {
        self.has_returned &= is_connect;
        self.is_heard |= !is_connect;
        if matches!(self.phase, Phase::Active | Phase::Awake) {
            self.heard_ms = now_ms;
        }
    }

    /// DISCONNECT. With a duration the client goes to sleep, or sleeps on with a new time; nobody can sleep for 0 s, so that
    /// is an end. Whether it was connected: who was not is told so by a DISCONNECT.
    pub fn disconnect(&mut self, duration_s: Option<u16>, now_ms: u64) -> bool {
        let was_connected = self.is_connected();
        let (phase, patience_ms) = match duration_s {
            Some(duration_s) if was_connected && duration_s > 0 => (Phase::Asleep, patience_ms(duration_s)),
            _ => (Phase::Disconnected, None),
        };
        *self = Life { phase, patience_ms, heard_ms: now_ms, ..Life::default() };
        was_connected
    }

    /// PINGREQ with the client's id: a sleeping client is awake now, and hears what waits before PINGRESP. `false`: it was not
    /// asleep, so PINGRESP is the answer at once.
    pub fn awake(&mut self, now_ms: u64) -> bool {
        let wakes = matches!(self.phase, Phase::Asleep | Phase::Awake);
        if wakes {
            self.phase = Phase::Awake;
            self.heard_ms = now_ms;
        }
        wakes
    }

    /// PINGRESP is sent to who was awake: it sleeps again, for as long as before.
    pub fn sleep_again(&mut self, now_ms: u64) {
        if self.phase == Phase::Awake {
            self.phase = Phase::Asleep;
            self.heard_ms = now_ms;
        }
    }

    /// When [`Life::tick`] may find the client lost.
    pub fn next_wake_ms(&self) -> Option<u64> {
        if !self.is_connected() {
            return None;
        }
        self.patience_ms.map(|patience_ms| self.heard_ms.saturating_add(patience_ms.get().into()))
    }

    /// Whether the client is lost, now and not before.
    pub fn tick(&mut self, now_ms: u64) -> bool {
        let is_lost = self.next_wake_ms().is_some_and(|due_ms| now_ms >= due_ms);
        if is_lost {
            self.lose();
        }
        is_lost
    }

    /// It does not answer (6.13).
    pub fn lose(&mut self) {
        self.phase = Phase::Lost;
        self.has_returned = false;
        self.patience_ms = None;
    }
}

/// How long a client is waited for: half as long again as it says, or a tenth when it says more than a minute (7.2).
const fn patience_ms(duration_s: u16) -> Option<NonZeroU32> {
    let duration_ms = duration_s as u32 * 1000;
    NonZeroU32::new(match duration_s {
        0..=60 => duration_ms + duration_ms / 2,
        _ => duration_ms + duration_ms / 10,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connected(keep_alive_s: u16) -> Life {
        let mut life = Life::default();
        life.connect(keep_alive_s, 0);
        life
    }

    #[test]
    fn section_6_11_who_is_not_heard_is_lost() {
        let mut life = connected(60);
        assert_eq!((life.phase(), life.next_wake_ms()), (Phase::Active, Some(90_000)));
        life.heard(false, 10_000);
        assert!(!life.tick(99_999) && life.phase() == Phase::Active);
        assert!(life.tick(100_000) && life.phase() == Phase::Lost);
        assert!(!life.tick(200_000), "once");
        assert_eq!(life.next_wake_ms(), None);
    }

    #[test]
    fn section_7_2_tolerance_depends_on_the_duration() {
        for (duration_s, due_ms) in [(1, 1500), (60, 90_000), (61, 67_100), (100, 110_000), (65_535, 72_088_500)] {
            assert_eq!(connected(duration_s).next_wake_ms(), Some(due_ms), "{duration_s}");
        }
        assert_eq!(connected(0).next_wake_ms(), None);
    }

    #[test]
    fn section_6_12_disconnect_ends() {
        let mut life = connected(60);
        assert!(life.disconnect(None, 5));
        assert_eq!((life.phase(), life.next_wake_ms()), (Phase::Disconnected, None));
        assert!(!life.disconnect(None, 6) && !life.disconnect(Some(9), 6), "who is not connected cannot sleep");
        assert_eq!(life.phase(), Phase::Disconnected);
    }

    #[test]
    fn section_6_14_asleep_awake_asleep() {
        let mut life = connected(60);
        assert!(!life.awake(1), "an active client is not woken");
        assert!(life.disconnect(Some(100), 1000));
        assert_eq!((life.phase(), life.is_connected(), life.next_wake_ms()), (Phase::Asleep, true, Some(111_000)));
        life.heard(false, 50_000);
        assert_eq!(life.next_wake_ms(), Some(111_000), "only PINGREQ and DISCONNECT speak for a sleeper");
        assert!(life.awake(100_000) && life.phase() == Phase::Awake);
        life.sleep_again(101_000);
        assert_eq!((life.phase(), life.next_wake_ms()), (Phase::Asleep, Some(211_000)));
        assert!(life.tick(211_000) && life.phase() == Phase::Lost);
    }

    #[test]
    fn section_6_14_a_sleeper_changes_its_time_comes_back_or_goes() {
        let mut life = connected(60);
        life.disconnect(Some(100), 0);
        assert!(life.disconnect(Some(200), 1000));
        assert_eq!((life.phase(), life.next_wake_ms()), (Phase::Asleep, Some(221_000)));
        life.connect(60, 2000);
        assert_eq!((life.phase(), life.next_wake_ms()), (Phase::Active, Some(92_000)));
        life.disconnect(Some(100), 3000);
        assert!(life.disconnect(None, 4000) && life.phase() == Phase::Disconnected);
    }

    #[test]
    fn section_6_14_a_sleep_of_no_time_is_an_end() {
        let mut life = connected(60);
        assert!(life.disconnect(Some(0), 1) && life.phase() == Phase::Disconnected);
    }

    #[test]
    fn section_6_14_who_is_lost_stays_so_until_it_connects() {
        let mut life = connected(1);
        assert!(life.tick(1500));
        life.heard(false, 1600);
        life.sleep_again(1600);
        assert!(!life.awake(1600) && life.phase() == Phase::Lost && !life.is_connected());
        life.connect(1, 2000);
        assert_eq!(life.phase(), Phase::Active);
    }
}
