//! Compiles exported source text with the compilers of this machine, and compares what it computes with the engine.

use crate::common::{SEEDS, case, channels, double, params_for, rows_for};
use adept_ground::limits;
use adept_model::checkpoint::{self, Checkpoint};
use adept_model::export::{About, c, rust};
use adept_model::{
    Architecture, Channel, ChannelKind, Head, Network, Optimiser, Predictor, Program, Rows, lower, reference,
};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// A network, and rows to value with it.
struct Task {
    name: String,
    program: Arc<Program>,
    params: Vec<f32>,
    rows: Rows,
}

impl Task {
    /// All outputs of all rows by the engine: the value, after a distribution if there is one.
    fn expected(&self) -> Vec<f64> {
        if let Some(classes) = self.program.head.classes() {
            let outputs = reference::run(&self.program, &double(&self.params), &self.rows, None).output;
            let value = |row: &[f64]| row.iter().zip(classes).map(|(p, c)| p * f64::from(c.utility)).sum();
            return outputs.chunks(classes.len()).flat_map(|row| [row, &[value(row)]].concat()).collect();
        }
        let mut values = Vec::new();
        Network::new(self.program.clone(), &self.params, Optimiser::default())
            .evaluate(&self.rows, &mut values);
        values.into_iter().map(f64::from).collect()
    }
}

/// Random programs with every op.
fn random() -> Vec<Task> {
    let task = |seed| {
        let case = case(seed);
        Task { name: format!("case_{seed}"), program: case.program, params: case.params, rows: case.rows }
    };
    SEEDS.map(task).collect()
}

/// Every network in the folder of published checkpoints.
fn published() -> Vec<Task> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints");
    let mut folders: Vec<PathBuf> = ["bearoff", "holdem", "liars-dice"]
        .iter()
        .flat_map(|game| std::fs::read_dir(root.join(game)).unwrap().map(|entry| entry.unwrap().path()))
        .collect();
    folders.sort();
    let networks = folders.iter().filter_map(|folder| {
        let Checkpoint { manifest, tensors, .. } = checkpoint::read(folder).unwrap();
        let name = folder.file_name().unwrap().to_str().unwrap().replace('-', "_");
        (manifest.kind == "network").then(|| {
            let program = lower(&manifest.architecture, &manifest.channels, &Head::Value).unwrap();
            let params = program.parameters_in(&tensors).unwrap();
            let rows = rows_for(&program, &params, 25, 7);
            Task { name, program: Arc::new(program), params, rows }
        })
    });
    let tasks: Vec<Task> = networks.collect();
    assert!(tasks.len() > 15, "{}", tasks.len());
    tasks
}

/// Runs a compiler; false if there is none.
fn compiles(command: &mut Command) -> bool {
    match command.output() {
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{command:?}\n{said}");
            true
        }
        Err(e) => {
            eprintln!("SKIPPED: {command:?} cannot run: {e}");
            false
        }
    }
}

/// The C compiler, as strict as can be.
fn compiler() -> Command {
    let mut cc = Command::new(std::env::var("CC").unwrap_or("cc".into()));
    cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
    cc
}

/// The channels of a program that a file reads, by the declarations in its text.
fn read(program: &Program, declares: impl Fn(&Channel) -> bool) -> Vec<(&Channel, usize)> {
    let all = program.channels.iter().zip(program.layout.offsets.iter().copied());
    all.filter(|(channel, _)| declares(channel)).collect()
}

/// The numbers of all rows in the order of these channels, as bytes: floats, and whole numbers of 64 bits.
fn inputs(task: &Task, channels: &[(&Channel, usize)], bytes: &mut Vec<u8>) {
    for r in 0..task.rows.len() {
        for &(channel, first) in channels {
            match channel.kind.dense_width() {
                0 => bytes.extend(task.rows.index_row(r)[first].to_le_bytes()),
                n => {
                    let dense = &task.rows.dense_row(r)[first..first + n];
                    bytes.extend(dense.iter().flat_map(|v| v.to_le_bytes()));
                }
            }
        }
    }
}

/// Runs a program on these bytes and compares the floats that it prints with the engine's.
fn compare(program: &Path, stdin: &[u8], tasks: &[Task]) {
    use std::io::Write as _;
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut pipe = child.stdin.take().unwrap();
    let given = stdin.to_vec();
    let writer = std::thread::spawn(move || pipe.write_all(&given));
    let done = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(done.status.success());
    let mut found = done.stdout.as_chunks().0.iter().map(|b| f64::from(f32::from_le_bytes(*b)));
    for task in tasks {
        for (i, b) in task.expected().into_iter().enumerate() {
            let a = found.next().expect("a number for each output");
            assert!((a - b).abs() <= 1e-5 * (1.0 + b.abs()), "{}, output {i}: {a} {b}", task.name);
        }
    }
    assert_eq!(found.next(), None);
}

fn identifier(channel: &Channel) -> String {
    channel.name.replace('-', "_")
}

/// All headers in one source file, as C99 without a warning.
fn check_c(tasks: &[Task]) {
    let folder = tempfile::tempdir().unwrap();
    let mut main = String::from(
        "#include <stdio.h>\n#include <stdint.h>\n\
         static void get(void *to, size_t n) { if (fread(to, 1, n, stdin) != n) putchar('?'); }\n",
    );
    let (mut calls, mut stdin) = (String::new(), Vec::new());
    for task in tasks {
        let name = &task.name;
        let text = c(&task.program, &task.params, &About::default(), name).unwrap();
        std::fs::write(folder.path().join(format!("{name}.h")), &text).unwrap();
        let declared = read(&task.program, |channel| {
            let own = identifier(channel);
            match channel.kind {
                ChannelKind::Dense(n) | ChannelKind::Bits(n) => {
                    text.contains(&format!("    float {own}[{n}];"))
                }
                ChannelKind::Value => text.contains(&format!("    float {own};")),
                _ => text.contains(&format!("    unsigned long {own};")),
            }
        });
        inputs(task, &declared, &mut stdin);
        let outputs = task.program.outputs();
        let numbers = if outputs == 1 { 1 } else { outputs + 1 };
        let _ = write!(
            main,
            "#include \"{name}.h\"\nstatic void run_{name}(void)\n{{\n    {name}_inputs in;\n    float out[{numbers}];\n    int i;\n    for (i = 0; i < {}; i++) {{\n",
            task.rows.len()
        );
        for (channel, _) in &declared {
            let own = identifier(channel);
            let _ = match channel.kind {
                ChannelKind::Index(_) => {
                    writeln!(main, "        {{ uint64_t n; get(&n, 8); in.{own} = (unsigned long)n; }}")
                }
                _ => writeln!(main, "        get(&in.{own}, sizeof in.{own});"),
            };
        }
        let call = if outputs == 1 {
            format!("out[0] = {name}_value(&in);")
        } else {
            format!("{name}_outcomes(&in, out); out[{}] = {name}_value(&in);", outputs)
        };
        let _ = writeln!(main, "        {call}\n        fwrite(out, sizeof out, 1, stdout);\n    }}\n}}");
        let _ = writeln!(calls, "    run_{name}();");
    }
    let _ = write!(main, "int main(void)\n{{\n{calls}    return 0;\n}}\n");
    let (source, program) = (folder.path().join("main.c"), folder.path().join("main"));
    std::fs::write(&source, main).unwrap();
    if compiles(compiler().arg(&source).arg("-o").arg(&program).arg("-lm")) {
        compare(&program, &stdin, tasks);
    }
}

/// All modules in one crate without `std`, and a program that uses it.
fn check_rust(tasks: &[Task]) {
    let folder = tempfile::tempdir().unwrap();
    let mut library = String::from("//! Networks.\n#![no_std]\n");
    let mut main = String::from(
        "use std::io::{Read, Write};\nuse networks::*;\n\
         fn get<const N: usize>() -> [u8; N] { let mut b = [0; N]; std::io::stdin().read_exact(&mut b).unwrap(); b }\n\
         fn floats<const N: usize>() -> [f32; N] { [0; N].map(|_| f32::from_le_bytes(get())) }\n\
         fn put(all: &[f32]) { for v in all { std::io::stdout().write_all(&v.to_le_bytes()).unwrap(); } }\nfn main() {\n",
    );
    let mut stdin = Vec::new();
    for task in tasks {
        let name = &task.name;
        let text = rust(&task.program, &task.params, &About::default(), name).unwrap();
        std::fs::write(folder.path().join(format!("{name}.rs")), &text).unwrap();
        let _ = writeln!(library, "/// A network.\npub mod {name};");
        let declared =
            read(&task.program, |channel| text.contains(&format!("    pub {}: ", identifier(channel))));
        inputs(task, &declared, &mut stdin);
        let _ = writeln!(
            main,
            "    for _ in 0..{} {{\n        let mut inputs = {name}::Inputs::ZERO;",
            task.rows.len()
        );
        for (channel, _) in &declared {
            let value = match channel.kind {
                ChannelKind::Index(_) => "u64::from_le_bytes(get()) as usize",
                ChannelKind::Value => "f32::from_le_bytes(get())",
                _ => "floats()",
            };
            let _ = writeln!(main, "        inputs.{} = {value};", identifier(channel));
        }
        let call = if task.program.outputs() == 1 {
            format!("[{name}::value(&inputs)]")
        } else {
            format!("[&{name}::outcomes(&inputs)[..], &[{name}::value(&inputs)]].concat()")
        };
        let _ = writeln!(main, "        put(&{call});\n    }}");
    }
    main.push_str("}\n");
    let at = |file: &str| folder.path().join(file);
    std::fs::write(at("networks.rs"), library).unwrap();
    std::fs::write(at("main.rs"), main).unwrap();
    let rustc = || {
        let mut rustc = Command::new(std::env::var("RUSTC").unwrap_or("rustc".into()));
        rustc.args(["--edition", "2024", "-C", "debuginfo=0", "--out-dir"]).arg(folder.path());
        rustc
    };
    let library = format!("networks={}", at("libnetworks.rlib").display());
    let strict = ["--crate-type", "rlib", "-D", "warnings", "-D", "missing_docs"];
    if compiles(rustc().args(strict).arg(at("networks.rs")))
        && compiles(rustc().arg("--extern").arg(&library).arg(at("main.rs")))
    {
        compare(&at("main"), &stdin, tasks);
    }
}

#[test]
fn headers_compute_what_the_engine_does() {
    check_c(&random());
}

#[test]
fn modules_compute_what_the_engine_does() {
    check_rust(&random());
}

#[test]
fn published_networks_compute_the_same_in_c() {
    check_c(&published());
}

#[test]
fn published_networks_compute_the_same_in_rust() {
    check_rust(&published());
}

/// A small network over the channels of all cases, with drawn parameters.
fn small(architecture: serde_json::Value) -> (Program, Vec<f32>) {
    let architecture: Architecture = serde_json::from_value(architecture).unwrap();
    let program = lower(&architecture, &channels(), &Head::Value).unwrap();
    let params = params_for(&program, 1);
    (program, params)
}

#[test]
fn weights_come_back_to_the_last_bit() {
    let (program, _) = small(json!({ "mlp": { "hidden": [], "inputs": ["fields"], "output": "linear" } }));
    let weights = [0x0000_0001, 0x8000_0001, 0x7F7F_FFFF, 0x3EAA_AAAB, 0x3F80_0001].map(f32::from_bits);
    let params = [&weights[..], &[0.0]].concat();
    let mut rows = Rows::new(&program.channels);
    for i in 0..weights.len() {
        rows.push().dense[i] = 1.0;
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, binary) = (folder.path().join("main.c"), folder.path().join("main"));
    let header = c(&program, &params, &About::default(), "net").unwrap();
    let main = "#include <stdio.h>\nint main(void)\n{\n    int i;\n    for (i = 0; i < 5; i++) {\n        \
                net_inputs in = {{0}};\n        float value;\n        in.fields[i] = 1.0f;\n        \
                value = net_value(&in);\n        fwrite(&value, sizeof value, 1, stdout);\n    }\n    return 0;\n}\n";
    std::fs::write(&source, header + main).unwrap();
    if compiles(compiler().arg(&source).arg("-o").arg(&binary).arg("-lm")) {
        let found = Command::new(&binary).output().unwrap().stdout;
        assert_eq!(found, weights.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>());
    }
}

#[test]
fn a_file_says_what_it_is_and_what_it_reads() {
    let (program, params) = small(json!({ "residual": { "on": "prior", "net": {
        "symbolic": { "by": "phase", "expert": { "mlp": { "hidden": [4], "inputs": ["flags"] } } } } } }));
    let about = About {
        name: "small".into(),
        text: "a network that */ ends early".into(),
        value: "for the player who moved".into(),
        impossible: "No draw after a capture.".into(),
        channels: vec![("flags".into(), "0..3: a flag each".into()), ("phase".into(), "which phase".into())],
        metadata: vec![("game".into(), "none".into()), ("checksum".into(), "0123abcd".into())],
    };
    let zero = reference::run(&program, &double(&params), &zero(&program), None).output[0];
    let (c, rust) =
        (c(&program, &params, &about, "my-net").unwrap(), rust(&program, &params, &about, "my-net").unwrap());
    for text in [&c, &rust] {
        for says in [
            "small: a network that * / ends early",
            "game        none",
            "checksum    0123abcd",
            "Output: for the player who moved.",
            "No draw after a capture.",
            "3 numbers, each 0 or 1.",
            "0..3: a flag each",
            "A whole number from 0 to 2.",
            "which phase",
            "A number from -1 to 1.",
            &format!("with all inputs 0 it gives {zero:.6}."),
        ] {
            assert!(text.contains(says), "{says}\n{text}");
        }
        // The network does not read the fields.
        assert!(!text.contains("fields"), "{text}");
    }
    for says in [
        "#include \"my-net.h\"",
        "my_net_inputs in = {0};",
        "static inline float my_net_value(const my_net_inputs *in)",
        "return NAN",
    ] {
        assert!(c.contains(says), "{says}\n{c}");
    }
    for says in ["my_net::value(&inputs)", "pub fn value(inputs: &Inputs) -> f32", "return f32::NAN"] {
        assert!(rust.contains(says), "{says}\n{rust}");
    }
}

/// A row of zeros.
fn zero(program: &Program) -> Rows {
    let mut rows = Rows::new(&program.channels);
    rows.push();
    rows
}

#[test]
fn what_does_not_fit_is_refused() {
    let refusal = |architecture, change: fn(&mut Vec<f32>)| {
        let (program, mut params) = small(architecture);
        change(&mut params);
        let about = About::default();
        let errors =
            [c(&program, &params, &about, "x"), rust(&program, &params, &about, "x")].map(Result::unwrap_err);
        assert_eq!(errors[0].to_string(), errors[1].to_string());
        errors[0].to_string()
    };
    let said = refusal(json!({ "mlp": { "hidden": [1000, 1000] } }), |_| {});
    assert!(said.contains(&limits::SOURCE_PARAMETERS.to_string()) && said.contains("onnx"), "{said}");
    let said = refusal(json!({ "mlp": { "hidden": [70_000] } }), |_| {});
    assert!(said.contains("stack") && said.contains("onnx"), "{said}");
    let said = refusal(json!({ "mlp": { "hidden": [2] } }), |params| params[3] = f32::NAN);
    assert!(said.contains("parameter 3 is NaN"), "{said}");
}
