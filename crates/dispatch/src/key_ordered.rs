//! Order per key: a key stays with its member while that one has messages of it.

use hashbrown::HashMap;

use crate::auto::Auto;
use crate::choose::{Ask, Choose, Crew};
use crate::index::MemberIndex;
use crate::work::{Pick, Work};

/// Where a key is.
struct Bound {
    member: MemberIndex,
    unacknowledged: u32,
    /// Its member has become much worse than others, or is full: nothing more until it has finished what it has.
    is_parked: bool,
}

/// Sticks a key to its member while anything of it is unacknowledged; parks the key, drains and binds it anew when that
/// member's cost exceeds the best by a slack. The table holds keys with unacknowledged messages only, so it is bounded by
/// what the members may have.
pub(crate) struct KeyOrdered {
    keys: HashMap<u64, Bound>,
    inner: Auto,
}

impl KeyOrdered {
    pub(crate) fn new() -> KeyOrdered {
        KeyOrdered { keys: HashMap::new(), inner: Auto::declared() }
    }

    /// Whether the key may go on with its member.
    fn may_stay(&self, ask: &mut Ask<'_>, member: MemberIndex) -> bool {
        let (now_ms, work, parameters) = (ask.now_ms, ask.work, ask.parameters);
        let Some(signals) = ask.signals.get(member.slot()).filter(|one| one.can_take(now_ms)) else { return false };
        let share = ask.share();
        if !self.inner.admits(signals, work, share, now_ms, parameters) {
            return false;
        }
        let own_ms = self.inner.score_ms(signals, work, now_ms, parameters);
        let best = ask.least(|one| self.inner.score_ms(one, work, now_ms, parameters), |one| !one.is_blind);
        let best_ms = best.map_or(own_ms, |(_, best_ms)| best_ms);
        own_ms <= best_ms + parameters.key_slack_ms.max(parameters.key_slack_share * best_ms)
    }
}

impl Choose for KeyOrdered {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        let Some((key, member)) = ask.work.key.and_then(|key| Some((key, self.keys.get(&key)?))) else {
            return self.inner.choose(ask);
        };
        if member.is_parked {
            return Pick::Park;
        }
        let member = member.member;
        if self.may_stay(ask, member) {
            return Pick::To(member);
        }
        if let Some(bound) = self.keys.get_mut(&key) {
            bound.is_parked = true;
        }
        Pick::Park
    }

    fn sent(&mut self, member: MemberIndex, work: &Work, is_blind: bool, crew: Crew) {
        self.inner.sent(member, work, is_blind, crew);
        if let Some(key) = work.key.filter(|_| !work.is_unacknowledged) {
            let bound = self.keys.entry(key).or_insert(Bound { member, unacknowledged: 0, is_parked: false });
            bound.member = member;
            bound.unacknowledged += 1;
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
