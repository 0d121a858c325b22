//! Members that are taken out of a cluster.

use lapwing_node::Member;

use crate::marsh::{Marsh, active, until};
use crate::members_join::{seen, status};

/// A member is removed: is it told and ends, is it out of all groups, and may neither the leader be removed nor one too many?
#[test]
fn who_is_removed_is_cut() {
    let marsh = Marsh::new(3);
    let mut members = marsh.start_all();
    let (place, handle) = active(&members);
    let leader = members[place].as_ref().expect("it serves");
    let words = leader.remove(place as u8 + 1).expect_err("it leads").to_string();
    assert!(words.contains("step down first"), "{words}");
    assert!(leader.remove(9).is_err_and(|error| error.to_string().contains("there is no node 9")));
    let (out, third) = ((place + 1) % 3, (place + 2) % 3);
    let are_there =
        |members: &[Option<Member>]| status(members, place).nodes.iter().filter(|seen| seen.is_connected).count();
    members[third].take().expect("it ran").stop().expect("it ends well");
    until("two", &members, || are_there(&members) == 2);
    let leader = members[place].as_ref().expect("it serves");
    let words = leader.remove(out as u8 + 1).expect_err("nobody else is there").to_string();
    assert!(words.contains("1 of 2 that vote"), "{words}");
    members[third] = Some(marsh.start(third));
    until("three", &members, || are_there(&members) == 3);
    let leader = members[place].as_ref().expect("it serves");
    leader.remove(out as u8 + 1).expect("two of three are left");
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
    until("gone", &members, || is_out(place) && is_out(third));
    crate::connect(&handle, "publisher").publish_acked("t/a", b"two are left");
    drop(handle);

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
    let (place, handle) = active(&members);
    let out = 1 - place;
    members[place].as_ref().expect("it serves").remove(out as u8 + 1).expect("one is left");
    until("told", &members, || members[out].as_ref().and_then(Member::failure).is_some());
    assert!(members[out].take().expect("it ran").stop().is_err());
    crate::connect(&handle, "publisher").publish_acked("t/a", b"alone");
    drop(handle);
    members[place].take().expect("it ran").stop().expect("it ends well");
    members[place] = Some(marsh.start(place));
    let (_, handle) = active(&members);
    crate::connect(&handle, "publisher").publish_acked("t/a", b"alone, and started anew");
}
