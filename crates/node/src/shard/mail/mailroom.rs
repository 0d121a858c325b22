//! Mail from other shards.

use lapwing_router::Removal;
use lapwing_session::{Grant, Routed, SessionKey};

use crate::mail::{Control, Direct, Interest, Parcel, RouteFlags, RouteHeader, decode_frame};
use crate::shard::Shard;
use crate::shard::publish::route::Target;
use crate::shard::subscribe::Waiter;
use crate::slot::ShardId;

/// Control messages taken from one lane in one turn; the batch that exceeds it is taken whole.
const CONTROL_PER_TURN: usize = 256;
/// Parcels taken from one lane in one turn.
const PARCELS_PER_TURN: usize = 16;
/// The publisher of a message from another shard. It is nobody's key here, and need not be: for live messages No Local
/// concerns the publisher's own session, which lives on the publisher's shard; retained ones carry the client's hash.
pub(in crate::shard) const ELSEWHERE: SessionKey = SessionKey(u64::MAX);

impl Shard {
    /// Takes what has come, a bounded amount from each lane.
    pub(in crate::shard) fn take_mail(&mut self) {
        let mut inlets = std::mem::take(&mut self.mail.inlets);
        for inlet in &mut inlets {
            let mut taken = 0;
            while taken < CONTROL_PER_TURN
                && let Some(batch) = inlet.express.take()
            {
                taken += batch.iter().map(Control::weight).sum::<usize>();
                self.take_batch(inlet.from, batch);
            }
        }
        for inlet in &mut inlets {
            let (mut applied, mut taken) = (None, 0);
            while taken < CONTROL_PER_TURN
                && let Some(batch) = inlet.control.take()
            {
                taken += batch.len();
                applied = self.take_batch(inlet.from, batch).or(applied);
            }
            if let Some(seq) = applied {
                self.mail.moved = true;
                let (retained_sent, posted) =
                    (self.retained.sequences.sent(), self.retained.sequences.posted(inlet.from));
                self.mail.post.control(inlet.from, Control::Announced { seq, retained_sent, posted });
            }
        }
        for inlet in &mut inlets {
            for _ in 0..PARCELS_PER_TURN {
                let Some(parcel) = inlet.direct.take() else { break };
                self.mail.moved = true;
                self.hear_of(inlet.from);
                self.take_direct(&parcel);
            }
        }
        for inlet in &mut inlets {
            // A publish may have to be handed on to a group's member: without room for that it stays where it is.
            for _ in 0..PARCELS_PER_TURN {
                let true = self.mail.post.has_all_direct_credit() else { break };
                let Some(parcel) = inlet.publish.take() else { break };
                self.mail.moved = true;
                self.hear_of(inlet.from);
                self.take_publish(inlet.from, &parcel);
            }
        }
        self.mail.inlets = inlets;
    }

    /// Mail of another shard is in hand: what is written on its account is logged after what that one has written before.
    fn hear_of(&mut self, from: ShardId) {
        if let Some(log) = &mut self.durable.log {
            log.hear(from.index());
        }
    }

    /// Handles control messages; returns the number of the last announcement among them.
    fn take_batch(&mut self, from: ShardId, batch: Vec<Control>) -> Option<u64> {
        self.hear_of(from);
        batch.into_iter().filter_map(|control| self.take_control(from, control)).last()
    }

    /// Handles one control message; returns the number of an announcement that is now in force here.
    fn take_control(&mut self, from: ShardId, control: Control) -> Option<u64> {
        match control {
            Control::Connection(moved) => self.take_connection(*moved),
            Control::Announce { seq, interest, filter, add } => {
                self.apply_announcement(from, interest, &filter, add);
                return Some(seq);
            }
            Control::Announced { seq, retained_sent, posted } => {
                self.retained.sequences.in_force(from, &retained_sent, posted);
                for waiter in self.subscriptions.announcer.announced(from, seq) {
                    self.stop_waiting(waiter);
                }
            }
            Control::Word(word) => self.take_word(from, word),
            Control::Joined { request, refused: None } => self.confirmed(request.place),
            Control::Joined { request, refused: Some(filter) } => self.refused_join(request, &filter),
            Control::AskPage(request) => self.answer_page(from, request),
            Control::Page(page) => self.take_page_in_turn(from, page),
            Control::AskRoom(question) => self.answer_room(from, question),
            Control::Wanted { filter } => self.wanted_from_holds(&filter),
            Control::Offered(list) => self.hear_offered(&list),
            Control::Room { index, born, found } => self.take_room((index, born), found),
        }
        None
    }

    fn apply_announcement(&mut self, from: ShardId, interest: Interest, filter: &str, add: bool) {
        let target = match interest {
            Interest::Sessions => Target::Shard(from),
            Interest::Groups => Target::Groups(from),
            Interest::Kept => Target::Keeper(from),
        };
        if add {
            self.subscriptions.tree.insert(filter, target, Grant::default());
            if interest == Interest::Groups {
                // A declared group waits for nobody.
                self.wanted_from_holds(filter);
            }
        } else if self.subscriptions.tree.remove(filter, target) == Removal::NotFound {
            debug_assert!(false, "a filter was withdrawn that was never announced");
        }
    }

    fn stop_waiting(&mut self, waiter: Waiter) {
        match waiter {
            Waiter::Reply(place) => self.confirmed(place),
            Waiter::Join(shard, request) => self.mail.post.control(shard, Control::Joined { request, refused: None }),
        }
    }

    fn take_direct(&mut self, parcel: &Parcel<Direct>) {
        for (direct, frame) in parcel.iter() {
            match direct {
                Direct::Message(assigned) => {
                    let Some(publish) = decode_frame(frame) else { continue };
                    let routed = Routed::with_deadline(publish, ELSEWHERE, assigned.expires_at_ms);
                    self.deliver_assigned(assigned, &routed);
                    self.flush_large();
                }
                Direct::Kick { to, epoch } => self.kicked(*to, *epoch),
            }
        }
    }

    fn take_publish(&mut self, from: ShardId, parcel: &Parcel<RouteHeader>) {
        for (header, frame) in parcel.iter() {
            self.retained.sequences.take(from);
            if header.flags.has(RouteFlags::KEEP) {
                self.durable.confirmations.taken(from.index());
            }
            let Some(publish) = decode_frame(frame) else {
                debug_assert!(false, "a frame of our own could not be read");
                continue;
            };
            let publisher = header.held.map_or(ELSEWHERE, |hold_route| hold_route.publisher);
            let routed = Routed::with_deadline(publish, publisher, header.expires_at_ms);
            self.route_mail(from, &routed, header);
            self.flush_large();
        }
    }
}
