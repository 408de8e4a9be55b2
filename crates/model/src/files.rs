//! The file operations of checkpoints and runs.
//!
//! All of them go through [`Files`], so that a test can make any one of them fail, or end there as if the process had
//! been killed. What is written counts only once it is renamed into place.

use crate::error::ModelError;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is about to happen to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A folder is made.
    CreateFolder,
    /// A file is written and synced.
    Write,
    /// Bytes are appended to a file and synced.
    Append,
    /// A file is cut to a length.
    Cut,
    /// A file or folder gets its final name.
    Rename,
    /// A folder's entries are synced.
    SyncFolder,
    /// A file or a whole folder is removed.
    Remove,
}

/// Is asked before each operation; an error makes it fail, half done where that is possible.
pub trait Hook: Send + Sync {
    /// An operation is about to happen.
    ///
    /// # Errors
    /// What the operation shall fail with.
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()>;
}

/// Access to files.
#[derive(Clone, Default)]
pub struct Files {
    hook: Option<Arc<dyn Hook>>,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.hook.is_some() { "Files (watched)" } else { "Files" })
    }
}

type Result<T = ()> = std::result::Result<T, ModelError>;

impl Files {
    /// Files whose operations ask `hook` first.
    pub fn watched(hook: Arc<dyn Hook>) -> Self {
        Self { hook: Some(hook) }
    }

    fn ask(&self, operation: Operation, path: &Path) -> io::Result<()> {
        self.hook.as_ref().map_or(Ok(()), |hook| hook.before(operation, path))
    }

    /// Makes a folder and those above it.
    ///
    /// # Errors
    /// [`ModelError::Io`], as for all operations.
    pub fn create_folder(&self, path: &Path) -> Result {
        let create = || self.ask(Operation::CreateFolder, path).and_then(|()| fs::create_dir_all(path));
        create().map_err(ModelError::io(path))
    }

    /// Writes a new file and syncs it.
    ///
    /// # Errors
    /// [`ModelError::Io`].
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result {
        let write = || {
            let asked = self.ask(Operation::Write, path);
            // A disk that is full and a process that is killed leave a part.
            let part = if asked.is_ok() { bytes } else { &bytes[..bytes.len() / 2] };
            let mut file = File::create(path)?;
            file.write_all(part)?;
            file.sync_all()?;
            asked
        };
        write().map_err(ModelError::io(path))
    }

    /// Writes a file under a temporary name, syncs it and renames it into place.
    ///
    /// # Errors
    /// [`ModelError::Io`]; the file is then what it was or what it shall be, and whole.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result {
        let temporary = temporary(path);
        let replaced = self.write(&temporary, bytes).and_then(|()| self.rename(&temporary, path));
        if replaced.is_err() {
            // On a full disk every byte counts; if this fails too, the first error says more.
            let _ = self.remove(&temporary);
        }
        replaced
    }

    /// Gives a file or folder its final name, and syncs the folder around it.
    ///
    /// # Errors
    /// [`ModelError::Io`].
    pub fn rename(&self, from: &Path, to: &Path) -> Result {
        let rename = || self.ask(Operation::Rename, to).and_then(|()| fs::rename(from, to));
        rename().map_err(ModelError::io(to))?;
        self.sync_folder(parent(to))
    }

    /// Syncs the entries of a folder.
    ///
    /// # Errors
    /// [`ModelError::Io`].
    pub fn sync_folder(&self, path: &Path) -> Result {
        let sync = || {
            self.ask(Operation::SyncFolder, path)?;
            // Other systems than Unix cannot open folders and order renames by themselves.
            if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
        };
        sync().map_err(ModelError::io(path))
    }

    /// Appends to a file, which is made if missing, and syncs it; returns its length in bytes.
    ///
    /// # Errors
    /// [`ModelError::Io`].
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
        append().map_err(ModelError::io(path))
    }

    /// Cuts a file, which is made if missing, to that many bytes; it must not be shorter.
    ///
    /// # Errors
    /// [`ModelError::Io`]; [`ModelError::Checkpoint`] if it is shorter.
    pub fn cut(&self, path: &Path, bytes: u64) -> Result {
        let open = || {
            self.ask(Operation::Cut, path)?;
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
            let found = file.metadata()?.len();
            Ok((file, found))
        };
        let (file, found) = open().map_err(ModelError::io(path))?;
        if found < bytes {
            let message =
                format!("has {found} bytes, the run wrote {bytes}: put the file back or start anew");
            return Err(ModelError::Checkpoint { path: path.into(), message });
        }
        file.set_len(bytes).and_then(|()| file.sync_all()).map_err(ModelError::io(path))
    }

    /// Removes a file, or a folder with all that is in it; nothing there is fine.
    ///
    /// # Errors
    /// [`ModelError::Io`].
    pub fn remove(&self, path: &Path) -> Result {
        let remove = || {
            if !path.is_dir() {
                self.ask(Operation::Remove, path)?;
                return fs::remove_file(path);
            }
            let asked = self.ask(Operation::Remove, path);
            if asked.is_err() {
                // Half done: the first entry is gone.
                if let Some(Ok(first)) = fs::read_dir(path)?.next() {
                    fs::remove_file(first.path())?;
                }
                return asked;
            }
            fs::remove_dir_all(path)
        };
        match remove() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(ModelError::io(path)),
        }
    }
}

/// The folder around a path.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The name under which this process prepares what will be `path`: `.NAME.PID` beside it.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    parent(path).join(format!(".{name}.{}", std::process::id()))
}
