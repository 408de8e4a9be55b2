//! Migrates manifests of older formats to the current one.
//!
//! | format | change |
//! |---|---|
//! | 1 | first version |
//! | 2 | `init` is a list, each origin with its part; `training.play` is a list, one generator per worker |
//!
//! To add a format: add a row above, a step below, and a run of the old format to `tests/data` of the trainer.

use serde_json::{Value, json};

/// Steps from format n to n + 1, from n = 1 on.
const STEPS: [fn(&mut Value); 1] = [one_to_two];

/// Migrates a manifest of an older format to [`FORMAT`](super::FORMAT).
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
