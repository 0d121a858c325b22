//! Prints what the log takes and gives on this machine: `cargo bench -p lapwing-store [-- FOLDER]`.
//!
//! FOLDER is where the log is made (default: the system's folder for temporary files; name one on the disk that counts).

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lapwing_store::{Append, Log, LogConfig, LogReader, LogWriter, ReadLimits, StreamConfig, StreamIndex};

const BODY_BYTES: usize = 200;
const PARTITIONS: u32 = 4;
const STREAM: StreamIndex = StreamIndex(0);

fn main() {
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let dir = tempfile::tempdir_in(folder.map_or_else(std::env::temp_dir, PathBuf::from)).expect("a folder");
    let config = StreamConfig { retain_bytes: 4 << 30, ..StreamConfig::new("bench", PARTITIONS) };
    let (mut writer, reader) = Log::open(dir.path(), &LogConfig::default(), &[config]).expect("a log");
    println!("{:<44} {:>12} {:>10} {:>10} {:>10}", "what", "records/s", "p50 us", "p99 us", "max us");
    // What a broker does comes first: the floods behind it leave the disk busy for a while.
    for rate in [10_000, 100_000, 300_000] {
        gathered(&mut writer, rate);
    }
    for batch in [1, 10, 100, 1_000, 10_000, 100_000] {
        append_commit(&mut writer, batch);
    }
    for messages_max in [1_000, 10_000, 1_000_000] {
        read(&reader, messages_max);
    }
}

fn append(writer: &mut LogWriter, number: u64) {
    let body = [number as u8; BODY_BYTES];
    let partition = (number % u64::from(PARTITIONS)) as u32;
    let (message_id, appended_at_us) = (number, number as i64);
    let record = Append { partition, slot: 0, data_group: 0, message_id, appended_at_us, body: &body };
    writer.append(STREAM, record).expect("an append");
}

/// Batches of one size, one after the other: append, commit.
fn append_commit(writer: &mut LogWriter, batch: u64) {
    let started = Instant::now();
    let (mut records, mut commits_us, mut appending) = (0u64, vec![], Duration::ZERO);
    while started.elapsed() < Duration::from_secs(2) && records < 8_000_000 {
        let append_started = Instant::now();
        (0..batch).for_each(|_| {
            append(writer, records);
            records += 1;
        });
        appending += append_started.elapsed();
        commits_us.push(commit(writer));
    }
    let per_s = records as f64 / started.elapsed().as_secs_f64();
    row(&format!("append + commit, {batch} a commit"), per_s, &mut commits_us);
    let alone_per_s = records as f64 / appending.as_secs_f64();
    println!("{:<44} {alone_per_s:>12.0}", "  of that, append alone");
}

/// Records arrive at a steady rate; each commit takes what gathered while the last one ran, as the log thread does.
fn gathered(writer: &mut LogWriter, rate: u64) {
    let started = Instant::now();
    let (mut records, mut commits_us) = (0u64, vec![]);
    while started.elapsed() < Duration::from_secs(3) {
        let due = (started.elapsed().as_secs_f64() * rate as f64) as u64;
        let before = records;
        while records < due {
            append(writer, records);
            records += 1;
        }
        if records > before {
            commits_us.push(commit(writer));
        }
    }
    let per_commit = records / commits_us.len() as u64;
    let per_s = records as f64 / started.elapsed().as_secs_f64();
    row(&format!("{rate}/s arriving, {per_commit} gather per commit"), per_s, &mut commits_us);
}

fn commit(writer: &mut LogWriter) -> u64 {
    let started = Instant::now();
    writer.commit().expect("a commit");
    started.elapsed().as_micros() as u64
}

fn read(reader: &LogReader, messages_max: u64) {
    let limits = ReadLimits { messages_max, bytes_max: 8 << 20 };
    let (mut from, mut records, mut bytes, mut reads_us) = (0, 0, 0, vec![]);
    let info = reader.streams().remove(0).partitions[1];
    from += info.first_offset;
    let until = info.next_offset.min(from + 1_000_000);
    let started = Instant::now();
    while from < until {
        let one = Instant::now();
        let outcome = reader
            .read(STREAM, 1, from, limits, None, &mut |record| {
                bytes += record.body.len();
                ControlFlow::Continue(())
            })
            .expect("a read");
        reads_us.push(one.elapsed().as_micros() as u64);
        records += outcome.messages;
        from = outcome.next_offset;
    }
    assert_eq!(bytes as u64, records * BODY_BYTES as u64);
    let per_s = records as f64 / started.elapsed().as_secs_f64();
    row(&format!("read one of {PARTITIONS} partitions, {messages_max} at most"), per_s, &mut reads_us);
}

fn row(what: &str, per_s: f64, times_us: &mut [u64]) {
    times_us.sort_unstable();
    let at = |share: f64| times_us[((times_us.len() - 1) as f64 * share) as usize];
    println!("{what:<44} {per_s:>12.0} {:>10} {:>10} {:>10}", at(0.5), at(0.99), at(1.0));
}
