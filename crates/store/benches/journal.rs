//! Prints what the journal takes and gives on this machine: `cargo bench -p lapwing-store --bench journal [-- FOLDER]`.
//!
//! FOLDER is where it is made (default: the system's folder for temporary files; name one on the disk that counts).

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lapwing_stopwatch::on_cpu;
use lapwing_store::journal::{DataGroupId, Entry, JournalConfig, JournalReader, JournalWriter, RoomThread};
use lapwing_store::{Log, LogConfig, ReadLimits};

const BODY_BYTES: usize = 250;
const GROUP: DataGroupId = DataGroupId(1);

fn main() {
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let dir = tempfile::tempdir_in(folder.map_or_else(std::env::temp_dir, PathBuf::from)).expect("a folder");
    let (mut writer, reader) = open(dir.path());
    let mut room = RoomThread::start().expect("a thread");
    println!("{:<44} {:>12} {:>10} {:>10} {:>10}", "what", "entries/s", "p50 us", "p99 us", "max us");
    // What a broker does comes first: the floods behind it leave the disk busy for a while.
    for rate in [10_000, 50_000, 100_000, 200_000] {
        gathered(&mut writer, &mut room, rate);
    }
    for batch in [1, 10, 100, 1_000, 10_000] {
        append_commit(&mut writer, &mut room, batch);
    }
    read(&reader);
    for stride in [1, 16, 1000] {
        look_up(&reader, stride);
    }
    drop((writer, room));
    start(dir.path());
}

fn open(dir: &Path) -> (JournalWriter, JournalReader) {
    let (log, _) = Log::open(dir, &LogConfig::default(), &[]).expect("a log");
    log.open_journal(&JournalConfig::default()).expect("a journal")
}

fn append(writer: &mut JournalWriter, number: u64) {
    let body = [number as u8; BODY_BYTES];
    let group = DataGroupId((number % 16) as u16);
    let index = writer.next_index(group).expect("a group");
    let (message_id, appended_at_us) = (number, number as i64);
    writer
        .append(Entry { group, index, term: 0, raft_index: 0, slot: 0, message_id, appended_at_us, body: &body })
        .expect("an append");
}

/// Batches of one size, one after the other: append, commit.
fn append_commit(writer: &mut JournalWriter, room: &mut RoomThread, batch: u64) {
    let started = Instant::now();
    let (mut entries, mut commits_us, mut appending) = (0u64, vec![], Duration::ZERO);
    while started.elapsed() < Duration::from_secs(2) && entries < 2_000_000 {
        let append_started = Instant::now();
        (0..batch).for_each(|_| {
            append(writer, entries);
            entries += 1;
        });
        appending += append_started.elapsed();
        commits_us.push(commit(writer, room));
    }
    let per_s = entries as f64 / started.elapsed().as_secs_f64();
    row(&format!("append + commit, {batch} a commit"), per_s, &mut commits_us);
    println!("{:<44} {:>12.0}", "  of that, append alone", entries as f64 / appending.as_secs_f64());
}

/// Entries arrive at a steady rate; each commit takes what gathered while the last one ran, as the log thread does.
fn gathered(writer: &mut JournalWriter, room: &mut RoomThread, rate: u64) {
    let (started, cpu) = (Instant::now(), on_cpu());
    let (mut entries, mut commits_us) = (0u64, vec![]);
    while started.elapsed() < Duration::from_secs(3) {
        let due = (started.elapsed().as_secs_f64() * rate as f64) as u64;
        let before = entries;
        while entries < due {
            append(writer, entries);
            entries += 1;
        }
        match entries > before {
            true => commits_us.push(commit(writer, room)),
            false => std::thread::sleep(Duration::from_micros(50)),
        }
    }
    let per_commit = entries / commits_us.len() as u64;
    let per_s = entries as f64 / started.elapsed().as_secs_f64();
    row(&format!("{rate}/s arriving, {per_commit} gather per commit"), per_s, &mut commits_us);
    println!("{:<44} {:>12.0} ns of CPU an entry", "", (on_cpu() - cpu).as_nanos() as f64 / entries as f64);
}

/// As a node does it: the next segment is made beside it.
fn commit(writer: &mut JournalWriter, room: &mut RoomThread) -> u64 {
    let started = Instant::now();
    writer.commit().expect("a commit");
    room.tend(writer).expect("room");
    started.elapsed().as_micros() as u64
}

fn read(reader: &JournalReader) {
    let last = reader.group(GROUP).expect("a group").last_index;
    let limits = ReadLimits { messages_max: u64::MAX, bytes_max: u64::MAX };
    let (started, mut bytes) = (Instant::now(), 0);
    let read = reader.read(GROUP, 1, last, limits, &mut |entry| {
        bytes += entry.body.len();
        ControlFlow::Continue(())
    });
    assert_eq!(read.expect("a read").entries, last);
    let per_s = last as f64 / started.elapsed().as_secs_f64();
    row("read one group of 16 from end to end", per_s, &mut [started.elapsed().as_micros() as u64]);
}

/// A queue of a thousand that lie `stride` apart is drained, again and again.
fn look_up(reader: &JournalReader, stride: u64) {
    let last = reader.group(GROUP).expect("a group").last_index;
    let (started, mut entries, mut times_us) = (Instant::now(), 0, vec![]);
    for turn in 0..200 {
        let first = 1 + turn * 7919 % (last.saturating_sub(1000 * stride)).max(1);
        let indexes: Vec<u64> = (0..1000).map(|place| first + place * stride).collect();
        let one = Instant::now();
        entries += reader.get_many(GROUP, &indexes, &mut |_| ControlFlow::Continue(())).expect("look-ups");
        times_us.push(one.elapsed().as_micros() as u64);
    }
    row(&format!("1000 look-ups, {stride} apart"), entries as f64 / started.elapsed().as_secs_f64(), &mut times_us);
    let (started, mut times_us) = (Instant::now(), vec![]);
    for turn in 0..1000 {
        let one = Instant::now();
        reader.get(GROUP, 1 + turn * 7919 % last).expect("a look-up").expect("it is there");
        times_us.push(one.elapsed().as_micros() as u64);
    }
    row("  single look-ups anywhere", 1000.0 / started.elapsed().as_secs_f64(), &mut times_us);
}

/// What a node does when it starts.
fn start(dir: &Path) {
    let started = Instant::now();
    let (_writer, reader) = open(dir);
    row("open", 1.0 / started.elapsed().as_secs_f64(), &mut [started.elapsed().as_micros() as u64]);
    let started = Instant::now();
    let replayed = reader.replay(&[1; 16], &mut |_| ControlFlow::Continue(())).expect("a replay");
    let per_s = replayed.entries as f64 / started.elapsed().as_secs_f64();
    row("replay of everything", per_s, &mut [started.elapsed().as_micros() as u64]);
    println!("{:?}", reader.info());
}

fn row(what: &str, per_s: f64, times_us: &mut [u64]) {
    times_us.sort_unstable();
    let at = |share: f64| times_us[((times_us.len() - 1) as f64 * share) as usize];
    println!("{what:<44} {per_s:>12.0} {:>10} {:>10} {:>10}", at(0.5), at(0.99), at(1.0));
}
