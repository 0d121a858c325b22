//! Refusals that wait: somebody gave a wrong password, and hears of it later, so that guessing is slow.
//!
//! The connection is over in all but its end: nothing of it is kept but its place and the words of its refusal, nothing is
//! read, and its peer may leave at any time.

use lapwing_codec::Connect;
use lapwing_session::refuse_connect;

use crate::passwords::{DelayPlace, Denied};
use crate::shard::connections::serve::Flow;
use crate::shard::connections::underway::Underway;
use crate::shard::{Due, Shard};

/// A refusal that waits.
#[derive(Debug)]
pub(crate) struct Delayed {
    /// The CONNACK.
    words: Vec<u8>,
    _place: DelayPlace,
}

impl Shard {
    /// Refuses a CONNECT whose password was denied, after its time; at once where too many wait already.
    pub(in crate::shard) fn refuse_later(&mut self, index: usize, connect: &Connect<'_>, denied: Denied) -> Flow {
        let Denied { reason, wait_ms, is_told } = denied;
        self.counters.closed(reason);
        if !is_told {
            self.tell_refused(index, connect, reason);
        }
        self.audit_refused(index, connect, reason);
        let place = (wait_ms > 0).then(|| self.verdicts.passwords.delay()).flatten();
        let Some(connection) = self.clients.connection(index) else { return Flow::Gone };
        let mut words = Vec::new();
        refuse_connect(connect, reason, None, &mut words);
        match place {
            Some(place) => {
                connection.underway = Underway::Delayed(Box::new(Delayed { words, _place: place }));
                let born = connection.born;
                self.timers.add(self.now_ms + wait_ms, Due::Refusal { index, born });
            }
            None => connection.output.extend(words),
        }
        self.finish_connection(index);
        Flow::Gone
    }

    /// The time for a refusal has come.
    pub(in crate::shard) fn refusal_due(&mut self, index: usize, born: u64) {
        if self.clients.connection(index).is_some_and(|connection| connection.born == born) {
            self.end_delay(index);
        }
    }

    /// Says what waited, if anything did; then the connection ends.
    pub(in crate::shard) fn end_delay(&mut self, index: usize) {
        let Some(connection) = self.clients.connection(index) else { return };
        if let Some(delayed) = connection.take_delayed() {
            connection.output.extend(delayed.words);
            self.clients.touch(index);
        }
    }

    /// A connection that waits for its refusal is not read, and goes when its peer does; false: it waits for none.
    pub(in crate::shard) fn is_delayed(&mut self, index: usize) -> bool {
        let Some(connection) = self.clients.connection(index).filter(|connection| connection.is_delayed()) else {
            return false;
        };
        if connection.ended {
            self.drop_connection(index);
        }
        true
    }
}
