//! What stands in front of a member: others reach it through here, and connections can be cut in their midst.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread::spawn;

/// How many connections are still to be cut, each when so many bytes have gone to who listens.
#[derive(Default)]
pub struct Cuts {
    pub left: AtomicU32,
    pub bytes: AtomicUsize,
}

impl Cuts {
    fn takes(&self, bytes: usize) -> bool {
        let take = |left: u32| left.checked_sub(1);
        bytes > self.bytes.load(Ordering::Relaxed)
            && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

/// Stands in front of this address; where it is reached itself. It ends with the process.
pub fn front(address: SocketAddr, cuts: &Arc<Cuts>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (own, cuts) = (listener.local_addr().expect("an address"), cuts.clone());
    spawn(move || {
        for near in listener.incoming().flatten() {
            let Ok(far) = TcpStream::connect(address) else { continue };
            let (near_too, far_too) = (near.try_clone().expect("a clone"), far.try_clone().expect("a clone"));
            let cuts = cuts.clone();
            spawn(move || pass_on(near, far, &cuts));
            spawn(move || pass_on(far_too, near_too, &Cuts::default()));
        }
    });
    own
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, cuts: &Cuts) {
    let (mut buffer, mut bytes) = ([0; 16 << 10], 0);
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        bytes += count;
        if cuts.takes(bytes) || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    // Both ways are over, whoever ends first.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
