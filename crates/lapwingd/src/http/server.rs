//! Accepts, reads one request, answers it, and closes.

use std::io::{self, Read as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use lapwing_node::{Handle, metrics_text};

use super::answer::Answer;
use super::caller::Gate;
use super::request::{HEAD_BYTES_MAX, Read, Request, read};
use super::settings::Settings;
use crate::fault::Fault;

/// An HTTP listener; its threads end with the process.
#[derive(Debug)]
pub(crate) struct Server {
    url: String,
    gate: Arc<Gate>,
}

struct Room {
    node: Arc<Handle>,
    gate: Arc<Gate>,
    settings: Settings,
    url: String,
    /// Connections that there are.
    taken: AtomicUsize,
}

impl Server {
    /// # Errors
    /// The address cannot be bound.
    pub(crate) fn start(settings: Settings, node: &Arc<Handle>, has_rules: bool) -> Result<Self, Fault> {
        let failed = |error: io::Error| {
            let remedy =
                "stop the program that uses it, or choose another with --http (port 0: any free one, \"off\": none)";
            Fault::failed(format!("broker.http cannot be listened on: {error}"), words(&settings.addresses), remedy)
        };
        let listener = TcpListener::bind(&settings.addresses[..]).map_err(failed)?;
        let url = format!("http://{}", listener.local_addr().map_err(failed)?);
        let gate = Arc::new(Gate::new(has_rules, settings.failures_max));
        let room = Room {
            node: Arc::clone(node),
            gate: Arc::clone(&gate),
            settings,
            url: url.clone(),
            taken: AtomicUsize::new(0),
        };
        let room = Arc::new(room);
        let spawned = std::thread::Builder::new().name("lapwing-http".into()).spawn(move || accept(&listener, &room));
        spawned.map_err(|error| Fault::failed(format!("cannot start a thread: {error}"), "", "raise ulimit -u"))?;
        Ok(Server { url, gate })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Other rules are in force.
    pub(crate) fn reloaded(&self, has_rules: bool) {
        self.gate.has_rules.store(has_rules, Ordering::Relaxed);
    }
}

fn words(addresses: &[SocketAddr]) -> String {
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn accept(listener: &TcpListener, room: &Arc<Room>) {
    for connection in listener.incoming() {
        let Ok(connection) = connection else {
            // Out of descriptors, say: those there are end within their time.
            std::thread::sleep(std::time::Duration::from_millis(100));
            continue;
        };
        if room.taken.fetch_add(1, Ordering::AcqRel) >= room.settings.connections_max {
            room.taken.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let theirs = Arc::clone(room);
        let serve = move || {
            // Who does not take the answer, or sends none, is not told why.
            let _ = theirs.serve(connection);
            theirs.taken.fetch_sub(1, Ordering::AcqRel);
        };
        if std::thread::Builder::new().name("lapwing-http-1".into()).spawn(serve).is_err() {
            room.taken.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Room {
    fn serve(&self, mut connection: TcpStream) -> io::Result<()> {
        connection.set_write_timeout(Some(self.settings.patience))?;
        let (answer, only_head) = match self.head(&mut connection)? {
            Read::Whole(request) => {
                let peer = connection.peer_addr()?.ip().to_string();
                (self.answer(&request, &peer), request.method == "HEAD")
            }
            _ => (Answer::error(400, "bad_request", "this is no request of HTTP", "send GET /healthz"), false),
        };
        answer.write(&mut connection, only_head)?;
        connection.shutdown(Shutdown::Write)
    }

    fn head(&self, connection: &mut TcpStream) -> io::Result<Read> {
        let deadline = Instant::now() + self.settings.patience;
        let (mut bytes, mut piece) = (Vec::new(), [0; 2048]);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            connection.set_read_timeout(Some(left))?;
            let count = connection.read(&mut piece)?;
            bytes.extend_from_slice(&piece[..count]);
            match read(&bytes) {
                Read::Partial if count == 0 || bytes.len() >= HEAD_BYTES_MAX => return Ok(Read::Wrong),
                Read::Partial => {}
                found => return Ok(found),
            }
        }
    }

    fn answer(&self, request: &Request, peer: &str) -> Answer {
        if !request.is_for_us(&self.settings.hosts) {
            let remedy = "ask at an address of loopback, or name it in http.hosts";
            return Answer::error(421, "misdirected", "this listener is not called so (Host)", remedy);
        }
        if request.has_origin {
            let remedy = "open the address itself, or ask with a program that is no browser";
            return Answer::error(403, "cross_site", "a page of another site asks (Origin)", remedy);
        }
        if !matches!(&*request.method, "GET" | "HEAD") {
            return Answer::error(405, "method_not_allowed", "that is not allowed here", "use GET, HEAD");
        }
        match &*request.path {
            "/healthz" => Answer::status("alive"),
            "/readyz" => self.readiness(),
            "/metrics" => match self.gate.may_see_figures(&self.node, request, (peer, &self.url)) {
                Ok(()) => Answer::metrics(metrics_text(&self.node.metrics())),
                Err(refusal) => refusal,
            },
            _ => {
                let remedy = "known: /healthz, /readyz, /metrics; streams, groups, sessions, queues, clients and bans are \
                              served by lapwing broker";
                Answer::error(404, "not_found", "lapwingd has no such path", remedy)
            }
        }
    }

    fn readiness(&self) -> Answer {
        if !self.node.ready() {
            return Answer::error(
                503,
                "not_ready",
                "the broker does not accept connections",
                "wait, or see the broker's log",
            );
        }
        match self.node.hindrance() {
            Some(hindrance) => Answer::error(503, hindrance.code(), &hindrance.to_string(), hindrance.remedy()),
            None => Answer::status("ready"),
        }
    }
}
