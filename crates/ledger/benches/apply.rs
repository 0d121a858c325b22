//! What an entry costs whoever applies it. `cargo bench -p lapwing-ledger`.

use std::convert::Infallible;
use std::hint::black_box;
use std::time::Instant;

use lapwing_ledger::{
    DataGroupState, DeliveryOptions, Entry, Fact, KeeperId, KeepersBuf, List, Opened, ProgressBuf, Published, Restorer,
    SubscriptionIds,
};
use lapwing_stopwatch::best_ns;

const ROUNDS: u32 = 500_000;
const SESSIONS: u64 = 1000;
const LONG: u64 = 10_000_000;
const OPTIONS: DeliveryOptions<'static> = DeliveryOptions { qos: 1, retain: false, ids: SubscriptionIds::EMPTY };

/// A state, and room for entries.
struct Log {
    state: DataGroupState,
    bytes: Vec<u8>,
    keepers: KeepersBuf,
    progress: ProgressBuf,
}

impl Log {
    /// With so many sessions: ids 1, 2, ...
    fn new(sessions: u64) -> Self {
        let (state, bytes) = (DataGroupState::new(), Vec::with_capacity(1024));
        let mut log = Log { state, bytes, keepers: KeepersBuf::new(), progress: ProgressBuf::new() };
        for n in 0..sessions {
            let client_id = format!("device-{n:06}");
            let opened = Opened { client_id: &client_id, identity: b"", expiry_s: 60, opened_at_ms: 1, will: None };
            log.apply(&Entry::Opened(opened));
        }
        log
    }

    fn apply(&mut self, entry: &Entry<'_>) {
        self.bytes.clear();
        entry.encode(&mut self.bytes).expect("within the bounds");
        self.state.apply(self.state.applied() + 1, black_box(&self.bytes)).expect("in order");
    }

    fn publish(&mut self, ids: impl Iterator<Item = u64>) -> u64 {
        let mut keepers = std::mem::take(&mut self.keepers);
        keepers.clear();
        ids.for_each(|id| keepers.push(KeeperId(id), OPTIONS).expect("within the bounds"));
        self.apply(&Entry::Published(Published {
            frame: &[b'x'; 128],
            published_at_ms: 1_700_000_000_000,
            expires_at_ms: 0,
            publisher: 7,
            holder: None,
            origin: None,
            keepers: keepers.as_list(),
            groups: List::EMPTY,
            retained: None,
        }));
        self.keepers = keepers;
        self.state.applied()
    }

    fn finish(&mut self, facts: impl Iterator<Item = (u64, u64)>) {
        let mut progress = std::mem::take(&mut self.progress);
        progress.clear();
        facts.for_each(|(id, entry)| progress.push(KeeperId(id), Fact::Finished { entry }));
        self.apply(&Entry::Progress(progress.as_progress()));
        self.progress = progress;
    }
}

fn one_keeper(waiting: u64) {
    let mut log = Log::new(SESSIONS);
    let mut sent = std::collections::VecDeque::new();
    let ns = best_ns(ROUNDS, |round| {
        let id = 1 + u64::from(round) % SESSIONS;
        let entry = log.publish([id].into_iter());
        sent.push_back((id, entry));
        if sent.len() as u64 > waiting {
            log.finish(sent.pop_front().into_iter());
        }
    });
    println!("Published with 1 keeper + Progress, {waiting:>7} waiting {ns:>8.1} ns (encoding both too)");
}

fn batches() {
    let mut log = Log::new(SESSIONS);
    let mut done = Vec::new();
    let ns = best_ns(ROUNDS / 100, |_| {
        done.clear();
        for id in 1..=100 {
            let entry = log.publish([id].into_iter());
            done.push((id, entry));
        }
        log.finish(done.iter().copied());
    });
    println!("the same, one Progress for 100              {:>8.1} ns per message", ns / 100.0);
}

fn fan_out() {
    let mut log = Log::new(SESSIONS);
    let ns = best_ns(2000, |_| {
        let entry = log.publish(1..=SESSIONS);
        log.finish((1..=SESSIONS).map(|id| (id, entry)));
    });
    println!("Published with 1,000 keepers + Progress of all {:>8.1} ns per keeper", ns / SESSIONS as f64);
}

fn long_queue() {
    let mut log = Log::new(2);
    let start = Instant::now();
    for n in 0..LONG {
        log.publish([1 + u64::from(n % 8 == 0)].into_iter());
    }
    let ns = start.elapsed().as_nanos() as f64 / LONG as f64;
    let session = log.state.session_of(KeeperId(1)).expect("opened");
    let (queued, bytes) = (session.queued(), session.queue_bytes());
    println!("a queue of {queued}: {ns:.1} ns to add, {:.2} bytes a reference", bytes as f64 / queued as f64);

    let ns = best_ns(1_000_000, |n| {
        black_box(log.state.is_live(u64::from(n) * 9 + 3));
    });
    println!("is_live, all over the log                   {ns:>8.1} ns");
    snapshots(&log.state);

    let entries: Vec<u64> =
        log.state.session_of(KeeperId(1)).expect("opened").queue().map(|(entry, _)| entry).collect();
    let start = Instant::now();
    entries.chunks(100).for_each(|some| log.finish(some.iter().map(|entry| (1, *entry))));
    let ns = start.elapsed().as_nanos() as f64 / entries.len() as f64;
    println!("draining it, 100 a Progress                 {ns:>8.1} ns a message");
}

fn snapshots(state: &DataGroupState) {
    let (start, mut chunks) = (Instant::now(), Vec::new());
    let Ok(()) = state.snapshot(&mut |chunk: &[u8]| {
        chunks.push(chunk.to_vec());
        Ok::<(), Infallible>(())
    });
    let (written, start) = (start.elapsed(), Instant::now());
    let mut restorer = Restorer::new();
    chunks.iter().for_each(|chunk| restorer.chunk(chunk).expect("whole"));
    let restored = restorer.finish().expect("whole");
    let per = |time: std::time::Duration| time.as_nanos() as f64 / restored.queued() as f64;
    let bytes: usize = chunks.iter().map(Vec::len).sum();
    let (write_ns, read_ns) = (per(written), per(start.elapsed()));
    let bytes = bytes as f64 / restored.queued() as f64;
    println!("snapshot: {write_ns:.1} ns to write, {read_ns:.1} ns to restore, {bytes:.2} bytes a reference");
}

fn main() {
    [0, 1000, 100_000].into_iter().for_each(one_keeper);
    batches();
    fan_out();
    long_queue();
}
