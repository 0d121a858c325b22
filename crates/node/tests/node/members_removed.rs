//! Members that are taken out of a cluster.

use lapwing_node::Member;

use crate::marsh::{Marsh, active, led, seen, status, until};

/// How many whoever serves is connected to, itself among them.
fn are_there(members: &[Option<Member>]) -> usize {
    let (place, _) = active(members);
    status(members, place).nodes.iter().filter(|seen| seen.is_connected).count()
}

/// A member is removed: is it told and ends, is it out of all groups, and may neither the leader be removed nor one too many?
#[test]
fn who_is_removed_is_cut() {
    let marsh = Marsh::new(3);
    let mut members = marsh.start_all();
    let words = led(&members, |place, leader| leader.remove(place as u8 + 1)).expect_err("it leads").to_string();
    assert!(words.contains("step down first"), "{words}");
    let nobody = led(&members, |_, leader| leader.remove(9));
    assert!(nobody.is_err_and(|error| error.to_string().contains("there is no node 9")));
    let third = (active(&members).0 + 1) % 3;
    members[third].take().expect("it ran").stop().expect("it ends well");
    // Whoever of the two serves; the other one is to go.
    let two = |place: usize| (0..3).find(|other| *other != place && *other != third).expect("there are three");
    until("two", &members, || are_there(&members) == 2);
    let words = led(&members, |place, leader| leader.remove(two(place) as u8 + 1)).expect_err("nobody else is there");
    assert!(words.to_string().contains("1 of 2 that vote"), "{words}");
    members[third] = Some(marsh.start(third));
    until("three", &members, || are_there(&members) == 3);
    let remove_next = |place: usize, leader: &Member| {
        let out = (place + 1) % 3;
        leader.remove(out as u8 + 1).map(|()| out)
    };
    let out = led(&members, remove_next).expect("two of three are left");
    until("told", &members, || {
        let failure = members[out].as_ref().and_then(Member::failure);
        failure.is_some_and(|failure| failure.message.contains("was removed from the cluster"))
    });
    let ended = members[out].take().expect("it ran").stop().expect_err("it was removed").to_string();
    assert!(ended.contains("was removed"), "{ended}");
    let is_out = |place| {
        let status = status(&members, place);
        seen(&status, out as u8 + 1).is_some_and(|seen| seen.standing == "gone" && seen.behind.is_none())
    };
    until("gone", &members, || (0..3).filter(|place| *place != out).all(is_out));
    crate::connect(&active(&members).1, "publisher").publish_acked("t/a", b"two are left");

    let again = marsh.start(out);
    until("told at its start", &members, || {
        again.failure().is_some_and(|failure| failure.message.contains("was removed"))
    });
}

/// One of two that vote is removed, whose word is needed for that: does the other one serve alone then?
#[test]
fn one_of_two_goes() {
    let marsh = Marsh::new(2);
    let mut members = marsh.start_all();
    let remove_other = |place: usize, leader: &Member| leader.remove(2 - place as u8).map(|()| place);
    let place = led(&members, remove_other).expect("one is left");
    let out = 1 - place;
    until("told", &members, || members[out].as_ref().and_then(Member::failure).is_some());
    assert!(members[out].take().expect("it ran").stop().is_err());
    crate::connect(&active(&members).1, "publisher").publish_acked("t/a", b"alone");
    members[place].take().expect("it ran").stop().expect("it ends well");
    members[place] = Some(marsh.start(place));
    let (_, handle) = active(&members);
    crate::connect(&handle, "publisher").publish_acked("t/a", b"alone, and started anew");
}
