//! `Node`: a broker in this process.

mod answers;
mod life;
pub(crate) mod member;
mod state;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lapwing_node::{
    ClusterTable, Config, GroupQuery, HttpClaim, Identified, NodeError, ReadBy, SessionOrder, SessionQuery,
    StartProgress, StreamReadError,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use self::answers::{AnswerRow, Answers, row};
use self::life::extensions_of;
use self::member::{MemberPlan, standby_words};
use self::state::State;
use crate::core_error::core_error;

/// A named reader, as a tuple: name, time of its last read, position per partition.
type ReaderRow = (String, i64, Vec<(u32, u64)>);
/// A session, its subscriptions, and what waits for it, each as JSON.
type ShownRow = (String, Vec<String>, Vec<String>);
/// Address, user name, wrong passwords, seconds that are left.
type BanRow = (String, Option<String>, u32, u64);
/// Subject, whether it is an alarm, words, and what is in them by name, as JSON.
type TakenLine = (&'static str, bool, String, Option<String>);

/// A broker node. Made from a configuration, then started once, then stopped once.
///
/// The lock is held only to look at the state: a long call (drain, a read) must not keep `ready` waiting.
#[pyclass(module = "lapwing._core", frozen)]
pub(crate) struct Node {
    state: Mutex<State>,
    /// Beside the lock, which a start holds.
    progress: Arc<StartProgress>,
    answers: Answers,
    /// A member of a cluster, with an audit trail.
    is_trail_member: bool,
}

#[pymethods]
impl Node {
    /// Reads and checks the configuration; nothing is opened yet. `hooks`: a `Dispatcher`; `strategies`: a `Chooser` for
    /// each `use`; `cluster_json`: the table `[cluster]` of a member.
    #[new]
    #[pyo3(signature = (config_json, hooks=None, strategies=None, cluster_json=None))]
    fn new(
        py: Python<'_>,
        config_json: &str,
        hooks: Option<&Bound<'_, PyAny>>,
        strategies: Option<BTreeMap<String, Bound<'_, PyAny>>>,
        cluster_json: Option<&str>,
    ) -> PyResult<Self> {
        let config = Config::from_json(config_json).map_err(|error| node_error(py, &error))?;
        let strategies = strategies.unwrap_or_default();
        let table = cluster_json.map(ClusterTable::from_json).transpose().map_err(|error| node_error(py, &error))?;
        let plan = table.map(|table| Box::new(MemberPlan::new(table, hooks, &strategies)));
        let extensions = extensions_of(hooks, strategies)?;
        let progress = Arc::clone(&extensions.progress);
        let is_trail_member = plan.is_some() && config.audit.file.is_some();
        let state = Mutex::new(State::Configured(Box::new(config), extensions, plan));
        Ok(Node { state, progress, answers: Answers::default(), is_trail_member })
    }

    /// What a start would refuse of the listeners' settings and files: for each what is wrong, and what to do.
    fn listener_faults(&self, py: Python<'_>) -> Vec<(String, String)> {
        let config = match &*self.lock() {
            State::Configured(config, ..) => (**config).clone(),
            _ => return Vec::new(),
        };
        let faults = py.detach(|| lapwing_node::Handle::listener_faults(&config));
        faults.iter().map(|fault| (fault.to_string(), fault.remedy())).collect()
    }

    /// Opens the log and the listeners and starts the threads; ready on return. `on_bound` is called without arguments, on
    /// this thread, once every port is bound and before anybody can connect; what it raises ends the start.
    #[pyo3(signature = (on_bound=None))]
    fn start(&self, py: Python<'_>, on_bound: Option<Py<PyAny>>) -> PyResult<()> {
        self.begin(py, on_bound)
    }

    /// Bytes of the log that a start has read, and how many it has to read in all; to be asked while it is under way.
    fn start_progress(&self) -> (u64, u64) {
        self.progress.bytes()
    }

    /// The addresses that clients connect to, with their real ports.
    fn listeners(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.running(py, |handle| handle.listeners())
    }

    /// Has an event written into the audit trail, if there is one; `refusal`: it has the rate of that kind of refusal. A node of
    /// a cluster that stands by has none.
    #[pyo3(signature = (name, fields_json, refusal=None))]
    fn audit(&self, py: Python<'_>, name: &str, fields_json: &str, refusal: Option<&str>) -> PyResult<()> {
        let written = self.running_or(py, Ok(()), |handle| handle.audit(name, fields_json, refusal))?;
        written.map_err(|error| node_error(py, &error))
    }

    /// Who sends a request over HTTP, with this password or token: `("known", name, seconds)`, which is as good for so long;
    /// or `("wrong" | "barred" | "busy" | "unavailable", "", 0.0)`. As a CONNECT would, and as long: where it takes work, `None`,
    /// and `then` is called with these three, once, on another thread.
    fn identify(
        &self,
        py: Python<'_>,
        username: Option<&str>,
        password: &[u8],
        address: &str,
        listener: &str,
        then: Py<PyAny>,
    ) -> PyResult<Option<AnswerRow>> {
        if self.member().is_some_and(|member| member.serving().is_none()) {
            return Ok(Some(row(Identified::Unavailable)));
        }
        let answers = self.answers.sender()?;
        let claim = HttpClaim { username, password, address, listener };
        // The thread at the other end ends only with Python, and then nobody waits.
        let tell = move |identified| drop(answers.send((then, identified)));
        Ok(self.running(py, |handle| handle.identify(claim, tell))?.map(row))
    }

    /// Answers of stream reads take up so many bytes more, or less; false: memory is above `memory_high_bytes`.
    fn hold_reads(&self, py: Python<'_>, delta: i64) -> bool {
        let held = self.running(py, |handle| {
            handle.hold_reads(delta);
            !handle.is_memory_high()
        });
        held.unwrap_or(true)
    }

    /// Whether there is an audit trail.
    fn is_audited(&self, py: Python<'_>) -> bool {
        // A member has one while it serves.
        self.is_trail_member || self.running(py, |handle| handle.is_audited()).unwrap_or(false)
    }

    /// Takes over what is read again, all of it or on an error nothing; returns for how many listeners that were certificates.
    fn reload(&self, py: Python<'_>, reload_json: &str) -> PyResult<usize> {
        // Who stands by reads them when it serves.
        self.running_or(py, Ok(0), |handle| handle.reload(reload_json))?.map_err(|error| node_error(py, &error))
    }

    /// True while the node accepts connections and has not failed.
    fn ready(&self, py: Python<'_>) -> bool {
        self.running(py, |handle| handle.ready()).unwrap_or(false)
    }

    /// What keeps a node that runs from serving: a word, what, what to do.
    fn hindrance(&self, py: Python<'_>) -> Option<(&'static str, String, String)> {
        if let Some(member) = self.member().filter(|member| member.serving().is_none()) {
            let (what, remedy) = py.detach(|| standby_words(&member));
            return Some(("standby", what, remedy));
        }
        let found = self.running(py, |handle| handle.hindrance()).unwrap_or(None);
        found.map(|hindrance| (hindrance.code(), hindrance.to_string(), hindrance.remedy().to_owned()))
    }

    /// Whether its threads go on: each has turned within so many seconds, the log's within `limits.stuck_after`.
    fn is_going_on(&self, py: Python<'_>, within_s: f64) -> PyResult<bool> {
        let within = Duration::try_from_secs_f64(within_s).map_err(|error| PyValueError::new_err(error.to_string()))?;
        // The other threads of a member answer for themselves.
        let is_member_on = self.member().is_none_or(|member| py.detach(|| member.status().is_ok()));
        Ok(is_member_on && self.running_or(py, true, |handle| handle.is_going_on(within))?)
    }

    /// Times that the disk was asked to keep what had come, and the microseconds that took.
    fn disk_syncs(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        self.running_or(py, (0, 0), |handle| handle.disk_syncs())
    }

    /// Raises the error that stopped the node by itself, if one did.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(failure) = self.member().and_then(|member| member.failure()) {
            return Err(core_error(py, failure.code, &failure.message, &failure.remedy, &[]));
        }
        match self.running_or(py, None, |handle| handle.failure())? {
            None => Ok(()),
            Some(failure) => Err(core_error(py, failure.code, &failure.message, &failure.remedy, &[])),
        }
    }

    /// Counters in the text format of Prometheus.
    fn metrics_text(&self, py: Python<'_>) -> PyResult<String> {
        let mut metrics = self.running_or(py, Vec::new(), |handle| handle.metrics())?;
        metrics.extend(self.as_member(py, |member| member.metrics())?.unwrap_or_default());
        Ok(lapwing_node::metrics_text(&metrics))
    }

    /// Where a member of a cluster stands, as JSON; None for a node on its own.
    fn cluster_json(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let status = self.as_member(py, |member| Ok((member.status()?, member.hindrance())))?;
        let Some((status, hindrance)) = status else { return Ok(None) };
        let text = serde_json::to_string(&member::Shown { status, hindrance });
        text.map(Some).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Where other nodes reach a member of a cluster, with its real port; None for a node on its own.
    fn peer_address(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.as_member(py, |member| Ok(member.address().to_string()))
    }

    /// Makes a token, by which one node joins within an hour; None for a node on its own.
    fn make_token(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.as_member(py, lapwing_node::Member::make_token)?.map(|token| token.to_text()))
    }

    /// Takes a node out of the cluster for ever, by its number; False for a node on its own.
    fn remove_member(&self, py: Python<'_>, node: u8) -> PyResult<bool> {
        Ok(self.as_member(py, |member| member.remove(node))?.is_some())
    }

    /// Lets another node of the cluster serve, by its number or whichever is furthest; False for a node on its own.
    #[pyo3(signature = (to=None))]
    fn step_down(&self, py: Python<'_>, to: Option<u8>) -> PyResult<bool> {
        Ok(self.as_member(py, |member| member.step_down(to))?.is_some())
    }

    /// Every stream as JSON: `{"streams": [...]}`.
    fn streams_json(&self, py: Python<'_>) -> PyResult<String> {
        self.running(py, |handle| handle.streams_json())
    }

    /// A page of consumer groups, by name and filter: each as JSON, how many there are, and behind which the next page begins.
    #[pyo3(signature = (name, after, limit, bytes_max))]
    fn groups(
        &self,
        py: Python<'_>,
        name: Option<String>,
        after: Option<String>,
        limit: usize,
        bytes_max: usize,
    ) -> PyResult<(Vec<String>, u64, Option<String>)> {
        let query = GroupQuery { name, after, limit, bytes_max };
        let page = self.running(py, |handle| handle.groups(query))?.map_err(|error| node_error(py, &error))?;
        Ok((page.groups, page.matching, page.next))
    }

    /// The tables of consumer groups now in force, as JSON.
    fn group_settings_json(&self, py: Python<'_>) -> PyResult<String> {
        self.running(py, |handle| handle.group_settings_json())
    }

    /// Takes or replaces the table of a share name while the node runs; on an error nothing changes.
    fn put_group(&self, py: Python<'_>, name: &str, group_json: &str) -> PyResult<()> {
        self.running(py, |handle| handle.put_group(name, group_json))?.map_err(|error| node_error(py, &error))
    }

    /// Takes the table of a share name out; false when there was none.
    fn remove_group(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.running(py, |handle| handle.remove_group(name))?.map_err(|error| node_error(py, &error))
    }

    /// A page of sessions, each as JSON, and as JSON what there is beside them. `connected`: with or without a connection; `waiting`: only those for whom messages wait;
    /// `longest`: by "messages" or "bytes" that wait, the most first, and not by client id.
    #[pyo3(signature = (prefix, after, connected, waiting, longest, limit))]
    #[allow(clippy::too_many_arguments, reason = "the parameters of one HTTP request")]
    fn sessions(
        &self,
        py: Python<'_>,
        prefix: String,
        after: Option<String>,
        connected: Option<bool>,
        waiting: bool,
        longest: Option<&str>,
        limit: usize,
    ) -> PyResult<(Vec<String>, String)> {
        let order = match longest {
            None => SessionOrder::ClientId,
            Some(name) => SessionOrder::from_name(name).ok_or_else(|| {
                let message = format!("a queue is not measured in {name:?}");
                core_error(py, "config", &message, "Say messages or bytes.", &[])
            })?,
        };
        let query = SessionQuery { prefix, after, connected, waiting, order, limit };
        let list = self.running(py, |handle| handle.sessions(query))?.map_err(|error| node_error(py, &error))?;
        Ok((list.sessions, list.rest))
    }

    /// One session, its subscriptions, and the first `queued_max` messages of its queue, each as JSON; None: there is none of
    /// this client id.
    fn session(&self, py: Python<'_>, client_id: &str, queued_max: usize) -> PyResult<Option<ShownRow>> {
        let shown = self.running(py, |handle| handle.session(client_id, queued_max))?;
        let shown = shown.map_err(|error| node_error(py, &error))?;
        Ok(shown.map(|shown| (shown.session, shown.subscribed, shown.queue)))
    }

    /// Ends a session and its connection; false when there was none. On disk it has ended on return.
    fn end_session(&self, py: Python<'_>, client_id: &str) -> PyResult<bool> {
        self.running(py, |handle| handle.end_session(client_id))?.map_err(|error| node_error(py, &error))
    }

    /// Ends a client's connection and leaves its session; false when there was no such connection.
    fn kick_client(&self, py: Python<'_>, client_id: &str) -> PyResult<bool> {
        self.running(py, |handle| handle.kick_client(client_id))?.map_err(|error| node_error(py, &error))
    }

    /// Drops what waits for a session: (messages, bytes); None when there is no such session. On disk it is gone on return.
    fn empty_queue(&self, py: Python<'_>, client_id: &str) -> PyResult<Option<(u64, u64)>> {
        let emptied = self.running(py, |handle| handle.empty_queue(client_id))?.map_err(|error| node_error(py, &error));
        Ok(emptied?.map(|emptied| (emptied.messages, emptied.bytes)))
    }

    /// Addresses and user names that may not log in for now: (address, name or None, wrong passwords, seconds).
    fn bans(&self, py: Python<'_>) -> PyResult<Vec<BanRow>> {
        let bans = self.running(py, |handle| handle.bans())?.map_err(|error| node_error(py, &error))?;
        Ok(bans.into_iter().map(|ban| (ban.address, ban.user, ban.failures, ban.ends_in_s)).collect())
    }

    /// Lets an address or a user name log in again; how many bans that were.
    fn lift_bans(&self, py: Python<'_>, address_or_name: &str) -> PyResult<u64> {
        self.running(py, |handle| handle.lift_bans(address_or_name))?.map_err(|error| node_error(py, &error))
    }

    /// What the log has to tell an operator since the last call: recovery, alarms of retention.
    fn take_notices(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.running_or(py, Vec::new(), |handle| handle.take_notices())
    }

    /// The same with what each line is about, whether that is an alarm, and what is in it by name (JSON), and with who came
    /// and went.
    fn take_log(&self, py: Python<'_>) -> PyResult<Vec<TakenLine>> {
        let lines = self.running_or(py, Vec::new(), |handle| handle.take_log())?;
        Ok(lines.into_iter().map(|line| (line.subject, line.is_alarm, line.text, line.facts)).collect())
    }

    /// Messages of a partition as an Arrow IPC stream: `(ipc, first_offset, next_offset, end_offset)`.
    #[pyo3(signature = (name, partition, offset_from, messages_max, bytes_max, reader=None, owner=None, overrides=true))]
    #[allow(clippy::too_many_arguments, reason = "the arguments of one HTTP request")]
    fn read_stream<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        partition: u32,
        offset_from: u64,
        messages_max: u64,
        bytes_max: u64,
        reader: Option<&str>,
        owner: Option<&str>,
        overrides: bool,
    ) -> PyResult<(Bound<'py, PyBytes>, u64, u64, u64)> {
        let streams = self.running(py, |handle| handle.streams())?;
        let reader = reader.map(|name| ReadBy { name, owner, overrides });
        let read = py.detach(|| streams.read_arrow(name, partition, offset_from, messages_max, bytes_max, reader));
        let read = read.map_err(|error| stream_error(py, &error))?;
        Ok((PyBytes::new(py, &read.ipc), read.first_offset, read.next_offset, read.end_offset))
    }

    /// Forgets the position of a stream's named reader; false when there was none.
    fn forget_reader(&self, py: Python<'_>, name: &str, reader: &str) -> PyResult<bool> {
        let streams = self.running(py, |handle| handle.streams())?;
        streams.forget_reader(name, reader).map_err(|error| stream_error(py, &error))
    }

    /// A stream's named readers: name, when it read last (milliseconds since the epoch), (partition, offset) pairs.
    fn readers(&self, py: Python<'_>, name: &str) -> PyResult<Vec<ReaderRow>> {
        let streams = self.running(py, |handle| handle.streams())?;
        let readers = streams.readers(name).map_err(|error| stream_error(py, &error))?;
        Ok(readers.into_iter().map(|reader| (reader.name, reader.seen_at_ms, reader.positions)).collect())
    }

    /// Stops accepting, lets clients go in order, commits what waits.
    fn drain(&self, py: Python<'_>, timeout_s: f64) -> PyResult<()> {
        let timeout = Duration::try_from_secs_f64(timeout_s.max(0.0)).unwrap_or(Duration::MAX);
        self.running_or(py, Ok(()), |handle| handle.drain(timeout))?.map_err(|error| node_error(py, &error))
    }

    /// Ends all threads and closes the log. Does nothing when the node does not run.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py)
    }
}

fn node_error(py: Python<'_>, error: &NodeError) -> PyErr {
    core_error(py, error.code(), &error.to_string(), &error.remedy(), &[])
}

fn stream_error(py: Python<'_>, error: &StreamReadError) -> PyErr {
    core_error(py, error.code(), &error.to_string(), error.remedy(), &error.evidence())
}

/// Unmaps what only the start of this program has read of it and its libraries; what is touched again comes back from the
/// page cache.
#[pyfunction]
pub(crate) fn give_back_start() -> PyResult<()> {
    Ok(lapwing_node::give_back_start()?)
}
