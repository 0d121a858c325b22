//! When a member will have finished what it has: its virtual clock.

use crate::flight::Flight;

/// Entries of the flight that are replayed one by one. What lies before them counts as one block of work: exact for a
/// member that is busy and for one that is idle, a lower bound between.
const REPLAY_MAX: usize = 64;

/// When the virtual workers of one member will be free. The earliest is at the front, as in any binary heap. A member
/// with one worker never touches the heap: its only time is the answer.
#[derive(Debug, Default)]
pub(crate) struct Horizon {
    free_at_ms: Vec<f64>,
}

/// What a replay found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Replayed {
    /// When one more message would begin, at the member.
    pub(crate) free_at_ms: f64,
    /// When the oldest message will be finished, at the member.
    pub(crate) head_finish_ms: f64,
}

impl Horizon {
    pub(crate) fn new(workers: u32) -> Horizon {
        Horizon { free_at_ms: vec![0.0; workers as usize] }
    }

    /// One more message arrives at `arrival_ms` and takes `service_ms`. Returns when it will be finished.
    pub(crate) fn add(&mut self, arrival_ms: f64, service_ms: f64) -> f64 {
        let finish_ms = self.earliest().max(arrival_ms) + service_ms;
        self.replace_earliest(finish_ms);
        finish_ms
    }

    /// How many messages it works on at a time.
    pub(crate) fn workers(&self) -> usize {
        self.free_at_ms.len()
    }

    /// When one more message would begin.
    pub(crate) fn earliest(&self) -> f64 {
        self.free_at_ms.first().copied().unwrap_or(0.0)
    }

    /// Begins anew: all workers free at `from_ms`, then every message of `flight` that arrived after `seen_ms` one by
    /// one.
    ///
    /// `seen_ms`: what arrived before is in `from_ms` already (a report counted it). `net_ms`: on the way to the
    /// member. `service_ms`: work of one worker on one message.
    pub(crate) fn replay(
        &mut self,
        flight: &Flight,
        seen_ms: f64,
        from_ms: f64,
        net_ms: f64,
        service_ms: f64,
    ) -> Replayed {
        self.free_at_ms.fill(from_ms);
        let (before, tail) = flight.tail(REPLAY_MAX);
        let mut head_finish_ms = None;
        // All of the block came after `seen_ms`, or else it is in what the report counted.
        if let Some(head) = flight.head().filter(|head| before > 0 && head.sent_ms + net_ms > seen_ms) {
            let block_ms = f64::from(before) / self.free_at_ms.len() as f64 * service_ms;
            let begin_ms = from_ms + block_ms;
            self.free_at_ms.fill(begin_ms);
            head_finish_ms = Some(from_ms.max(head.sent_ms + net_ms) + service_ms);
        }
        let workers = self.free_at_ms.len();
        let unseen = tail.filter(|sent| sent.sent_ms + net_ms > seen_ms);
        for (at_work, sent) in (before as usize..).zip(unseen) {
            let arrival_ms = sent.sent_ms + net_ms;
            let finish_ms = if workers > 1 && at_work < workers && arrival_ms < from_ms {
                // One of several at work since it came: on average half of it is done.
                let finish_ms = (arrival_ms + service_ms).max(from_ms + service_ms / 2.0);
                self.replace_earliest(finish_ms);
                finish_ms
            } else {
                self.add(arrival_ms, service_ms)
            };
            head_finish_ms.get_or_insert(finish_ms);
        }
        Replayed { free_at_ms: self.earliest(), head_finish_ms: head_finish_ms.unwrap_or(from_ms) }
    }

    fn replace_earliest(&mut self, finish_ms: f64) {
        let heap = &mut self.free_at_ms;
        let Some(first) = heap.first_mut() else { return };
        *first = finish_ms;
        let mut at = 0;
        loop {
            let left = 2 * at + 1;
            let Some(&left_ms) = heap.get(left) else { return };
            let right_ms = heap.get(left + 1).copied().unwrap_or(f64::INFINITY);
            let (child, child_ms) = if right_ms < left_ms { (left + 1, right_ms) } else { (left, left_ms) };
            if heap[at] <= child_ms {
                return;
            }
            heap.swap(at, child);
            at = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_on_the_wire_are_no_queue() {
        let mut flight = Flight::default();
        // 100 ms away, 10 ms of work, one message every 20 ms: each finds the member idle.
        for n in 0..5 {
            flight.push(f64::from(n) * 20.0, None);
        }
        let replayed = Horizon::new(1).replay(&flight, -1e18, 50.0, 100.0, 10.0);
        assert_eq!(replayed, Replayed { free_at_ms: 190.0, head_finish_ms: 110.0 });
    }

    #[test]
    fn a_long_line_counts_as_one_by_one_when_the_member_is_busy() {
        let mut flight = Flight::default();
        for _ in 0..1000 {
            flight.push(0.0, None);
        }
        let replayed = Horizon::new(1).replay(&flight, -1e18, 5.0, 1.0, 2.0);
        assert_eq!(replayed, Replayed { free_at_ms: 2005.0, head_finish_ms: 7.0 });
    }

    #[test]
    fn four_workers_take_four_at_a_time() {
        let mut horizon = Horizon::new(4);
        let finished: Vec<_> = (0..8).map(|_| horizon.add(10.0, 5.0)).collect();
        assert_eq!(finished, [15.0, 15.0, 15.0, 15.0, 20.0, 20.0, 20.0, 20.0]);
        assert_eq!(horizon.earliest(), 20.0);
    }
}
