//! Limits that contradict each other: each is held against others once the whole configuration is known, with the words of
//! `lapwing broker`. The table is the one in Python (`lapwing.config.limit_pairs`), printed into `model.json`.

mod measure;
mod pair;
#[cfg(test)]
mod rows;
mod topics;
mod values;

use serde_json::Value as Json;

use self::measure::{Measured, measured};
pub(super) use self::pair::Pair;
use self::pair::{BoundRule, Test, When};
pub(super) use self::topics::TopicPlace;
use self::values::{Found, Values, filled, pattern, show_key};
use super::convert::Converted;
use super::model::Model;
use super::places::place;
use super::tree::Table;
use crate::fault::{Fault, Faults};

/// # Errors
/// Every pair that contradicts itself, with where the first was set; `tree`: all layers. What else could be wrong with the table
/// itself (a key that there is not, a name in braces that stands for nothing) a test of all rows rules out.
pub(super) fn check(converted: &Converted, tree: &Table, model: &Model) -> Result<(), Faults> {
    let (values, mut faults) = (Values::of(converted, model)?, Faults::default());
    for pair in &model.limit_pairs {
        let entries = entries(&values, pair);
        let found = entries.iter().filter_map(|entry| judge(&values, tree, pair, entry));
        found.for_each(|fault| faults.push(fault));
    }
    faults.or(())
}

/// What `@` stands for in a row; for a row of no table once, with no name.
fn entries(values: &Values<'_>, pair: &Pair) -> Vec<String> {
    match pair.key.split_once(".@.") {
        Some((table, _)) => values.names(table),
        None => vec![String::new()],
    }
}

fn judge(values: &Values<'_>, tree: &Table, pair: &Pair, entry: &str) -> Option<Fault> {
    let key = filled(&pattern(&pair.key), entry);
    let found = values.one(&key)?;
    let value = found.number()?;
    let is_set = values.default(&key).is_none_or(|default| default != *found.value);
    if (pair.only_set && !is_set) || (value == 0 && pair.zero_is_any) {
        return None;
    }
    let (bound, words) = bound(values, pair, entry)?;
    if if pair.is_floor { value >= bound } else { value <= bound } {
        return None;
    }
    let (limit, change) = match pair.is_floor {
        true => ("must be at least", "raise the first or lower the second"),
        false => ("is above", "lower the first or raise the second"),
    };
    let what = format!("{} = {}", show_key(&key), found.shown());
    let remedy = format!("{limit} {words}: {}; {change}", pair.otherwise);
    Some(Fault::wrong(what, place(tree, &key).unwrap_or_else(|| "default".into()), remedy))
}

/// What a pair is held against, and that in words; None: nothing, or that is off.
fn bound(values: &Values<'_>, pair: &Pair, entry: &str) -> Option<(i128, String)> {
    let rule = pair.bounds.iter().find(|rule| rule.when.iter().all(|when| holds(values, when, entry)))?;
    let measured = measured(values, rule, entry)?;
    Some((come_to(rule, measured.value), words(&rule.words, &measured)))
}

fn come_to(rule: &BoundRule, measured: i128) -> i128 {
    let (product, over) = (measured * rule.times, rule.over);
    let rounded = if rule.rounds_up { -(-product).div_euclid(over) } else { product.div_euclid(over) };
    rounded + rule.plus
}

fn holds(values: &Values<'_>, when: &When, entry: &str) -> bool {
    let found: Vec<Found<'_>> = values.all(&filled(&pattern(&when.key), entry));
    let mut there = found.iter().filter(|found| !is_empty(found.value));
    match when.test {
        Test::Is => there.all(|found| found.value.as_str() == Some(&when.value)) && !found.is_empty(),
        Test::Set => there.next().is_some(),
        Test::Unset => there.next().is_none(),
        Test::AboveZero => there.any(|found| found.number() > Some(0)),
        // A configuration with a bridge is refused.
        Test::OwnBridge => false,
    }
}

fn is_empty(value: &Json) -> bool {
    value.as_str().is_some_and(str::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// `template` with what it names in braces.
fn words(template: &str, measured: &Measured) -> String {
    let mut made = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
        made += before;
        made += &measured.named(name).unwrap_or_else(|| format!("{{{name}}}"));
        rest = after;
    }
    made + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> BoundRule {
        serde_json::from_str(text).expect("a rule")
    }

    /// Is what is over cut off, or one more where that is said?
    #[test]
    fn bounds_are_whole_numbers() {
        let quarter = rule(r#"{"of": "first", "over": 4, "rounds_up": true}"#);
        assert_eq!((come_to(&quarter, 9), come_to(&quarter, 8)), (3, 2));
        let most = rule(r#"{"of": "first", "times": 3, "over": 4, "plus": -1}"#);
        assert_eq!(come_to(&most, i64::MAX.into()), 6_917_529_027_641_081_854);
    }

    /// Is what stands in for a name taken as it is, braces and all?
    #[test]
    fn words_are_filled_in_once() {
        let measured = Measured { value: 3, place: "hold.{value}/#".into(), ..Measured::default() };
        assert_eq!(words("the {value} levels of {where}", &measured), "the 3 levels of hold.{value}/#");
        let parts = Measured { parts: vec!["8".into(), "256B".into()], ..Measured::default() };
        assert_eq!(words("{0} and {1}", &parts), "8 and 256B");
    }
}
