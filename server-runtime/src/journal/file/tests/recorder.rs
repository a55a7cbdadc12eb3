//! A disk that keeps apart what is written and what is durable, and that stops, fails and loses
//! power where a test says so.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Error, ErrorKind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
};

use super::super::disk::{Disk, Machine, OpenFile};

/// What goes wrong, counted in operations from now; 1 is the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// After so many operations nothing happens any more: the process is gone.
    Stop(usize),
    /// This operation fails, and those after it work. A failed write writes its half. A failed
    /// sync drops what it should have made durable, and the system still shows it.
    Fail(usize),
}

/// What of the un-synced a loss of power leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Luck {
    Nothing,
    Everything,
    /// Each name and each write for itself, whole or in part.
    Random(u64),
}

/// A disk on a directory. All that is read is there; its clones are the same disk.
#[derive(Debug, Clone)]
pub(super) struct Recorder(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    root: PathBuf,
    fault: Fault,
    done: usize,
    /// The names as they are, and as they are durable.
    live: BTreeMap<PathBuf, Node>,
    durable: BTreeMap<PathBuf, Node>,
    /// What a name stood for in between, since it was synced last.
    between: BTreeMap<PathBuf, Vec<Option<Node>>>,
    /// There is no room: no file can be made, and a write writes its half.
    full: bool,
    files: Vec<Bytes>,
    /// Directories that nobody may sync.
    closed: BTreeSet<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    Dir,
    /// The place in `files`.
    File(usize),
}

/// The bytes of a file; those that are live are in the file itself.
#[derive(Debug, Default)]
struct Bytes {
    durable: Vec<u8>,
    dirty: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Len(usize),
}

impl Bytes {
    fn sync(&mut self) {
        for change in std::mem::take(&mut self.dirty) {
            change.apply(&mut self.durable);
        }
    }
}

impl Change {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Self::Write(at, bytes) => {
                let end = at + bytes.len();
                if to.len() < end {
                    to.resize(end, 0);
                }
                to[*at..end].copy_from_slice(bytes);
            }
            Self::Len(len) => to.resize(*len, 0),
        }
    }
}

impl Recorder {
    /// The root is durable, and so is all that is in it.
    pub(super) fn new(root: &Path) -> Self {
        let mut state = State {
            root: root.into(),
            fault: Fault::None,
            done: 0,
            live: BTreeMap::new(),
            durable: BTreeMap::new(),
            between: BTreeMap::new(),
            full: false,
            files: Vec::new(),
            closed: BTreeSet::new(),
        };
        state.scan(root);
        state.durable = state.live.clone();
        state.between.clear();
        Self(Arc::new(Mutex::new(state)))
    }

    /// Starts to count.
    pub(super) fn arm(&self, fault: Fault) {
        let mut state = self.state();
        (state.fault, state.done) = (fault, 0);
    }

    /// How many operations were asked for since.
    pub(super) fn done(&self) -> usize {
        self.state().done
    }

    /// Takes the durability of one name back, as if somebody had just copied it here.
    pub(super) fn forget_name(&self, path: &Path) {
        self.state().durable.remove(path);
    }

    /// From now on this directory cannot be synced by this user.
    pub(super) fn close(&self, dir: &Path) {
        self.state().closed.insert(dir.into());
    }

    /// Takes away all room, or gives it back.
    pub(super) fn set_full(&self, full: bool) {
        self.state().full = full;
    }

    pub(super) fn lose_power(&self, luck: Luck) {
        self.state().lose_power(luck);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

impl State {
    fn scan(&mut self, dir: &Path) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.scan(&path);
                self.live.insert(path, Node::Dir);
            } else {
                let durable = fs::read(&path).unwrap();
                self.add(&path, durable);
            }
        }
    }

    fn add(&mut self, path: &Path, durable: Vec<u8>) {
        let file = Node::File(self.files.len());
        self.name(path, Some(file));
        let dirty = Vec::new();
        self.files.push(Bytes { durable, dirty });
    }

    /// Lets a name stand for something else from now on.
    fn name(&mut self, path: &Path, node: Option<Node>) {
        let old = match node {
            Some(node) => self.live.insert(path.into(), node),
            None => self.live.remove(path),
        };
        self.between.entry(path.into()).or_default().push(old);
    }

    /// Counts an operation. True: it is to fail.
    fn step(&mut self) -> io::Result<bool> {
        self.done += 1;
        match self.fault {
            Fault::Stop(n) if self.done > n => Err(Error::other("the process is gone")),
            Fault::Fail(n) => Ok(self.done == n),
            _ => Ok(false),
        }
    }

    /// Counts an operation that is done whole or not at all.
    fn whole(&mut self) -> io::Result<()> {
        if self.step()? {
            return Err(ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn file(&mut self, file: &OpenFile) -> &mut Bytes {
        match self.live[&file.path] {
            Node::File(at) => &mut self.files[at],
            Node::Dir => panic!("{} is a directory", file.path.display()),
        }
    }

    fn sync(&mut self, file: &OpenFile) -> io::Result<()> {
        if self.step()? {
            self.file(file).dirty.clear();
            return Err(Error::other("the device failed"));
        }
        self.file(file).sync();
        Ok(())
    }

    fn lose_power(&mut self, luck: Luck) {
        let mut random = match luck {
            Luck::Random(seed) => seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            _ => 0,
        };
        // Of so many ways, the one that happened; the last one is that all is kept.
        let mut pick = |ways: usize| match luck {
            Luck::Nothing => 0,
            Luck::Everything => ways - 1,
            Luck::Random(_) => {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                usize::try_from(random >> 33).unwrap() % ways
            }
        };
        let names = self.live.keys().chain(self.durable.keys());
        let names: BTreeSet<_> = names.chain(self.between.keys()).collect();
        let mut left = Vec::new();
        for name in names {
            let (old, new) = (self.durable.get(name), self.live.get(name));
            let mut ways = vec![old.copied()];
            ways.extend(self.between.get(name).into_iter().flatten());
            ways.push(new.copied());
            let Some(node) = ways[pick(ways.len())] else {
                continue;
            };
            let bytes = match node {
                Node::Dir => None,
                Node::File(at) => {
                    let file = &self.files[at];
                    let mut bytes = file.durable.clone();
                    for change in &file.dirty {
                        match (pick(4), change) {
                            (0, _) => {}
                            (1, Change::Write(at, text)) => {
                                Change::Write(*at, text[..pick(text.len())].to_vec())
                                    .apply(&mut bytes);
                            }
                            // The length only: zeros.
                            (2, Change::Write(at, text)) => {
                                let len = bytes.len().max(at + text.len());
                                Change::Len(len).apply(&mut bytes);
                            }
                            (_, change) => change.apply(&mut bytes),
                        }
                    }
                    Some(bytes)
                }
            };
            left.push((name.clone(), bytes));
        }
        for entry in fs::read_dir(&self.root).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
        self.live.clear();
        self.files.clear();
        // A directory is before what is in it, and what is in a lost one is lost.
        for (path, bytes) in left {
            if !path.parent().unwrap().is_dir() {
                continue;
            }
            if let Some(bytes) = bytes {
                fs::write(&path, &bytes).unwrap();
                self.add(&path, bytes);
            } else {
                fs::create_dir(&path).unwrap();
                self.live.insert(path, Node::Dir);
            }
        }
        self.durable = self.live.clone();
        self.between.clear();
    }
}

impl Disk for Recorder {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.whole()?;
        Machine.create_dir(dir)?;
        state.name(dir, Some(Node::Dir));
        Ok(())
    }

    fn create(&self, path: &Path) -> io::Result<OpenFile> {
        let mut state = self.state();
        state.whole()?;
        if state.full {
            return Err(ErrorKind::StorageFull.into());
        }
        let file = Machine.create(path)?;
        state.add(path, Vec::new());
        Ok(file)
    }

    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        self.state().whole()?;
        Machine.open(path)
    }

    fn write_at(&self, file: &OpenFile, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.state();
        let fails = state.step()? || state.full;
        let bytes = &bytes[..if fails { bytes.len() / 2 } else { bytes.len() }];
        Machine.write_at(file, bytes, offset)?;
        let at = usize::try_from(offset).unwrap();
        let change = Change::Write(at, bytes.to_vec());
        state.file(file).dirty.push(change);
        if fails {
            return Err(ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn set_len(&self, file: &OpenFile, len: u64) -> io::Result<()> {
        let mut state = self.state();
        state.whole()?;
        Machine.set_len(file, len)?;
        let change = Change::Len(usize::try_from(len).unwrap());
        state.file(file).dirty.push(change);
        Ok(())
    }

    fn sync_data(&self, file: &OpenFile) -> io::Result<()> {
        self.state().sync(file)
    }

    fn sync_file(&self, file: &OpenFile) -> io::Result<()> {
        self.state().sync(file)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.whole()?;
        if state.closed.contains(dir) {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let inside = |path: &Path| path.parent() == Some(dir);
        let State {
            live,
            durable,
            between,
            ..
        } = &mut *state;
        durable.retain(|path, _| !inside(path));
        between.retain(|path, _| !inside(path));
        let now = live.iter().filter(|(path, _)| inside(path));
        durable.extend(now.map(|(path, node)| (path.clone(), *node)));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.whole()?;
        Machine.remove(path)?;
        state.name(path, None);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.whole()?;
        Machine.rename(from, to)?;
        let node = state.live[from];
        state.name(to, Some(node));
        state.name(from, None);
        Ok(())
    }
}
