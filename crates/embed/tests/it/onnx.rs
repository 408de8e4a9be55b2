//! Exported graphs give the classes of outcomes of their checkpoint, for the same side.

use adept_embed::Model;
use adept_model::export::{About, onnx};
use prost::Message;
use std::path::Path;

/// Every class, and the same outcome as the opponent sees it.
const CLASSES: [[&str; 2]; 6] = [
    ["loss_backgammon", "win_backgammon"],
    ["loss_gammon", "win_gammon"],
    ["loss", "win"],
    ["win", "loss"],
    ["win_gammon", "loss_gammon"],
    ["win_backgammon", "loss_backgammon"],
];

/// One side has closed five points of its home, the other has three checkers on the bar. Every outcome is possible.
const BLITZ: [&str; 2] = ["6:3 5:2 4:2 3:2 2:2 8:2 13:2", "bar:3 24:1 13:5 8:3 6:3"];

#[test]
fn classes_belong_to_the_side_that_just_moved() {
    let [strong, weak] = BLITZ;
    // The side to roll comes first, so that the strong side just moved, then the weak one.
    let positions = [format!("{weak}/{strong}"), format!("{strong}/{weak}")];
    let texts = positions.each_ref().map(String::as_str);
    for name in ["single-256-32", "small-88-24", "pips-256-16x32"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/backgammon").join(name);
        let model = Model::open(&path).unwrap();
        let rows = model.encode(&texts).unwrap();
        let network = model.network().unwrap().unwrap();
        let bytes = onnx(&network.program, &network.weights, &About::default());
        let read = crate::proto::Model::decode(&bytes[..]).unwrap();
        let found = crate::graph::run_graph(&read, crate::graph::inputs(&network.program, &rows));
        let class = |name: &str, row: usize| found[&format!("outcome.{name}")].data[row];
        let near = |a: f64, b: f64| (a - b).abs() < 1e-5;
        // The library gives the same on the rows.
        let outcomes = model.outcomes(rows.len(), &rows.dense, &rows.index).unwrap();
        for (row, outcomes) in outcomes.chunks(CLASSES.len()).enumerate() {
            for ([own, _], p) in CLASSES.iter().zip(outcomes) {
                assert!(near(class(own, row), f64::from(*p)), "{name}, row {row}, {own}: {p}");
            }
        }
        // The position itself is valued for the other side, which is to roll.
        for (row, text) in texts.iter().enumerate() {
            let explained = serde_json::to_value(model.explain(text).unwrap()).unwrap();
            for [own, opponent] in CLASSES {
                let p = explained["classes"][opponent].as_f64().unwrap();
                assert!(near(class(own, row), p), "{name}, `{text}`, {own}: {p}");
            }
            assert!(
                near(found["value"].data[row], -explained["value"].as_f64().unwrap()),
                "{name}, `{text}`"
            );
        }
        // Both sides know who is ahead, and by how much.
        assert!(class("win_gammon", 0) > 0.6 && class("win_backgammon", 0) > 0.1, "{name}: {found:?}");
        assert!(class("loss_gammon", 1) > 0.6 && class("loss_backgammon", 1) > 0.1, "{name}: {found:?}");
        assert!(found["value"].data[0] > 0.5 && found["value"].data[1] < -0.5, "{name}: {found:?}");
    }
}
