//! Does decoding, or encoding into a buffer that is large enough, allocate? It must not.

use lapwing_oracle::allocations::{assert_installed, count};
use lapwing_sn::{Datagram, Limits, decode};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::pool::{messages, pool};

/// Is it so for every message, behind a forwarder too?
#[test]
fn messages_are_read_and_written_without_allocating() {
    assert_installed();
    let (limits, mut runner) = (Limits::PROTOCOL, TestRunner::deterministic());
    for _ in 0..20 {
        let pool = pool().new_tree(&mut runner).expect("nothing is filtered").current();
        for message in messages(&pool) {
            let datagram = Datagram { forwarding: pool.forwarding(), message };
            let mut out = Vec::with_capacity(datagram.encoded_len());
            let (_, written) = count(|| datagram.encode(&limits, &mut out).expect("it can be written"));
            let (_, read) = count(|| decode(&out, &limits).expect("it was written"));
            assert_eq!((written.calls, read.calls), (0, 0), "{message:?}");
        }
    }
}
