//! Closed loop at QoS 0: how many messages may go now.
//!
//! The window counts copies that may still come. One that something sent later has overtaken at its receiver comes no more: it is
//! lost, and takes no place. Where nothing comes at all for a while, what is under way is given up, so that loss does not stop
//! the loop. It may have been late, behind a broker that had no core: so that is undone as soon as as much has passed. (It was not
//! once, nor was the first window waited for: each pause, and each turn before the first arrival, left a window more under way,
//! until sockets and the broker's limits were what bounded the load.)

use crate::clock::MILLISECOND_NS;

/// Messages unheard for so long are given up.
const GIVE_UP_NS: u64 = 200 * MILLISECOND_NS;

/// Copies of messages at QoS 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copies {
    /// That messages sent so far are to bring about.
    pub expected: u64,
    /// Of these, those that came, or were overtaken.
    pub passed: u64,
}

impl Copies {
    fn under_way(self) -> u64 {
        self.expected.saturating_sub(self.passed)
    }
}

/// What is not waited for any more.
#[derive(Debug, Default)]
pub(super) struct Credit {
    given_up: u64,
    /// How many were expected then.
    given_up_through: u64,
    /// When there was credit last.
    had_some_ns: u64,
}

impl Credit {
    /// Of a load that begins now.
    pub fn begin(now_ns: u64) -> Self {
        Credit { had_some_ns: now_ns, ..Credit::default() }
    }

    /// Messages of `copies_each` copies that may go, where `window` of them may be under way.
    pub fn messages(&self, copies: Copies, copies_each: u64, window: u64) -> u64 {
        window.saturating_sub(copies.under_way().saturating_sub(self.given_up) / copies_each)
    }

    /// Looks whether to wait on, where `has_credit` says what [`Credit::messages`] has.
    pub fn look(&mut self, copies: Copies, has_credit: bool, now_ns: u64, last_heard_ns: u64) {
        if copies.passed >= self.given_up_through {
            self.given_up = 0;
        }
        if has_credit {
            self.had_some_ns = now_ns;
        } else if now_ns.saturating_sub(self.had_some_ns.max(last_heard_ns)) > GIVE_UP_NS {
            (self.given_up, self.given_up_through) = (copies.under_way(), copies.expected);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends what may go, to `each` receivers.
    fn send(credit: &Credit, copies: &mut Copies, each: u64) {
        copies.expected += each * credit.messages(*copies, each, 20);
    }

    /// A broker that stands still again and again, and then catches up: is no more under way afterwards than before?
    #[test]
    fn pauses_do_not_add_up() {
        let (mut credit, mut copies, mut now_ns) = (Credit::default(), Copies::default(), 1);
        for _ in 0..10 {
            send(&credit, &mut copies, 100);
            now_ns += 2 * GIVE_UP_NS;
            credit.look(copies, false, now_ns, 0);
            send(&credit, &mut copies, 100);
            assert_eq!(copies.under_way(), 2 * 20 * 100);
            copies.passed = copies.expected;
            credit.look(copies, true, now_ns, now_ns);
            assert_eq!(credit.messages(copies, 100, 20), 20);
        }
        send(&credit, &mut copies, 100);
        assert_eq!((copies.under_way(), credit.messages(copies, 100, 20)), (2_000, 0));
    }

    /// Is the first window waited for as any other, whatever the clock says at the start?
    #[test]
    fn the_first_window_is_waited_for() {
        let begun_ns = 1_000 * GIVE_UP_NS;
        let (mut credit, mut copies) = (Credit::begin(begun_ns), Copies::default());
        send(&credit, &mut copies, 100);
        credit.look(copies, false, begun_ns + GIVE_UP_NS, 0);
        assert_eq!(credit.messages(copies, 100, 20), 0);
        credit.look(copies, false, begun_ns + GIVE_UP_NS + 1, 0);
        assert_eq!(credit.messages(copies, 100, 20), 20);
    }

    /// Does the loop go on where all that was under way is lost, and not before it was waited for?
    #[test]
    fn loss_does_not_stop_the_loop() {
        let (mut credit, mut copies) = (Credit::default(), Copies::default());
        send(&credit, &mut copies, 1);
        credit.look(copies, false, GIVE_UP_NS, 0);
        assert_eq!(credit.messages(copies, 1, 20), 0);
        credit.look(copies, false, 2 * GIVE_UP_NS, 2 * GIVE_UP_NS);
        assert_eq!(credit.messages(copies, 1, 20), 0, "something was heard just now");
        credit.look(copies, false, 4 * GIVE_UP_NS, 2 * GIVE_UP_NS);
        assert_eq!(credit.messages(copies, 1, 20), 20);
    }
}
