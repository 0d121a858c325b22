//! What is answered to a request, once it is read: in the order in which the package asks.

use std::net::SocketAddr;
use std::sync::Arc;

use lapwing_node::{Handle, metrics_text};

use super::answer::Answer;
use super::caller::Caller;
use super::counters::Counters;
use super::error::HttpError;
use super::identify::Gate;
use super::names::{HostNames, Origin};
use super::refusals::{Refusals, audit};
use super::request::{Body, Request};
use super::route::{Route, not_found};
use super::streams::Streams;

/// All that answers are made of.
pub(super) struct Answering {
    pub node: Arc<Handle>,
    pub gate: Arc<Gate>,
    pub names: HostNames,
    pub streams: Streams,
    pub counters: Counters,
    pub refusals: Arc<Refusals>,
    /// The listener's URL, for whoever is asked about its callers.
    pub url: String,
}

/// What a route is asked by.
struct Asked<'r> {
    request: &'r Request,
    route: Route<'r>,
    caller: &'r Caller,
    is_link: bool,
}

impl Answering {
    /// `peer`: who asks, `ADDRESS:PORT`.
    pub(super) fn answer(&self, request: &Request, peer: SocketAddr) -> Answer {
        let address = peer.ip().to_string();
        if request.body == Body::TwoLengths {
            let what = "both Content-Length and Transfer-Encoding say how long the body is";
            self.no_http(&address);
            return HttpError::new(400, "bad_request", what, "send one of them").into();
        }
        let mut caller = None;
        let (answer, route) = match self.names.judge(request) {
            Err(refusal) => {
                self.counters.refused(refusal.code);
                self.refusals.door(&address, &refusal);
                (Answer::from(refusal), "unknown")
            }
            Ok(origin) => {
                let (found, route) = self.beyond_the_door(request, &address, origin == Origin::Link, &mut caller);
                let answer = found.unwrap_or_else(Answer::from);
                self.refusals.request(answer.status, request, &address, caller.as_ref());
                (answer, route)
            }
        };
        self.counters.answered(route, answer.status);
        audit(&self.node, request, &peer.to_string(), caller.as_ref(), answer.status);
        answer
    }

    /// What somebody sent is no request.
    pub(super) fn no_http(&self, address: &str) {
        self.counters.answered("unknown", 400);
        self.refusals.connection(address, "what it sent is no HTTP/1.1");
    }

    /// Of a request that calls us by our name; with the form of its path, and `caller` set once it is known.
    fn beyond_the_door(
        &self,
        request: &Request,
        address: &str,
        is_link: bool,
        caller: &mut Option<Caller>,
    ) -> (Result<Answer, HttpError>, &'static str) {
        if request.body != Body::Nothing {
            let refusal = HttpError::new(413, "body_not_expected", "this request has a body", "send it without one");
            return (Err(refusal), "unknown");
        }
        let route = Route::of(&request.path);
        if let Some(route) = route.filter(|route| route.is_open()) {
            return (route.check_method(&request.method).and_then(|()| self.health(route)), route.form());
        }
        // Nobody gets further whose identity is not known, not even to learn which paths there are.
        let found = self.gate.caller(&self.node, &request.authorization, (address, &self.url), &self.counters);
        let known = match found {
            Ok(found) => caller.insert(found),
            Err(refusal) => return (Err(refusal), "unknown"),
        };
        let Some(route) = route else { return (Err(not_found(&request.path)), "unknown") };
        let asked = Asked { request, route, caller: known, is_link };
        let answer = route.check_method(&request.method).and_then(|()| self.routed(&asked));
        if let Err(HttpError { status: status @ (401 | 403), .. }) = answer {
            self.counters.refused(if status == 403 { "forbidden" } else { "unauthenticated" });
        }
        (answer, route.form())
    }

    /// Each but health asks the caller's rights itself.
    fn routed(&self, asked: &Asked<'_>) -> Result<Answer, HttpError> {
        let Asked { request, caller, is_link, .. } = *asked;
        match asked.route {
            Route::Streams => self.streams.index(caller),
            Route::Stream(name) => self.streams.info(caller, name),
            Route::Read(name, partition) => {
                let only_head = request.method == "HEAD";
                self.streams.read(caller, (name, partition), &request.query, is_link, only_head, &self.counters)
            }
            Route::Reader(name, reader) => self.streams.forget(caller, name, reader),
            Route::Metrics => {
                caller.need_to_see_figures(&*self.node)?;
                Ok(Answer::metrics(metrics_text(&self.node.metrics()) + &self.counters.text()))
            }
            health => self.health(health),
        }
    }

    fn health(&self, route: Route<'_>) -> Result<Answer, HttpError> {
        if route == Route::Alive {
            return Ok(Answer::status("alive"));
        }
        if !self.node.ready() {
            let message = "the broker does not accept connections";
            return Err(HttpError::new(503, "not_ready", message, "wait, or see the broker's log"));
        }
        match self.node.hindrance() {
            Some(found) => Err(HttpError::new(503, found.code(), found.to_string(), found.remedy())),
            None => Ok(Answer::status("ready")),
        }
    }
}
