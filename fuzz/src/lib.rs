//! What the targets share: the counting allocator, seeds that are made by code, and the one line that each packet type needs.

use std::path::Path;

#[doc(hidden)]
pub use {lapwing_oracle as oracle, libfuzzer_sys};

/// Names the folder into which a target writes its seeds, instead of fuzzing.
const SEEDS: &str = "LAPWING_FUZZ_SEEDS";

/// Writes `seeds` and ends the program, where that is what it was called for.
///
/// Panics when a file cannot be written.
#[doc(hidden)]
pub fn hand_out(seeds: impl FnOnce() -> Vec<Vec<u8>>) {
    let Some(folder) = std::env::var_os(SEEDS) else { return };
    for (n, seed) in seeds().iter().enumerate() {
        let file = Path::new(&folder).join(format!("made-{n:03}"));
        std::fs::write(&file, seed).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
    std::process::exit(0);
}

/// A target: an oracle that takes bytes, with memory counted, and seeds that are made by code, if there are any.
#[macro_export]
macro_rules! target {
    ($oracle:expr) => {
        $crate::target!($oracle, Vec::new);
    };
    ($oracle:expr, $seeds:expr) => {
        #[global_allocator]
        static ALLOCATOR: $crate::oracle::allocations::Counting = $crate::oracle::allocations::Counting;

        $crate::plain_target!($oracle, $seeds);
    };
}

/// A target whose memory is not counted: what it watches has threads of its own.
#[macro_export]
macro_rules! plain_target {
    ($oracle:expr, $seeds:expr) => {
        $crate::libfuzzer_sys::fuzz_target!(init: $crate::hand_out($seeds), |input: &[u8]| {
            let _ = ($oracle)(input);
        });
    };
}

/// The target of one packet type.
#[macro_export]
macro_rules! packet_target {
    ($kind:ident) => {
        $crate::target!(|input: &[u8]| $crate::oracle::packet::check_kind($crate::oracle::wire::Kind::$kind, input));
    };
}
