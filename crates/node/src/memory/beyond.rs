//! Limits of memory that are above what there is: a line each. Not wrong, so not refused: memory may be added, or the file
//! be one of several machines.

use super::available::{Available, Source};
use crate::config::Limits;

const MIB: u64 = 1 << 20;

/// What is to be said of limits of memory that this process cannot have, a line each.
pub fn memory_notices(limits: &Limits) -> Vec<String> {
    notices(limits, Available::found())
}

fn notices(limits: &Limits, available: Available) -> Vec<String> {
    let has = match available.source {
        Source::Machine => "that this machine has",
        Source::Group => "that the control group of this process may have",
        Source::Unknown => return Vec::new(),
    };
    let is_beyond = |(_, bytes, _): &(&str, u64, &str)| *bytes > available.bytes;
    let told = |(key, bytes, then): (&str, u64, &str)| {
        let (set, there, most) = (shown(bytes), shown(available.bytes), shown(available.three_quarters()));
        let or = if key.starts_with("memory_") { ", or 0, which follows what there is" } else { "" };
        format!("limits.{key} = {set} is above the {there} {has}: {then}; set {most} or less{or}")
    };
    settings(limits).into_iter().filter(is_beyond).map(told).collect()
}

/// Each that takes memory: its key, its bytes, and what happens where they are not there. Defaults are not told of: the mark
/// that follows from what there is comes before them. Where a mark is set, the others are held against that (`limit_pairs`).
fn settings(limits: &Limits) -> Vec<(&'static str, u64, &'static str)> {
    let (early, short) =
        ("the system ends the broker before it refuses anybody", "memory is short before it is reached");
    let late = "the system ends the broker before it stops keeping messages";
    let marks =
        [("memory_high_bytes", limits.memory_high_bytes, early), ("memory_max_bytes", limits.memory_max_bytes, late)];
    let usual = Limits::default();
    let others = [
        ("queue_memory_bytes", limits.queue_memory_bytes, usual.queue_memory_bytes),
        ("log_lane_bytes", limits.log_lane_bytes, usual.log_lane_bytes),
        ("retained_bytes_max", limits.retained_bytes_max, usual.retained_bytes_max),
        ("strangers_bytes_max", limits.strangers_bytes_max, usual.strangers_bytes_max),
        ("output_bytes_max", limits.output_bytes_max.into(), usual.output_bytes_max.into()),
    ];
    let has_mark = marks.iter().any(|(_, bytes, _)| *bytes > 0);
    let set = others.into_iter().filter(|(_, bytes, usual)| !has_mark && bytes != usual);
    marks.into_iter().chain(set.map(|(key, bytes, _)| (key, bytes, short))).collect()
}

/// As a configuration has it: exact in its largest unit, or cut to whole MiB.
fn shown(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, shift)| bytes > 0 && bytes.is_multiple_of(1 << shift)) {
        Some((unit, shift)) if shift >= 20 || bytes < MIB => format!("{}{unit}", bytes >> shift),
        _ if bytes >= MIB => format!("{}MiB", bytes / MIB),
        _ => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(limits: Limits, source: Source) -> Vec<String> {
        notices(&limits, Available { bytes: 4 << 30, source })
    }

    /// Is a mark that is never reached told of with what there is, and what follows by itself not?
    #[test]
    fn what_there_is_not_is_told() {
        let limits = Limits { memory_high_bytes: 64 << 30, ..Limits::default() };
        assert_eq!(
            told(limits.clone(), Source::Machine),
            [
                "limits.memory_high_bytes = 64GiB is above the 4GiB that this machine has: the system ends the broker before it \
              refuses anybody; set 3GiB or less, or 0, which follows what there is"
            ]
        );
        assert!(
            told(limits.clone(), Source::Group)[0].contains("4GiB that the control group of this process may have")
        );
        assert!(told(limits, Source::Unknown).is_empty(), "nobody knows what there is");
        let both = Limits { memory_high_bytes: 5 << 30, memory_max_bytes: (6 << 30) + 1, ..Limits::default() };
        let lines = told(both, Source::Machine);
        assert!(lines.len() == 2 && lines[1].starts_with("limits.memory_max_bytes = 6144MiB is above"), "{lines:?}");
        for limits in [Limits::default(), Limits { memory_high_bytes: 4 << 30, ..Limits::default() }] {
            assert!(told(limits, Source::Machine).is_empty());
        }
    }

    /// Are others told of where no mark stands before them, and only those that somebody has set?
    #[test]
    fn others_are_held_against_what_there_is_without_a_mark() {
        let limits = Limits { queue_memory_bytes: 5 << 30, ..Limits::default() };
        let lines = told(limits.clone(), Source::Machine);
        assert!(lines.len() == 1 && lines[0].contains("queue_memory_bytes = 5GiB is above the 4GiB"), "{lines:?}");
        assert!(lines[0].ends_with("memory is short before it is reached; set 3GiB or less"), "{lines:?}");
        assert!(told(Limits { memory_high_bytes: 1 << 30, ..limits }, Source::Machine).is_empty());
        let small = Available { bytes: 64 << 20, source: Source::Machine };
        assert!(notices(&Limits::default(), small).is_empty());
    }

    #[test]
    fn sizes_as_they_are_written() {
        for (bytes, words) in
            [(1 << 40, "1TiB"), (MIB + 1, "1MiB"), (1_536 << 10, "1MiB"), (4 << 10, "4KiB"), (7, "7B")]
        {
            assert_eq!(shown(bytes), words);
        }
    }
}
