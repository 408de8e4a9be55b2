//! Exported graphs in tract give the same values as the native engine.

use adept_builtin::bearoff::Distribution;
use adept_embed::Model;
use adept_game::stream;
use adept_model::ChannelKind;
use adept_model::checkpoint;
use adept_model::export::{About, onnx};
use std::path::{Path, PathBuf};
use tract_onnx::prelude::*;

const ROWS: usize = 10_000;

fn published() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/bearoff");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    found.retain(|path| path.join("manifest.json").exists());
    found.sort();
    found
}

#[test]
fn published_checkpoints_give_native_values() {
    let mut rng = stream(1, "rows", 0);
    let positions: Vec<String> =
        (0..ROWS).map(|_| Distribution::Table.sample(14, &mut rng).to_string()).collect();
    let texts: Vec<&str> = positions.iter().map(String::as_str).collect();
    let published = published();
    assert!(published.len() >= 6);
    for path in published {
        let model = Model::open(&path).unwrap();
        let rows = model.encode(&texts).unwrap();
        let native = model.evaluate(&rows).unwrap();

        let read = checkpoint::read(&path).unwrap();
        let program =
            adept_model::lower(&read.manifest.architecture, &read.manifest.channels, &read.manifest.head)
                .unwrap();
        let bytes = onnx(&program, &program.parameters_in(&read.tensors).unwrap(), &About::default());
        let graph = tract_onnx::onnx().model_for_read(&mut &bytes[..]).unwrap();
        let names: Vec<String> = graph.inputs.iter().map(|i| graph.node(i.node).name.clone()).collect();
        let plan = graph.into_optimized().unwrap().into_runnable().unwrap();
        let inputs = |n: usize| -> TVec<TValue> {
            let channels = program.channels.iter().zip(&program.layout.offsets);
            let read = channels.filter(|(c, _)| names.iter().any(|name| *name == c.name));
            read.map(|(c, &first)| {
                if let ChannelKind::Index(_) = c.kind {
                    let part: Vec<i64> = (0..n).map(|r| rows.index_row(r)[first] as i64).collect();
                    return Tensor::from_shape(&[n, 1], &part).unwrap().into();
                }
                assert!(c.kind != ChannelKind::Key, "a key has no place in a graph");
                let width = c.kind.dense_width();
                let part: Vec<f32> =
                    (0..n).flat_map(|r| rows.dense_row(r)[first..first + width].to_vec()).collect();
                Tensor::from_shape(&[n, width], &part).unwrap().into()
            })
            .collect()
        };
        for n in [ROWS, 1] {
            let found = plan.run(inputs(n)).unwrap();
            let found = found[0].to_plain_array_view::<f32>().unwrap();
            assert_eq!(found.shape(), [n, 1]);
            let off = || found.iter().zip(&native).map(|(a, b)| (a - b).abs());
            let worst = off().fold(0.0, f32::max);
            println!("{}: {n} rows, largest difference {worst:.2e}", path.display());
            // Check each value, because a maximum ignores NaN.
            assert!(off().all(|d| d <= 1e-5), "{}: {worst}", path.display());
        }
    }
}
