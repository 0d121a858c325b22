//! Copies for groups: one for one of several members each. Which copy was whose cannot be seen where groups overlap, so the
//! books ask only whether everything that came can be explained, and everything that must come could have.

use crate::model::Owed;
use crate::peer::Message;

/// One copy for one of several members of a group.
#[derive(Clone, Debug)]
pub struct OneOf {
    pub members: Vec<(usize, Owed)>,
    /// It may have gone with a member that is no more.
    pub may_be_lost: bool,
}

/// All copies of one message for groups.
#[derive(Clone, Debug)]
pub struct Copies {
    topic: &'static str,
    payload: Vec<u8>,
    ones: Vec<OneOf>,
    receipts: Vec<Receipt>,
}

/// Who got a copy, and how it looked; identifiers of subscriptions are seen by clients of 5.0 only.
#[derive(Clone, Debug)]
struct Receipt {
    client: usize,
    owed: Owed,
    sees_ids: bool,
}

#[derive(Default)]
pub struct Shared(Vec<Copies>);

impl Shared {
    /// A group is owed a copy.
    pub fn owe(&mut self, one: OneOf) {
        let Some((_, owed)) = one.members.first() else { return };
        let (topic, payload) = (owed.message.topic, owed.message.payload.clone());
        match self.0.iter_mut().find(|copies| copies.topic == topic && copies.payload == payload) {
            Some(copies) => copies.ones.push(one),
            None => self.0.push(Copies { topic, payload, ones: vec![one], receipts: Vec::new() }),
        }
    }

    /// A member got a copy; returns what it was, or nothing if no group owes it one.
    pub fn came(
        &mut self,
        client: usize,
        sees_ids: bool,
        message: &Message,
        same: impl Fn(&Owed) -> bool,
    ) -> Option<Owed> {
        let key = |copies: &&mut Copies| copies.topic == message.topic && copies.payload == message.payload;
        let copies = self.0.iter_mut().find(key)?;
        let mut members = copies.ones.iter().flat_map(|one| &one.members);
        let owed = members.find(|(member, owed)| *member == client && same(owed))?.1.clone();
        copies.receipts.push(Receipt { client, owed: owed.clone(), sees_ids });
        if copies.can_explain(&mut vec![None; copies.receipts.len()], 0) {
            self.0.retain(|copies| copies.receipts.len() < copies.ones.len());
            return Some(owed);
        }
        copies.receipts.pop();
        None
    }

    /// A session is no more: what was for it alone is gone, what may have been picked for it may be.
    pub fn ends(&mut self, client: usize) {
        for one in self.0.iter_mut().flat_map(|copies| &mut copies.ones) {
            one.may_be_lost |= one.members.iter().any(|(member, _)| *member == client);
        }
    }

    /// A copy that must have come by now: every member of its group has room for it.
    pub fn missing(&self, is_free: impl Fn(usize) -> bool) -> Option<String> {
        for copies in &self.0 {
            let is_due = |one: &OneOf| !one.may_be_lost && one.members.iter().all(|(member, _)| is_free(*member));
            let due: Vec<&OneOf> = copies.ones.iter().filter(|one| is_due(one)).collect();
            if !covers(&due, &mut vec![false; copies.receipts.len()], &copies.receipts) {
                return Some(format!("no member of some group is sent {copies:?}"));
            }
        }
        None
    }
}

impl Copies {
    /// Whether each receipt from `at` on can be given a copy of its own.
    fn can_explain(&self, given: &mut Vec<Option<usize>>, at: usize) -> bool {
        let Some(receipt) = self.receipts.get(at) else { return true };
        for (n, one) in self.ones.iter().enumerate() {
            if is_for(one, receipt) && !given.contains(&Some(n)) {
                given[at] = Some(n);
                if self.can_explain(given, at + 1) {
                    return true;
                }
                given[at] = None;
            }
        }
        false
    }
}

/// Whether each copy in `due` can be given a receipt of its own.
fn covers(due: &[&OneOf], used: &mut Vec<bool>, receipts: &[Receipt]) -> bool {
    let Some((one, rest)) = due.split_first() else { return true };
    for (n, receipt) in receipts.iter().enumerate() {
        if !used[n] && is_for(one, receipt) {
            used[n] = true;
            if covers(rest, used, receipts) {
                return true;
            }
            used[n] = false;
        }
    }
    false
}

fn is_for(one: &OneOf, Receipt { client, owed: got, sees_ids }: &Receipt) -> bool {
    one.members.iter().any(|(member, owed)| {
        let looks = (owed.qos, owed.retain) == (got.qos, got.retain);
        member == client && looks && (!sees_ids || owed.ids == got.ids)
    })
}
