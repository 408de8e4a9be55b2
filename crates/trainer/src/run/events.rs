//! Event files for TensorBoard: the numbers of `metrics.jsonl` as scalars.
//!
//! An event file is a list of records: length (u64), its checksum, an `Event` as a protocol buffer, its checksum, all little
//! endian. Checksums are CRC-32C, rotated and shifted by a constant. TensorBoard reads all files of a folder whose names contain
//! `tfevents`.

use super::folder::{EVENTS, Folder, Record};
use adept_ground::{files::FileError, limits};
use adept_model::ModelError;
use prost::Message;
use serde_json::{Number, Value};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Clone, PartialEq, Message)]
struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(string, optional, tag = "3")]
    file_version: Option<String>,
    #[prost(message, optional, tag = "5")]
    summary: Option<Summary>,
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<Scalar>,
}

#[derive(Clone, PartialEq, Message)]
struct Scalar {
    #[prost(string, tag = "1")]
    tag: String,
    #[prost(float, optional, tag = "2")]
    simple_value: Option<f32>,
}

/// The event file of a run.
pub(super) struct EventFile {
    path: PathBuf,
    /// Seconds since 1970 at which the run would have begun if it had never been stopped.
    began: f64,
}

impl EventFile {
    /// Whether the run has an event file.
    pub(super) fn is_in(folder: &Folder) -> bool {
        folder.path.join(EVENTS).is_file()
    }

    /// Brings the file of a run up to its measurements so far. What is right in it stays, since TensorBoard may be reading it.
    ///
    /// # Errors
    /// [`ModelError`] if measurements cannot be read, or the file cannot be written.
    pub(super) fn write(folder: &Folder, record: &Record) -> Result<Self, ModelError> {
        let path = folder.path.join(EVENTS);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let there = limits::read(&path, limits::LIST_BYTES).unwrap_or_default();
        let file = Self { path, began: began_in(&there).unwrap_or(now - record.seconds) };
        let version =
            Event { wall_time: file.began, file_version: Some("brain.Event:2".into()), ..Event::default() };
        let mut bytes = in_frame(&version);
        for line in folder.measurements(record)? {
            bytes.extend(file.event_of(&line));
        }
        if there.starts_with(&bytes) {
            // A process that was killed may have written more.
            if there.len() > bytes.len() {
                folder.files.cut(&file.path, bytes.len() as u64)?;
            }
        } else if bytes.starts_with(&there) {
            folder.files.append(&file.path, &bytes[there.len()..])?;
        } else {
            folder.files.replace(&file.path, &bytes)?;
        }
        Ok(file)
    }

    /// Appends lines of `metrics.jsonl`.
    ///
    /// # Errors
    /// [`FileError`].
    pub(super) fn append(&self, folder: &Folder, lines: &str) -> Result<(), FileError> {
        let values = lines.lines().filter_map(|line| serde_json::from_str(line).ok());
        let bytes: Vec<u8> = values.flat_map(|line: Value| self.event_of(&line)).collect();
        folder.files.append(&self.path, &bytes).map(drop)
    }

    fn event_of(&self, line: &Value) -> Vec<u8> {
        let all = numbers(line).into_iter().filter(|(name, _)| name != "step");
        let scalar = |(tag, number): (String, Number)| Scalar {
            tag,
            simple_value: number.as_f64().map(|value| value as f32),
        };
        let summary = Summary { value: all.map(scalar).collect() };
        in_frame(&Event {
            wall_time: self.began + line["seconds"].as_f64().unwrap_or(0.0),
            step: line["step"].as_i64().unwrap_or(0),
            file_version: None,
            summary: Some(summary),
        })
    }
}

/// The numbers in a measurement, named by the path to them, such as `equity/random/first`, in the order of the measurement.
pub fn numbers(measurement: &Value) -> Vec<(String, Number)> {
    let mut found = Vec::new();
    collect("", measurement, &mut found);
    found
}

fn collect(name: &str, value: &Value, found: &mut Vec<(String, Number)>) {
    let below = |key: &str| if name.is_empty() { key.to_string() } else { format!("{name}/{key}") };
    match value {
        Value::Number(number) => found.push((name.into(), number.clone())),
        Value::Object(entries) => entries.iter().for_each(|(key, entry)| collect(&below(key), entry, found)),
        // The result against an opponent goes by the opponent.
        Value::Array(entries) => match &entries[..] {
            [Value::String(key), entry] => collect(&below(key), entry, found),
            _ if entries.iter().all(|entry| matches!(entry, Value::Array(_))) => {
                entries.iter().for_each(|entry| collect(name, entry, found));
            }
            _ => {
                for (i, entry) in entries.iter().enumerate() {
                    let opponent = entry["against"].as_str();
                    collect(&below(opponent.unwrap_or(&i.to_string())), entry, found);
                }
            }
        },
        _ => {}
    }
}

/// The time in the first record of a file.
fn began_in(bytes: &[u8]) -> Option<f64> {
    let length = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
    let end = usize::try_from(length).ok()?.checked_add(12)?;
    let first = Event::decode(bytes.get(12..end)?).ok()?;
    Some(first.wall_time).filter(|time| time.is_finite())
}

fn in_frame(event: &Event) -> Vec<u8> {
    let data = event.encode_to_vec();
    let length = (data.len() as u64).to_le_bytes();
    [&length[..], &masked(&length), &data, &masked(&data)].concat()
}

/// The checksum of a record, as little endian bytes.
fn masked(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_by_their_paths() {
        let line = serde_json::json!({
            "step": 7, "loss": 0.5, "best": null, "warnings": ["slow"],
            "equity": [["random", { "equity": 0.25, "first": 0.5 }], ["ttt", { "equity": -1.0 }]],
            "usage": { "share": [0.75, 0.25] },
            "matches": [{ "against": "ttt", "score": 0.5, "ci95": [0.25, 0.75] }],
        });
        let mut names: Vec<String> =
            numbers(&line).iter().map(|(name, number)| format!("{name} {number}")).collect();
        names.sort();
        let expected = [
            "equity/random/equity 0.25",
            "equity/random/first 0.5",
            "equity/ttt/equity -1.0",
            "loss 0.5",
            "matches/ttt/ci95/0 0.25",
            "matches/ttt/ci95/1 0.75",
            "matches/ttt/score 0.5",
            "step 7",
            "usage/share/0 0.75",
            "usage/share/1 0.25",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_record_is_framed_as_tensorboard_reads_it() {
        let event = Event { wall_time: 1.0, file_version: Some("brain.Event:2".into()), ..Event::default() };
        let bytes = in_frame(&event);
        assert_eq!(bytes[..8], 24u64.to_le_bytes());
        assert_eq!(bytes.len(), 8 + 4 + 24 + 4);
        assert_eq!((began_in(&bytes), began_in(&bytes[..20]), began_in(&[])), (Some(1.0), None, None));
        // The known checksum of "123456789" is e3069283.
        assert_eq!(
            masked(b"123456789"),
            0xe306_9283u32.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
        );
    }
}
