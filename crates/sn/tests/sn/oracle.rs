//! What must hold for any bytes: a datagram is a message that can be written again, or an error that says where. The fuzz
//! target `sn` asks it too.

use lapwing_oracle::allocations::count;
use lapwing_sn::{Datagram, DecodeError, Limits, Message, decode};

/// What came of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was a message.
    Accepted,
    /// It was none, and there is something to say about it to the peer.
    Answered,
    /// It was none.
    Refused,
}

/// Reads `input` as a datagram: the first byte says within which limits.
pub fn check_datagram(input: &[u8]) -> Outcome {
    let (choice, datagram) = input.split_first().map_or((0, input), |(&choice, datagram)| (choice, datagram));
    let limits = limits(choice);
    let (outcome, used) = count(|| decode(datagram, &limits));
    assert_eq!(used.calls, 0, "decoding allocates");
    match outcome {
        Ok(message) => check_accepted(message, datagram, &limits),
        Err(error) => check_refused(error, datagram),
    }
}

fn limits(choice: u8) -> Limits {
    match choice % 3 {
        0 => Limits::default(),
        1 => Limits::PROTOCOL,
        _ => Limits { datagram_bytes_max: 64, client_id_chars_max: 5, node_id_bytes_max: 4, ..Limits::default() },
    }
}

/// What was read, written again, is no longer than it was and is read as the same.
fn check_accepted(datagram: Datagram<'_>, bytes: &[u8], limits: &Limits) -> Outcome {
    let mut out = Vec::with_capacity(bytes.len());
    let (len, used) = count(|| datagram.encode(limits, &mut out).expect("it was read within the limits"));
    assert_eq!(used.calls, 0, "encoding into a buffer that is large enough allocates");
    assert!(len == out.len() && len == datagram.encoded_len() && len <= bytes.len(), "{len} of {}", bytes.len());
    assert_eq!(decode(&out, limits), Ok(datagram));
    Outcome::Accepted
}

/// The place is in the datagram, and an answer is a small message that accepts nothing.
fn check_refused(error: DecodeError, bytes: &[u8]) -> Outcome {
    assert!(error.at <= bytes.len() && !error.what.is_empty(), "{error}");
    let Some(answer) = error.answer else { return Outcome::Refused };
    let code = match answer {
        Message::ConnAck(code) | Message::WillTopicResp(code) => code,
        Message::RegAck(ack) | Message::PubAck(ack) => ack.code,
        Message::SubAck(ack) => ack.code,
        other => panic!("{other:?} refuses nothing"),
    };
    assert!(!code.is_accepted() && !code.is_reserved(), "{answer:?}");
    let mut out = Vec::new();
    assert!(answer.encode(&Limits::default(), &mut out).expect("it can be said") <= 8);
    assert_eq!(decode(&out, &Limits::default()).map(|datagram| datagram.message), Ok(answer));
    Outcome::Answered
}

/// Datagrams of every type, each within every choice of limits.
pub fn datagram_seeds() -> Vec<Vec<u8>> {
    let plain: [&[u8]; 38] = [
        b"\x05\x00\x07\x03\x84",
        b"\x03\x01\x01",
        b"\x03\x02\x07",
        b"\x06\x02\x07\x02\xBE\xEF",
        b"\x09\x04\x0C\x01\x00\x3Cabc",
        b"\x0B\x04\x00\x01\x00\x00gr\xC3\xBCn",
        b"\x03\x05\x00",
        b"\x02\x06",
        b"\x06\x07\x30w/t",
        b"\x02\x07",
        b"\x02\x08",
        b"\x05\x09bye",
        b"\x09\x0A\x00\x00\x00\x01a/b",
        b"\x09\x0A\x01\x02\x00\x01a/b",
        b"\x07\x0B\x01\x02\x00\x01\x00",
        b"\x09\x0C\x00\x01\x02\x00\x0023",
        b"\x09\x0C\xB0\x01\x02\x00\x0723",
        b"\x09\x0C\x41\x00\x07\x00\x0723",
        b"\x09\x0C\x62ab\x00\x0023",
        b"\x01\x00\x0B\x0C\x00\x01\x02\x00\x0023",
        b"\x07\x0D\x01\x02\x00\x01\x00",
        b"\x07\x0D\x00\x00\x00\x00\x02",
        b"\x04\x0E\x00\x01",
        b"\x04\x0F\x00\x01",
        b"\x04\x10\x00\x01",
        b"\x08\x12\x20\x00\x01a/#",
        b"\x07\x12\x21\x00\x01\x00\x07",
        b"\x07\x12\xC2\x00\x01ab",
        b"\x08\x13\x40\x00\x01\x00\x01\x00",
        b"\x08\x14\x00\x00\x01+/b",
        b"\x07\x14\x02\x00\x01ab",
        b"\x04\x15\x00\x01",
        b"\x05\x16abc",
        b"\x02\x17",
        b"\x04\x18\x00\x3C",
        b"\x06\x1A\x30w/t",
        b"\x03\x1B\x00",
        b"\x05\xFE\x01\xBE\xEF\x02\x16",
    ];
    (0..3).flat_map(|choice| plain.map(|datagram| [&[choice], datagram].concat())).collect()
}
