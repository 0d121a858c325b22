//! One broker, from its start to its end: as `lapwing broker`, with the same words.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use lapwing_node::{Entrance, Handle};
use serde_json::json;

use crate::arguments::Arguments;
use crate::configuration::Configuration;
use crate::entrance::exposures;
use crate::fault::{Fault, Faults};
use crate::log::{Log, say};
use crate::reload::{self, counts};
use crate::signals::Signal;
use crate::supervisor::Supervisor;
use crate::{certificates, http, rehearsal, rights, start};

const CERTIFICATES_EVERY: Duration = Duration::from_secs(3_600);
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// By then the threads have found what they rest in, and what led there is not touched again.
const START_IS_OVER: Duration = Duration::from_secs(1);
/// Of a process that a signal has ended.
const ENDED: i32 = 128;

/// Starts a broker, and returns the exit code when it has ended.
///
/// # Errors
/// It could not start, or stopped by itself.
pub(crate) fn serve(
    arguments: &Arguments,
    mut configuration: Configuration,
    received: &Receiver<Signal>,
    log: &Log,
) -> Result<u8, Faults> {
    let mut told = notices(&configuration)?;
    told.iter().for_each(|line| log.notice(line, "start"));
    if arguments.is_check {
        return check(&configuration, arguments.is_running);
    }
    let mut supervisor = Supervisor::of_environment();
    let node = Arc::new(start::start(&configuration.node, log, &supervisor)?);
    node.audit("configured", &counts(&configuration.access).to_string(), None)?;
    tell(&node, log);
    let mut told_of_http = String::new();
    let http = serve_http(&node, &configuration, &mut told_of_http, log)?;
    log.serves();
    if let Err(error) = announce(&node, http.as_ref(), arguments.is_json) {
        // Clients can connect all the same.
        let urls = node.listeners().join(", ");
        log.warning(&format!("standard output takes nothing: {error}; listens at {urls}"));
    }
    supervisor.ready(&format!("listens at {}", node.listeners().join(", ")));
    let mut certificates_at = Instant::now();
    let mut over_at = Some(Instant::now() + START_IS_OVER);
    loop {
        tell(&node, log);
        tell_refusals(http.as_ref(), log);
        if over_at.take_if(|at| *at <= Instant::now()).is_some() {
            give_back_start(log);
        }
        if certificates_at.elapsed() >= CERTIFICATES_EVERY {
            certificates_at = Instant::now();
            tell_new(certificates::notices(&configuration), &mut told, log);
        }
        if node.failure().is_some() {
            // What it says is that failure.
            node.stop()?;
        }
        if node.is_going_on(supervisor.turn()) {
            supervisor.alive();
        }
        match received.recv_timeout(LOOK_EVERY) {
            Ok(Signal::Reload) => {
                supervisor.reloading();
                reload::at_signal(&node, arguments, &mut configuration, &mut told, log);
                if let Some(http) = &http {
                    http.reloaded(configuration.access.has_rules());
                    tell_rights(http, &node, &mut told_of_http, log);
                }
                supervisor.ready("");
            }
            Ok(Signal::End(_)) => break,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Fault::failed("signals are not heard any more", "", "").into());
            }
        }
    }
    tell(&node, log);
    tell_refusals(http.as_ref(), log);
    supervisor.stopping();
    drain(&node, configuration.own.drain, received, log)
}

fn give_back_start(log: &Log) {
    if let Err(error) = lapwing_node::give_back_start() {
        log.warning(&format!("what only the start has read stays in memory: {error}"));
    }
}

/// What there is to say of a configuration.
///
/// # Errors
/// Others may write a file that the broker believes.
pub(crate) fn notices(configuration: &Configuration) -> Result<Vec<String>, Faults> {
    let mut told = exposures(&configuration.node);
    told.extend(rights::look(configuration)?);
    told.extend(certificates::notices(configuration));
    Ok(told)
}

/// What time alone has changed.
fn tell_new(lines: Vec<String>, told: &mut Vec<String>, log: &Log) {
    for line in lines {
        if !told.contains(&line) {
            log.notice(&line, "start");
            told.push(line);
        }
    }
}

fn check(configuration: &Configuration, is_running: bool) -> Result<u8, Faults> {
    let mut faults = Faults::default();
    Handle::listener_faults(&configuration.node).iter().for_each(|fault| faults.push(Fault::of_node(fault)));
    if !is_running {
        faults.add(rehearsal::look(configuration).err().unwrap_or_default());
    }
    faults.or(())?;
    Ok(u8::from(say("the configuration is right\n").is_err()))
}

fn tell(node: &Handle, log: &Log) {
    node.take_log().iter().for_each(|line| log.line(line));
}

/// None: HTTP is off.
///
/// # Errors
/// The address cannot be had.
fn serve_http(
    node: &Arc<Handle>,
    configuration: &Configuration,
    told: &mut String,
    log: &Log,
) -> Result<Option<http::Server>, Faults> {
    let Some(settings) = configuration.http.clone() else { return Ok(None) };
    let guards = Entrance::of(&configuration.node).guards_of_mqtt();
    let server = http::Server::start(settings, node, configuration.access.has_rules(), guards)?;
    tell_rights(&server, node, told, log);
    Ok(Some(server))
}

/// Who may what over HTTP where that may surprise; once, until it is another.
fn tell_rights(http: &http::Server, node: &Handle, told: &mut String, log: &Log) {
    let notice = http.notice(node);
    if !notice.is_empty() && notice != *told {
        log.warning(&notice);
    }
    *told = notice;
}

/// Who was refused over HTTP.
fn tell_refusals(http: Option<&http::Server>, log: &Log) {
    http.iter().flat_map(|http| http.take_lines()).for_each(|line| log.warning(&line));
}

fn announce(node: &Handle, http: Option<&http::Server>, is_json: bool) -> io::Result<()> {
    let mut all: Vec<(&str, String)> = node.listeners().into_iter().map(|url| ("mqtt", url)).collect();
    all.extend(http.map(|http| ("http", http.url().to_owned())));
    let line = |(protocol, url): &(&str, String)| match is_json {
        true => format!("{}\n", json!({"event": "listening", "protocol": protocol, "url": url})),
        false => format!("{protocol} {url}\n"),
    };
    let words: String = all.iter().map(line).collect();
    say(&format!("{words}{}\n", if is_json { json!({"event": "ready"}).to_string() } else { "ready".to_owned() }))
}

/// Lets clients go in order, for at most `wait`; another signal ends the process at once. That is safe: what was acknowledged
/// is on disk already.
fn drain(node: &Handle, wait: Duration, received: &Receiver<Signal>, log: &Log) -> Result<u8, Faults> {
    log.step("draining; a second signal stops at once");
    let (over, ended) = channel();
    std::thread::scope(|scope| {
        let drained = scope.spawn(move || {
            let drained = if wait.is_zero() { Ok(()) } else { node.drain(wait) };
            let stopped = node.stop();
            // Nobody listens any more where the process is on its way out.
            let _ = over.send(());
            drained.and(stopped)
        });
        while ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            if let Ok(Signal::End(number)) = received.recv_timeout(Duration::from_millis(5)) {
                log.step("stopped at once");
                std::process::exit(ENDED + number);
            }
        }
        match drained.join() {
            Ok(result) => result.map(|()| 0).map_err(Faults::from),
            Err(_) => Err(Fault::of_code("defect", "the end of the broker has panicked", "Please report this.").into()),
        }
    })
}
