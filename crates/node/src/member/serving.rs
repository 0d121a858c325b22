//! The thread that lets clients in when this node is to serve, and sends them away when it is not.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lapwing_cluster::Ending;

use super::door::{Door, Order};
use super::error::MemberError;
use crate::config::Config;
use crate::extensions::Extensions;
use crate::handle::Handle;
use crate::opened_log::{LogReaders, OpenedLog};

/// How often it is looked whether the node that serves has failed.
const LOOK: Duration = Duration::from_millis(100);
/// How long clients may take to hear that it is over.
const FAREWELL_MAX: Duration = Duration::from_millis(300);

/// What the raft thread has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServingOrder {
    /// Take clients.
    Begin,
    /// Close all clients, at once.
    End(Ending),
    /// The same, and end.
    Stop,
}

/// Makes the user's own code for a serving: each has its own. Or says why it cannot be.
pub type MakeExtensions = Box<dyn FnMut() -> Result<Extensions, String> + Send>;

/// The node that serves, while one does.
#[derive(Clone, Default)]
pub(super) struct Current(Arc<Mutex<Option<Arc<Handle>>>>);

impl Current {
    pub(super) fn get(&self) -> Option<Arc<Handle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, handle: Option<Arc<Handle>>) -> Option<Arc<Handle>> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), handle)
    }
}

/// The thread's state.
pub(super) struct ServingThread {
    pub(super) config: Config,
    pub(super) readers: LogReaders,
    pub(super) door: Door,
    pub(super) make_extensions: MakeExtensions,
    pub(super) current: Current,
    /// Why this node did not serve when it was to, if that was so at the last try.
    pub(super) hindrance: Arc<Mutex<Option<String>>>,
    /// The first thing that has failed.
    pub(super) failure: Arc<Mutex<Option<MemberError>>>,
}

impl ServingThread {
    pub(super) fn run(mut self, orders: &Receiver<ServingOrder>) {
        loop {
            match orders.recv_timeout(LOOK) {
                Ok(ServingOrder::Begin) => self.begin(),
                Ok(ServingOrder::End(ending)) => self.end(ending == Ending::StepDown),
                Ok(ServingOrder::Stop) | Err(RecvTimeoutError::Disconnected) => return self.end(true),
                Err(RecvTimeoutError::Timeout) => self.look(),
            }
        }
    }

    fn begin(&mut self) {
        match self.serve() {
            Ok(handle) => {
                self.hindrance(None);
                drop(self.current.set(Some(Arc::new(handle))));
            }
            Err(why) => {
                // A port that is taken, a file that is missing: another node may serve, and this one tries again later.
                self.hindrance(Some(why));
                self.door.ask(Order::NotServed);
            }
        }
    }

    fn serve(&mut self) -> Result<Handle, String> {
        let extensions = (self.make_extensions)()?;
        let opened = OpenedLog::replicated(self.door.clone(), self.readers.clone(), &self.config);
        let served = Handle::serve(self.config.clone(), Some(opened), extensions);
        served.map_err(|not_served| not_served.close().to_string())
    }

    /// `may_speak`: this node may still say something to its clients.
    fn end(&mut self, may_speak: bool) {
        let Some(handle) = self.current.set(None) else { return };
        if may_speak {
            // Who does not take it in time is cut.
            let _ = handle.drain(FAREWELL_MAX);
        }
        if let Err(error) = handle.stop() {
            self.note(MemberError::Node(error));
        }
        self.door.ask(Order::ServingEnded);
    }

    /// A node that has failed by itself ends the process: its state is unknown.
    fn look(&mut self) {
        let failure = self.current.get().and_then(|handle| handle.failure());
        if let Some(failure) = failure {
            self.note(MemberError::Node(crate::error::NodeError::Failed(failure)));
        }
    }

    fn hindrance(&self, what: Option<String>) {
        *self.hindrance.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }

    fn note(&self, error: MemberError) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}
