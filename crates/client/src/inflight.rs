//! The packets a client has sent and that the broker has not yet answered: packet ids, the window, the resend.
//!
//! Rules: a packet id is in use until its last answer came [MQTT-2.2.1-4]. QoS 1 and 2 publishes on the wire never
//! exceed the window, which is the smaller of the broker's Receive Maximum and our own wish. After a
//! reconnection everything unanswered goes again, in the order it went first [MQTT-4.6.0-1], and nothing new
//! goes before it.

use crate::inherited::Inherited;
use crate::unanswered::{Entry, Stage};
use lapwing_codec::PacketId;
use std::collections::VecDeque;

/// Room for SUBSCRIBE and UNSUBSCRIBE beside a full window of publishes.
const WINDOW_MAX: u16 = u16::MAX - 64;

/// What to send again.
pub(crate) enum Again<'a> {
    Publish {
        packet: &'a [u8],
        token: u64,
        /// When it went first.
        sent_at_ms: u64,
    },
    PubRel(PacketId),
}

#[derive(Debug)]
pub(crate) struct Inflight {
    /// By packet id, less one.
    entries: Vec<Option<Entry>>,
    free: VecDeque<u16>,
    /// Publishes on the wire of this connection.
    outstanding: u16,
    window: u16,
    wish: u16,
    next_order: u64,
    /// Ids that wait to be sent again on this connection.
    resend: VecDeque<PacketId>,
    /// None: all that the broker knows of ids is ours.
    inherited: Option<Inherited>,
}

impl Inflight {
    pub fn new(wish: u16) -> Self {
        let wish = wish.clamp(1, WINDOW_MAX);
        Self {
            entries: Vec::new(),
            free: VecDeque::new(),
            outstanding: 0,
            window: wish,
            wish,
            next_order: 0,
            resend: VecDeque::new(),
            inherited: None,
        }
    }

    /// The same window with nothing in it.
    pub fn fresh(&self) -> Self {
        Self::new(self.wish)
    }

    /// How many more publishes may go now.
    pub fn room(&self) -> u16 {
        if self.resend.is_empty() { self.window.saturating_sub(self.outstanding) } else { 0 }
    }

    /// Publishes not yet answered for good, on the wire or waiting to be sent again.
    pub fn unanswered(&self) -> usize {
        self.outstanding as usize + self.resend.len()
    }

    /// The broker's Receive Maximum, from CONNACK.
    pub fn set_receive_maximum(&mut self, receive_maximum: u16) {
        self.window = self.wish.min(receive_maximum.max(1));
    }

    /// Takes a packet id; `None` when all are in use.
    pub fn start(&mut self, stage: Stage, token: u64) -> Option<PacketId> {
        let index = match self.entries.len() {
            // Fresh ids first while the window is small, then the one that has been free longest.
            len if len < usize::from(self.window) + 1 && len < usize::from(u16::MAX) => self.grow(),
            _ => match self.free.pop_front() {
                Some(index) => index,
                None if self.entries.len() < usize::from(u16::MAX) => self.grow(),
                None => return None,
            },
        };
        self.occupy(index, stage, token);
        PacketId::new(index + 1)
    }

    /// Takes the packet id that the caller chose; false when it is in use.
    pub fn start_as(&mut self, id: PacketId, stage: Stage, token: u64) -> bool {
        let index = id.get() - 1;
        if self.get_mut(id).is_some() {
            return false;
        }
        while self.entries.len() <= usize::from(index) {
            let grown = self.grow();
            self.free.push_back(grown);
        }
        self.free.retain(|free| *free != index);
        self.occupy(index, stage, token);
        true
    }

    fn occupy(&mut self, index: u16, stage: Stage, token: u64) {
        self.outstanding += u16::from(stage.is_publish());
        self.entries[usize::from(index)] =
            Some(Entry { stage, token, codes: 0, order: self.next_order, packet: None, sent_at_ms: 0 });
        self.next_order += 1;
    }

    fn grow(&mut self) -> u16 {
        self.entries.push(None);
        // `start` grows only below u16::MAX entries.
        (self.entries.len() - 1) as u16
    }

    /// Keeps the encoded PUBLISH of `id`, which goes now, for a resend.
    pub fn keep(&mut self, id: PacketId, packet: &[u8], now_ms: u64) {
        if let Some(entry) = self.get_mut(id) {
            (entry.packet, entry.sent_at_ms) = (Some(packet.into()), now_ms);
        }
    }

    /// The session is of an earlier process.
    pub fn inherit(&mut self) {
        self.inherited = Some(Inherited::default());
    }

    /// Keeps back the encoded PUBLISH of QoS 2 if its id must be cleared first; true then.
    pub fn keep_back(&mut self, id: PacketId, packet: &[u8], now_ms: u64) -> bool {
        let Some(inherited) = self.inherited.as_mut().filter(|inherited| inherited.must_wait(id)) else { return false };
        inherited.begin();
        self.keep(id, packet, now_ms);
        if let Some(entry) = self.get_mut(id) {
            entry.stage = Stage::Clearing;
        }
        true
    }

    /// PUBCOMP came for an id that was to be cleared: gives its PUBLISH, which goes now. `keeps`: a copy stays.
    pub fn cleared(&mut self, id: PacketId, keeps: bool) -> Option<Box<[u8]>> {
        let entry = self.get_mut(id).filter(|entry| entry.stage == Stage::Clearing)?;
        entry.stage = Stage::PubRec;
        let packet = if keeps { entry.packet.clone() } else { entry.packet.take() };
        self.inherited.iter_mut().for_each(|inherited| inherited.end(id));
        packet
    }

    /// The encoded PUBLISH of `id`, if it was kept and not released.
    pub fn take_packet(&mut self, id: PacketId) -> Option<Box<[u8]>> {
        self.get_mut(id)?.packet.take()
    }

    pub fn get_mut(&mut self, id: PacketId) -> Option<&mut Entry> {
        self.entries.get_mut(usize::from(id.get()) - 1)?.as_mut()
    }

    /// PUBREC came: the message is the broker's now; only its release is left to send again.
    pub fn released(&mut self, id: PacketId) {
        if let Some(entry) = self.get_mut(id) {
            entry.stage = Stage::PubComp;
            entry.packet = None;
        }
    }

    /// The last answer for `id` came: its id is free. Gives the caller's token.
    pub fn finish(&mut self, id: PacketId) -> Option<u64> {
        let entry = self.entries.get_mut(usize::from(id.get()) - 1)?.take()?;
        self.free.push_back(id.get() - 1);
        if entry.stage == Stage::Clearing {
            self.inherited.iter_mut().for_each(Inherited::give_up);
        }
        if entry.stage.is_publish() {
            match self.resend.iter().position(|waiting| *waiting == id) {
                Some(at) => drop(self.resend.remove(at)),
                None => self.outstanding -= 1,
            }
        }
        Some(entry.token)
    }

    /// A new connection took up the session: everything unanswered is to be sent again. SUBSCRIBE and
    /// UNSUBSCRIBE are not: their callers repeat them. Gives the tokens of those.
    ///
    /// `session_present`: the broker may have the messages already, so they carry DUP [MQTT-3.3.1-1]; without a
    /// session they are new to it, and no id is anybody else's.
    pub fn resume(&mut self, session_present: bool) -> Vec<u64> {
        self.outstanding = 0;
        self.resend.clear();
        let mut waiting: Vec<(u64, PacketId)> = Vec::new();
        let mut dropped = Vec::new();
        if !session_present {
            self.inherited = None;
        }
        for index in 0..self.entries.len() {
            let Some(id) = PacketId::new(index as u16 + 1) else { continue };
            match &mut self.entries[index] {
                Some(entry) if entry.stage.is_publish() => {
                    match entry.stage {
                        Stage::Clearing if session_present => {}
                        Stage::Clearing => entry.stage = Stage::PubRec,
                        _ => entry.mark_repeated(session_present),
                    }
                    waiting.push((entry.order, id));
                }
                Some(_) => dropped.extend(self.finish(id)),
                None => {}
            }
        }
        waiting.sort_unstable();
        self.resend = waiting.into_iter().map(|(_, id)| id).collect();
        dropped
    }

    /// The broker has no session: messages it had received (PUBREC) are done; gives their tokens.
    pub fn forget_released(&mut self) -> Vec<u64> {
        let released = |entry: &Option<Entry>| entry.as_ref().is_some_and(|e| e.stage == Stage::PubComp);
        let ids: Vec<u16> = (0..self.entries.len()).filter(|i| released(&self.entries[*i])).map(|i| i as u16).collect();
        ids.into_iter().filter_map(|index| PacketId::new(index + 1)).filter_map(|id| self.finish(id)).collect()
    }

    /// Takes out the publishes of which `goes` says so, by their packets and when these went first; gives tokens and packets.
    pub fn forget_publishes(&mut self, goes: impl Fn(&[u8], u64) -> bool) -> Vec<(u64, Box<[u8]>)> {
        let mut gone = Vec::new();
        for index in 0..self.entries.len() {
            let Some(entry) = &mut self.entries[index] else { continue };
            if !entry.packet.as_deref().is_some_and(|packet| goes(packet, entry.sent_at_ms)) {
                continue;
            }
            let (packet, id) = (entry.packet.take(), PacketId::new(index as u16 + 1));
            gone.extend(id.and_then(|id| self.finish(id)).zip(packet));
        }
        gone
    }

    /// The next packet to send again, if the window has room for it.
    pub fn next_again(&mut self) -> Option<Again<'_>> {
        if self.outstanding >= self.window {
            return None;
        }
        let id = self.resend.pop_front()?;
        self.outstanding += 1;
        let entry = self.entries.get_mut(usize::from(id.get()) - 1)?.as_mut()?;
        match (&entry.packet, entry.stage) {
            (Some(packet), Stage::PubAck | Stage::PubRec) => {
                Some(Again::Publish { packet, token: entry.token, sent_at_ms: entry.sent_at_ms })
            }
            _ => Some(Again::PubRel(id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does the window hold, and does each answer open it by one?
    #[test]
    fn window() {
        let mut inflight = Inflight::new(10);
        inflight.set_receive_maximum(2);
        let first = inflight.start(Stage::PubAck, 7);
        inflight.start(Stage::PubRec, 8);
        assert_eq!(inflight.room(), 0);
        assert_eq!(first.and_then(|id| inflight.finish(id)), Some(7));
        assert_eq!(inflight.room(), 1);
        assert_eq!(first.and_then(|id| inflight.finish(id)), None, "an id is answered once");
    }

    /// Do all 65,535 ids get used before `start` gives up?
    #[test]
    fn all_ids() {
        let mut inflight = Inflight::new(u16::MAX);
        for _ in 0..u16::MAX {
            assert!(inflight.start(Stage::SubAck, 0).is_some());
        }
        assert_eq!(inflight.start(Stage::SubAck, 0), None);
    }

    /// Does nothing wait any more for a message that was refused while its id was cleared?
    #[test]
    fn refused_while_its_id_is_cleared() {
        let mut inflight = Inflight::new(4);
        inflight.inherit();
        let begin = |inflight: &mut Inflight, token| {
            let id = inflight.start(Stage::PubRec, token).expect("a free id");
            (id, inflight.keep_back(id, b"a PUBLISH", 0))
        };
        let (cleared, waits) = begin(&mut inflight, 1);
        assert!(waits && inflight.cleared(cleared, false).is_some());
        inflight.finish(cleared);
        let (refused, waits) = begin(&mut inflight, 2);
        assert!(waits && inflight.finish(refused) == Some(2));
        assert!(inflight.start_as(cleared, Stage::PubRec, 3));
        assert!(!inflight.keep_back(cleared, b"a PUBLISH", 0), "its id is cleared, and nothing goes before it");
    }

    /// Is a chosen id taken once, given to nobody else meanwhile, and free again after its answer?
    #[test]
    fn chosen_ids() {
        let mut inflight = Inflight::new(4);
        let chosen = PacketId::new(3).expect("an id");
        assert!(inflight.start_as(chosen, Stage::PubAck, 7));
        assert!(!inflight.start_as(chosen, Stage::PubAck, 8), "in use");
        let others: Vec<u16> =
            (0..10).filter_map(|token| inflight.start(Stage::SubAck, token)).map(PacketId::get).collect();
        assert_eq!(others.len(), 10);
        assert!(!others.contains(&3), "{others:?}");
        assert_eq!((inflight.unanswered(), inflight.finish(chosen)), (1, Some(7)));
        assert!(inflight.start_as(chosen, Stage::PubRec, 9), "free again");
    }

    /// After a reconnection: in the first order, releases among them, the window still held.
    #[test]
    fn resend_in_order() {
        let mut inflight = Inflight::new(2);
        let ids: Vec<PacketId> = (0..2).filter_map(|token| inflight.start(Stage::PubRec, token)).collect();
        ids.iter().for_each(|id| inflight.keep(*id, &[id.get() as u8], 0));
        inflight.released(ids[0]);
        assert!(inflight.start(Stage::SubAck, 99).is_some());
        assert_eq!(inflight.resume(true), vec![99]);
        inflight.set_receive_maximum(1);
        assert!(matches!(inflight.next_again(), Some(Again::PubRel(id)) if id == ids[0]));
        assert!(inflight.next_again().is_none(), "window of one");
        assert_eq!(inflight.room(), 0, "nothing new before the old");
        assert_eq!(inflight.finish(ids[0]), Some(0));
        assert!(matches!(inflight.next_again(), Some(Again::Publish { packet: [0x0a], token: 1, .. })));
        assert_eq!((inflight.finish(ids[1]), inflight.room(), inflight.unanswered()), (Some(1), 1, 0));
    }
}
