//! What must hold for any bytes of a stream's message; the fuzz target `envelope` asks it too.

use lapwing_envelope::{Envelope, RowBatchBuilder, SENT_AT_PROPERTY, sent_at_us};
use lapwing_oracle::allocations;

/// Reads `input` as the body of a message.
///
/// Returns whether it is one: then its bytes are the only ones that say so, and it becomes a row.
pub fn check_envelope(input: &[u8]) -> bool {
    let (decoded, used) = allocations::count(|| Envelope::decode(input));
    assert_eq!(used.calls, 0, "reading allocates nothing");
    let mut rows = RowBatchBuilder::new(0);
    assert_eq!(rows.push(7, 8, input).is_ok(), decoded.is_ok());
    let Ok((envelope, properties)) = decoded else {
        assert_eq!(rows.rows(), 0, "what is no message is no row");
        return false;
    };
    let mut again = vec![];
    envelope.encode(properties.iter(), &mut again);
    assert_eq!(again, input, "there is one encoding of each envelope");
    assert_eq!(properties.iter().count(), properties.len());
    assert!(envelope.qos <= 2);
    // Any value of the property is a time or nothing.
    _ = sent_at_us(properties.iter());
    let mut stream = vec![];
    rows.finish_ipc(&mut stream).expect("an Arrow stream");
    assert!(stream.len() >= envelope.payload.len());
    true
}

/// Messages of every kind.
pub fn envelope_seeds() -> Vec<Vec<u8>> {
    let properties: [&[(&str, &str)]; 3] = [&[], &[("", "")], &[(SENT_AT_PROPERTY, "-7"), ("name", "wert: ü")]];
    let mut seeds = vec![];
    for (n, properties) in properties.into_iter().enumerate() {
        for payload in [&b""[..], b"{\"v\":1}", &[0xFF; 200]] {
            let envelope = Envelope {
                topic: "spectrum/d1/readings",
                payload,
                client_id: "d1",
                qos: n as u8,
                retain: n == 1,
                sent_at_us: (n > 0).then_some(-5),
                ingress_at_us: 1_700_000_000_000_000,
            };
            let mut seed = vec![];
            envelope.encode(properties.iter().copied(), &mut seed);
            seeds.push(seed);
        }
    }
    seeds
}
