//! Accepts connections, as many as there are places, a thread each.

use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lapwing_node::Handle;
use serde_json::json;

use super::answer::Answer;
use super::answering::Answering;
use super::connection;
use super::counters::{CONNECTIONS_REFUSED, Counters};
use super::error::HttpError;
use super::identify::Gate;
use super::names::HostNames;
use super::read_places::ReadPlaces;
use super::refusals::Refusals;
use super::settings::Settings;
use super::streams::Streams;
use crate::fault::Fault;

/// An HTTP listener; its threads end with the process.
#[derive(Debug)]
pub(crate) struct Server {
    url: String,
    gate: Arc<Gate>,
    refusals: Arc<Refusals>,
}

struct Room {
    answering: Answering,
    settings: Settings,
    /// Connections that there are.
    taken: AtomicUsize,
}

/// One of the places, given back whatever becomes of its connection.
struct Place(Arc<Room>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Server {
    /// `guards`: what guards MQTT beside users and rules, in words; empty: nothing.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub(crate) fn start(
        settings: Settings,
        node: &Arc<Handle>,
        has_rules: bool,
        guards: &'static str,
    ) -> Result<Self, Fault> {
        let failed = |error: io::Error| {
            let remedy =
                "stop the program that uses it, or choose another with --http (port 0: any free one, \"off\": none)";
            Fault::failed(format!("broker.http cannot be listened on: {error}"), words(&settings.addresses), remedy)
        };
        let listener = TcpListener::bind(&settings.addresses[..]).map_err(failed)?;
        let url = format!("http://{}", listener.local_addr().map_err(failed)?);
        let guards = if settings.is_open { "" } else { guards };
        let gate = Arc::new(Gate::new(has_rules, guards, settings.failures_max));
        let refusals = Arc::default();
        let answering = Answering {
            node: Arc::clone(node),
            gate: Arc::clone(&gate),
            names: HostNames { configured: settings.host.clone(), further: settings.hosts.clone() },
            streams: Streams {
                node: Arc::clone(node),
                places: ReadPlaces::new(settings.reads_max, settings.reads_per_identity_max),
            },
            counters: Counters::new(),
            refusals: Arc::clone(&refusals),
            url: url.clone(),
        };
        let room = Arc::new(Room { answering, settings, taken: AtomicUsize::new(0) });
        let spawned = std::thread::Builder::new().name("lapwing-http".into()).spawn(move || accept(&listener, &room));
        spawned.map_err(|error| Fault::failed(format!("cannot start a thread: {error}"), "", "raise ulimit -u"))?;
        Ok(Server { url, gate, refusals })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Other rules are in force.
    pub(crate) fn reloaded(&self, has_rules: bool) {
        self.gate.has_rules.store(has_rules, Ordering::Relaxed);
    }

    /// What an operator may not expect of who may do what here; empty: nothing.
    pub(crate) fn notice(&self, node: &Handle) -> String {
        self.gate.notice(node)
    }

    /// Lines for the log about who was refused.
    pub(crate) fn take_lines(&self) -> Vec<String> {
        self.refusals.take_lines()
    }
}

fn words(addresses: &[SocketAddr]) -> String {
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn accept(listener: &TcpListener, room: &Arc<Room>) {
    for connection in listener.incoming() {
        let Ok(connection) = connection else {
            // Out of descriptors, say: those there are end within their time.
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        let place = Place(Arc::clone(room));
        if room.taken.fetch_add(1, Ordering::AcqRel) >= room.settings.connections_max {
            room.refuse(connection);
            continue;
        }
        let serve = move || {
            // Who does not take the answer, or sends none, is not told why.
            let _ = connection::serve(connection, &place.0.answering, &place.0.settings);
        };
        // Where there is no thread for it, it ends here, and so does its place.
        if std::thread::Builder::new().name("lapwing-http-1".into()).spawn(serve).is_err() {
            room.answering.counters.add(CONNECTIONS_REFUSED, 1);
        }
    }
}

impl Room {
    /// Says so, and goes: nobody waits here for one who takes nothing, and what is said finds room in the kernel.
    fn refuse(&self, mut connection: TcpStream) {
        let most = self.settings.connections_max;
        self.answering.counters.add(CONNECTIONS_REFUSED, 1);
        let address = connection.peer_addr().map_or_else(|_| "somebody".into(), |peer| peer.ip().to_string());
        self.answering.refusals.connection(&address, "http.connections_max are open");
        let message = format!("{most} connections are open");
        let remedy = "try again after Retry-After, or raise http.connections_max";
        let refusal = HttpError::new(503, "too_many_connections", message, remedy).retry_after_s(1);
        let answer = Answer::from(refusal.with("connections_max", json!(most)));
        let said = connection.set_nonblocking(true);
        // Who has gone already misses nothing.
        let _ = said.and_then(|()| connection.write_all(&[answer.head().as_bytes(), &answer.body].concat()));
    }
}
