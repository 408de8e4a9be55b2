//! File operations of checkpoints and runs.
//!
//! All operations go through [`Files`]. A test can make any operation fail, or stop there like a killed process. New
//! content takes effect only when it is renamed into place.

use crate::error::ModelError;
use adept_rows::limits;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// A hook before each operation. Its error makes the operation fail, half done if possible.
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

type Result<T = ()> = std::result::Result<T, ModelError>;

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
    /// [`ModelError::Io`], as for all operations.
    pub fn create_folder(&self, path: &Path) -> Result {
        let create = || self.ask(Operation::CreateFolder, path).and_then(|()| fs::create_dir_all(path));
        create().map_err(ModelError::io(path))
    }

    /// Creates a folder and tries whether files can be written there, before work whose result goes there.
    ///
    /// # Errors
    /// [`ModelError::Io`].
    pub fn try_folder(&self, path: &Path) -> Result {
        self.create_folder(path)?;
        let trial = path.join(format!(".trial.{}", std::process::id()));
        let tried = File::create(&trial).map(drop);
        let _ = fs::remove_file(&trial);
        tried.map_err(ModelError::io(path))
    }

    /// Like [`try_folder`](Self::try_folder) for the folder of a file. Fails if the file is a folder.
    ///
    /// # Errors
    /// [`ModelError::Io`].
    pub fn try_file(&self, path: &Path) -> Result {
        limits::check_target(path).map_err(ModelError::io(path))?;
        self.try_folder(parent(path))?;
        // Some systems refuse long names.
        let trial = temporary(path);
        let tried = File::create(&trial).map(drop);
        let _ = fs::remove_file(&trial);
        tried.map_err(ModelError::io(path))
    }

    /// Writes a new file and syncs it.
    ///
    /// # Errors
    /// [`ModelError::Io`].
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
        write().map_err(ModelError::io(path))
    }

    /// Writes a file under a temporary name, syncs it and renames it into place.
    ///
    /// # Errors
    /// [`ModelError::Io`]; the file then has either its old or its new content, complete.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result {
        limits::check_target(path).map_err(ModelError::io(path))?;
        let temporary = temporary(path);
        let write = self.write(&temporary, bytes).map_err(|error| match error {
            ModelError::Io { source, .. } => ModelError::Io { path: path.into(), source },
            other => other,
        });
        let replaced = write.and_then(|()| self.rename(&temporary, path));
        if replaced.is_err() {
            // Frees space on a full disk. The first error is the one to report.
            let _ = self.remove(&temporary);
        }
        replaced
    }

    /// Renames a file or folder to its final name, and syncs the parent folder.
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
            // Only Unix can open folders; other systems order renames on their own.
            if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
        };
        sync().map_err(ModelError::io(path))
    }

    /// Appends to a file and syncs it; creates it if missing. Returns its length in bytes.
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

    /// Truncates a file to `bytes` bytes; creates it if missing. The file must not be shorter.
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

    /// Removes a file, or a folder with its content. Does nothing if the path does not exist.
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
            done => done.map_err(ModelError::io(path)),
        }
    }
}

/// The parent folder of a path.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The temporary name of this process for `path`: `.NAME.PID` in the same folder.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    parent(path).join(format!(".{name}.{}", std::process::id()))
}
