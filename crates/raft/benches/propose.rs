//! What Raft costs: CPU time of all three engines of a group together, in memory, without bodies.
//! `cargo bench -p lapwing-raft --bench propose`.

use std::hint::black_box;

use lapwing_raft::{BatchHeader, Config, Engine, LogTail, Message, Role};
use lapwing_stopwatch::best_ns;

/// Three engines whose disks have everything at once.
struct Group {
    engines: Vec<Engine>,
    next_sequence: u64,
}

impl Group {
    fn new() -> Group {
        let engine = |id| Engine::new(&Config::new(id, 1), LogTail::founded(&[1, 2, 3])).expect("a new log");
        let mut group = Group { engines: (1..=3).map(engine).collect(), next_sequence: 1 };
        group.engines[0].campaign().expect("nobody leads");
        group.settle();
        assert_eq!(group.engines[0].status().role, Role::Leader);
        group
    }

    /// So many batches of `count` messages in one turn, until all three have them and know that they are committed.
    fn commit(&mut self, batches: u32, count: u32) {
        for _ in 0..batches {
            let batch = BatchHeader { first_sequence: self.next_sequence, count, bytes: 200 * count };
            self.next_sequence = batch.end();
            self.engines[0].propose(batch).expect("it leads");
        }
        self.settle();
        self.compact();
    }

    fn settle(&mut self) {
        let mut messages: Vec<Message> = Vec::new();
        loop {
            for engine in &mut self.engines {
                let turn = black_box(engine.turn());
                if turn.must_sync {
                    engine.persisted(turn.number).expect("it was handed out");
                }
                messages.extend(turn.messages);
                messages.extend(turn.messages_after);
            }
            if messages.is_empty() {
                return;
            }
            for message in messages.drain(..) {
                self.engines[message.to as usize - 1].step(message).expect("it is taken");
            }
        }
    }

    /// The logs stay short, as those of a broker that writes snapshots.
    fn compact(&mut self) {
        for engine in &mut self.engines {
            let through = engine.status().commit.min(engine.status().persisted);
            if through > engine.compacted().index + 10_000 {
                engine.compact(through - 1000).expect("it is committed");
            }
        }
    }
}

fn main() {
    println!("{:>16} {:>20} {:>14} {:>14}", "batches a turn", "messages a batch", "a batch", "a message");
    for (batches, count) in [(1, 1), (1, 64), (64, 1), (64, 64)] {
        let mut group = Group::new();
        let turn_ns = best_ns(100_000 / batches, |_| group.commit(batches, count));
        let batch_ns = turn_ns / f64::from(batches);
        let message_ns = batch_ns / f64::from(count);
        println!("{batches:>16} {count:>20} {batch_ns:>11.0} ns {message_ns:>11.1} ns");
    }
}
