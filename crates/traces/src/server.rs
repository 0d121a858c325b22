//! A member as it really is: a wire both ways, a queue, workers that are slowed and paused.

use crate::chance::Chance;
use crate::trace::MemberTrace;

/// One member through its day.
pub struct Server {
    day: MemberTrace,
    /// Per worker: until when it is busy.
    free_at_ms: Vec<f64>,
    /// Where in the day's steps the next message begins at the earliest.
    step: usize,
    rtt_step: usize,
    last_arrival_ms: f64,
    last_ack_ms: f64,
}

/// What becomes of one message.
#[derive(Clone, Copy)]
pub struct Fate {
    /// When its work is done.
    pub finish_ms: f64,
    /// When its acknowledgement is read.
    pub ack_ms: f64,
    /// The way there and back as the kernel may see it.
    pub wire_ms: f64,
}

impl Server {
    /// A member at the beginning of its day.
    pub fn new(day: MemberTrace, workers: usize) -> Server {
        Server { day, free_at_ms: vec![0.0; workers], step: 0, rtt_step: 0, last_arrival_ms: 0.0, last_ack_ms: 0.0 }
    }

    /// How far away it is now.
    pub fn rtt_ms(&mut self, now_ms: f64) -> f64 {
        while self.day.rtts_ms.get(self.rtt_step + 1).is_some_and(|&(from_ms, _)| from_ms <= now_ms) {
            self.rtt_step += 1;
        }
        self.day.rtts_ms[self.rtt_step].1
    }

    /// The end of the pause that it is in now, if it is in one.
    pub fn pause_ends_ms(&self, now_ms: f64) -> Option<f64> {
        let after = self.day.speeds.partition_point(|&(from_ms, _)| from_ms <= now_ms);
        let steps = &self.day.speeds[after - 1..];
        let end = steps.iter().position(|&(_, speed)| speed > 0.0)?;
        (end > 0).then(|| steps[end].0)
    }

    /// A message is written to it now. `work`: in messages of average size. `lies`: it is acknowledged on receipt.
    pub fn take(&mut self, work: f64, lies: bool, now_ms: f64, chance: &mut Chance) -> Fate {
        let half_ms = self.rtt_ms(now_ms) / 2.0;
        let there_ms = half_ms * (1.0 + chance.exponential(0.1));
        let back_ms = half_ms * (1.0 + chance.exponential(0.1));
        let arrival_ms = (now_ms + there_ms).max(self.last_arrival_ms);
        self.last_arrival_ms = arrival_ms;
        let worker = self.earliest();
        let start_ms = self.free_at_ms[worker].max(arrival_ms);
        // All workers share the member's speed.
        let (finish_ms, step) = self.finish(start_ms, work * self.free_at_ms.len() as f64);
        self.free_at_ms[worker] = finish_ms;
        if self.free_at_ms.len() == 1 {
            self.step = step;
        }
        let mut ack_ms = if lies { arrival_ms } else { finish_ms } + back_ms;
        if self.free_at_ms.len() == 1 {
            ack_ms = ack_ms.max(self.last_ack_ms);
            self.last_ack_ms = ack_ms;
        }
        Fate { finish_ms, ack_ms, wire_ms: there_ms + back_ms }
    }

    /// When a message sent now would be finished, for who knows everything.
    pub fn would_finish_ms(&mut self, work: f64, now_ms: f64) -> f64 {
        let arrival_ms = (now_ms + self.rtt_ms(now_ms) * 0.55).max(self.last_arrival_ms);
        let start_ms = self.free_at_ms[self.earliest()].max(arrival_ms);
        self.finish(start_ms, work * self.free_at_ms.len() as f64).0
    }

    fn earliest(&self) -> usize {
        (0..self.free_at_ms.len()).min_by(|&a, &b| self.free_at_ms[a].total_cmp(&self.free_at_ms[b])).unwrap()
    }

    /// When `work` is done that begins at `start_ms`, and in which step.
    fn finish(&self, start_ms: f64, work: f64) -> (f64, usize) {
        let (mut at_ms, mut left, mut step) = (start_ms, work, self.step);
        loop {
            let end_ms = self.day.speeds.get(step + 1).map_or(f64::INFINITY, |next| next.0);
            if end_ms > at_ms {
                let speed = self.day.speeds[step].1;
                let finish_ms = at_ms + left / speed;
                if speed > 0.0 && finish_ms <= end_ms {
                    return (finish_ms, step);
                }
                left -= (end_ms - at_ms) * speed;
                at_ms = end_ms;
            }
            step += 1;
        }
    }
}
