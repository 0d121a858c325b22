//! Members that cannot have a message, because it is larger than what they take, say.
//!
//! It was never sent to them, so it goes to one that can have it, and is dropped only when all members were found unable.
//! While it waits, others pass it: they may be for those that it cannot go to. Where keys have an order its key waits with
//! it; if what came later of the key is finished all the same, its turn is over.

use std::hash::Hash;

use lapwing_dispatch::{MemberIndex, Strategy};

use crate::action::{Action, Notice};
use crate::counters::DropReason;
use crate::entry::{Entry, Place};
use crate::group::Group;

/// One stay of a member with dispatch: places are used again, stays are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) place: MemberIndex,
    pub(crate) nth: u64,
}

/// Who cannot have one message.
#[derive(Debug, Default)]
pub(crate) struct Unable {
    seats: Vec<Seat>,
    /// Keys had an order when the first was found.
    is_ordered: bool,
}

impl Unable {
    /// The line in which the message waits, so that others pass: its key's where keys have an order, else one of its own.
    /// A key whose hash is that of the line waits with it, which does no harm.
    pub(crate) fn line(&self, key: Option<u64>, nth: u64) -> u64 {
        key.filter(|_| self.is_ordered).unwrap_or(!nth)
    }
}

impl<K: Copy + Eq + Hash, M: Clone> Group<K, M> {
    /// Notes that a member cannot have the message, unless it has left meanwhile.
    pub(crate) fn note_unable(&self, entry: &mut Entry<M>, seat: Option<Seat>) {
        let Some(seat) = seat else { return };
        let is_ordered = self.keeps_order();
        let unable = entry.unable.get_or_insert_with(|| Box::new(Unable { seats: Vec::new(), is_ordered }));
        unable.seats.retain(|other| self.roster.is_taken(*other));
        unable.seats.push(seat);
    }

    /// Where dispatch has those that cannot have it.
    pub(crate) fn places_of(&self, unable: &Unable) -> Vec<MemberIndex> {
        let seats = unable.seats.iter().filter(|seat| self.roster.is_taken(**seat));
        seats.map(|seat| seat.place).collect()
    }

    /// Whether there are members and none of them can have the message. Who is away may be able when it is back.
    pub(crate) fn is_for_nobody(&self, unable: &Unable) -> bool {
        let members = self.roster.members();
        members > 0 && self.places_of(unable).len() == members
    }

    /// A message of a key is finished: what came before it and still waits for somebody who can have it comes too late,
    /// where keys have an order.
    pub(crate) fn end_overtaken(&mut self, later: &Entry<M>, member: K) {
        if later.facts.key.is_none() || !self.keeps_order() {
            return;
        }
        let (key, place) = (later.facts.key, later.place());
        let is_overtaken = |entry: &Entry<M>| {
            let is_before = entry.facts.lane == place.lane && entry.nth < place.nth;
            is_before && entry.facts.key == key && entry.unable.as_ref().is_some_and(|unable| unable.is_ordered)
        };
        let overtaken: Vec<Place> = self.queue.unable().filter(|entry| is_overtaken(entry)).map(Entry::place).collect();
        self.drop_unable(overtaken, Some(member));
    }

    /// A member has gone for good: what only it could have ends.
    pub(crate) fn end_unable(&mut self) {
        let is_for_nobody = |entry: &&Entry<M>| entry.unable.as_ref().is_some_and(|unable| self.is_for_nobody(unable));
        let ends: Vec<Place> = self.queue.unable().filter(is_for_nobody).map(Entry::place).collect();
        self.drop_unable(ends, None);
    }

    /// Drops a message that nobody can have; the first one of the group is told.
    pub(crate) fn drop_undeliverable(&mut self, entry: Entry<M>, member: Option<K>) {
        self.drop_entry(entry, DropReason::Undeliverable);
        if !std::mem::replace(&mut self.has_told_undeliverable, true) {
            self.actions.push(Action::Notice(Notice::Undeliverable { member }));
        }
    }

    fn drop_unable(&mut self, places: Vec<Place>, member: Option<K>) {
        for place in places {
            if let Some(entry) = self.queue.take(place) {
                self.drop_undeliverable(entry, member);
            }
        }
    }

    fn keeps_order(&self) -> bool {
        self.members.strategy() == Some(Strategy::KeyOrdered)
    }
}
