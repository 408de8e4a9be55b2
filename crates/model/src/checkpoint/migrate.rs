//! From older formats to this one.
//!
//! | format | what changed |
//! |---|---|
//! | 1 | the first |
//! | 2 | `init` is a list, each origin with the part that it went to; `training.play` is a list, one generator a worker |
//!
//! A new format adds a row above, a step below, and a run of the old one to `tests/data` of the trainer.

use serde_json::{Value, json};

/// Steps from format n to n + 1, from n = 1 on.
const STEPS: [fn(&mut Value); 1] = [one_to_two];

/// Brings the manifest of an older format up to [`FORMAT`](super::FORMAT).
pub(super) fn manifest(value: &mut Value, format: u64) {
    for (from, step) in (1..).zip(STEPS) {
        if from >= format {
            step(value);
        }
    }
    value["format"] = json!(super::FORMAT);
}

fn one_to_two(value: &mut Value) {
    if let Some(init @ Value::Object(_)) = value.get_mut("init") {
        *init = json!([init.take()]);
    }
    if let Some(play @ Value::Object(_)) = value.pointer_mut("/training/play") {
        *play = json!([play.take()]);
    }
}
