//! What goes out: messages one after the other, each a datagram.

use lapwing_transport::Datagrams;

use super::address::Address;
use super::counters::{Dropped, SnCounters};

/// Sends the messages in `out` to `address`, and empties it.
pub(super) fn send_all(
    sockets: &[Datagrams],
    address: &Address,
    out: &mut Vec<u8>,
    enclosed: &mut Vec<u8>,
    counters: &SnCounters,
) {
    let mut rest = &out[..];
    while let Some((message, behind)) = split_first(rest) {
        rest = behind;
        let datagram = match address.forwarding() {
            None => message,
            Some(forwarding) => {
                enclosed.clear();
                forwarding.enclose(message, enclosed);
                enclosed.as_slice()
            }
        };
        match sockets.get(address.socket).map(|socket| socket.send(datagram, address.peer)) {
            Some(Ok(())) => counters.datagrams_out.add(1),
            // Lost, as datagrams are: what needs an answer goes again.
            _ => counters.dropped(Dropped::NotSent),
        }
    }
    out.clear();
}

/// The first message by its own length (5.2.1), and what is behind it.
fn split_first(messages: &[u8]) -> Option<(&[u8], &[u8])> {
    let len = match messages {
        [1, high, low, ..] => usize::from(u16::from_be_bytes([*high, *low])),
        [len, ..] => usize::from(*len),
        [] => return None,
    };
    (len > 0).then(|| messages.split_at_checked(len))?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is each message a datagram by itself, with a length of one byte and of three?
    #[test]
    fn messages_come_apart() {
        let mut long = vec![1, 1, 4, 0x0C];
        long.resize(260, 7);
        let messages = [&[2, 0x17][..], &long, &[3, 5, 0]].concat();
        let (first, rest) = split_first(&messages).unwrap();
        let (second, rest) = split_first(rest).unwrap();
        let (third, rest) = split_first(rest).unwrap();
        assert_eq!((first, second, third, rest), (&[2, 0x17][..], &long[..], &[3, 5, 0][..], &[][..]));
        assert_eq!(split_first(&[]), None);
    }
}
