//! Is a will that a kill cuts off between its two shards published all the same: once with QoS 2, and once at least with QoS 1?

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lapwing_codec::{Connect, QoS, SubscriptionOptions, Will, WillProperties};
use lapwing_node::Handle;
use lapwing_store::Log;
use lapwing_store::disk::{Disk, Intercept, InterceptedDisk, OsDisk};

use crate::client::Client;
use crate::packets::{ConnectExt, connect as plain, lasting, will};
use crate::{config, eventually, metric, node, shard_of_two};

/// The first id of this kind that lives on that shard of two.
fn on(shard: usize, kind: &str) -> String {
    let ids = (0..).map(|n| format!("{kind}-{n}"));
    ids.into_iter().find(|id| shard_of_two(id) == shard).expect("endless")
}

fn json(dir: &Path) -> String {
    format!(
        r#"{{"shards": 2, "data_dir": {dir:?}, "durability": "disk", "log_init_zero": false,
            "limits": {{"log_segment_bytes": 65536}}}}"#
    )
}

/// What a kill after each sync leaves.
#[derive(Clone, Debug, Default)]
struct Kills {
    is_on: Arc<AtomicBool>,
    /// Nothing is written while a folder is copied: several threads write there, and a kill stops them all at once.
    still: Arc<Mutex<()>>,
    folders: Arc<Mutex<Vec<tempfile::TempDir>>>,
}

impl Kills {
    fn note(&self, dir: &Path) {
        if self.is_on.load(Ordering::SeqCst) {
            let copy = tempfile::tempdir().expect("a folder");
            let still = self.still.lock();
            copy_folder(dir, copy.path());
            drop(still);
            self.folders.lock().unwrap_or_else(PoisonError::into_inner).push(copy);
        }
    }
}

/// Tells them of each sync in the folder of a node.
#[derive(Debug)]
struct Watched {
    folder: PathBuf,
    kills: Kills,
}

impl Intercept for Watched {
    fn on_write(&self) -> io::Result<()> {
        drop(self.kills.still.lock());
        Ok(())
    }

    fn on_synced(&self) {
        self.kills.note(&self.folder);
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("listed") {
        let entry = entry.expect("listed");
        let (path, copy): (PathBuf, PathBuf) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else if entry.file_name() != "lock" {
            // The next segment is made beside, and may have got its name meanwhile.
            drop(fs::copy(&path, &copy));
        }
    }
}

fn node_on(dir: &Path, kills: &Kills) -> Handle {
    let watched = Watched { folder: dir.to_path_buf(), kills: kills.clone() };
    let disk: Arc<dyn Disk> = Arc::new(InterceptedDisk::new(Arc::new(OsDisk), Arc::new(watched)));
    let open = move |dir: &Path, config: &_, streams: &[_]| Log::open_on(disk, dir, config, streams);
    Handle::start_with_log(config(&json(dir)), Box::new(open)).expect("started")
}

/// How the client goes whose will it is.
#[derive(Clone, Copy, Debug)]
enum Going {
    /// Its session ends with its connection.
    Whole,
    /// Its session stays.
    Away,
    /// Its session stays, its will is delayed, and it comes again with another session.
    Anew,
}

struct Case {
    going: Going,
    qos: QoS,
    retain: bool,
}

fn mourned<'a>(id: &'a str, case: &Case) -> Connect<'a> {
    let connect = if matches!(case.going, Going::Whole) { plain(id) } else { lasting(id) };
    let delay_s = if matches!(case.going, Going::Anew) { 3600 } else { 0 };
    let properties = WillProperties { delay_s, ..WillProperties::default() };
    let will = Will { qos: case.qos, retain: case.retain, properties, ..will("w", b"will") };
    connect.with_will(will)
}

/// Lets the client go; every folder that a kill after a sync from then on would leave.
fn go(dir: &Path, case: &Case) -> Vec<tempfile::TempDir> {
    let (kills, mortal) = (Kills::default(), on(0, "mortal"));
    let node = node_on(dir, &kills);
    if !case.retain {
        let mut keeper = Client::connect_with(&node, &lasting(&on(1, "keeper"))).0;
        keeper.subscribe("w", SubscriptionOptions::new(QoS::ExactlyOnce));
        keeper.subscribe("mark", SubscriptionOptions::new(QoS::AtLeastOnce));
        keeper.disconnect();
    }
    let mut there = Client::connect_with(&node, &mourned(&mortal, case)).0;
    // Kept: with it the will is on disk.
    there.subscribe("nothing", SubscriptionOptions::new(QoS::AtMostOnce));
    // What is kept for it is acknowledged when it is on disk, with all that the shard of both has said before.
    let mut sleeper = Client::connect_with(&node, &lasting(&on(0, "sleeper"))).0;
    sleeper.subscribe("other", SubscriptionOptions::new(QoS::AtLeastOnce));
    sleeper.disconnect();
    let mut marks = Client::connect_with(&node, &plain(&on(0, "marks"))).0;
    marks.publish_acked("other", b"1");
    kills.is_on.store(true, Ordering::SeqCst);
    // One kill is sure to find the will with its session and nowhere else.
    marks.publish_acked("other", b"1");
    drop(there);
    if matches!(case.going, Going::Anew) {
        drop(Client::connect_with(&node, &Connect { clean_start: true, ..lasting(&mortal) }));
    }
    eventually("the will goes out", || metric(&node, "lapwing_wills_published_total", "") == 1);
    // What the shard writes down when the will is kept comes before the second of these.
    (0..3).for_each(|_| marks.publish_acked("other", b"2"));
    kills.is_on.store(false, Ordering::SeqCst);
    drop(node.stop());
    let mut folders = kills.folders.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *folders)
}

/// How often the keeper hears the will before a mark that is sent now.
fn wills_before_a_mark(marks: &mut Client, keeper: &mut Client) -> usize {
    marks.publish_acked("mark", b"");
    let mut wills = 0;
    loop {
        let received = keeper.receive();
        if received.topic == "mark" {
            return wills;
        }
        assert_eq!((&*received.topic, &*received.payload), ("w", &b"will"[..]));
        wills += 1;
    }
}

/// How often the keeper has the will after a start in this folder.
fn wills_in(dir: &Path, case: &Case) -> usize {
    let node = node(&json(dir));
    let mut marks = Client::connect_with(&node, &plain(&on(0, "last"))).0;
    let mut keeper = if case.retain {
        marks.publish_acked("nobody", b"");
        let mut keeper = Client::connect_with(&node, &plain(&on(1, "reader"))).0;
        keeper.subscribe("w", SubscriptionOptions::new(QoS::ExactlyOnce));
        keeper.subscribe("mark", SubscriptionOptions::new(QoS::AtLeastOnce));
        keeper
    } else {
        Client::connect_with(&node, &lasting(&on(1, "keeper"))).0
    };
    let mut wills = wills_before_a_mark(&mut marks, &mut keeper);
    // On a slow machine somebody may come before the will has gone out, and the mark before it. One with a delay need not go out.
    if wills == 0 && !matches!(case.going, Going::Anew) {
        eventually("the will goes out", || metric(&node, "lapwing_wills_published_total", "") > 0);
        wills = wills_before_a_mark(&mut marks, &mut keeper);
    }
    drop(node.stop());
    wills
}

fn check(going: Going, qos: QoS, retain: bool) {
    let (dir, case) = (tempfile::tempdir().expect("a folder"), Case { going, qos, retain });
    let folders = go(dir.path(), &case);
    assert!(folders.len() > 1, "{} kills", folders.len());
    let found: Vec<usize> = folders.iter().map(|folder| wills_in(folder.path(), &case)).collect();
    let is_right = |wills: &usize| *wills == 1 || (qos == QoS::AtLeastOnce && *wills > 1);
    // One whose session was there before is not due before its delay, unless the new one is on disk.
    let not_yet = found.iter().take_while(|wills| matches!(going, Going::Anew) && **wills == 0).count();
    assert!(not_yet < found.len() && found[not_yet..].iter().all(is_right), "{going:?} {qos:?} {retain}: {found:?}");
}

#[test]
fn of_a_session_that_ends_with_it() {
    check(Going::Whole, QoS::AtLeastOnce, false);
    check(Going::Whole, QoS::ExactlyOnce, false);
}

#[test]
fn of_a_session_that_stays() {
    check(Going::Away, QoS::AtLeastOnce, false);
    check(Going::Away, QoS::ExactlyOnce, false);
}

#[test]
fn of_a_session_that_another_one_follows() {
    check(Going::Anew, QoS::AtLeastOnce, false);
    check(Going::Anew, QoS::ExactlyOnce, false);
}

#[test]
fn that_is_retained_elsewhere() {
    check(Going::Whole, QoS::AtLeastOnce, true);
}
