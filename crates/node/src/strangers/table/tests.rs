use super::*;

const BUDGET: Budget = Budget { count_max: 8, per_address_max: 3, bytes_max: 1000 };

fn address(n: u32) -> Source {
    Source::Address(IpAddr::V4(n.into()))
}

/// The place of the connection with this number.
fn place(born: u64) -> Place {
    Place { shard: (born % 2) as usize, index: born as usize, born }
}

/// A newcomer that has its place; and whoever went for it.
fn come(table: &mut Table, source: Source, born: u64) -> (usize, Option<u64>) {
    let (id, ended) = table.arrive(source, ListenerId(0)).expect("somebody can go");
    table.settle(id, place(born));
    (id, ended.map(|one| one.place.born))
}

/// Does the oldest of an address go for one more of it, and nobody of another?
#[test]
fn an_address_has_its_share() {
    let mut table = Table::new(BUDGET);
    come(&mut table, address(2), 1);
    assert_eq!((2..=4).map(|born| come(&mut table, address(1), born).1).collect::<Vec<_>>(), [None; 3]);
    assert_eq!(come(&mut table, address(1), 5).1, Some(2));
    assert_eq!(come(&mut table, address(1), 6).1, Some(3));
    assert_eq!(come(&mut table, address(2), 7).1, None);
    assert_eq!(table.count(), 5);
}

/// Are those whom no address tells apart bounded in all only?
#[test]
fn a_shared_source_has_no_share() {
    let mut table = Table::new(BUDGET);
    assert!((0..8).all(|born| come(&mut table, Source::Shared, born).1.is_none()));
    assert_eq!(come(&mut table, Source::Shared, 8).1, Some(0));
    assert_eq!(table.count(), 8);
}

/// In all, does the oldest of the address with most go, and of addresses with as many the one that waits longest?
#[test]
fn too_many_in_all_cost_who_has_most() {
    let mut table = Table::new(BUDGET);
    for (born, source) in [9, 8, 7, 7, 6, 6, 6, 5].into_iter().enumerate() {
        come(&mut table, address(source), born as u64);
    }
    assert_eq!(come(&mut table, address(1), 10).1, Some(4), "the first of three");
    assert_eq!(come(&mut table, address(2), 11).1, Some(2), "the first of two that came before the other two");
    assert_eq!(come(&mut table, address(3), 12).1, Some(5));
    assert_eq!(come(&mut table, address(4), 13).1, Some(0), "of those with one the oldest");
}

/// Who waits for the broker is passed over; and if all do, is the newcomer refused?
#[test]
fn who_waits_for_the_broker_stays() {
    let mut table = Table::new(BUDGET);
    let ids: Vec<usize> = (0..3).map(|born| come(&mut table, address(1), born).0).collect();
    table.hold(ids[0], 10, true);
    assert_eq!(come(&mut table, address(1), 3).1, Some(1));
    table.hold(ids[2], 10, true);
    assert_eq!(come(&mut table, address(1), 4).1, Some(3));
    let last = come(&mut table, address(1), 5).0;
    table.hold(last, 10, true);
    assert_eq!(table.arrive(address(1), ListenerId(0)), Err(Bound::PerAddress));
    table.hold(ids[0], 10, false);
    assert_eq!(come(&mut table, address(1), 6).1, Some(0), "its answer came, and it wants another step");
}

/// Do bytes cost the address that holds most, oldest first, and as many as it takes?
#[test]
fn bytes_cost_who_holds_most() {
    let mut table = Table::new(BUDGET);
    let small = come(&mut table, address(2), 0).0;
    assert!(table.hold(small, 200, false).is_empty());
    let ids: Vec<usize> = (1..=3).map(|born| come(&mut table, address(1), born).0).collect();
    assert!(table.hold(ids[0], 300, false).is_empty());
    assert!(table.hold(ids[1], 300, false).is_empty());
    let ended: Vec<u64> = table.hold(ids[2], 800, false).iter().map(|one| one.place.born).collect();
    assert_eq!(ended, [1, 2], "800 of the newest and 200 of another address fit");
    assert_eq!(table.bytes(), 1000);
    let itself: Vec<u64> = table.hold(ids[2], 801, false).iter().map(|one| one.place.born).collect();
    assert_eq!((itself, table.bytes()), (vec![3], 200));
}

/// Where everybody waits for the broker and holds too much, does the last one go?
#[test]
fn the_last_byte_has_no_room_either() {
    let mut table = Table::new(BUDGET);
    let ids: Vec<usize> = (0..2).map(|born| come(&mut table, address(1), born).0).collect();
    table.hold(ids[0], 600, true);
    let ended = table.hold(ids[1], 600, true);
    assert_eq!(ended, [Ended { place: place(1), source: address(1), bound: Bound::Bytes }]);
}

/// Does a PROXY header move a stranger to the address that it names, where the oldest goes if there are too many?
#[test]
fn a_header_names_the_address() {
    let mut table = Table::new(BUDGET);
    let ids: Vec<usize> = (0..5).map(|born| come(&mut table, Source::Shared, born).0).collect();
    for id in &ids[..3] {
        assert_eq!(table.name(*id, address(1)), None);
    }
    assert_eq!(table.name(ids[3], address(1)).map(|one| one.place.born), Some(0));
    assert_eq!(table.name(ids[3], address(1)), None, "told twice");
    let busy = [ids[1], ids[2], ids[3]];
    busy.iter().for_each(|id| assert!(table.hold(*id, 0, true).is_empty()));
    assert_eq!(table.name(ids[4], address(1)).map(|one| one.place.born), Some(4), "nobody else can go");
}

/// Is one that is on its way between shards left alone, and found at its new place?
#[test]
fn who_moves_is_found_again() {
    let mut table = Table::new(BUDGET);
    let (id, _) = come(&mut table, address(1), 1);
    assert!(table.lift(id));
    assert_eq!(table.give_way(None), None);
    table.settle(id, place(7));
    assert_eq!(table.give_way(None).map(|one| (one.place.born, one.bound)), Some((7, Bound::Connections)));
    table.leave(id);
    assert_eq!((table.count(), table.give_way(None)), (0, None));
}

/// Where one listener is full, does its own oldest go, and nobody of another?
#[test]
fn a_listener_has_its_own() {
    let mut table = Table::new(BUDGET);
    for (born, listener) in [1, 0, 1, 2].into_iter().enumerate() {
        let (id, _) = table.arrive(address(1 + born as u32), ListenerId(listener)).expect("there is room");
        table.settle(id, place(born as u64));
    }
    let mut at = |listener| table.give_way(Some(ListenerId(listener))).map(|one| one.place.born);
    assert_eq!([at(1), at(1), at(1), at(0), at(0), at(3)], [Some(0), Some(2), None, Some(1), None, None]);
    assert_eq!(table.count(), 1);
}

/// Whatever happens in whatever order: do the sums say what is there, does nobody go twice, and do all bounds hold?
#[test]
fn sums_hold_in_any_order() {
    let mut table = Table::new(BUDGET);
    let mut live: Vec<(usize, u64)> = Vec::new();
    let mut gone: Vec<u64> = Vec::new();
    let mut seed = 1u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for born in 0..20_000u64 {
        let mut ended = Vec::new();
        let which = if live.is_empty() { 0 } else { random(live.len() as u64) as usize };
        match (random(5), live.get(which).copied()) {
            (0 | 1, _) | (_, None) => {
                let source = if random(4) == 0 { Source::Shared } else { address(random(4) as u32) };
                if let Ok((id, one)) = table.arrive(source, ListenerId(0)) {
                    table.settle(id, place(born));
                    live.push((id, born));
                    ended.extend(one);
                }
            }
            (2, Some((id, _))) => ended.extend(table.hold(id, random(400), random(5) == 0)),
            (3, Some((id, _))) => ended.extend(table.name(id, address(random(4) as u32))),
            (_, Some((id, _))) => {
                table.leave(id);
                live.swap_remove(which);
            }
        }
        for one in ended {
            assert!(!gone.contains(&one.place.born), "{} went twice", one.place.born);
            gone.push(one.place.born);
        }
        let there: Vec<&Entry> = table.entries.iter().map(|(_, entry)| entry).filter(|entry| !entry.is_ended).collect();
        assert_eq!(table.count, there.len());
        assert_eq!(table.bytes, there.iter().map(|entry| entry.bytes).sum::<u64>());
        assert!(table.count <= BUDGET.count_max && table.bytes <= BUDGET.bytes_max);
        for (source, group) in &table.groups {
            let own = there.iter().filter(|entry| entry.source == *source).count();
            assert_eq!(group.count, own);
            assert!(*source == Source::Shared || own <= BUDGET.per_address_max, "{own} of {source:?}");
        }
    }
    live.into_iter().for_each(|(id, _)| table.leave(id));
    assert!(table.entries.is_empty() && table.groups.is_empty());
    assert!(table.by_count.is_empty() && table.by_bytes.is_empty() && table.by_listener.is_empty());
}
