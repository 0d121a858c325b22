//! Rules that a token (or a check elsewhere) brings for its bearer alone: the language of the operator's rules, without identity.

use serde::Deserialize;
use serde_json::Value;

use crate::{Effect, Right, RuleConfig, Rules};

/// Rules of one bearer.
const RULES_MAX: usize = 64;
/// Topic filters in all of them.
const TOPICS_MAX: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnRule {
    may: Vec<Right>,
    topics: Vec<String>,
    #[serde(default)]
    groups: Option<Vec<String>>,
    #[serde(default)]
    effect: Effect,
}

/// The rules in `value`, a list of tables with `may`, `topics`, `groups`, `effect`; `None`: they are not of that form, ask for
/// more than to publish and subscribe, or are too many.
pub(crate) fn rules_of(value: &Value) -> Option<Rules> {
    let rules: Vec<OwnRule> = Vec::deserialize(value).ok()?;
    let topics = rules.iter().map(|rule| rule.topics.len() + rule.groups.as_ref().map_or(0, Vec::len)).sum::<usize>();
    let is_modest = |rule: &OwnRule| rule.may.iter().all(|right| matches!(right, Right::Publish | Right::Subscribe));
    if rules.len() > RULES_MAX || topics > TOPICS_MAX || !rules.iter().all(is_modest) {
        return None;
    }
    let rule = |OwnRule { may, topics, groups, effect }| RuleConfig {
        // Asked only for whom they are.
        identity: "*".into(),
        may,
        topics,
        streams: Vec::new(),
        groups,
        client_ids: Vec::new(),
        effect,
    };
    Rules::new(&rules.into_iter().map(rule).collect::<Vec<_>>()).ok()
}
