//! Residual nodes: their values, their inputs, and the errors of invalid configs.

use crate::common::{channels, double, each_op};
use adept_model::native::Isa;
use adept_model::program::{Op, PRIOR_LIMIT};
use adept_model::{
    Architecture, Channel, ChannelKind, Head, ModelError, Network, Optimiser, Predictor, Program, Rows,
    lower, reference,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn architecture(written: &Value) -> Architecture {
    serde_json::from_value(written.clone()).unwrap_or_else(|e| panic!("{e} in {written}"))
}

fn failure(written: &Value, channels: &[Channel]) -> (String, String) {
    match lower(&architecture(written), channels, &Head::Value) {
        Err(ModelError::Architecture { path, message }) => (path, message),
        other => panic!("{written} gives {other:?}"),
    }
}

/// y on every engine, for a column of priors and a column of inputs that give z with the bias.
fn outputs(priors: &[f32], z: &[f32]) -> Vec<(String, Vec<f32>)> {
    let channels = [Channel::new("x", ChannelKind::Dense(1)), Channel::new("prior", ChannelKind::Value)];
    let written = json!({ "residual": { "net": { "mlp": { "hidden": [], "output": "linear" } } } });
    let program = Arc::new(lower(&architecture(&written), &channels, &Head::Value).unwrap());
    let params = [1.0, 0.0];
    let mut rows = Rows::new(&channels);
    for (p, z) in priors.iter().zip(z) {
        rows.push().dense.copy_from_slice(&[*z, *p]);
    }
    let exact = reference::run(&program, &double(&params), &rows, None).output;
    let mut all = vec![("reference".to_string(), exact.into_iter().map(|y| y as f32).collect())];
    for isa in Isa::available() {
        let mut network = Network::with_isa(program.clone(), &params, Optimiser::default(), isa);
        all.push((format!("{isa:?}"), network.run(&rows, None).0));
    }
    #[cfg(feature = "flex")]
    for (name, device) in crate::common::devices() {
        let engine = adept_model::burn_engine::BurnEngine::new(program.clone(), device);
        all.push((name.into(), engine.run(&params, &rows, None).unwrap().output));
    }
    all
}

#[test]
fn without_a_correction_the_prior_comes_out() {
    let priors: Vec<f32> = (-50..=50).map(|i| i as f32 / 50.0).collect();
    for (engine, y) in outputs(&priors, &vec![0.0; priors.len()]) {
        for (y, p) in y.iter().zip(&priors) {
            let p = p.clamp(-PRIOR_LIMIT, PRIOR_LIMIT);
            let exact = !["flex", "ndarray", "wgpu", "cuda"].contains(&engine.as_str());
            assert!(if exact { *y == p } else { (y - p).abs() < 1e-6 }, "{engine}: {p} became {y}");
        }
    }
}

#[test]
fn corrections_add_up_in_the_argument_of_tanh() {
    let priors = [-1.0, -0.999, -0.9, -0.5, -1e-3, 0.0, 0.2, 0.7, 0.99, 1.0];
    // Includes strong corrections of certain priors.
    let z = [-40.0, -14.5, -7.25, -3.0, -0.5, -1e-3, 0.0, 0.1, 1.0, 4.0, 7.25, 14.5, 40.0];
    let pairs: Vec<(f32, f32)> = priors.iter().flat_map(|p| z.iter().map(|z| (*p, *z))).collect();
    let (priors, z): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
    for (engine, y) in outputs(&priors, &z) {
        for ((y, p), z) in y.iter().zip(&priors).zip(&z) {
            let p = f64::from(p.clamp(-PRIOR_LIMIT, PRIOR_LIMIT));
            let exact = (p.atanh() + f64::from(*z)).tanh();
            let gap = (f64::from(*y) - exact).abs();
            assert!(gap < 2e-6 && y.abs() <= 1.0, "{engine}: {p} and {z} give {y}, not {exact}");
        }
    }
}

#[test]
fn nan_passes() {
    let nan = f32::NAN;
    for (engine, y) in outputs(&[nan, 0.5, nan, 0.5, 1.0], &[0.3, nan, nan, 0.3, nan]) {
        let found: Vec<bool> = y.iter().map(|y| y.is_nan()).collect();
        assert_eq!(found, [true, true, true, false, true], "{engine}: {y:?}");
    }
}

fn inputs_of(program: &Program) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    each_op(&program.body, &mut |op| {
        if let Op::Input { channels, .. } = op {
            all.push(channels.clone());
        }
    });
    all
}

#[test]
fn a_network_reads_a_prior_only_by_name() {
    // fields and flags; prior and hint are value channels.
    let lowered = |written: Value| lower(&architecture(&written), &channels(), &Head::Value).unwrap();
    assert_eq!(inputs_of(&lowered(json!({ "mlp": { "hidden": [] } }))), [[0, 2]]);
    let by_name = json!({ "mlp": { "hidden": [], "inputs": ["hint", "fields"] } });
    assert_eq!(inputs_of(&lowered(by_name)), [[5, 0]]);
    let mixture = json!({ "meta_pi": { "experts": 1, "expert": { "mlp": { "hidden": [] } } } });
    assert_eq!(inputs_of(&lowered(mixture)), [[0, 2], [0, 2]]);
    let alone = [Channel::new("prior", ChannelKind::Value)];
    let (path, message) = failure(&json!({ "mlp": { "hidden": [] } }), &alone);
    assert_eq!((path.as_str(), message.contains("no dense channel")), ("mlp.inputs", true), "{message}");
}

#[test]
fn configs_that_cannot_be_built_are_named() {
    let residual =
        |on: Option<&str>| json!({ "residual": { "on": on, "net": { "mlp": { "hidden": [4] } } } });
    let (path, message) = failure(&residual(Some("priors")), &channels());
    assert_eq!(path, "residual.on");
    assert_eq!(message, "the encoder has no value channel `priors`: did you mean `prior`?");
    // A channel of another kind does not count.
    let (_, message) = failure(&residual(Some("fields")), &channels());
    assert_eq!(message, "the encoder has no value channel `fields`; there is prior, hint");
    let (path, message) = failure(&residual(None), &channels());
    assert_eq!(
        (path.as_str(), message.as_str()),
        ("residual.on", "name the value channel, one of prior, hint")
    );
    let dense = [Channel::new("x", ChannelKind::Dense(2))];
    for on in [None, Some("prior")] {
        let (path, message) = failure(&residual(on), &dense);
        assert_eq!(path, "residual.on");
        assert!(message.contains("has no value channel") && message.contains("`prior:NAME`"), "{message}");
    }
    let nested = json!({ "residual": { "on": "hint", "net": { "hme": { "experts": 0 } } } });
    assert_eq!(failure(&nested, &channels()).0, "residual.net.hme.experts");
    let parse = |written: Value| serde_json::from_value::<Architecture>(written).unwrap_err().to_string();
    assert!(parse(json!({ "residual": { "on": "prior" } })).contains("missing field `net`"));
    let net = json!({ "mlp": { "hidden": [] } });
    assert!(parse(json!({ "residual": { "net": net, "prior": 1 } })).contains("unknown field `prior`"));
}

/// A mixture below a residual node counts as its blend, and the nodes above use only the density of y.
#[test]
fn a_mixture_below_is_its_blend() {
    let expert = json!({ "mlp": { "hidden": [3], "output": "linear" } });
    let hme = json!({ "hme": { "experts": 2, "expert": expert, "variance": 0.5 } });
    let residual = json!({ "residual": { "on": "prior", "net": hme } });
    let program = lower(&architecture(&residual), &channels(), &Head::Value).unwrap();
    assert!(!program.mixture_density);
    let densities = |program: &Program| {
        let mut all = Vec::new();
        each_op(&program.body, &mut |op| match op {
            Op::Density { variance, .. } => all.push(Some(*variance)),
            Op::LogMix { .. } => all.push(None),
            _ => {}
        });
        all
    };
    assert_eq!(densities(&program), [Some(1.0)]);
    let above = json!({ "hme": { "experts": 2, "expert": residual, "variance": 0.25 } });
    let program = lower(&architecture(&above), &channels(), &Head::Value).unwrap();
    assert_eq!(densities(&program), [Some(0.25), Some(0.25), None]);
}

#[test]
fn a_residual_node_is_described_and_has_parts() {
    let mlp = json!({ "mlp": { "hidden": [2], "output": "linear" } });
    let residual = json!({ "residual": { "on": "hint", "net": mlp } });
    let pi = architecture(&json!({ "meta_pi": { "experts": 2, "expert": residual } }));
    let names: Vec<String> = pi.parts(&channels()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["expert.0", "expert.0.net", "expert.1", "expert.1.net"]);
    let residual = architecture(&residual);
    let (mlp, parts) = (architecture(&mlp), residual.parts(&channels()));
    assert_eq!(parts, [("net".to_string(), &mlp)]);
    let program = Arc::new(lower(&residual, &channels(), &Head::Value).unwrap());
    let inside = lower(&mlp, &channels(), &Head::Value).unwrap();
    for (p, q) in program.params.iter().zip(&inside.params) {
        assert_eq!((&p.name, &p.shape), (&format!("net.{}", q.name), &q.shape));
    }
    let (found, alone) = (program.describe(), inside.describe());
    assert!(found.ops.contains(&"residual on hint 1".to_string()), "{:?}", found.ops);
    assert_eq!(found.multiply_adds, alone.multiply_adds + 1);
    // Settings may differ; the channel may not.
    let other = |on: &str, init: f32| {
        let mlp = json!({ "mlp": { "hidden": [2], "output": "linear", "init": init } });
        architecture(&json!({ "residual": { "on": on, "net": mlp } }))
    };
    assert_eq!(residual.same_shape(&other("hint", 0.1), &channels(), &Head::Value), Ok(()));
    let why = residual.same_shape(&other("prior", 0.4), &channels(), &Head::Value).unwrap_err();
    assert!(why.contains("residual on hint 1") && why.contains("residual on prior 1"), "{why}");
    // A round trip keeps the architecture, and the explained value is y.
    let written = serde_json::to_value(&residual).unwrap();
    assert_eq!(architecture(&written), residual);
    let mut network = Network::new(program.clone(), &vec![0.0; program.parameters()], Optimiser::default());
    let mut rows = Rows::new(&channels());
    rows.push().dense[program.layout.offsets[5]] = -0.25;
    let explanation = network.explain(&rows);
    assert_eq!((explanation.value, explanation.gates.len()), (-0.25, 0));
}
