//! What goes out: messages one after the other, each a datagram.

use std::net::SocketAddr;

use lapwing_transport::{Datagrams, DtlsOutput};

use super::address::Address;
use super::counters::{Dropped, SnCounters};
use super::tunnels::Tunnels;

/// The way out.
pub(super) struct Outlet<'a> {
    pub(super) sockets: &'a [Datagrams],
    pub(super) tunnels: &'a mut Tunnels,
    pub(super) sealed: &'a mut DtlsOutput,
    pub(super) counters: &'a SnCounters,
    pub(super) now_ms: u64,
}

impl Outlet<'_> {
    /// Sends the messages in `out` to `address`, and empties it.
    pub(super) fn send_all(&mut self, address: &Address<'_>, out: &mut Vec<u8>, enclosed: &mut Vec<u8>) {
        let mut rest = &out[..];
        while let Some((message, behind)) = split_first(rest) {
            rest = behind;
            match address.forwarding() {
                None => self.send(address, message),
                Some(forwarding) => {
                    enclosed.clear();
                    forwarding.enclose(message, enclosed);
                    self.send(address, enclosed);
                }
            }
        }
        out.clear();
    }

    fn send(&mut self, address: &Address<'_>, message: &[u8]) {
        let Outlet { sockets, tunnels, sealed, counters, now_ms } = self;
        let (socket, peer) = address.source();
        if !tunnels.is_sealed(socket) {
            return send_datagram(sockets, socket, peer, message, counters);
        }
        if !tunnels.seal((socket, peer), message, *now_ms, counters, sealed) {
            counters.dropped(Dropped::NotSent);
        }
        for packet in sealed.packets.iter() {
            send_datagram(sockets, socket, peer, packet, counters);
        }
    }
}

/// Sends one datagram as it is.
pub(super) fn send_datagram(
    sockets: &[Datagrams],
    socket: usize,
    to: SocketAddr,
    datagram: &[u8],
    counters: &SnCounters,
) {
    match sockets.get(socket).map(|socket| socket.send(datagram, to)) {
        Some(Ok(())) => counters.datagrams_out.add(1),
        // Lost, as datagrams are: what needs an answer goes again.
        _ => counters.dropped(Dropped::NotSent),
    }
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
