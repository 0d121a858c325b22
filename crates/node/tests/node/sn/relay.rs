//! A bad link: datagrams between one device and a gateway, of which some are lost, doubled, or overtaken by the next one.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::dice::Dice;

/// So many of a hundred datagrams are lost, so many doubled, and so many wait until another one has passed.
const SPOILED_PERCENT: usize = 20;
/// How often a direction looks whether it is over.
const LOOK: Duration = Duration::from_millis(50);

/// Works until it is dropped.
pub struct Relay {
    front: SocketAddr,
    /// Port of the gateway on loopback.
    gateway: Arc<AtomicU16>,
    is_over: Arc<AtomicBool>,
    directions: Vec<JoinHandle<()>>,
}

impl Relay {
    /// Between the device at that socket and the gateway at this port.
    pub fn new(device: &UdpSocket, gateway: u16, seed: u64) -> Relay {
        let bind = || {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
            socket.set_read_timeout(Some(LOOK)).expect("a socket");
            Arc::new(socket)
        };
        let (front, back) = (bind(), bind());
        let device = device.local_addr().expect("a bound socket");
        let (gateway, is_over) = (Arc::new(AtomicU16::new(gateway)), Arc::new(AtomicBool::new(false)));
        let address = front.local_addr().expect("a bound socket");
        let direction = |from: &Arc<UdpSocket>, to: &Arc<UdpSocket>, is_up: bool, seed: u64| {
            let (from, to, gateway, is_over) = (from.clone(), to.clone(), gateway.clone(), is_over.clone());
            let direction = Direction { from, to, device, gateway, is_up, dice: Dice::new(seed), held: None };
            std::thread::spawn(move || direction.run(&is_over))
        };
        let directions = vec![direction(&front, &back, true, seed), direction(&back, &front, false, !seed)];
        Relay { front: address, gateway, is_over, directions }
    }

    /// Where the device finds it.
    pub fn front(&self) -> SocketAddr {
        self.front
    }

    /// Another gateway has the place of the one before, of which nothing passes any more, and nothing to it.
    pub fn lead_to(&self, gateway: u16) {
        self.gateway.store(gateway, Ordering::SeqCst);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.directions.drain(..).for_each(|direction| direction.join().expect("a relay does not panic"));
    }
}

struct Direction {
    from: Arc<UdpSocket>,
    to: Arc<UdpSocket>,
    device: SocketAddr,
    gateway: Arc<AtomicU16>,
    /// To the gateway.
    is_up: bool,
    dice: Dice,
    /// Waits until another one has passed; and for which gateway, or of which.
    held: Option<(Vec<u8>, u16)>,
}

impl Direction {
    fn run(mut self, is_over: &AtomicBool) {
        let mut bytes = [0; 2048];
        while !is_over.load(Ordering::SeqCst) {
            // Nothing came; or a gateway that is gone did not take the one before.
            let Ok((len, from)) = self.from.recv_from(&mut bytes) else { continue };
            let gateway = self.gateway.load(Ordering::SeqCst);
            if self.is_up || from.port() == gateway {
                self.take(&bytes[..len], gateway);
            }
        }
    }

    fn take(&mut self, datagram: &[u8], gateway: u16) {
        if self.dice.percent(SPOILED_PERCENT) {
            return;
        }
        let copies = if self.dice.percent(SPOILED_PERCENT) { 2 } else { 1 };
        for _ in 0..copies {
            if self.held.is_none() && self.dice.percent(SPOILED_PERCENT) {
                self.held = Some((datagram.to_vec(), gateway));
                continue;
            }
            self.send(datagram, gateway);
            if let Some((late, of)) = self.held.take()
                && of == gateway
            {
                self.send(&late, gateway);
            }
        }
    }

    fn send(&self, datagram: &[u8], gateway: u16) {
        let to = if self.is_up { SocketAddr::from(([127, 0, 0, 1], gateway)) } else { self.device };
        // Lost, if the gateway is gone.
        drop(self.to.send_to(datagram, to));
    }
}
