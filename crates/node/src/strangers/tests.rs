use super::*;

fn budget(limits: &Limits, connections_max: u32, memory_high_bytes: u64) -> (usize, usize, u64) {
    let Budget { count_max, per_address_max, bytes_max } = Budget::new(limits, connections_max, memory_high_bytes);
    (count_max, per_address_max, bytes_max)
}

/// Is the budget what is configured, where the machine has it, and less where it has not, but never too little for one?
#[test]
fn a_small_machine_has_a_small_budget() {
    let limits = Limits::default();
    assert_eq!(budget(&limits, 100_000, 1 << 30), (16_384, 4_096, 32 << 20));
    assert_eq!(budget(&limits, 400, 64 << 20), (400, 300, 16 << 20));
    assert_eq!(budget(&limits, 1, 1), (1, 1, (64 << 10) + STRANGER_BYTES));
}

/// Does the line say which bound, of whom, and how often, and no more than once a minute?
#[test]
fn who_goes_is_told_now_and_then() {
    let limits = Limits { strangers_per_address_max: 1, ..Limits::default() };
    let strangers = Strangers::new(&limits, 100, 1 << 30, &[&Bell::new(Nobody)]);
    let source = Source::Address([192, 0, 2, 7].into());
    let mut there = Vec::new();
    for n in 0..10 {
        let mut stranger = strangers.arrive(source, ListenerId(0), n).expect("the oldest goes");
        stranger.settle(Place { shard: 0, index: n as usize, born: n });
        there.push(stranger);
    }
    assert_eq!(strangers.take_ended(0).len(), 9);
    let at =
        "connections without CONNECT are at limits.strangers_per_address_max, 1 here: the oldest of 192.0.2.7 is ended";
    let facts =
        |count: u64| Some(json!({"event": "refused", "address": "192.0.2.7", "reason": "per_address", "count": count}));
    let told = |text: String, count: u64| Line { text, facts: facts(count) };
    assert_eq!(strangers.take_notices(), [told(at.into(), 1)]);
    let last = strangers.arrive(source, ListenerId(0), 60_001);
    assert_eq!(strangers.take_notices(), [told(format!("{at} (9 since the last such line)"), 9)]);
    drop((there, last));
    assert_eq!(strangers.metrics()[0].value, 0.0);
}

/// Do programs have by name from where, at which listener, why and how often, as the words say it?
#[test]
fn who_is_sent_away_is_told_by_name() {
    let strangers = Strangers::new(&Limits::default(), 100, 1 << 30, &[&Bell::new(Nobody)]);
    let url = "tcp://192.0.2.1:1883";
    let late = |now_ms| strangers.ends(Ending::Late, "192.0.2.7:9", url, now_ms);
    let unfit = ProtocolError { reason: ReasonCode::PacketTooLarge, what: "too long", at: 0, connect: None };
    strangers.unfit(&unfit, "192.0.2.8:9", url, 0);
    [0, 1, 60_000].into_iter().for_each(late);
    let lines = strangers.take_notices();
    let facts: Vec<_> = lines.iter().map(|line| line.facts.clone().unwrap()).collect();
    assert_eq!(
        facts,
        [
            json!({
                "event": "refused", "address": "192.0.2.8:9", "listener": url, "reason": "Packet too large", "reason_code": 0x95,
                "count": 1,
            }),
            json!({"event": "refused", "address": "192.0.2.7:9", "listener": url, "reason": "connect_timeout", "count": 1}),
            json!({"event": "refused", "address": "192.0.2.7:9", "listener": url, "reason": "connect_timeout", "count": 2}),
        ]
    );
    assert!(lines[2].text.contains("192.0.2.7:9 was no client within limits.connect_timeout"), "{lines:?}");
}

/// Does one that has to go not come anywhere else, whose place has not heard of it when it is to move on, and does another?
#[test]
fn who_has_to_go_does_not_move_on() {
    let limits = Limits { strangers_per_address_max: 1, ..Limits::default() };
    let strangers = Strangers::new(&limits, 100, 1 << 30, &[&Bell::new(Nobody), &Bell::new(Nobody)]);
    let source = Source::Address([192, 0, 2, 7].into());
    let come = |born| {
        let mut stranger = strangers.arrive(source, ListenerId(0), 0).expect("the oldest goes");
        stranger.settle(Place { shard: 0, index: 5, born });
        stranger
    };
    let (mut ended, mut next) = (come(1), come(2));
    assert!(strangers.has_ended(0) && !ended.lift());
    assert!(next.lift());
    next.settle(Place { shard: 1, index: 0, born: 3 });
    assert_eq!(strangers.take_ended(0), [Place { shard: 0, index: 5, born: 1 }]);
    // It is in the table again: for the next one it goes.
    let _last = come(4);
    assert_eq!(strangers.take_ended(1), [Place { shard: 1, index: 0, born: 3 }]);
}

struct Nobody;

impl crate::mailbox::Wake for Nobody {
    fn wake(&self) {}
}
