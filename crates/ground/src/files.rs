//! Crash-safe writing of files. New content takes effect only when it is renamed into place.
//!
//! Operations go through [`Files`]: a test can make any of them fail, or stop there like a killed process.
//! [`replace_large`] writes content that does not fit into memory.

use crate::limits;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A file or folder that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct FileError {
    /// The file or folder.
    pub path: PathBuf,
    /// The error of the operating system.
    pub source: io::Error,
}

impl FileError {
    /// Adds the path to an I/O error.
    pub fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self { path, source }
    }
}

/// A file operation on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A folder is created.
    CreateFolder,
    /// A file is written and synced.
    Write,
    /// Bytes are appended to a file and synced.
    Append,
    /// A file is truncated.
    Cut,
    /// A file or folder gets its final name.
    Rename,
    /// A folder's entries are synced.
    SyncFolder,
    /// A file or a whole folder is removed.
    Remove,
}

/// A hook before each operation. Its error makes the operation fail, half-done if possible.
pub trait Hook: Send + Sync {
    /// Called before an operation.
    ///
    /// # Errors
    /// The error of the operation.
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()>;
}

/// Access to the file system.
#[derive(Clone, Default)]
pub struct Files {
    hook: Option<Arc<dyn Hook>>,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.hook.is_some() { "Files (watched)" } else { "Files" })
    }
}

type Result<T = ()> = std::result::Result<T, FileError>;

impl Files {
    /// Creates an instance that calls `hook` before each operation.
    pub fn watched(hook: Arc<dyn Hook>) -> Self {
        Self { hook: Some(hook) }
    }

    fn ask(&self, operation: Operation, path: &Path) -> io::Result<()> {
        self.hook.as_ref().map_or(Ok(()), |hook| hook.before(operation, path))
    }

    /// Creates a folder and its parents.
    ///
    /// # Errors
    /// [`FileError`], as for all operations.
    pub fn create_folder(&self, path: &Path) -> Result {
        let create = || self.ask(Operation::CreateFolder, path).and_then(|()| fs::create_dir_all(path));
        create().map_err(FileError::at(path))
    }

    /// Creates a folder and tests whether files can be written there, before work whose result goes there.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn try_folder(&self, path: &Path) -> Result {
        self.create_folder(path)?;
        let trial = path.join(format!(".trial.{}", std::process::id()));
        let tried = File::create(&trial).map(drop);
        let _ = fs::remove_file(&trial);
        tried.map_err(FileError::at(path))
    }

    /// Like [`try_folder`](Self::try_folder) for the folder of a file. Fails if the file is a folder.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn try_file(&self, path: &Path) -> Result {
        limits::check_target(path).map_err(FileError::at(path))?;
        self.try_folder(parent(path))?;
        // Some systems refuse long names.
        let trial = temporary(path);
        let tried = File::create(&trial).map(drop);
        let _ = fs::remove_file(&trial);
        tried.map_err(FileError::at(path))
    }

    /// Writes a new file and syncs it.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result {
        let write = || {
            let asked = self.ask(Operation::Write, path);
            // A full disk or a killed process leaves a partial file.
            let part = if asked.is_ok() { bytes } else { &bytes[..bytes.len() / 2] };
            let mut file = File::create(path)?;
            file.write_all(part)?;
            file.sync_all()?;
            asked
        };
        write().map_err(FileError::at(path))
    }

    /// Writes a file under a temporary name, syncs it and renames it into place.
    ///
    /// # Errors
    /// [`FileError`]; the file then has either its old or its new content, complete.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result {
        limits::check_target(path).map_err(FileError::at(path))?;
        let temporary = temporary(path);
        let write = self.write(&temporary, bytes).map_err(|e| FileError { path: path.into(), ..e });
        let replaced = write.and_then(|()| self.rename(&temporary, path));
        if replaced.is_err() {
            // Frees space on a full disk. The first error is the one to report.
            let _ = self.remove(&temporary);
        }
        replaced
    }

    /// Like [`replace`](Self::replace), but leaves it to the system when to sync: the new content survives the end of this process. If
    /// the machine itself fails soon after, the file may have its old content, its new content, or be empty.
    ///
    /// # Errors
    /// [`FileError`]; the file then has either its old or its new content, complete.
    pub fn replace_unsynced(&self, path: &Path, bytes: &[u8]) -> Result {
        limits::check_target(path).map_err(FileError::at(path))?;
        let temporary = temporary(path);
        let replace = || {
            self.ask(Operation::Write, &temporary)?;
            fs::write(&temporary, bytes)?;
            self.ask(Operation::Rename, path)?;
            fs::rename(&temporary, path)
        };
        let replaced = replace().map_err(FileError::at(path));
        if replaced.is_err() {
            let _ = self.remove(&temporary);
        }
        replaced
    }

    /// Renames a file or folder to its final name, and syncs the parent folder.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn rename(&self, from: &Path, to: &Path) -> Result {
        let rename = || self.ask(Operation::Rename, to).and_then(|()| fs::rename(from, to));
        rename().map_err(FileError::at(to))?;
        self.sync_folder(parent(to))
    }

    /// Syncs the entries of a folder.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn sync_folder(&self, path: &Path) -> Result {
        let sync = || {
            self.ask(Operation::SyncFolder, path)?;
            // Only Unix can open folders; other systems order renames on their own.
            if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
        };
        sync().map_err(FileError::at(path))
    }

    /// Appends to a file and syncs it; creates it if missing. Returns its length in bytes.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn append(&self, path: &Path, bytes: &[u8]) -> Result<u64> {
        let append = || {
            let asked = self.ask(Operation::Append, path);
            let part = if asked.is_ok() { bytes } else { &bytes[..bytes.len() / 2] };
            let mut file = OpenOptions::new().append(true).create(true).open(path)?;
            file.write_all(part)?;
            file.sync_all()?;
            asked?;
            Ok(file.metadata()?.len())
        };
        append().map_err(FileError::at(path))
    }

    /// Truncates a file to `bytes` bytes; creates it if missing. Returns its length, which is less if it was shorter.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn cut(&self, path: &Path, bytes: u64) -> Result<u64> {
        let cut = || {
            self.ask(Operation::Cut, path)?;
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
            let length = file.metadata()?.len().min(bytes);
            file.set_len(length)?;
            file.sync_all()?;
            Ok(length)
        };
        cut().map_err(FileError::at(path))
    }

    /// Removes a file, or a folder with its content. Does nothing if the path does not exist.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn remove(&self, path: &Path) -> Result {
        let remove = || {
            if !path.is_dir() {
                self.ask(Operation::Remove, path)?;
                return fs::remove_file(path);
            }
            let asked = self.ask(Operation::Remove, path);
            if asked.is_err() {
                // Half done: removes the first entry only.
                if let Some(Ok(first)) = fs::read_dir(path)?.next() {
                    fs::remove_file(first.path())?;
                }
                return asked;
            }
            fs::remove_dir_all(path)
        };
        match remove() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(FileError::at(path)),
        }
    }
}

/// The parent folder of a path.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The temporary name of this process for `path`: `.NAME.PID` in the same folder.
pub fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    parent(path).join(format!(".{name}.{}", std::process::id()))
}

/// Writes a large file in pieces, under a temporary name, then syncs and renames it. The temporary name is fixed, so a
/// killed process leaves at most one such file, which the next call overwrites.
///
/// # Errors
/// Errors of `fill` or the operating system, or that another process is writing the same file. An existing file stays.
pub fn replace_large(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = parent(path);
    limits::check_target(path)?;
    fs::create_dir_all(folder)?;
    let mut name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_os_string();
    name.push(".partial");
    let partial = folder.join(name);
    let mut file = File::options().write(true).create(true).truncate(false).open(&partial)?;
    // Another process holds the lock and is writing the file.
    file.try_lock().map_err(|e| match e {
        TryLockError::WouldBlock => {
            io::Error::other(format!("another process is writing {}", partial.display()))
        }
        TryLockError::Error(e) => e,
    })?;
    let unfinished = Unfinished::new(&partial);
    let written = file
        .set_len(0)
        .and_then(|()| fill(&mut file))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&partial, path));
    drop(unfinished);
    if written.is_err() {
        // Report the first error.
        let _ = fs::remove_file(&partial);
        return written;
    }
    // Sync the folder to make the new name durable, on systems that support this.
    File::open(folder).and_then(|folder| folder.sync_all()).or(Ok(()))
}

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A large file being written, registered until this is dropped.
struct Unfinished(PathBuf);

impl Unfinished {
    fn new(path: &Path) -> Self {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.into());
        Self(path.into())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.0);
    }
}

/// Removes all large files being written, for a process that is about to end.
pub fn remove_unfinished() {
    for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = fs::remove_file(path);
    }
}
