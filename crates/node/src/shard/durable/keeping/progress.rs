//! What became of messages, and each step of QoS 2: facts, one entry per data group and turn.

use lapwing_ledger::{Ended, Entry, List, Settled};
use lapwing_session::Fact;

use super::message::slot_in;
use super::{DATA_GROUP_COUNT, Keeping, Kept};
use crate::log::LogFeed;

impl Keeping {
    /// Notes a fact of a session or consumer group.
    pub(crate) fn note(&mut self, kept: Kept, fact: Fact) {
        self.progress[kept.data_group()].push(kept.id, logged(fact));
        self.told |= kept.bit();
        // Somebody waits for everything but an end.
        if !matches!(fact, Fact::Finished { .. }) {
            self.urgent |= kept.bit();
        }
    }

    /// A kept session is over.
    pub(crate) fn ended(&mut self, kept: Kept) {
        self.ended.push(kept);
    }

    /// QoS 2 messages of some publishers are settled in this data group. Nobody waits for that.
    pub(crate) fn settle(&mut self, log: &mut LogFeed, data_group: u16, settled: Settled<'_>) {
        self.append(log, slot_in(usize::from(data_group)), false, &Entry::Settled(settled));
    }

    /// True when something waits to be told to the log.
    pub(crate) fn has_news(&self) -> bool {
        self.told != 0 || !self.ended.is_empty() || !self.ended_groups.is_empty()
    }

    /// Tells the log what this turn has brought. Facts come before endings: a session's last facts are of its life.
    pub(crate) fn tell(&mut self, log: &mut LogFeed) {
        let (told, urgent) = (std::mem::take(&mut self.told), std::mem::take(&mut self.urgent));
        for data_group in (0..DATA_GROUP_COUNT).filter(|data_group| told & 1 << data_group != 0) {
            let mut progress = std::mem::take(&mut self.progress[data_group]);
            let awaited = urgent & 1 << data_group != 0;
            self.append(log, slot_in(data_group), awaited, &Entry::Progress(progress.as_progress()));
            progress.clear();
            self.progress[data_group] = progress;
        }
        self.tell_ended(log);
        self.tell_ended_groups(log);
    }

    fn tell_ended(&mut self, log: &mut LogFeed) {
        let mut ended = std::mem::take(&mut self.ended);
        ended.sort_unstable_by_key(|kept| kept.data_group());
        for of_data_group in ended.chunk_by(|a, b| a.data_group() == b.data_group()) {
            let sessions: Vec<_> = of_data_group.iter().map(|kept| kept.id).collect();
            let entry = Entry::Ended(Ended { sessions: List::from_slice(&sessions) });
            self.append(log, slot_in(of_data_group[0].data_group()), false, &entry);
        }
        ended.clear();
        self.ended = ended;
    }
}

/// The fact in the words of the log.
fn logged(fact: Fact) -> lapwing_ledger::Fact {
    use lapwing_ledger::Fact as Logged;
    match fact {
        Fact::Finished { entry } => Logged::Finished { entry: entry.get() },
        Fact::PublishSent { packet_id, entry } => {
            Logged::PublishSent { packet_id: packet_id.get(), entry: entry.get() }
        }
        Fact::PubRecReceived { packet_id } => Logged::PubRecReceived { packet_id: packet_id.get() },
        Fact::Received { packet_id, use_number } => Logged::Received { packet_id: packet_id.get(), use_number },
        Fact::Released { packet_id } => Logged::Released { packet_id: packet_id.get() },
        Fact::Doubted { packet_id, use_number } => Logged::Doubted { packet_id: packet_id.get(), use_number },
    }
}
