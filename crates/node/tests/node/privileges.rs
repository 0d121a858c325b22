//! The moment at which a node gives privileges up: every port is bound, and nobody has come.

use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lapwing_node::{Extensions, Handle, NodeError};

/// A port of loopback that was free a moment ago.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Is it called while the port is taken and before a client is answered?
#[test]
fn ports_are_bound_and_nobody_is_let_in() {
    let address = free_address();
    let mut config = crate::config("{}");
    config.listen = vec![format!("tcp://{address}")];
    let called = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&called);
    let on_bound = Box::new(move || {
        let taken = TcpListener::bind(&address).expect_err("the port is bound");
        assert_eq!(taken.kind(), ErrorKind::AddrInUse);
        let mut early = TcpStream::connect(&address).expect("the kernel takes it");
        early.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        std::io::Write::write_all(&mut early, &[0x10, 0x0c, 0, 4, b'M', b'Q', b'T', b'T', 4, 2, 0, 60, 0, 0]).unwrap();
        assert!(early.read(&mut [0; 4]).is_err(), "a client was answered by a process with privileges");
        seen.store(true, Ordering::Release);
        Ok(())
    });
    let node = Handle::start_with(config, Extensions { on_bound: Some(on_bound), ..Extensions::default() }).unwrap();
    assert!(called.load(Ordering::Acquire));
    node.stop().unwrap();
}

/// Does a start end, and free its port, when privileges cannot be given up?
#[test]
fn a_failure_ends_the_start() {
    let address = free_address();
    let mut config = crate::config("{}");
    config.listen = vec![format!("tcp://{address}")];
    let on_bound =
        Box::new(|| Err(NodeError::System { doing: "give up", source: std::io::Error::other("not permitted") }));
    let started = Handle::start_with(config, Extensions { on_bound: Some(on_bound), ..Extensions::default() });
    assert_eq!(started.err().expect("no start").to_string(), "cannot give up: not permitted");
    TcpListener::bind(&address).expect("the port is free again");
}
