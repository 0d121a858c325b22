//! What the targets share: the counting allocator, and the one line that each packet type needs.

#[doc(hidden)]
pub use {lapwing_oracle as oracle, libfuzzer_sys};

/// A target: an oracle that takes bytes, with memory counted.
#[macro_export]
macro_rules! target {
    ($oracle:expr) => {
        #[global_allocator]
        static ALLOCATOR: $crate::oracle::allocations::Counting = $crate::oracle::allocations::Counting;

        $crate::libfuzzer_sys::fuzz_target!(|input: &[u8]| {
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
