//! Games as files, which outlive the server. The file of a game is written after every change, before its answer.

use crate::fault::{Fault, Kind};
use crate::limits;
use adept_ground::files::{FileError, Files};
use adept_ground::{limits as bounds, notes};
use adept_play::Record;
use axum::http::StatusCode;
use serde::Deserialize;
use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Age of temporary files that a killed process has left.
const LEFT: Duration = Duration::from_secs(60);

/// The share of the files, one in so many, that goes when there are too many: so all are seldom read.
const SHARE: usize = 20;

/// A folder with one file for each game.
pub(crate) struct Archive {
    folder: PathBuf,
    files: Files,
    /// Largest number of files.
    most: usize,
    /// Their number.
    count: Mutex<usize>,
    /// When a file was synced last.
    synced: Mutex<Option<Instant>>,
    is_failing: AtomicBool,
}

impl Archive {
    /// The folder is created with its first file.
    pub(crate) fn new(folder: PathBuf, most: usize) -> Self {
        let is_left = |entry: &DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let id = name.strip_prefix('.').and_then(|name| name.split_once(".json.")).map(|(id, _)| id);
            id.is_some_and(is_id) && age(entry).is_some_and(|age| age > LEFT)
        };
        for entry in entries(&folder).filter(is_left) {
            let _ = fs::remove_file(entry.path());
        }
        let count = Mutex::new(entries(&folder).filter(|entry| is_game(&entry.path())).count());
        let (files, synced, is_failing) = (Files::default(), Mutex::default(), AtomicBool::default());
        Self { folder, files, most, count, synced, is_failing }
    }

    /// The file of a game. None if the text, which comes from a client, is not an identifier.
    fn path(&self, id: &str) -> Option<PathBuf> {
        is_id(id).then(|| self.folder.join(format!("{id}.json")))
    }

    /// Writes a game. If that fails, the game goes on in memory, and the server says so once.
    pub(crate) fn save(&self, id: &str, record: &Record) {
        let Some(path) = self.path(id) else { return };
        let saved = self.write(&path, record);
        let was_failing = self.is_failing.swap(saved.is_err(), Ordering::Relaxed);
        if let Err(error) = saved
            && !was_failing
        {
            notes::warn(&format!("games are in memory only, and a restart loses them: {error}"));
        }
    }

    fn write(&self, path: &Path, record: &Record) -> Result<(), FileError> {
        let bytes = serde_json::to_vec(record).map_err(|e| FileError::at(path)(e.into()))?;
        let is_new = !path.exists();
        if is_new {
            self.files.create_folder(&self.folder)?;
        }
        match self.is_due() {
            true => self.files.replace(path, &bytes)?,
            false => self.files.replace_unsynced(path, &bytes)?,
        }
        if is_new {
            let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
            *count += 1;
            if *count > self.most {
                *count = self.make_room(path);
            }
        }
        Ok(())
    }

    /// Whether the last file that was synced is old enough to sync another.
    fn is_due(&self) -> bool {
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = synced.is_none_or(|at| at.elapsed() >= limits::SYNCING);
        if is_due {
            *synced = Some(Instant::now());
        }
        is_due
    }

    /// Deletes files but that of a new game, finished games before others, and among them the oldest first. Returns how many are left.
    fn make_room(&self, new: &Path) -> usize {
        let mut all: Vec<(bool, SystemTime, PathBuf)> = entries(&self.folder)
            .filter(|entry| is_game(&entry.path()))
            .map(|entry| {
                let modified = entry.metadata().and_then(|found| found.modified());
                (is_in_progress(&entry.path()), modified.unwrap_or(SystemTime::UNIX_EPOCH), entry.path())
            })
            .collect();
        all.sort();
        let (many, least) = (all.len(), self.most - self.most / SHARE);
        let old = all.into_iter().map(|(_, _, path)| path).filter(|path| path != new);
        let gone = old.take(many.saturating_sub(least)).filter(|path| fs::remove_file(path).is_ok()).count();
        many - gone
    }

    /// Reads a game. None if there is none of this identifier.
    ///
    /// # Errors
    /// If its file is damaged.
    pub(crate) fn load(&self, id: &str) -> Option<Result<Record, Fault>> {
        let read = bounds::read(&self.path(id)?, limits::RECORD_BYTES);
        let damaged = |why: String| unusable(format!("the file of this game, {id}.json, is damaged: {why}"));
        match read {
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => Some(Err(damaged(e.to_string()))),
            Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))),
        }
    }

    /// Deletes a game. Returns whether it was there.
    pub(crate) fn remove(&self, id: &str) -> bool {
        let Some(path) = self.path(id) else { return false };
        let is_gone = fs::remove_file(path).is_ok();
        if is_gone {
            let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
            *count = count.saturating_sub(1);
        }
        is_gone
    }

    /// Whether the last game that was written is in its file.
    pub(crate) fn works(&self) -> bool {
        !self.is_failing.load(Ordering::Relaxed)
    }
}

/// A game that is there, and cannot be played on.
pub(crate) fn unusable(message: String) -> Fault {
    Fault::new(StatusCode::GONE, Kind::Failed, message)
}

/// Whether a text is an identifier as the server makes them, and so may name a file.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn is_game(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("json"))
        && path.file_stem().and_then(OsStr::to_str).is_some_and(is_id)
}

/// Whether the game in a file is not over. A damaged file holds no game.
fn is_in_progress(path: &Path) -> bool {
    #[derive(Deserialize)]
    struct Part {
        over: bool,
    }
    let read = bounds::read(path, limits::RECORD_BYTES).ok();
    read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).is_some_and(|part: Part| !part.over)
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

fn age(entry: &DirEntry) -> Option<Duration> {
    entry.metadata().and_then(|found| found.modified()).ok()?.elapsed().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plays::fresh_id;

    fn record(seed: u64, over: bool) -> Record {
        Record {
            format: Record::FORMAT.into(),
            game: "tictactoe".into(),
            opponent: "random".into(),
            seat: 1,
            seed,
            from: None,
            turn: 0,
            actions: Vec::new(),
            resigned: None,
            over,
            position: String::new(),
        }
    }

    #[test]
    fn games_are_files_and_damaged_ones_say_so() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("plays");
        let archive = Archive::new(place.clone(), 10);
        let [first, second] = [fresh_id(), fresh_id()];
        assert!(archive.load(&first).is_none() && !place.exists());
        archive.save(&first, &record(1, false));
        archive.save(&first, &record(2, false));
        archive.save(&second, &record(3, false));
        assert_eq!(archive.load(&first).unwrap().unwrap(), record(2, false));
        fs::write(place.join(format!("{first}.json")), "{\"format\": \"adept").unwrap();
        let fault = archive.load(&first).unwrap().unwrap_err();
        assert_eq!(fault.status.as_u16(), 410);
        assert!(fault.message.contains("is damaged") && !fault.message.contains('/'), "{}", fault.message);
        assert_eq!(archive.load(&second).unwrap().unwrap(), record(3, false));
        // Another server finds them.
        let other = Archive::new(place.clone(), 10);
        assert_eq!(
            (other.load(&second).unwrap().unwrap(), *other.count.lock().unwrap()),
            (record(3, false), 2)
        );
        assert!(archive.remove(&first) && !archive.remove(&first) && archive.load(&first).is_none());
        assert_eq!(fs::read_dir(place).unwrap().count(), 1);
    }

    #[test]
    fn only_identifiers_name_files() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::new(folder.path().join("plays"), 10);
        fs::write(folder.path().join("secret.json"), "{}").unwrap();
        for id in ["../secret", "", "0123456789ABCDEF01234567", "0123456789abcdef0123456", "%2e%2e/secret"] {
            archive.save(id, &record(1, false));
            assert!(archive.load(id).is_none() && !archive.remove(id), "{id}");
        }
        assert!(folder.path().join("secret.json").exists() && !folder.path().join("plays").exists());
    }

    #[test]
    fn finished_games_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::new(folder.path().into(), 20);
        let ids: Vec<String> = (0..20).map(|_| fresh_id()).collect();
        for (i, id) in ids.iter().enumerate() {
            archive.save(id, &record(i as u64, i % 4 == 3));
        }
        let new = fresh_id();
        archive.save(&new, &record(99, true));
        let left = |over: bool| {
            let of_kind = ids.iter().enumerate().filter(|(i, _)| (i % 4 == 3) == over);
            of_kind.filter(|(_, id)| archive.load(id).is_some()).count()
        };
        assert_eq!((left(false), left(true), *archive.count.lock().unwrap()), (15, 3, 19));
        assert!(archive.load(&new).is_some());
    }

    #[test]
    fn a_folder_that_cannot_be_written_stops_no_game() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let archive = Archive::new(file.join("plays"), 10);
        archive.save(&fresh_id(), &record(1, false));
        assert!(!archive.works());
    }
}
