//! Subscriptions that a change of users and rules has taken back, for the operator.

use serde_json::{Value, json};

use crate::audit::told;

/// So many are named; of the others the number is told.
const NAMED_MAX: usize = 5;

/// What the sessions of one shard have lost.
#[derive(Debug, Default)]
pub(super) struct TakenBack {
    subscriptions: usize,
    clients: usize,
    /// The first of them: client and filter.
    named: Vec<(String, String)>,
}

impl TakenBack {
    /// A client has lost its subscriptions to `filters`.
    pub(super) fn add(&mut self, client_id: &str, filters: &[String]) {
        self.subscriptions += filters.len();
        self.clients += usize::from(!filters.is_empty());
        let left = NAMED_MAX - self.named.len();
        self.named.extend(filters.iter().take(left).map(|filter| (told(client_id), told(filter))));
    }

    /// A line, and what is in it by name; None: nobody has lost anything.
    pub(super) fn line(&self) -> Option<(String, Value)> {
        if self.subscriptions == 0 {
            return None;
        }
        let count = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        let names: Vec<String> =
            self.named.iter().map(|(client_id, filter)| format!("client {client_id:?} {filter:?}")).collect();
        let others = self.subscriptions - names.len();
        let text = format!(
            "users or rules have changed, which takes back {} of {}: {}{}; a right that comes back does not bring them back: \
             their clients have to subscribe again",
            count(self.subscriptions, "subscription"),
            count(self.clients, "client"),
            names.join(", "),
            if others > 0 { format!(" and {others} more") } else { String::new() },
        );
        let named = self.named.iter().map(|(client_id, filter)| json!({"client_id": client_id, "filter": filter}));
        let facts = json!({
            "event": "subscriptions_taken_back", "subscriptions": self.subscriptions, "clients": self.clients,
            "first": named.collect::<Vec<_>>(),
        });
        Some((text, facts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are the first named, and all counted; and is nothing said where nothing was lost?
    #[test]
    fn the_first_are_named_and_all_are_counted() {
        let mut taken_back = TakenBack::default();
        taken_back.add("quiet", &[]);
        assert_eq!(taken_back.line(), None);
        taken_back.add("room", &["alarms/#".to_owned()]);
        let (text, _) = taken_back.line().unwrap();
        assert!(text.contains("takes back 1 subscription of 1 client: client \"room\" \"alarms/#\";"), "{text}");
        taken_back.add("many", &(0..7).map(|n| format!("a/{n}")).collect::<Vec<_>>());
        let (text, facts) = taken_back.line().unwrap();
        assert!(text.contains("8 subscriptions of 2 clients"), "{text}");
        assert!(text.contains("client \"many\" \"a/3\" and 3 more;") && !text.contains("a/4"), "{text}");
        assert_eq!((&facts["subscriptions"], &facts["first"][1]["filter"]), (&json!(8), &json!("a/0")));
        assert_eq!(facts["first"].as_array().unwrap().len(), NAMED_MAX);
    }
}
