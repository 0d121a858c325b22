//! What a shard does about a packet that a hook has judged.

use std::sync::Arc;

use lapwing_codec::{Limits, ReasonCode, SubscriptionOptions};

use super::{Changed, HookAnswer, HookName};

/// A hook's answer, checked; or why there is none.
#[derive(Debug)]
pub(crate) enum Verdict {
    Pass,
    Refuse {
        reason: ReasonCode,
        text: Option<Box<str>>,
    },
    Admit(Option<Arc<str>>),
    Change(Box<Changed>),
    Grant(SubscriptionOptions),
    Continue(Option<Box<[u8]>>),
    Success {
        data: Option<Box<[u8]>>,
        identity: Option<Arc<str>>,
    },
    /// No answer: the declared policy says what happens.
    Missing(Missing),
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The hook raised, panicked, or answered what cannot be.
    Failed,
    /// The answer was not there in time.
    Late,
    /// The queue was full: the hook was never asked.
    QueueFull,
}

impl Verdict {
    /// Checks `answer` to a call of `hook`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn of(answer: HookAnswer, hook: HookName, limits: &Limits) -> Result<Self, &'static str> {
        if !answer.suits(hook) {
            return Err("an answer that this hook cannot give, or a reason code that its packet cannot carry");
        }
        let checked = |identity: Option<Box<str>>| match identity {
            Some(name) if name.is_empty() => Err("an empty identity"),
            identity => Ok(identity.map(Arc::from)),
        };
        Ok(match answer {
            HookAnswer::Pass => Verdict::Pass,
            HookAnswer::Refuse { reason, text } => Verdict::Refuse { reason, text: text.map(without_null) },
            HookAnswer::Admit(identity) => Verdict::Admit(checked(identity)?),
            HookAnswer::Change(message) => Verdict::Change(Box::new(Changed::check(*message, limits)?)),
            HookAnswer::Grant(options) => Verdict::Grant(options),
            HookAnswer::Continue(data) => Verdict::Continue(data),
            HookAnswer::Success { data, identity } => Verdict::Success { data, identity: checked(identity)? },
            HookAnswer::Failed => Verdict::Missing(Missing::Failed),
        })
    }
}

/// No string of MQTT has U+0000 [MQTT-1.5.4-2]. A hook's words are mended, not refused: the refusal must not fail with them.
fn without_null(text: Box<str>) -> Box<str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a refusal stay one whose words no packet can have, and are its words such that one can?
    #[test]
    fn words_of_a_refusal_are_mended() {
        let answer = HookAnswer::Refuse { reason: ReasonCode::PayloadFormatInvalid, text: Some("a\0b".into()) };
        let verdict = Verdict::of(answer, HookName::Publish, &Limits::PROTOCOL);
        let Ok(Verdict::Refuse { text: Some(text), .. }) = verdict else { panic!("{verdict:?}") };
        assert_eq!(&*text, "a\u{fffd}b");
    }
}
