//! A file system in memory that loses, at a crash, whatever was not synced: any subset of it, sector by sector.

pub mod contents;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use contents::{Change, Inode, NameChange, Names, chance, write};
use lapwing_store::disk::{Access, Disk, DiskFile};

/// After which of `count` changes a test lets the machine go down: every third; with `LAPWING_CRASH_EVERY=1`, as `make crash`
/// has it, each.
pub fn changes(count: u64) -> impl Iterator<Item = u64> {
    let every = std::env::var("LAPWING_CRASH_EVERY").map_or(3, |every| every.parse().expect("a number of changes"));
    (0..count).step_by(every)
}

/// What an operation does, for faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Read,
    Write,
    Sync,
    Allocate,
    Open,
    Dir,
}

/// The file system; clones are the same one.
#[derive(Debug, Clone)]
pub struct SimDisk {
    world: Arc<Mutex<World>>,
}

#[derive(Clone, Debug)]
struct World {
    inodes: Vec<Inode>,
    names: Names,
    durable_names: BTreeMap<PathBuf, usize>,
    pending_names: Vec<(PathBuf, NameChange)>,
    dirs: BTreeSet<PathBuf>,
    random: u64,
    steps: u64,
    crash_at: u64,
    capacity_bytes: u64,
    can_allocate: bool,
    faults: Vec<(Step, i32)>,
}

impl SimDisk {
    pub fn new(seed: u64) -> Self {
        let world = World {
            inodes: vec![],
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            pending_names: vec![],
            dirs: BTreeSet::new(),
            random: seed | 1,
            steps: 0,
            crash_at: u64::MAX,
            capacity_bytes: u64::MAX,
            can_allocate: true,
            faults: vec![],
        };
        Self { world: Arc::new(Mutex::new(world)) }
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().expect("no test panics inside the simulation")
    }

    /// The change of number `step`, counted from now, is the last one begun; nothing works after it.
    pub fn crash_after(&self, steps: u64) {
        let mut world = self.world();
        world.crash_at = world.steps.saturating_add(steps);
    }

    /// True when nothing works any more.
    pub fn is_down(&self) -> bool {
        let world = self.world();
        world.steps >= world.crash_at
    }

    /// Takes the crash back; returns how many changes it was away.
    pub fn disarm(&self) -> u64 {
        let mut world = self.world();
        let left = world.crash_at.saturating_sub(world.steps);
        world.crash_at = u64::MAX;
        left
    }

    /// Changes made so far.
    pub fn steps(&self) -> u64 {
        self.world().steps
    }

    pub fn set_capacity(&self, bytes: u64) {
        self.world().capacity_bytes = bytes;
    }

    pub fn forbid_allocate(&self) {
        self.world().can_allocate = false;
    }

    /// The next operation of this kind fails with this error number; all later ones do until `heal`.
    pub fn fail(&self, step: Step, errno: i32) {
        self.world().faults.push((step, errno));
    }

    pub fn heal(&self) {
        self.world().faults.clear();
    }

    /// Another one with the same in it, whose chances are those of `seed`.
    pub fn copy(&self, seed: u64) -> Self {
        let mut world = self.world().clone();
        world.random = seed | 1;
        Self { world: Arc::new(Mutex::new(world)) }
    }

    /// Only the process went down: the system still holds what was written, synced or not.
    pub fn after_kill(&self) -> Self {
        self.world().crash_at = u64::MAX;
        self.clone()
    }

    /// The machine comes up again: what was synced is there, of the rest some.
    pub fn after_crash(&self) -> Self {
        let mut world = self.world();
        let mut random = world.random;
        let changes: Vec<_> = world.pending_names.clone();
        let mut names = world.durable_names.clone();
        // Changes of one folder reach the disk in order; how many of them did is chance.
        let mut stopped = BTreeSet::new();
        for (dir, change) in changes {
            if !stopped.contains(&dir) && chance(&mut random, 2) {
                change.apply(&mut names);
            } else {
                stopped.insert(dir);
            }
        }
        let inodes: Vec<Inode> = world.inodes.iter().map(|inode| inode.crashed(&mut random)).collect();
        world.random = random;
        let again = World {
            inodes,
            durable_names: names.clone(),
            names,
            pending_names: vec![],
            dirs: world.dirs.clone(),
            random,
            steps: 0,
            crash_at: u64::MAX,
            capacity_bytes: world.capacity_bytes,
            can_allocate: world.can_allocate,
            faults: vec![],
        };
        Self { world: Arc::new(Mutex::new(again)) }
    }
}

impl World {
    fn used_bytes(&self) -> u64 {
        self.names.values().map(|inode| self.inodes[*inode].live.len() as u64).sum()
    }

    fn check(&self, step: Step) -> io::Result<()> {
        if self.steps >= self.crash_at {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        match self.faults.iter().find(|(kind, _)| *kind == step) {
            Some((_, errno)) => Err(io::Error::from_raw_os_error(*errno)),
            None => Ok(()),
        }
    }

    /// Counts a change; an error when the machine is down after it.
    fn change(&mut self, step: Step) -> io::Result<()> {
        self.check(step)?;
        self.steps += 1;
        Ok(())
    }

    fn rename_like(&mut self, dir: &Path, change: NameChange) -> io::Result<()> {
        self.change(Step::Dir)?;
        change.apply(&mut self.names);
        self.pending_names.push((dir.to_path_buf(), change));
        self.check(Step::Dir)
    }
}

impl Disk for SimDisk {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        let mut world = self.world();
        world.check(Step::Dir)?;
        world.dirs.extend(dir.ancestors().map(Path::to_path_buf));
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let world = self.world();
        world.check(Step::Read)?;
        let entries = world.names.keys().chain(&world.dirs).filter(|path| path.parent() == Some(dir));
        let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(entries.filter_map(name).collect())
    }

    fn open(&self, file: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>> {
        let mut world = self.world();
        world.check(if access == Access::Read { Step::Read } else { Step::Open })?;
        let known = world.names.get(file).copied();
        let inode = match (access, known) {
            (Access::Create, _) => {
                world.inodes.push(Inode::default());
                let inode = world.inodes.len() - 1;
                let dir = file.parent().expect("a folder").to_path_buf();
                world.rename_like(&dir, NameChange::Add(file.to_path_buf(), inode))?;
                inode
            }
            (_, Some(inode)) => inode,
            (_, None) => return Err(io::Error::from_raw_os_error(libc::ENOENT)),
        };
        Ok(Arc::new(SimFile { disk: self.clone(), inode }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let dir = to.parent().expect("a folder");
        self.world().rename_like(dir, NameChange::Rename(from.to_path_buf(), to.to_path_buf()))
    }

    fn remove(&self, file: &Path) -> io::Result<()> {
        let mut world = self.world();
        if !world.names.contains_key(file) {
            return Err(io::Error::from_raw_os_error(libc::ENOENT));
        }
        let dir = file.parent().expect("a folder").to_path_buf();
        world.rename_like(&dir, NameChange::Remove(file.to_path_buf()))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut world = self.world();
        world.change(Step::Sync)?;
        let pending = std::mem::take(&mut world.pending_names);
        let (synced, rest): (Vec<_>, Vec<_>) = pending.into_iter().partition(|(of, _)| of == dir);
        synced.iter().for_each(|(_, change)| change.apply(&mut world.durable_names));
        world.pending_names = rest;
        world.check(Step::Sync)
    }
}

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    inode: usize,
}

impl DiskFile for SimFile {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        let world = self.disk.world();
        world.check(Step::Read)?;
        let live = &world.inodes[self.inode].live;
        let from = (at as usize).min(live.len());
        let count = bytes.len().min(live.len() - from);
        bytes[..count].copy_from_slice(&live[from..from + count]);
        Ok(count)
    }

    fn write_at(&self, parts: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        let mut bytes: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        let mut world = self.disk.world();
        world.change(Step::Write)?;
        let room = world.capacity_bytes.saturating_sub(world.used_bytes());
        let fits = world.inodes[self.inode].live.len() as u64 + room;
        let is_full = at + bytes.len() as u64 > fits;
        if is_full {
            bytes.truncate(fits.saturating_sub(at) as usize);
        }
        let inode = &mut world.inodes[self.inode];
        write(&mut inode.live, at as usize, &bytes);
        inode.pending.push(Change::Write(at as usize, bytes));
        if is_full {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        world.check(Step::Write)
    }

    fn sync(&self) -> io::Result<()> {
        let mut world = self.disk.world();
        world.change(Step::Sync)?;
        // The step at which the machine goes down did not get through.
        world.check(Step::Sync)?;
        let inode = &mut world.inodes[self.inode];
        inode.durable = inode.live.clone();
        inode.pending.clear();
        Ok(())
    }

    fn allocate(&self, bytes: u64) -> io::Result<bool> {
        let mut world = self.disk.world();
        world.change(Step::Allocate)?;
        if !world.can_allocate {
            return Ok(false);
        }
        let have = world.inodes[self.inode].live.len() as u64;
        if bytes.saturating_sub(have) > world.capacity_bytes.saturating_sub(world.used_bytes()) {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        let inode = &mut world.inodes[self.inode];
        inode.live.resize((bytes.max(have)) as usize, 0);
        inode.pending.push(Change::Length(bytes.max(have) as usize));
        Ok(true)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut world = self.disk.world();
        world.change(Step::Write)?;
        let inode = &mut world.inodes[self.inode];
        inode.live.resize(bytes as usize, 0);
        inode.pending.push(Change::Length(bytes as usize));
        Ok(())
    }

    fn bytes(&self) -> io::Result<u64> {
        let world = self.disk.world();
        world.check(Step::Read)?;
        Ok(world.inodes[self.inode].live.len() as u64)
    }
}
