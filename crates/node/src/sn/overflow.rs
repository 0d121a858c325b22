//! What the kernel had no room for: datagrams that came faster than they were taken.

use lapwing_transport::Datagrams;

/// How often the kernel is asked.
const LOOK_MS: u64 = 1000;

/// What it has said last.
#[derive(Debug, Default)]
pub(super) struct Overflow {
    /// By socket.
    seen: Vec<u32>,
    look_at_ms: u64,
}

impl Overflow {
    /// How many more there are since the last look; 0 when that was less than a second ago.
    pub(super) fn look(&mut self, sockets: &[Datagrams], now_ms: u64) -> u64 {
        if now_ms < self.look_at_ms {
            return 0;
        }
        self.look_at_ms = now_ms + LOOK_MS;
        self.seen.resize(sockets.len(), 0);
        let more = |(seen, socket): (&mut u32, &Datagrams)| {
            let now = socket.overflowed();
            u64::from(now.wrapping_sub(std::mem::replace(seen, now)))
        };
        self.seen.iter_mut().zip(sockets).map(more).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, UdpSocket};

    use super::*;

    /// Is each counted once, and the kernel asked once a second?
    #[test]
    fn each_is_counted_once() {
        let (sockets, url) = Datagrams::bind(&"sn://127.0.0.1:0".parse().unwrap()).unwrap();
        let address: SocketAddr = url.strip_prefix("sn://").unwrap().parse().unwrap();
        let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut overflow = Overflow::default();
        assert_eq!(overflow.look(&sockets, 0), 0);
        while sockets[0].overflowed() < 3 {
            peer.send_to(&[0; 8192], address).unwrap();
        }
        assert_eq!(overflow.look(&sockets, LOOK_MS - 1), 0);
        assert_eq!(overflow.look(&sockets, LOOK_MS), u64::from(sockets[0].overflowed()));
        assert_eq!(overflow.look(&sockets, 2 * LOOK_MS), 0);
    }
}
