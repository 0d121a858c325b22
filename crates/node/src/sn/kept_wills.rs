//! Wills of clients that have gone while their sessions are kept: an end takes none away (6.12), and who comes back without
//! asking for another has the one it had (6.3). They are in memory: MQTT knows no will of somebody who is not there.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lapwing_transport::Proof;

use super::will::StoredWill;

/// The wills of one listener's clients, the oldest of which goes for one more.
#[derive(Default)]
pub(super) struct KeptWills {
    of: HashMap<Box<str>, KeptWill>,
    /// Client ids in the order in which they went.
    order: BTreeMap<u64, Box<str>>,
    count: u64,
}

struct KeptWill {
    will: StoredWill,
    /// What its client had shown in a handshake: nobody else hears of it.
    shown: Option<Arc<Proof>>,
    until_ms: u64,
    number: u64,
}

impl KeptWills {
    /// Keeps the will of a client that has gone, until its session is over. `false`: the oldest went for it.
    pub(super) fn keep(
        &mut self,
        client_id: &str,
        will: StoredWill,
        shown: Option<Arc<Proof>>,
        until_ms: u64,
        count_max: usize,
    ) -> bool {
        self.forget(client_id);
        let has_room = self.of.len() < count_max;
        if !has_room && let Some((_, oldest)) = self.order.pop_first() {
            self.of.remove(&oldest);
        }
        self.count += 1;
        self.order.insert(self.count, client_id.into());
        self.of.insert(client_id.into(), KeptWill { will, shown, until_ms, number: self.count });
        has_room
    }

    /// The will of a client that comes back, who has shown this.
    pub(super) fn of(&self, client_id: &str, shown: Option<&Proof>, now_ms: u64) -> Option<StoredWill> {
        let kept = self.of.get(client_id).filter(|kept| now_ms < kept.until_ms)?;
        is_same_holder(kept.shown.as_deref(), shown).then(|| kept.will.clone())
    }

    /// Forgets those whose sessions are over. At one listener all last as long, so who went first is the first.
    pub(super) fn sweep(&mut self, now_ms: u64) {
        while let Some(oldest) = self.order.first_entry() {
            if self.of.get(oldest.get()).is_some_and(|kept| now_ms < kept.until_ms) {
                break;
            }
            self.of.remove(&oldest.remove());
        }
    }

    /// It has another one from now on, or none.
    pub(super) fn forget(&mut self, client_id: &str) {
        if let Some(kept) = self.of.remove(client_id) {
            self.order.remove(&kept.number);
        }
    }
}

/// Whether two clients have shown certificates of the same names or the same key, or nothing.
pub(super) fn is_same_holder(one: Option<&Proof>, other: Option<&Proof>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one.has_names_of(other),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use lapwing_sn::QoS;

    use super::*;

    fn will(topic: &str) -> StoredWill {
        StoredWill { topic: topic.to_owned(), payload: Vec::new(), qos: QoS::AtMostOnce, retain: false }
    }

    /// Is the oldest the one to go, is a session's end the will's, and does nothing stay of who is forgotten?
    #[test]
    fn the_oldest_goes_for_one_more() {
        let mut wills = KeptWills::default();
        assert!(wills.keep("a", will("1"), None, 100, 2) && wills.keep("b", will("2"), None, 100, 2));
        assert!(wills.keep("a", will("3"), None, 100, 2), "its own makes room for it");
        assert_eq!(wills.of("a", None, 99), Some(will("3")));
        assert_eq!(wills.of("a", None, 100), None, "its session is over");
        assert!(!wills.keep("c", will("4"), None, 100, 2));
        assert_eq!((wills.of("b", None, 0), wills.of("a", None, 0)), (None, Some(will("3"))));
        for id in ["a", "b", "c"] {
            wills.forget(id);
        }
        assert!(wills.of.is_empty() && wills.order.is_empty());
    }

    /// Does a will whose client never comes back go with its session, and none before?
    #[test]
    fn a_will_goes_when_its_session_is_over() {
        let mut wills = KeptWills::default();
        for (id, until_ms) in [("a", 100), ("b", 100), ("c", 150)] {
            wills.keep(id, will(id), None, until_ms, 9);
        }
        // It came back meanwhile, and went again.
        wills.forget("b");
        wills.keep("b", will("b"), None, 150, 9);
        wills.sweep(99);
        assert_eq!((wills.of.len(), wills.order.len()), (3, 3));
        wills.sweep(100);
        assert_eq!((wills.of.len(), wills.order.len()), (2, 2));
        assert_eq!(wills.of("b", None, 149), Some(will("b")));
        wills.sweep(150);
        assert!(wills.of.is_empty() && wills.order.is_empty());
    }
}
