//! Games as files, which outlive the server. The file of a game is written after every change, before its answer.

use crate::client::Client;
use crate::fault::{Fault, Kind};
use crate::limits;
use adept_ground::files::{FileError, Files};
use adept_ground::{limits as bounds, notes};
use adept_play::Record;
use axum::http::StatusCode;
use serde::Deserialize;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Age of temporary files that a killed process has left.
const LEFT: Duration = Duration::from_secs(60);

/// The share of the files, one in so many, that goes when there are too many: so all are seldom sorted.
const SHARE: usize = 20;

/// The share of the files, one in so many, beyond which a client's new game replaces its own when there are too many.
const CLIENT: usize = 4;

/// What is known of a file.
struct Kept {
    /// Whether its game is over; none if the file was there before the server and has not been read.
    over: Option<bool>,
    saved: SystemTime,
    /// Who wrote it first in this server.
    owner: Option<Client>,
}

/// A folder with one file for each game.
pub(crate) struct Archive {
    folder: PathBuf,
    files: Files,
    /// Largest number of files.
    most: usize,
    all: Mutex<HashMap<String, Kept>>,
    /// Whether a request makes room.
    is_clearing: AtomicBool,
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
        let kept = |entry: DirEntry| {
            let saved = entry.metadata().and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            Some((id_of(&entry.path())?, Kept { over: None, saved, owner: None }))
        };
        let all = Mutex::new(entries(&folder).filter_map(kept).collect());
        let (files, synced) = (Files::default(), Mutex::default());
        let [is_clearing, is_failing] = [(); 2].map(|()| AtomicBool::default());
        Self { folder, files, most, all, is_clearing, synced, is_failing }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file of a game. None if the text, which comes from a client, is not an identifier.
    fn path(&self, id: &str) -> Option<PathBuf> {
        is_id(id).then(|| self.folder.join(format!("{id}.json")))
    }

    /// Writes a game that a client plays. If that fails, the game goes on in memory, and the server says so once.
    pub(crate) fn save(&self, client: Client, id: &str, record: &Record) {
        let Some(path) = self.path(id) else { return };
        let saved = self.write(&path, record);
        if saved.is_ok() {
            self.note(client, id, record.over);
        }
        let was_failing = self.is_failing.swap(saved.is_err(), Ordering::Relaxed);
        if let Err(error) = saved
            && !was_failing
        {
            notes::warn(&format!("games are in memory only, and a restart loses them: {error}"));
        }
    }

    fn write(&self, path: &Path, record: &Record) -> Result<(), FileError> {
        let bytes = serde_json::to_vec(record).map_err(|e| FileError::at(path)(e.into()))?;
        if !path.exists() {
            self.files.create_folder(&self.folder)?;
        }
        match self.is_due() {
            true => self.files.replace(path, &bytes),
            false => self.files.replace_unsynced(path, &bytes),
        }
    }

    /// Notes that a file was written, and makes room for it.
    fn note(&self, client: Client, id: &str, over: bool) {
        let mut all = self.all();
        let saved = SystemTime::now();
        let kept = all.entry(id.into()).or_insert(Kept { over: None, saved, owner: None });
        kept.owner.get_or_insert(client);
        (kept.over, kept.saved) = (Some(over), saved);
        let is_full = all.len() > self.most;
        drop(all);
        if is_full && !self.is_clearing.swap(true, Ordering::Relaxed) {
            self.make_room(client, id);
            self.is_clearing.store(false, Ordering::Relaxed);
        }
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

    /// Deletes files but that of a client's new game, finished games before others, and among them the oldest first. A client with many
    /// files loses its own.
    fn make_room(&self, client: Client, new: &str) {
        let is_unread = |(id, kept): (&String, &Kept)| kept.over.is_none().then(|| id.clone());
        let unread: Vec<String> = self.all().iter().filter_map(is_unread).collect();
        // Read once, and without holding up others.
        for id in unread {
            let over = self.path(&id).is_some_and(|path| !is_in_progress(&path));
            if let Some(kept) = self.all().get_mut(&id) {
                kept.over.get_or_insert(over);
            }
        }
        let all = self.all();
        let is_own = |kept: &Kept| kept.owner == Some(client);
        let has_many = all.values().filter(|kept| is_own(kept)).count() > self.most / CLIENT;
        let can_go = |(id, kept): &(&String, &Kept)| *id != new && (!has_many || is_own(kept));
        let order = |(id, kept): (&String, &Kept)| (kept.over != Some(true), kept.saved, id.clone());
        let mut old: Vec<_> = all.iter().filter(can_go).map(order).collect();
        old.sort();
        old.truncate(all.len().saturating_sub(self.most - self.most / SHARE));
        drop(all);
        for (.., id) in old {
            // A file that stays is counted on.
            let _ = self.remove(&id);
        }
    }

    /// Reads a game. None if there is none of this identifier.
    ///
    /// # Errors
    /// If its file is damaged, or cannot be read now.
    pub(crate) fn load(&self, id: &str) -> Option<Result<Record, Fault>> {
        let read = bounds::read(&self.path(id)?, limits::RECORD_BYTES);
        let damaged = |why: String| unusable(format!("the file of this game, {id}.json, is damaged: {why}"));
        match read {
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) if matches!(e.kind(), ErrorKind::InvalidData | ErrorKind::FileTooLarge) => {
                Some(Err(damaged(e.to_string())))
            }
            Err(e) => {
                Some(Err(Fault::busy(format!("the file of this game, {id}.json, cannot be read now: {e}"))))
            }
            Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))),
        }
    }

    /// Whether there is a file of a game.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.path(id).is_some_and(|path| path.exists())
    }

    /// Deletes a game. Returns whether it was there.
    ///
    /// # Errors
    /// If its file cannot be deleted.
    pub(crate) fn remove(&self, id: &str) -> Result<bool, Fault> {
        let Some(path) = self.path(id) else { return Ok(false) };
        let removed = fs::remove_file(path);
        match removed {
            // A folder that cannot be created leaves games in memory only.
            Err(e) if !matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Err(Fault::busy(format!("the file of this game, {id}.json, cannot be deleted now: {e}")))
            }
            removed => {
                self.all().remove(id);
                Ok(removed.is_ok())
            }
        }
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

/// The identifier in the name of a file of a game.
fn id_of(path: &Path) -> Option<String> {
    let id = path.file_stem()?.to_str().filter(|id| is_id(id))?;
    (path.extension() == Some(OsStr::new("json"))).then(|| id.into())
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

    fn client(last: u8) -> Client {
        Client::new([10, 0, 0, last].into())
    }

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
        archive.save(client(1), &first, &record(1, false));
        archive.save(client(1), &first, &record(2, false));
        archive.save(client(1), &second, &record(3, false));
        assert_eq!(archive.load(&first).unwrap().unwrap(), record(2, false));
        fs::write(place.join(format!("{first}.json")), "{\"format\": \"adept").unwrap();
        let fault = archive.load(&first).unwrap().unwrap_err();
        assert_eq!(fault.status.as_u16(), 410);
        assert!(fault.message.contains("is damaged") && !fault.message.contains('/'), "{}", fault.message);
        assert_eq!(archive.load(&second).unwrap().unwrap(), record(3, false));
        // Another server finds them.
        let other = Archive::new(place.clone(), 10);
        assert_eq!((other.load(&second).unwrap().unwrap(), other.all().len()), (record(3, false), 2));
        assert!(archive.remove(&first).unwrap() && !archive.remove(&first).unwrap());
        assert!(archive.load(&first).is_none() && !archive.has(&first) && archive.has(&second));
        assert_eq!(fs::read_dir(place).unwrap().count(), 1);
    }

    #[test]
    fn only_identifiers_name_files() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::new(folder.path().join("plays"), 10);
        fs::write(folder.path().join("secret.json"), "{}").unwrap();
        for id in ["../secret", "", "0123456789ABCDEF01234567", "0123456789abcdef0123456", "%2e%2e/secret"] {
            archive.save(client(1), id, &record(1, false));
            assert!(archive.load(id).is_none() && !archive.remove(id).unwrap(), "{id}");
        }
        assert!(folder.path().join("secret.json").exists() && !folder.path().join("plays").exists());
    }

    /// Indices of the games that are left.
    fn left(archive: &Archive, ids: &[String]) -> Vec<usize> {
        (0..ids.len()).filter(|i| archive.load(&ids[*i]).is_some()).collect()
    }

    #[test]
    fn finished_games_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::new(folder.path().into(), 40);
        let ids: Vec<String> = (0..40).map(|_| fresh_id()).collect();
        for (i, id) in ids.iter().enumerate() {
            archive.save(client(i as u8), id, &record(i as u64, i % 8 >= 6));
        }
        let new = fresh_id();
        archive.save(client(99), &new, &record(99, true));
        // The three oldest of the finished games 6, 7, 14, 15, ….
        let expected: Vec<usize> = (0..40).filter(|i| ![6, 7, 14].contains(i)).collect();
        assert_eq!((left(&archive, &ids), archive.all().len()), (expected.clone(), 38));
        assert!(archive.load(&new).is_some());
        // Another server reads which are finished.
        for (i, id) in ids.iter().enumerate().filter(|(i, _)| expected.contains(i)) {
            let file =
                fs::File::options().write(true).open(folder.path().join(format!("{id}.json"))).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(i as u64)).unwrap();
        }
        let archive = Archive::new(folder.path().into(), 40);
        for i in 0..3 {
            archive.save(client(99), &fresh_id(), &record(i, false));
        }
        let expected: Vec<usize> = expected.into_iter().filter(|i| ![15, 22, 23].contains(i)).collect();
        assert_eq!((left(&archive, &ids), archive.all().len()), (expected, 38));
    }

    #[test]
    fn a_client_with_many_games_loses_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::new(folder.path().into(), 40);
        let ids: Vec<String> = (0..20).map(|_| fresh_id()).collect();
        for (i, id) in ids.iter().enumerate() {
            archive.save(client(1), id, &record(i as u64, true));
        }
        for i in 0..200 {
            archive.save(client(2), &fresh_id(), &record(i, false));
        }
        assert_eq!(left(&archive, &ids).len(), 20);
        assert!(archive.all().len() <= 40);
    }

    #[test]
    fn a_file_that_cannot_be_read_or_deleted_is_not_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::new(folder.path().into(), 10);
        let id = fresh_id();
        fs::create_dir_all(folder.path().join(format!("{id}.json")).join("full")).unwrap();
        assert_eq!(archive.load(&id).unwrap().unwrap_err().status.as_u16(), 503);
        assert_eq!(archive.remove(&id).unwrap_err().status.as_u16(), 503);
    }

    #[test]
    fn a_folder_that_cannot_be_written_stops_no_game() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let archive = Archive::new(file.join("plays"), 10);
        archive.save(client(1), &fresh_id(), &record(1, false));
        assert!(!archive.works());
    }
}
