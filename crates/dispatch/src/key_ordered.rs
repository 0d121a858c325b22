//! Order per key: a key stays with its member while that one has messages of it.

use hashbrown::HashMap;

use crate::auto::Auto;
use crate::choose::{Ask, Choose};
use crate::index::MemberIndex;
use crate::signals::Signals;
use crate::work::{Pick, Work};

/// Where a key is.
struct Bound {
    member: MemberIndex,
    unacknowledged: u32,
    /// Its member has become much worse than others: nothing more until it has finished what it has.
    is_parked: bool,
}

/// Sticks a key to its member while anything of it is unacknowledged; parks the key, drains and binds it anew when that
/// member's cost exceeds the best by a slack. The table holds keys with unacknowledged messages only, so it is bounded
/// by what the members may have.
pub(crate) struct KeyOrdered {
    keys: HashMap<u64, Bound>,
    inner: Auto,
}

impl KeyOrdered {
    pub(crate) fn new() -> KeyOrdered {
        KeyOrdered { keys: HashMap::new(), inner: Auto::declared() }
    }

    /// Whether the key's member costs more than the best by the slack.
    fn is_worse(&self, ask: &mut Ask<'_>, member: MemberIndex) -> bool {
        let (now_ms, work, parameters) = (ask.now_ms, ask.work, ask.parameters);
        let score_ms = |one: &Signals, bound_ms: f64| self.inner.score_ms(one, work, now_ms, parameters, bound_ms);
        let Some(own_ms) = ask.signals.get(member.slot()).map(|one| score_ms(one, f64::INFINITY)) else { return true };
        let best = ask.least(score_ms, |one| !one.is_blind);
        let slack_ms = |best_ms: f64| parameters.key_slack_ms.max(parameters.key_slack_share * best_ms);
        best.is_some_and(|(_, best_ms)| own_ms > best_ms + slack_ms(best_ms))
    }

    /// Whether the member may have one more now.
    fn has_room(&self, ask: &Ask<'_>, member: MemberIndex) -> bool {
        let room = |one: &&Signals| {
            one.can_take(ask.now_ms) && self.inner.admits(one, ask.work, ask.share(), ask.now_ms, ask.parameters)
        };
        ask.signals.get(member.slot()).filter(room).is_some()
    }
}

impl Choose for KeyOrdered {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        let Some((key, bound)) = ask.work.key.and_then(|key| Some((key, self.keys.get(&key)?))) else {
            return self.inner.choose(ask);
        };
        let (member, is_parked) = (bound.member, bound.is_parked);
        if is_parked {
            return Pick::Park;
        }
        if self.is_worse(ask, member) {
            if let Some(bound) = self.keys.get_mut(&key) {
                bound.is_parked = true;
            }
            return Pick::Park;
        }
        // Who is only full keeps the key: draining it first would cost a round trip for every window of messages.
        if self.has_room(ask, member) { Pick::To(member) } else { Pick::Park }
    }

    fn sent(&mut self, member: MemberIndex, work: &Work) {
        if let Some(key) = work.key.filter(|_| !work.is_unacknowledged) {
            let bound = self.keys.entry(key).or_insert(Bound { member, unacknowledged: 0, is_parked: false });
            // Another member may still have some from before the strategy was chosen: those are not waited for.
            bound.unacknowledged += u32::from(bound.member == member);
        }
    }

    fn finished(&mut self, member: MemberIndex, key: u64) {
        let Some(bound) = self.keys.get_mut(&key).filter(|bound| bound.member == member) else { return };
        bound.unacknowledged = bound.unacknowledged.saturating_sub(1);
        if bound.unacknowledged == 0 {
            self.keys.remove(&key);
        }
    }

    fn left(&mut self, member: MemberIndex) {
        self.keys.retain(|_, bound| bound.member != member);
    }
}
