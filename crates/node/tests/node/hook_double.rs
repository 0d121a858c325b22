//! Hooks made of a closure, and a gate that lets a test decide when they go on.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use lapwing_node::{
    Extensions, Handle, HookAnswer, HookCall, HookFailure, HookMessage, HookName, Hooks, HooksConfig, Interests,
};

type Answer = Box<dyn FnMut(&HookCall) -> HookAnswer + Send>;

/// Answers each call with a closure.
pub struct Double {
    interests: Interests,
    answer: Answer,
}

impl Double {
    pub fn new(hooks: &[HookName], answer: impl FnMut(&HookCall) -> HookAnswer + Send + 'static) -> Box<Self> {
        Box::new(Double { interests: hooks.iter().copied().collect(), answer: Box::new(answer) })
    }
}

impl Hooks for Double {
    fn interests(&self) -> Interests {
        self.interests
    }

    fn call(&mut self, calls: &[HookCall]) -> Result<Vec<HookAnswer>, HookFailure> {
        Ok(calls.iter().map(|call| (self.answer)(call)).collect())
    }
}

/// A node with hooks, which have all the time that they need where `json` says nothing else.
pub fn node(json: &str, hooks: Box<dyn Hooks>) -> Handle {
    let mut config = crate::config(json);
    if config.hooks.timeout_ms == HooksConfig::default().timeout_ms {
        config.hooks.timeout_ms = 60_000;
    }
    Handle::start_with(config, Extensions { hooks: Some(hooks), ..Extensions::default() }).expect("the node starts")
}

/// The message of a call of `on_publish`.
pub fn message(call: &HookCall) -> &HookMessage {
    match call {
        HookCall::Publish { message, .. } => message,
        other => panic!("not on_publish: {other:?}"),
    }
}

/// Closed, it stops whoever comes through; opened, it lets everybody pass.
#[derive(Clone, Default)]
pub struct Barrier(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    is_open: bool,
    waiting: usize,
}

impl Barrier {
    /// Waits here until the barrier is opened.
    pub fn pass(&self) {
        let mut state = self.0.0.lock().unwrap();
        state.waiting += 1;
        self.0.1.notify_all();
        while !state.is_open {
            state = self.0.1.wait(state).unwrap();
        }
    }

    pub fn open(&self) {
        self.0.0.lock().unwrap().is_open = true;
        self.0.1.notify_all();
    }

    /// Waits until somebody has come.
    pub fn somebody_waits(&self) {
        let state = self.0.0.lock().unwrap();
        let (state, _) =
            self.0.1.wait_timeout_while(state, Duration::from_secs(10), |state| state.waiting == 0).unwrap();
        assert!(state.waiting > 0, "nobody came within ten seconds");
    }
}
