//! The queue against a list that does the same the slow way.

use super::*;

const OPEN: Bounds = Bounds { messages: 1_000, bytes: 1 << 20, overflow: Overflow::DropOldest };

fn none(_: Waiting<u64>) {
    panic!("nothing has to give way");
}

fn add(queue: &mut HoldQueue<u64>, topic: &str, item: u64) {
    assert!(queue.make_room(10, none));
    queue.add(topic, 10, None, item);
}

/// Offers all that is ready to who wants `filters`; returns what they get, in order.
fn offer(queue: &mut HoldQueue<u64>, wants: impl Fn(&str) -> bool) -> Vec<u64> {
    let mut got = Vec::new();
    while queue.is_searching() {
        queue.search(2);
    }
    while let Some(topic) = queue.next_ready().cloned() {
        if wants(&topic) {
            got.extend(queue.take_ready().map(|(_, waiting)| waiting.item));
        } else {
            queue.pass_over(none);
        }
    }
    got
}

/// Does what waits go once, in the order in which it came over all topics, and does what nobody asked for stay?
#[test]
fn what_waits_goes_once_and_in_order() {
    let mut queue = HoldQueue::new(OPEN);
    for (n, topic) in ["a/1", "b/1", "a/2", "a/1", "b/1"].into_iter().enumerate() {
        add(&mut queue, topic, n as u64);
        assert!(offer(&mut queue, |_| false).is_empty());
    }
    queue.wanted("a/+");
    assert_eq!(offer(&mut queue, |topic| topic.starts_with("a/")), [0, 2, 3]);
    queue.wanted("a/+");
    assert!(offer(&mut queue, |topic| topic.starts_with("a/")).is_empty());
    add(&mut queue, "b/1", 5);
    assert_eq!(offer(&mut queue, |_| true), [1, 4, 5], "one that comes goes behind what waits");
    assert_eq!((queue.len(), queue.bytes(), queue.idle_messages, queue.idle_bytes), (0, 0, 0, 0));
}

/// Does what waits for its commit keep its topic back and no other, whoever has subscribed meanwhile; and does what ends before
/// leave nothing?
#[test]
fn nothing_is_offered_before_its_commit() {
    let mut queue = HoldQueue::new(OPEN);
    let add_uncommitted = |queue: &mut HoldQueue<u64>, topic: &str, item: u64| {
        let number = queue.add(topic, 10, (item == 6).then_some(5), item);
        queue.await_commit(number);
        number
    };
    let first = add_uncommitted(&mut queue, "a", 1);
    add(&mut queue, "a", 2);
    add(&mut queue, "b", 3);
    let last = add_uncommitted(&mut queue, "b", 4);
    assert_eq!(offer(&mut queue, |_| true), [3]);
    assert!(!queue.has_work());
    queue.wanted("#");
    assert!(offer(&mut queue, |_| true).is_empty());
    queue.committed(first);
    assert_eq!(offer(&mut queue, |_| true), [1, 2]);
    queue.committed(last);
    assert!(offer(&mut queue, |_| false).is_empty(), "nobody is there");
    add_uncommitted(&mut queue, "b", 5);
    assert_eq!(offer(&mut queue, |_| true), [4]);
    let number = add_uncommitted(&mut queue, "c", 6);
    assert!(!queue.expire(5, 10, |waiting| assert_eq!(waiting.item, 6)));
    queue.committed(number);
    assert_eq!(offer(&mut queue, |_| true), [5]);
    assert!(queue.len() == 0 && queue.held_back.is_empty() && queue.uncommitted.is_empty());
}

/// Does what nobody took come back to its place, before what has come meanwhile?
#[test]
fn what_comes_back_has_its_place() {
    let mut queue = HoldQueue::new(OPEN);
    (0..3).for_each(|n| add(&mut queue, "t", n));
    let mut away: Vec<_> = (0..2).filter_map(|_| queue.take_ready()).collect();
    add(&mut queue, "t", 3);
    while let Some((number, waiting)) = away.pop() {
        queue.put_back(number, waiting, none);
    }
    assert_eq!(queue.next_ready(), None, "nobody wants it");
    queue.wanted("#");
    assert_eq!(offer(&mut queue, |_| true), [0, 1, 2, 3]);
}

/// Is what has no receiver with room tried again, and is it known since when?
#[test]
fn what_is_parked_is_tried_again() {
    let mut queue = HoldQueue::new(OPEN);
    add(&mut queue, "t", 0);
    add(&mut queue, "u", 1);
    let (number, waiting) = queue.take_ready().unwrap();
    queue.park(number, waiting, 500);
    add(&mut queue, "t", 2);
    assert_eq!(offer(&mut queue, |_| true), [1], "others go past it, but not those of its topic");
    queue.unpark();
    let (number, waiting) = queue.take_ready().unwrap();
    assert_eq!((waiting.item, waiting.parked_since_ms), (0, Some(500)));
    queue.park(number, waiting, 900);
    queue.wanted("t");
    assert_eq!(offer(&mut queue, |_| true), [0, 2], "somebody new may have room");
    assert!(!queue.has_parked());
}

/// Do the oldest or the newest give way, only when nobody takes them; and does what is too large wait alone, and drive nobody
/// out?
#[test]
fn bounds_hold_for_what_nobody_takes() {
    for (overflow, expected) in [(Overflow::DropOldest, [3, 4]), (Overflow::DropNewest, [0, 1])] {
        let mut queue = HoldQueue::new(Bounds { messages: 2, bytes: 1_000, overflow });
        let mut gone = Vec::new();
        for n in 0..5 {
            assert!(queue.make_room(10, none), "who has a subscriber has room");
            queue.add(if n % 2 == 0 { "even" } else { "odd" }, 10, None, n);
        }
        while queue.next_ready().is_some() {
            queue.pass_over(|waiting| gone.push(waiting.item));
        }
        queue.wanted("#");
        let left = offer(&mut queue, |_| true);
        assert_eq!((left, gone.len()), (expected.to_vec(), 3));
        assert!(queue.idle_tails.is_empty() && queue.idle.is_empty());
        assert!(queue.make_room(1_001, none));
        queue.add("large", 1_001, None, 9);
        queue.pass_over(|waiting| gone.push(waiting.item));
        assert_eq!((queue.len(), queue.bytes(), gone.len()), (1, 1_001, 3));
        assert!(!queue.make_room(1_001, none));
    }
    let mut queue = HoldQueue::new(Bounds { messages: 100, bytes: 25, overflow: Overflow::DropOldest });
    let mut gone = 0;
    for n in 0..3 {
        assert!(queue.make_room(10, none));
        queue.add("t", 10, None, n);
        queue.pass_over(|_| gone += 1);
    }
    assert_eq!((gone, queue.len()), (1, 2));
}

/// Does each message end at its time, wherever it stands in its line?
#[test]
fn each_expires_at_its_time() {
    let mut queue = HoldQueue::new(OPEN);
    for (n, deadline_ms) in [Some(30), Some(10), None, Some(20)].into_iter().enumerate() {
        queue.add("t", 10, deadline_ms, n as u64);
    }
    let mut expired = Vec::new();
    assert!(!queue.expire(20, 9, |waiting| expired.push(waiting.item)));
    assert_eq!((expired, queue.next_deadline_ms()), (vec![1, 3], Some(30)));
    assert!(queue.expire(30, 1, drop), "there may be more");
    assert_eq!(offer(&mut queue, |_| true), [2]);
}

/// A list in order, and who subscribes.
#[derive(Default)]
struct Naive {
    waiting: Vec<(String, u64)>,
    filters: Vec<&'static str>,
}

impl Naive {
    fn wants(filters: &[&str], topic: &str) -> bool {
        filters
            .iter()
            .any(|filter| *filter == "#" || *filter == topic || filter.strip_suffix("/+") == topic.split('/').next())
    }

    fn release(&mut self) -> Vec<u64> {
        let filters = &self.filters;
        let (gone, left) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(topic, _)| Self::wants(filters, topic));
        self.waiting = left;
        let gone: Vec<(String, u64)> = gone;
        gone.into_iter().map(|(_, item)| item).collect()
    }
}

/// Random publishes, subscribes and unsubscribes: does each message go exactly once, and in order?
#[test]
fn it_agrees_with_a_list() {
    const FILTERS: [&str; 5] = ["#", "a/+", "b/+", "a/1", "c/2"];
    for seed in 1..200_u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let (mut queue, mut naive) = (HoldQueue::new(OPEN), Naive::default());
        for item in 0..300 {
            match random(8) {
                0 => {
                    let filter = FILTERS[random(5) as usize];
                    naive.filters.push(filter);
                    queue.wanted(filter);
                }
                1 | 2 => {
                    let none_left = naive.filters.is_empty();
                    naive.filters.truncate(if none_left { 0 } else { random(naive.filters.len() as u64) as usize });
                }
                _ => {
                    let topic = format!("{}/{}", ["a", "b", "c"][random(3) as usize], random(3));
                    add(&mut queue, &topic, item);
                    naive.waiting.push((topic, item));
                }
            }
            let filters = naive.filters.clone();
            if random(4) == 0 {
                // Some are under way and come back: nobody was there after all.
                while queue.is_searching() {
                    queue.search(1);
                }
                let mut away: Vec<_> = (0..random(4)).filter_map(|_| queue.take_ready()).collect();
                let topics: Vec<Arc<str>> = away.iter().map(|(_, waiting)| waiting.topic.clone()).collect();
                while let Some((number, waiting)) = away.pop() {
                    queue.put_back(number, waiting, none);
                }
                topics.iter().for_each(|topic| queue.wanted(topic));
            }
            assert_eq!(
                offer(&mut queue, |topic| Naive::wants(&filters, topic)),
                naive.release(),
                "seed {seed}, step {item}"
            );
            assert_eq!((queue.len(), queue.idle_messages), (naive.waiting.len() as u64, naive.waiting.len() as u64));
        }
    }
}
