//! A run: threads started, everybody ready, go, wait for the last arrival, the figures of all threads added up.

use crate::board::{Board, Progress};
use crate::clock::{MILLISECOND_NS, SECOND_NS, cpu_ns_of, now_ns};
use crate::error::SwarmError;
use crate::files;
use crate::lane::{Lane, clients_in_process, look_up};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::profile::Profile;
use crate::report::Report;
use lapwing_sn::client::{check_publish, settings};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often the coordinator looks once all is sent: the end is part of what is measured.
const LOOK: Duration = Duration::from_millis(2);
/// How often it looks before: each look may interrupt a lane on the same core.
const LOOK_MEANWHILE: Duration = Duration::from_millis(50);
/// From the decision to start to the first message: every thread has seen it by then.
const LEAD_NS: u64 = 20 * MILLISECOND_NS;

/// The part of a run that lives in this process. Dropping it ends it.
pub struct Swarm {
    profile: Arc<Profile>,
    board: Arc<Board>,
    lanes: Vec<JoinHandle<Option<Outcome>>>,
    broker_cpu_ns: Option<u64>,
}

/// Runs `profile` in this process from beginning to end.
///
/// # Errors
/// The settings, the limit of files, or a client that could not come in.
pub fn run(profile: &Profile) -> Result<Report, SwarmError> {
    let mut swarm = Swarm::start(profile.clone())?;
    while !swarm.is_ready()? {
        thread::sleep(LOOK);
    }
    swarm.go(None);
    swarm.wait_for_end(&mut EndWatch::new(profile), Duration::MAX);
    Ok(Report::new(profile, &swarm.finish()?))
}

impl Swarm {
    /// Starts the threads; the clients begin to come in.
    ///
    /// # Errors
    /// `Files`: too many clients for one process; a URL that is none; a CPU that does not exist.
    pub fn start(profile: Profile) -> Result<Self, SwarmError> {
        let target = look_up(&profile.url)?;
        if target.is_sn {
            check_sn(&profile)?;
        } else if profile.sleeps() {
            let remedy = "0: only clients of MQTT-SN sleep (sn://HOST:PORT)".to_owned();
            return Err(SwarmError::Profile { key: "sleep", value: profile.sleep_s.to_string(), remedy });
        }
        let clients = clients_in_process(&profile);
        files::make_room_for(clients)?;
        check_cpus(&profile.pin)?;
        if let Some(pid) = profile.broker_pid.filter(|pid| cpu_ns_of(*pid).is_none()) {
            let remedy = "no such process: give the broker's, or leave it out".to_owned();
            return Err(SwarmError::Profile { key: "broker_pid", value: pid.to_string(), remedy });
        }
        let profile = Arc::new(profile);
        let board = Arc::new(Board::new(profile.threads, clients));
        let mut swarm = Self { profile, board, lanes: Vec::new(), broker_cpu_ns: None };
        for number in 0..swarm.profile.threads {
            let lane = Lane::new(swarm.profile.clone(), swarm.board.clone(), number, target)?;
            swarm.lanes.push(swarm.spawn(lane, number)?);
        }
        Ok(swarm)
    }

    fn spawn(&self, lane: Lane, number: u32) -> Result<JoinHandle<Option<Outcome>>, SwarmError> {
        let board = self.board.clone();
        let pin = &self.profile.pin;
        let cpu = (!pin.is_empty()).then(|| pin[number as usize % pin.len()]);
        let body = move || {
            if let Some(id) = cpu {
                core_affinity::set_for_current(core_affinity::CoreId { id });
            }
            lane.run().map_err(|error| board.fail(error)).ok()
        };
        let thread = thread::Builder::new().name(format!("swarm-{number}")).spawn(body);
        thread.map_err(SwarmError::system("cannot start a thread"))
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.board.progress()
    }

    /// True when every client is connected and subscribed.
    ///
    /// # Errors
    /// The first client that could not come in.
    pub fn is_ready(&mut self) -> Result<bool, SwarmError> {
        if let Some(error) = self.board.take_failure() {
            return Err(error);
        }
        let progress = self.progress();
        Ok(progress.ready == progress.clients)
    }

    /// Lets the messages begin: at `start_ns` of the machine's monotonic clock, or at once.
    pub fn go(&mut self, start_ns: Option<u64>) {
        self.broker_cpu_ns = self.profile.broker_pid.and_then(cpu_ns_of);
        self.board.start_at(start_ns.unwrap_or_else(|| now_ns() + LEAD_NS));
    }

    /// Waits until everything has arrived, or nothing has for a while, but no longer than `timeout`; true when it is over. One
    /// of several processes is over only when it cannot go on.
    pub fn wait_for_end(&self, watch: &mut EndWatch, timeout: Duration) -> bool {
        let began = Instant::now();
        loop {
            let progress = self.progress();
            if self.board.is_stopped() || watch.is_over(&progress, now_ns()) {
                return true;
            }
            let left = timeout.saturating_sub(began.elapsed());
            if left.is_zero() {
                return false;
            }
            thread::sleep(left.min(if progress.publishing > 0 { LOOK_MEANWHILE } else { LOOK }));
        }
    }

    /// Publishes no more; what is under way may still arrive.
    pub fn cancel(&self) {
        self.board.cancel();
    }

    /// Nobody awakes any more, and who is awake may take what waits: an end is no reason not to have got it.
    fn let_sleep(&self) {
        self.board.let_sleep();
        let deadline = Instant::now() + Duration::from_secs_f64(self.profile.drain_s);
        // A thread that has not seen it yet may wake one more.
        thread::sleep(Duration::from_nanos(LEAD_NS));
        while self.progress().awake > 0 && !self.board.is_stopped() && Instant::now() < deadline {
            thread::sleep(LOOK);
        }
    }

    /// Ends the run and gives its raw figures.
    ///
    /// # Errors
    /// A client that could not come in, or a thread that could not go on.
    pub fn finish(mut self) -> Result<Outcome, SwarmError> {
        let broker_cpu_ns = self.profile.broker_pid.and_then(cpu_ns_of);
        if self.profile.sleeps() {
            self.let_sleep();
        }
        self.board.stop();
        let mut outcome = Outcome::default();
        let mut panicked = false;
        for lane in self.lanes.drain(..) {
            match lane.join() {
                Ok(part) => part.iter().for_each(|part| outcome.merge(part)),
                Err(_) => panicked = true,
            }
        }
        if let Some(error) = self.board.take_failure() {
            return Err(error);
        }
        outcome.broker_cpu_ns = broker_cpu_ns.zip(self.broker_cpu_ns).map(|(after, before)| after - before);
        if panicked { Err(SwarmError::Panicked) } else { Ok(outcome) }
    }
}

impl Drop for Swarm {
    fn drop(&mut self) {
        self.board.stop();
        for lane in self.lanes.drain(..) {
            // Whoever drops a run does not ask for its outcome.
            let _ = lane.join();
        }
    }
}

/// Decides when a run in one process is over. Of several processes none knows what the others still send: there the
/// parent decides, from the sum of all.
pub struct EndWatch {
    decides: bool,
    silence_ns: u64,
    heard: (u64, u64, u64),
    since_ns: u64,
}

impl EndWatch {
    /// For the run of `profile`.
    pub fn new(profile: &Profile) -> Self {
        // Everybody has slept and awoken once more by then.
        let silence_s = profile.drain_s + 2.0 * profile.sleep_s;
        let silence_ns = (silence_s * SECOND_NS as f64) as u64;
        Self { decides: profile.workers == 1, silence_ns, heard: (0, 0, 0), since_ns: 0 }
    }

    /// True when all has arrived and been answered and who sleeps does, or nothing has happened for the drain time after
    /// the last message; with several processes never.
    pub fn is_over(&mut self, progress: &Progress, now_ns: u64) -> bool {
        let heard = (progress.delivered, progress.answered, progress.sent);
        // While somebody publishes silence does not count: the drain is a time after the last message.
        if progress.publishing > 0 || heard != self.heard || self.since_ns == 0 {
            (self.heard, self.since_ns) = (heard, now_ns);
        }
        let all =
            progress.delivered >= progress.expected && progress.answered >= progress.owed && progress.waiting == 0;
        let is_asleep = progress.awake == 0;
        let silent = now_ns - self.since_ns >= self.silence_ns;
        self.decides && progress.publishing == 0 && (silent || (all && is_asleep))
    }
}

/// What MQTT-SN cannot carry, before anybody connects.
fn check_sn(profile: &Profile) -> Result<(), SwarmError> {
    if profile.version().has_properties() {
        let remedy = "4: MQTT-SN carries what MQTT 3.1.1 says".to_owned();
        return Err(SwarmError::Profile { key: "version", value: profile.version.to_string(), remedy });
    }
    let topic = Plan::new(profile).topic(profile.publishers.saturating_sub(1));
    let payload = vec![0; profile.payload_bytes as usize];
    check_publish(&topic, &payload, &settings().limits).map_err(|unfit| {
        let (value, remedy) = (profile.payload_bytes.to_string(), unfit.to_string());
        SwarmError::Profile { key: "payload", value, remedy }
    })
}

fn check_cpus(pin: &[usize]) -> Result<(), SwarmError> {
    let known = core_affinity::get_core_ids().unwrap_or_default();
    match pin.iter().find(|cpu| !known.iter().any(|id| id.id == **cpu)) {
        None => Ok(()),
        Some(cpu) => {
            let remedy = format!("one of the {} CPUs this process may use", known.len());
            Err(SwarmError::Profile { key: "pin", value: cpu.to_string(), remedy })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(more: &str) -> Result<EndWatch, SwarmError> {
        let json = format!(r#"{{"url": "h", "prefix": "x", "pattern": "p2p", "drain_s": 5 {more}}}"#);
        Ok(EndWatch::new(&Profile::from_json(&json)?))
    }

    fn progress(publishing: u64, delivered: u64) -> Progress {
        Progress { publishing, sent: 9, expected: 9, delivered, ..Progress::default() }
    }

    /// A broker that stands still while the last messages go: has it the whole drain time after them?
    #[test]
    fn the_drain_begins_after_the_last_message() -> Result<(), SwarmError> {
        let mut watch = watch("")?;
        for second in 1..=60 {
            assert!(!watch.is_over(&progress(1, 3), second * SECOND_NS));
        }
        for second in 61..65 {
            assert!(!watch.is_over(&progress(0, 3), second * SECOND_NS), "{second}");
        }
        assert!(watch.is_over(&progress(0, 3), 65 * SECOND_NS));
        Ok(())
    }

    /// One of several processes that sends nothing and hears nothing, while others may: does it not end by itself?
    #[test]
    fn one_of_several_processes_decides_no_end() -> Result<(), SwarmError> {
        let mut watch = watch(r#", "publishers": 2, "workers": 2, "worker": 1"#)?;
        for second in 1..=60 {
            assert!(!watch.is_over(&progress(0, 9), second * SECOND_NS));
        }
        Ok(())
    }

    /// Does an arrival begin the drain anew, and the last one end the run at once?
    #[test]
    fn the_last_arrival_is_the_end() -> Result<(), SwarmError> {
        let mut watch = watch("")?;
        for (second, delivered) in [(1, 3), (5, 4), (9, 5)] {
            assert!(!watch.is_over(&progress(0, delivered), second * SECOND_NS));
        }
        assert!(watch.is_over(&progress(0, 9), 10 * SECOND_NS));
        Ok(())
    }
}
