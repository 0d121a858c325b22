//! QoS 2 over a crash, and QoS 1 beside it: a kept session, the logs of its facts, a client that remembers, and a power cut
//! anywhere between.
//!
//! The four rules, each of which is also broken on purpose to see that somebody notices:
//! 1. PUBREC follows the durable message; from where that lies it is known again that it was taken.
//! 2. PUBCOMP follows the durable release.
//! 3. PUBLISH follows the durable packet id.
//! 4. PUBREL follows the durable receipt of PUBREC.
//!
//! And a fifth, for these on the next connection and for DUP of QoS 1: what a client hears that comes back follows the durable word
//! that it is here.

mod book;
mod broker;
mod device;
mod ledger;
mod log;
mod world;

use lapwing_codec::{QoS, Version};
use proptest::prelude::*;

use broker::Rule;
use world::{Event, World};

const QOS1: QoS = QoS::AtLeastOnce;
const QOS2: QoS = QoS::ExactlyOnce;

/// How much of what was not synced a crash leaves, per log: nothing, one record, two, all of it.
const CUTS: [usize; 4] = [0, 1, 2, usize::MAX];

/// One step after the other, so that a crash can come between any two of them.
fn script(messages: &[Event]) -> Vec<Event> {
    let round = [
        Event::Forth,
        Event::Back,
        Event::Commit(0, 1),
        Event::Commit(1, 1),
        Event::Forth,
        Event::Commit(2, 1),
        Event::Back,
    ];
    let rounds = round.iter().cycle().take(round.len() * 9);
    messages.iter().chain(rounds).copied().collect()
}

/// The same in the other order: the logs first, the network when all is durable.
fn eager_script(messages: &[Event]) -> Vec<Event> {
    let round = [Event::Commit(2, 9), Event::Commit(1, 9), Event::Commit(0, 9), Event::Forth, Event::Back];
    let one_by_one = messages.iter().flat_map(|message| [*message].into_iter().chain(round));
    one_by_one.chain(round.iter().cycle().take(round.len() * 8).copied()).collect()
}

/// The broker crashes after each step of `script`, each time with each cut, and with `again` once more while the client comes
/// back; returns the first thing that was wrong.
fn first_wrong(version: Version, script: &[Event], broken: Option<Rule>, again: &[Event]) -> Option<String> {
    for at in 0..=script.len() {
        for cuts in CUTS.iter().flat_map(|a| CUTS.iter().flat_map(move |b| CUTS.iter().map(move |c| [*a, *b, *c]))) {
            for is_paged in [false, true] {
                let world = World::new(version, broken);
                let mut world = if is_paged { world.paged() } else { world };
                let crash = [Event::Crash(cuts)];
                let events = script[..at].iter().chain(&crash).chain(again).chain(&script[at..]);
                let told: Result<(), String> = events.copied().try_for_each(|event| world.apply(event));
                if let Err(wrong) = told.and_then(|()| world.settle()).and_then(|()| world.judge()) {
                    return Some(format!("{version:?}, crash after step {at} with {cuts:?}, {is_paged}: {wrong}"));
                }
            }
        }
    }
    None
}

/// What crosses in both directions, in several orders.
fn scripts() -> Vec<Vec<Event>> {
    let out = [Event::Publish(QOS2), Event::Publish(QOS1), Event::Publish(QOS2)];
    let inward = [Event::Send(QOS2), Event::Send(QOS2), Event::Send(QOS1), Event::Send(QOS2)];
    let both: Vec<_> = out.into_iter().chain(inward).collect();
    let by_steps = [script(&out), script(&inward), script(&both)];
    let eager = [eager_script(&out), eager_script(&inward), eager_script(&both), eager_script(&WHILE_AWAY)];
    by_steps.into_iter().chain(eager).collect()
}

/// What comes while the client is away has never been sent.
const WHILE_AWAY: [Event; 6] =
    [Event::Publish(QOS1), Event::Leave, Event::Publish(QOS1), Event::Publish(QOS2), Event::Publish(QOS1), Event::Come];

/// Is each message there exactly once (QoS 1: at least), wherever the broker crashes and whatever of its logs is left?
#[test]
fn a_crash_between_any_two_steps() {
    for version in [Version::V5, Version::V311] {
        for script in scripts() {
            assert_eq!(first_wrong(version, &script, None, &[]), None);
        }
    }
}

/// The same with a connection that breaks right before, so that what was to be held is said again on the next one.
#[test]
fn a_crash_after_a_broken_connection() {
    for script in scripts() {
        for at in 0..script.len() {
            let mut broken = script.clone();
            broken.insert(at, Event::Break);
            let mut world = World::new(Version::V5, None);
            for (n, event) in broken.iter().enumerate() {
                world.apply(*event).expect("the protocol is kept");
                if n > at {
                    world.apply(Event::Crash([0; 3])).expect("it comes up again");
                }
            }
            world.settle().and_then(|()| world.judge()).unwrap_or_else(|wrong| panic!("broken at {at}: {wrong}"));
        }
    }
}

/// And with a second crash before the first is digested.
#[test]
fn a_crash_after_a_crash() {
    for again in [
        &[Event::Back, Event::Crash([0; 3])][..],
        &[Event::Forth, Event::Back, Event::Commit(1, 1), Event::Crash([1, 0, 0])],
        &[Event::Back, Event::Commit(0, 1), Event::Back, Event::Crash([0, 1, 0]), Event::Break],
    ] {
        for script in [&scripts()[2], &scripts()[5]] {
            assert_eq!(first_wrong(Version::V5, script, None, again), None);
        }
    }
}

/// Does a broker that breaks one of the rules lose or double a message at some step? If not, nothing here has shown anything.
#[test]
fn each_rule_is_needed() {
    let out = [Event::Publish(QOS2), Event::Publish(QOS2)];
    let inward = [Event::Send(QOS2), Event::Send(QOS2)];
    for (rule, messages) in [
        (Rule::MessageBeforePubrec, &inward),
        (Rule::ReleasedBeforePubcomp, &inward),
        (Rule::SentBeforePublish, &out),
        (Rule::GotBeforePubrel, &out),
        (Rule::CompleteWhatWasCut, &inward),
    ] {
        let wrong = first_wrong(Version::V5, &script(messages), Some(rule), &[]);
        assert!(wrong.is_some(), "nobody notices that {rule:?} is broken");
    }
    let again = [Event::Back, Event::Commit(0, 9), Event::Commit(1, 9), Event::Commit(2, 9), Event::Crash([0; 3])];
    let three = [Event::Send(QOS2); 3];
    // Here the book of facts may be the first to see it: what it is told cannot be.
    let noticed = || first_wrong(Version::V5, &script(&three), Some(Rule::DoubtsAreTold), &again).is_none();
    assert!(
        !std::panic::catch_unwind(noticed).unwrap_or(false),
        "nobody notices that a second crash forgets the doubts"
    );
    let said_again = [Event::Publish(QOS2), Event::Break, Event::Forth, Event::Forth];
    let sent_first = [Event::Leave, Event::Publish(QOS1), Event::Commit(0, 9), Event::Come, Event::Forth, Event::Forth];
    for next_connection in [&said_again[..], &sent_first] {
        let wrong = first_wrong(Version::V5, next_connection, Some(Rule::HereBeforeConnack), &[]);
        assert!(wrong.is_some(), "nobody notices that {next_connection:?} does not wait");
    }
}

/// Histories that went wrong once.
#[test]
fn known_histories() {
    use Event::{Back, Commit, Crash, Forth, Publish, Send};
    const ALL: usize = usize::MAX;
    let one_acknowledged = [Commit(0, 1), Forth, Commit(0, 3), Forth, Back, Forth, Crash([0; 3])];
    for history in [
        // That a message was taken was durable, and the message not: its repetition was a duplicate of nothing.
        vec![Send(QOS2), Back, Crash([ALL, 0, 0])],
        // One log had forgotten a settled message that the other still remembered, and was given it again.
        vec![Send(QOS2), Back, Commit(2, 1), Commit(1, 1), Forth, Back, Send(QOS2), Back, Crash([0, ALL, 0])],
        // The acknowledgement of the first was not durable, so that one more than the window had been sent before.
        [Publish(QOS1); 4].into_iter().chain(one_acknowledged).collect(),
    ] {
        let mut world = World::new(Version::V311, None);
        let told: Result<(), String> = history.into_iter().try_for_each(|event| world.apply(event));
        assert_eq!(told.and_then(|()| world.settle()).and_then(|()| world.judge()), Ok(()));
    }
}

fn event() -> impl Strategy<Value = Event> {
    let qos = || prop_oneof![1 => Just(QOS1), 2 => Just(QOS2)];
    let cut = || prop_oneof![Just(0), Just(usize::MAX), 1..4_usize];
    prop_oneof![
        4 => qos().prop_map(Event::Publish),
        4 => qos().prop_map(Event::Send),
        8 => Just(Event::Forth),
        8 => Just(Event::Back),
        6 => (0..3_usize, 1..5_usize).prop_map(|(log, records)| Event::Commit(log, records)),
        1 => Just(Event::Break),
        1 => Just(Event::Leave),
        3 => Just(Event::Come),
        1 => (cut(), cut(), cut()).prop_map(|(a, b, c)| Event::Crash([a, b, c])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any traffic, any number of crashes and broken connections.
    #[test]
    fn any_history(
        events in proptest::collection::vec(event(), 0..120),
        is_v5 in any::<bool>(),
        is_paged in any::<bool>(),
    ) {
        let world = World::new(if is_v5 { Version::V5 } else { Version::V311 }, None);
        let mut world = if is_paged { world.paged() } else { world };
        let told: Result<(), String> = events.into_iter().try_for_each(|event| world.apply(event));
        let told = told.and_then(|()| world.settle()).and_then(|()| world.judge());
        prop_assert_eq!(told, Ok(()));
    }
}
