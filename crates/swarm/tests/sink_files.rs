//! The sink and the limit of open files. Alone in its program: the limit is that of the whole process.

use lapwing_swarm::{Sink, SinkConfig, SinkFigures};
use socket2::{Domain, Socket, Type};
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);
const SOCKETS: u64 = 3;

fn limit() -> io::Result<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer; the call keeps no pointer.
    let answer = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    if answer == 0 { Ok(limit) } else { Err(io::Error::last_os_error()) }
}

fn set_soft_limit(files: u64) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: files, ..limit()? };
    // SAFETY: `limit` is read during the call only.
    let answer = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn until(sink: &Sink, is_so: impl Fn(&SinkFigures) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so(&sink.figures()) {
        assert!(Instant::now() < deadline, "not in time: {:?}", sink.figures());
        thread::yield_now();
    }
}

/// Does the sink take as many files as it may have, and those that came when there was none left once there is, though
/// nobody else comes?
#[test]
fn who_came_when_no_file_was_left_is_taken_later() -> Result<(), Box<dyn std::error::Error>> {
    set_soft_limit(64)?;
    let sink = Sink::start(&SinkConfig::on("127.0.0.1", 0))?;
    assert_eq!(limit()?.rlim_cur, limit()?.rlim_max);
    let address: SocketAddr = sink.url().trim_start_matches("tcp://").parse()?;
    set_soft_limit(64)?;
    let sockets: Vec<Socket> =
        (0..SOCKETS).map(|_| Socket::new(Domain::IPV4, Type::STREAM, None)).collect::<io::Result<_>>()?;
    let mut files = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        files.push(file);
    }
    for socket in &sockets {
        socket.connect(&address.into())?;
    }
    until(&sink, |figures| figures.accept_failures > 0);
    assert_eq!(sink.figures().connections, 0);
    drop(files);
    until(&sink, |figures| figures.connections == SOCKETS);
    Ok(())
}
