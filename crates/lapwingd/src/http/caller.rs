//! Who sent a request, and what that one may do. Whoever may not learns nothing about what exists.

use lapwing_node::{Handle, Right};

use super::error::{HttpError, unauthenticated};
use super::text::quoted;

/// Who knows the rules.
pub(super) trait Rules {
    /// Whether they permit it; `None`: anonymous.
    fn permit(&self, name: Option<&str>, right: Right, what: &str) -> bool;
}

impl Rules for Handle {
    fn permit(&self, name: Option<&str>, right: Right, what: &str) -> bool {
        self.may(name, right, what)
    }
}

/// What decides the rights of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// There are rules, and they decide.
    Ruled,
    /// A user where there are no rules. Over MQTT it may everything then; here nothing, for over HTTP that would be to administer,
    /// and a device's password would be an administrator's.
    WithoutRules,
    /// There are neither users nor rules, and MQTT takes whoever comes: so does HTTP.
    Open,
    /// There are neither users nor rules, and MQTT is guarded by this, which HTTP cannot ask: it serves figures, no more.
    Guarded(&'static str),
}

/// An identity behind a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    /// None: anonymous.
    pub name: Option<String>,
    pub standing: Standing,
}

impl Caller {
    pub(super) fn anonymous(standing: Standing) -> Self {
        Caller { name: None, standing }
    }

    pub(super) fn may_read(&self, rules: &impl Rules, stream: &str) -> bool {
        self.may(rules, Right::Stream, stream)
    }

    pub(super) fn may_administer(&self, rules: &impl Rules) -> bool {
        self.may(rules, Right::Admin, "*")
    }

    /// Whether it may know that the stream exists.
    pub(super) fn may_see(&self, rules: &impl Rules, stream: &str) -> bool {
        self.may_read(rules, stream) || self.may_administer(rules)
    }

    /// # Errors
    /// The same whether there is such a stream or not.
    pub(super) fn need_to_read(&self, rules: &impl Rules, stream: &str) -> Result<(), HttpError> {
        if self.may_read(rules, stream) { Ok(()) } else { Err(self.no_stream(stream)) }
    }

    /// # Errors
    /// The same whether there is such a stream or not.
    pub(super) fn need_to_see(&self, rules: &impl Rules, stream: &str) -> Result<(), HttpError> {
        if self.may_see(rules, stream) { Ok(()) } else { Err(self.no_stream(stream)) }
    }

    /// # Errors
    /// To one who would see no stream whatever streams there were.
    pub(super) fn need_to_list(&self) -> Result<(), HttpError> {
        let is_nobody = self.name.is_none() && self.standing == Standing::Ruled;
        if is_nobody || matches!(self.standing, Standing::WithoutRules | Standing::Guarded(_)) {
            return Err(self.forbidden("see streams", "may = [\"stream\"], streams = [\"*\"]"));
        }
        Ok(())
    }

    /// # Errors
    /// It may not see the counters.
    pub(super) fn need_to_see_figures(&self, rules: &impl Rules) -> Result<(), HttpError> {
        // Where nobody can say who he is, a monitor cannot either; the counters name streams and groups, no client.
        if matches!(self.standing, Standing::Guarded(_)) || self.may(rules, Right::Observe, "*") {
            return Ok(());
        }
        Err(self.forbidden("see this", "may = [\"observe\"]"))
    }

    /// # Errors
    /// It may change nothing.
    pub(super) fn need_to_administer(&self, rules: &impl Rules) -> Result<(), HttpError> {
        if self.may_administer(rules) { Ok(()) } else { Err(self.forbidden("do this", "may = [\"admin\"]")) }
    }

    fn may(&self, rules: &impl Rules, right: Right, what: &str) -> bool {
        match self.standing {
            Standing::Ruled => rules.permit(self.name.as_deref(), right, what),
            standing => standing == Standing::Open,
        }
    }

    fn no_stream(&self, stream: &str) -> HttpError {
        let rule = format!("may = [\"stream\"], streams = [\"{stream}\"]");
        self.forbidden(&format!("read stream {}", quoted(stream)), &rule)
    }

    fn forbidden(&self, what: &str, rule: &str) -> HttpError {
        if let Standing::Guarded(guards) = self.standing {
            let message =
                format!("MQTT is guarded by {guards}, which HTTP cannot ask: it serves health and metrics only");
            let remedy =
                "name users (auth.users) and their rights ([[rules]]); or open it to everybody: http.open = true";
            return HttpError::new(403, "guarded", message, remedy);
        }
        let Some(name) = &self.name else {
            // Somebody with a name might: a client that has one shows it after this answer.
            return unauthenticated("this needs an identity");
        };
        let mut remedy = format!("ask for a rule: [[rules]] identity = \"{name}\", {rule}");
        if self.standing == Standing::WithoutRules {
            remedy += "; there are none, and without rules nobody has rights over HTTP";
        }
        HttpError::new(403, "forbidden", format!("{} may not {what}", quoted(name)), remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Alice reads `readings`, mon sees figures, root administers.
    struct Made;

    impl Rules for Made {
        fn permit(&self, name: Option<&str>, right: Right, what: &str) -> bool {
            match right {
                Right::Stream => name == Some("alice") && what == "readings",
                Right::Observe => matches!(name, Some("mon" | "root")),
                Right::Admin => name == Some("root"),
                _ => panic!("nobody asks for it here"),
            }
        }
    }

    /// What each is answered who asks to read, see, list, see figures, administer.
    fn answers(caller: &Caller) -> [u16; 5] {
        let status = |result: Result<(), HttpError>| result.map_or_else(|error| error.status, |()| 200);
        [
            status(caller.need_to_read(&Made, "readings")),
            status(caller.need_to_see(&Made, "readings")),
            status(caller.need_to_list()),
            status(caller.need_to_see_figures(&Made)),
            status(caller.need_to_administer(&Made)),
        ]
    }

    #[test]
    fn rights_are_asked_one_by_one() {
        let named = |name: &str, standing| Caller { name: Some(name.to_owned()), standing };
        for (caller, expected) in [
            (named("alice", Standing::Ruled), [200, 200, 200, 403, 403]),
            (named("mon", Standing::Ruled), [403, 403, 200, 200, 403]),
            (named("root", Standing::Ruled), [403, 200, 200, 200, 200]),
            (Caller::anonymous(Standing::Ruled), [401, 401, 401, 401, 401]),
            (named("alice", Standing::WithoutRules), [403, 403, 403, 403, 403]),
            (Caller::anonymous(Standing::Open), [200, 200, 200, 200, 200]),
            (Caller::anonymous(Standing::Guarded("hooks")), [403, 403, 403, 200, 403]),
        ] {
            assert_eq!(answers(&caller), expected, "{caller:?}");
        }
    }

    /// Does somebody who may not read a stream learn nothing of it, but how to ask for it?
    #[test]
    fn a_refusal_says_what_to_ask_for() {
        let caller = Caller { name: Some("it's".into()), standing: Standing::Ruled };
        let refused = caller.need_to_read(&Made, "other").expect_err("no rule");
        assert_eq!(refused.message, "\"it's\" may not read stream 'other'");
        assert_eq!(
            refused.remedy,
            "ask for a rule: [[rules]] identity = \"it's\", may = [\"stream\"], streams = [\"other\"]"
        );
    }
}
