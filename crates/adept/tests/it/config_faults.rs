//! Faulty configs, each with one small mistake, and their messages.
//!
//! Every fault must be refused, and a mistake in one line must be reported on this line. The snapshots list the
//! mistakes with their messages.

use crate::common::parse;
use adept::Builtin;
use adept_trainer::config::{ConfigError, Source};
use std::fmt::Write;

const MLP: &str = r#"name  = "faulty"
about = "a valid experiment, to be broken"
seed  = 1

[game]
rules   = "tictactoe"
encoder = "fields"

[architecture.mlp]
inputs      = ["fields"]
hidden      = [8, 4]
activation  = ["tanh", "relu"]
output      = "tanh"
sensitivity = { initial = [3.0, 3.0, 1.0], rate = 0.2 }
init        = 0.4
rate        = 1.0

[learn]
batch     = 1
rate      = { from = 0.02, to = 0.0002, shape = "linear" }
optimiser = { adam = { beta1 = 0.9 } }
engine    = "native"
device    = "cpu"

[learn.td]
against   = "ttt"
games     = 1000
lambda    = 0.8
explore   = { from = 0.4, to = 0.05 }
traces    = "backward"
workers   = 1
overlap   = false

[evaluate]
every      = 100
suites     = ["equity"]
against    = ["ttt", "random"]
patience   = 50

[checkpoints]
every      = 500
keep       = 3
milestones = 500
"#;

const HME: &str = r#"name = "faulty"

[game]
rules = "tictactoe"

[architecture.hme]
experts    = 2
expert.mlp = { hidden = [4], sensitivity = 3.0 }
gate       = { inputs = ["fields"], hidden = [3], rate = 0.3 }
threshold  = 0.3
variance   = 1.0

[learn]
rate      = 0.02
optimiser = { sgd = { momentum = 0.5 } }

[learn.td]
against   = "ttt"
games     = 1000
"#;

const META_PI: &str = r#"name = "faulty"

[game]
rules = "tictactoe"

[architecture.meta_pi]
experts   = [{ mlp = { hidden = [4] } }, { lookup = { by = "square" } }]
gate      = { hidden = [3] }
threshold = 0.3

[learn]
rate   = 0.02

[learn.td]
games  = 1000
traces = "online"
"#;

const SYMBOLIC: &str = r#"name = "faulty"

[game]
rules = "tictactoe"

[architecture.symbolic]
by         = "square"
expert.mlp = { hidden = [4] }

[learn]
rate  = 0.02

[learn.td]
games = 1000
"#;

const LOOKUP: &str = r#"name = "faulty"

[game]
rules = "tictactoe"

[architecture.lookup]
by      = "position"
initial = 0.0
rate    = 1.0

[learn]
rate      = 0.3
optimiser = "sgd"

[learn.td]
games     = 1000
"#;

fn read(text: &str, set: &[&str]) -> Result<(), ConfigError> {
    let set = set.iter().map(|s| s.to_string()).collect();
    parse(&Source { file: "faulty.toml".into(), text: text.into(), set }).map(|_| ())
}

/// The valid text with the only occurrence of `find` replaced.
fn edited(base: &str, find: &str, replace: &str) -> String {
    assert_eq!(base.matches(find).count(), 1, "`{find}` should stand once in\n{base}");
    base.replace(find, replace)
}

/// A valid config, a part of it, and its replacement.
type Fault<'a> = (&'a str, &'a str, &'a str);

/// Each fault with its message. `on_the_line` tells whether the message must show the changed line.
fn messages(faults: &[Fault<'_>], on_the_line: bool) -> String {
    let mut text = String::new();
    for (base, find, replace) in faults {
        let faulty = edited(base, find, replace);
        let Err(error) = read(&faulty, &[]) else { panic!("accepted:\n{faulty}") };
        let changed = faulty.lines().zip(base.lines()).find(|(new, old)| new != old).map(|(new, _)| new);
        assert_eq!(error.line.as_deref() == changed, on_the_line, "{error}");
        let _ = writeln!(text, "{} → {}\n{error}\n", quoted(find), quoted(replace));
    }
    text
}

#[track_caller]
fn assert_readable(snapshot: &str, messages: &str) {
    for jargon in ["u64", "f32", "f64", "usize", "struct", "variant", "sequence", "TOML parse error"] {
        assert!(!messages.contains(jargon), "`{jargon}` in\n{messages}");
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(snapshot, messages) });
}

fn quoted(text: &str) -> String {
    if text.is_empty() { "nothing".into() } else { text.replace('\n', " ⏎ ") }
}

#[test]
fn the_configs_are_valid_before_they_are_broken() {
    for base in [MLP, HME, META_PI, SYMBOLIC, LOOKUP] {
        if let Err(error) = read(base, &[]) {
            panic!("{error}");
        }
    }
}

#[test]
fn misspelt_keys() {
    let faults = [
        (MLP, "name ", "nmae "),
        (MLP, "seed ", "sead "),
        (MLP, "[game]", "[gmae]"),
        (MLP, "[learn]", "[lern]"),
        (MLP, "[evaluate]", "[evaluation]"),
        (MLP, "rules ", "rule "),
        (MLP, "encoder ", "encode "),
        (MLP, "[architecture.mlp]", "[architecture.mpl]"),
        (MLP, "[architecture.mlp]", "[architecure.mlp]"),
        (MLP, "[architecture.mlp]", "[architecture.transformer]"),
        (MLP, "hidden  ", "hiden  "),
        (MLP, "inputs  ", "input  "),
        (MLP, "sensitivity =", "sensitivty ="),
        (MLP, "{ initial =", "{ inital ="),
        (MLP, "games ", "game "),
        (MLP, "lambda ", "lamda "),
        (MLP, "lambda ", "λ "),
        (MLP, "rate      =", "learning_rate      ="),
        (MLP, "explore ", "epsilon "),
        (MLP, "optimiser", "optimizer"),
        (MLP, "{ from = 0.02,", "{ form = 0.02,"),
        (MLP, "to = 0.05", "until = 0.05"),
        (MLP, "{ adam =", "{ adamw ="),
        (MLP, "beta1", "beta"),
        (MLP, "every      = 100", "evry      = 100"),
        (MLP, "patience   =", "patient   ="),
        (HME, "[architecture.hme]", "[architecture.hmm]"),
        (HME, "expert.mlp", "expert.mpl"),
        (HME, "{ hidden = [4], sens", "{ hiden = [4], sens"),
        (HME, "threshold ", "treshold "),
        (HME, "variance ", "varience "),
        (HME, "gate  ", "gates  "),
        (HME, "hidden = [3]", "hiddn = [3]"),
        (HME, "momentum", "momentun"),
        (META_PI, "[architecture.meta_pi]", "[architecture.metapi]"),
        (META_PI, "[architecture.meta_pi]", "[architecture.meta-pi]"),
        (META_PI, "threshold ", "variance "),
        (META_PI, "{ lookup =", "{ table ="),
        (META_PI, "{ by =", "{ key ="),
        (SYMBOLIC, "by  ", "gate  "),
        (SYMBOLIC, "expert.mlp", "exprt.mlp"),
        (LOOKUP, "initial", "inital"),
    ];
    assert_readable("misspelt_keys", &messages(&faults, true));
}

#[test]
fn misspelt_names() {
    let faults = [
        (MLP, r#""faulty""#, r#""two words""#),
        (MLP, r#""faulty""#, r#""""#),
        (MLP, r#""faulty""#, r#""../elsewhere""#),
        (MLP, r#""tictactoe""#, r#""tictacto""#),
        (MLP, r#""tictactoe""#, r#""tictacto""#),
        (MLP, r#"encoder = "fields""#, r#"encoder = "feilds""#),
        (MLP, r#"inputs      = ["fields"]"#, r#"inputs      = ["field"]"#),
        (MLP, r#"inputs      = ["fields"]"#, r#"inputs      = ["square"]"#),
        (MLP, r#"inputs      = ["fields"]"#, r#"inputs      = []"#),
        (MLP, r#"["tanh", "relu"]"#, r#"["tanh", "rellu"]"#),
        (MLP, r#"["tanh", "relu"]"#, r#""gelu""#),
        (MLP, r#"= "tanh""#, r#"= "than""#),
        (MLP, "init        = 0.4", r#"init        = "fanin""#),
        (MLP, "[learn.td]", "[learn.q]"),
        (MLP, r#"against   = "ttt""#, r#"against   = "tt""#),
        (MLP, r#"against   = "ttt""#, r#"against   = "slef""#),
        (MLP, r#"against   = "ttt""#, r#"against   = "minmax""#),
        (MLP, r#"against   = "ttt""#, r#"against   = "optimal:tt""#),
        (MLP, r#"against   = "ttt""#, r#"against   = "optimal""#),
        (MLP, r#"against   = "ttt""#, r#"against   = "epsilon:2:runs/a""#),
        (MLP, r#"against   = "ttt""#, r#"against   = "greedy:runs/single-80""#),
        (MLP, r#"shape = "linear""#, r#"shape = "lineal""#),
        (MLP, r#""backward""#, r#""backwards""#),
        (MLP, r#""backward""#, r#""replacing""#),
        (MLP, r#"{ adam = { beta1 = 0.9 } }"#, r#""adamw""#),
        (MLP, r#"{ adam = { beta1 = 0.9 } }"#, r#""lbfgs""#),
        (MLP, r#"["equity"]"#, r#"["equty"]"#),
        (MLP, r#"["ttt", "random"]"#, r#"["ttt", "randm"]"#),
        (MLP, r#"["ttt", "random"]"#, r#"["ttt", "self"]"#),
        (HME, r#"inputs = ["fields"]"#, r#"inputs = ["fileds"]"#),
        (META_PI, r#"by = "square""#, r#"by = "sqare""#),
        (SYMBOLIC, r#""square""#, r#""squares""#),
        (SYMBOLIC, r#""square""#, r#""fields""#),
        (LOOKUP, r#""position""#, r#""postion""#),
    ];
    assert_readable("misspelt_names", &messages(&faults, true));
}

#[test]
fn wrong_types() {
    let faults = [
        (MLP, r#""faulty""#, "80"),
        (MLP, "seed  = 1", "seed  = -1"),
        (MLP, "seed  = 1", r#"seed  = "1""#),
        (MLP, "games     = 1000", r#"games     = "1000""#),
        (MLP, "games     = 1000", "games     = 1e3"),
        (MLP, "games     = 1000", "games     = -1000"),
        (MLP, "batch     = 1", "batch     = 0.5"),
        (MLP, "lambda    = 0.8", r#"lambda    = "0.8""#),
        (MLP, "lambda    = 0.8", "lambda    = [0.8, 0.5]"),
        (MLP, "lambda    = 0.8", "lambda    = .8"),
        (MLP, "lambda    = 0.8", "lambda    = true"),
        (MLP, "from = 0.02", r#"from = "0.02""#),
        (MLP, "from = 0.02, ", ""),
        (MLP, "hidden      = [8, 4]", "hidden      = 8"),
        (MLP, "hidden      = [8, 4]", "hidden      = [8, 4.0]"),
        (MLP, "hidden      = [8, 4]", "hidden      = [8, -4]"),
        (MLP, r#"inputs      = ["fields"]"#, r#"inputs      = "fields""#),
        (MLP, r#"["tanh", "relu"]"#, "3"),
        (MLP, r#"output      = "tanh""#, r#"output      = ["tanh"]"#),
        (MLP, "{ initial = [3.0, 3.0, 1.0], rate = 0.2 }", r#""three""#),
        (MLP, "{ initial = [3.0, 3.0, 1.0], rate = 0.2 }", "true"),
        (MLP, "[3.0, 3.0, 1.0]", r#"["3", "3", "1"]"#),
        (MLP, "init        = 0.4", "init        = [0.4]"),
        (MLP, r#"["equity"]"#, r#""equity""#),
        (MLP, r#"["ttt", "random"]"#, r#""ttt""#),
        (MLP, "{ adam = { beta1 = 0.9 } }", "0.9"),
        (MLP, "beta1 = 0.9", r#"beta1 = "0.9""#),
        (MLP, "[architecture.mlp]", "[[architecture.mlp]]"),
        (HME, "experts    = 2", r#"experts    = "two""#),
        (HME, "experts    = 2", "experts    = 2.0"),
        (HME, "experts    = 2", "experts    = -2"),
        (HME, "gate       = { inputs = [\"fields\"], hidden = [3], rate = 0.3 }", "gate = \"linear\""),
        (HME, "threshold  = 0.3", r#"threshold  = "0.3""#),
        (HME, "{ sgd = { momentum = 0.5 } }", "{ sgd = {}, adam = {} }"),
        (HME, "{ sgd = { momentum = 0.5 } }", "{}"),
        (META_PI, "{ mlp = { hidden = [4] } }", "\"mlp\""),
    ];
    assert_readable("wrong_types", &messages(&faults, true));
}

#[test]
fn impossible_settings() {
    let faults = [
        (MLP, "games     = 1000", "games     = 0"),
        (MLP, "batch     = 1", "batch     = 0"),
        (MLP, "batch     = 1", "average   = 1"),
        (META_PI, "[learn]", "[learn]\naverage = 0.99"),
        (LOOKUP, "optimiser = \"sgd\"", "average   = 0.99"),
        (MLP, "lambda    = 0.8", "lambda    = 1.2"),
        (MLP, "lambda    = 0.8", "lambda    = nan"),
        (MLP, "from = 0.4", "from = -0.1"),
        (MLP, "to = 0.05", "to = 5"),
        (MLP, r#"{ from = 0.02, to = 0.0002, shape = "linear" }"#, "0"),
        (MLP, r#"{ from = 0.02, to = 0.0002, shape = "linear" }"#, "-0.02"),
        (MLP, "from = 0.02", "from = inf"),
        (MLP, r#"to = 0.0002, shape = "linear""#, r#"to = 0, shape = "exponential""#),
        (MLP, "beta1 = 0.9", "beta1 = 1.0"),
        (MLP, "beta1 = 0.9", "decay = -0.1"),
        (MLP, "beta1 = 0.9", "epsilon = 0"),
        (MLP, "[8, 4]", "[8, 0]"),
        (MLP, r#"["tanh", "relu"]"#, r#"["tanh"]"#),
        (MLP, "[3.0, 3.0, 1.0]", "[3.0, 3.0]"),
        (MLP, "[3.0, 3.0, 1.0]", "[3.0, 0.0, 1.0]"),
        (MLP, "[3.0, 3.0, 1.0]", "-3"),
        (MLP, "], rate = 0.2 }", "], rate = [0.2, 0.2] }"),
        (MLP, "], rate = 0.2 }", "], rate = -0.2 }"),
        (MLP, "init        = 0.4", "init        = 0"),
        (MLP, "rate        = 1.0", "rate        = -1.0"),
        (MLP, "every      = 100", "every      = 0"),
        (MLP, "patience   = 50", "patience   = 0"),
        (MLP, "every      = 500", "every      = 0"),
        (MLP, "milestones = 500", "milestones = 0"),
        (MLP, "keep       = 3", "keep       = 1"),
        (MLP, "workers   = 1", "workers   = 0"),
        (MLP, "workers   = 1", "workers   = 2"),
        (MLP, r#""native""#, r#""torch""#),
        (MLP, r#""cpu""#, r#""wgpu""#),
        (MLP, r#""cpu""#, r#""wpgu""#),
        (MLP, r#""cpu""#, r#""flex:1""#),
        (LOOKUP, r#"optimiser = "sgd""#, r#"engine = "burn""#),
        (LOOKUP, "games     = 1000", "overlap = true\ngames     = 1000"),
        (META_PI, "rate   = 0.02", "engine = \"burn\"\nrate   = 0.02"),
        (META_PI, "games  = 1000", "overlap = true\ngames  = 1000"),
        (MLP, r#"["equity"]"#, "[]"),
        (MLP, r#"["equity"]"#, r#"["equity", "equity"]"#),
        (MLP, r#"["ttt", "random"]"#, "[]"),
        (HME, "threshold  = 0.3", "threshold  = 1.0"),
        (HME, "threshold  = 0.3", "threshold  = -0.1"),
        (HME, "variance   = 1.0", "variance   = 0.0"),
        (HME, "experts    = 2", "experts    = 0"),
        (HME, "experts    = 2", "experts    = 1000000"),
        (HME, "expert.mlp = { hidden = [4], sens", "expert.mlp = { hidden = [0], sens"),
        (HME, "hidden = [3]", "hidden = [0]"),
        (HME, "rate = 0.3", "rate = -0.3"),
        (HME, "momentum = 0.5", "momentum = 1.5"),
        (HME, "games     = 1000", "traces    = \"online\"\ngames     = 1000"),
        (META_PI, "[{ mlp = { hidden = [4] } }, { lookup = { by = \"square\" } }]", "[]"),
        (META_PI, "{ lookup = { by = \"square\" } }", "{ residual = { net.mlp = { hidden = [4] } } }"),
        (
            META_PI,
            "{ lookup = { by = \"square\" } }",
            "{ residual = { on = \"x\", net.mlp = { hidden = [4] } } }",
        ),
        (META_PI, "mlp = { hidden = [4] }", "mlp = { hidden = [4, 0] }"),
        (META_PI, "rate   = 0.02", "batch  = 8\nrate   = 0.02"),
        (META_PI, "rate   = 0.02", "optimiser = \"adam\"\nrate   = 0.02"),
        (SYMBOLIC, "expert.mlp = { hidden = [4] }", "experts = [{ mlp = { hidden = [4] } }]"),
        (SYMBOLIC, r#""square""#, r#""position""#),
        (LOOKUP, "initial = 0.0", "initial = 2.0"),
        (LOOKUP, "rate    = 1.0", "rate    = -1.0"),
        (LOOKUP, r#""sgd""#, r#""adam""#),
        (MLP, r#"{ adam = { beta1 = 0.9 } }"#, r#"{ soap = { every = 0 } }"#),
        (MLP, "{ adam = { beta1 = 0.9 } }\nengine    = \"native\"", "\"soap\"\nengine = \"burn\""),
        (MLP, r#"{ adam = { beta1 = 0.9 } }"#, r#"{ adam = { sparse = true, beta2 = 0.8 } }"#),
        (MLP, "beta1 = 0.9 } }\nengine    = \"native\"", "sparse = true } }\nengine = \"burn\""),
    ];
    assert_readable("impossible_settings", &messages(&faults, true));
}

/// Faults that involve two settings, or a missing one, are reported on one of the two or on the section.
#[test]
fn faults_shown_elsewhere() {
    let faults = [
        (MLP, "[8, 4]", "[8, 4, 2]"),
        (MLP, "[8, 4]", "[1000000, 1000000]"),
        (HME, "expert.mlp = { hidden = [4], sensitivity = 3.0 }\n", ""),
        (HME, "experts    = 2\n", ""),
        (HME, "experts    = 2", "experts    = [{ mlp = { hidden = [4] } }]"),
        (SYMBOLIC, "expert.mlp = { hidden = [4] }\n", ""),
        (SYMBOLIC, "by         = \"square\"\n", ""),
        (SYMBOLIC, "expert.mlp = { hidden = [4] }", "expert.mlp = { hidden = [4] }\nexperts = []"),
        (LOOKUP, "by      = \"position\"\n", ""),
        (SYMBOLIC, "rules = \"tictactoe\"", "rules = \"tictactoe\"\nencoder = \"canonical\""),
    ];
    assert_readable("faults_shown_elsewhere", &messages(&faults, false));
}

/// The bear-off begins with a chance event too large to enumerate.
const BEAROFF: &str = r#"name = "faulty"

[game]
rules = "bearoff"

[architecture.mlp]
hidden = [4]

[learn]
rate    = 0.01

[learn.td]
against = "self"
games   = 1000

[evaluate]
suites = []
"#;

#[test]
fn what_no_game_of_such_chance_can_have() {
    assert_eq!(read(BEAROFF, &[]), Ok(()));
    let faults = [
        (BEAROFF, "suites = []", "suites = [\"equity\"]"),
        (BEAROFF, "suites = []", "suites = []\nagainst = [\"random\"]"),
        (BEAROFF, "\"self\"", "\"minimax\""),
        (BEAROFF, "\"self\"", "\"optimal:random\""),
        (BEAROFF, "\"self\"", "\"ttt\""),
    ];
    let shown: Vec<_> = faults.iter().map(|fault| messages(&[*fault], !fault.2.contains('\n'))).collect();
    assert_readable("unlisted_chance", &shown.concat());
    // By default, errors against exact values are measured.
    assert_eq!(read(&edited(BEAROFF, "\n[evaluate]\nsuites = []\n", ""), &[]), Ok(()));
}

/// Methods that learn from positions refuse these combinations.
#[test]
fn what_methods_cannot_do_together() {
    const SUPERVISED: &str = r#"
name = "faulty"
game = { rules = "bearoff", encoder = "one-sided" }

[architecture.mlp]
hidden = [4]

[learn]
rate     = 0.01

[learn.supervised]
examples = 500
samples  = 1000
"#;
    const MIXED: &str = r#"
name = "faulty"
game = { rules = "bearoff", encoder = "one-sided" }

[architecture.mlp]
hidden = [4]

[learn]
rate              = 0.01

[learn.td]
games             = 100
examples          = 500
examples_per_game = 6.5
"#;
    assert_eq!((read(SUPERVISED, &[]), read(MIXED, &[])), (Ok(()), Ok(())));
    let faults = [
        (SUPERVISED, "samples  = 1000", "games = 1000"),
        (SUPERVISED, "samples  = 1000\n", ""),
        (SUPERVISED, "samples  = 1000", "samples = 0"),
        (SUPERVISED, "= 500", "= 0"),
        (SUPERVISED, "= 500", "= 100_000_000"),
        (SUPERVISED, "= 500", "= 0.5"),
        (SUPERVISED, "samples  = 1000", "samples = 1000\nagainst = \"random\""),
        (SUPERVISED, "samples  = 1000", "samples = 1000\nworkers = 2"),
        (SUPERVISED, "samples  = 1000", "samples = 1000\ntraces = \"online\""),
        (SUPERVISED, "samples  = 1000", "samples = 1000\nself_play = 0.5"),
        (SUPERVISED, "samples  = 1000", "samples = 1000\nexamples_per_game = 2"),
        (SUPERVISED, "samples  = 1000", "samples = 1000\ndistribution = \"tabel\""),
        (SUPERVISED, "samples  = 1000", "samples = 1000\n\n[evaluate]\ndistribution = \"ful\""),
        (SUPERVISED, "samples  = 1000", "samples = 1000\n\n[evaluate]\npositions = 0"),
        (SUPERVISED, "[learn.supervised]", "[learn.expectation]"),
        (SUPERVISED, "\"bearoff\", encoder = \"one-sided\"", "\"backgammon\""),
        (SUPERVISED, "\"one-sided\"", "\"one-side\""),
        (SUPERVISED, "\"one-sided\"", "\"one-sided+counst\""),
        (SUPERVISED, "\"one-sided\"", "\"one-sided+prior:oracle\""),
        (SUPERVISED, "\"one-sided\"", "\"one-sided+prior:normal+prior:kleinman\""),
        (MIXED, "examples_per_game = 6.5\n", ""),
        (MIXED, "= 6.5", "= 0"),
        (MIXED, "games             = 100", "samples = 100"),
        (MIXED, "games             = 100\n", "games = 100\ntraces = \"online\"\n"),
    ];
    // Faults of a missing key, or after another line, are reported elsewhere.
    let elsewhere = |(_, find, replace): &Fault<'_>| {
        replace.is_empty()
            || replace.contains('\n')
            || find.contains("encoder")
            || *replace == "[learn.expectation]"
    };
    let shown: Vec<_> = faults.iter().map(|fault| messages(&[*fault], !elsewhere(fault))).collect();
    assert_readable("methods", &shown.concat());
}

#[test]
fn broken_files() {
    let mut text = String::new();
    let lookup_and_mlp = LOOKUP.replace("[learn]", "[architecture.mlp]\nhidden = [4]\n\n[learn]");
    let no_architecture = LOOKUP.replace("[architecture.lookup]", "[architecture]");
    let files = [
        ("an empty file", String::new()),
        ("only a name", "name = \"faulty\"\n".into()),
        ("no game", edited(SYMBOLIC, "[game]\nrules = \"tictactoe\"\n", "")),
        ("no learn", SYMBOLIC.split("[learn]").next().unwrap_or_default().into()),
        ("no rules", edited(SYMBOLIC, "rules = \"tictactoe\"\n", "")),
        ("no games", edited(SYMBOLIC, "games = 1000\n", "")),
        ("no rate", edited(SYMBOLIC, "rate  = 0.02\n", "")),
        ("no hidden", edited(SYMBOLIC, "{ hidden = [4] }", "{ }")),
        ("an architecture without a kind", no_architecture),
        ("an architecture that says nothing", edited(SYMBOLIC, "[architecture.symbolic]\nby         = \"square\"\nexpert.mlp = { hidden = [4] }\n", "[architecture]\n")),
        ("an architecture that is a name", "architecture = \"mlp\"\nname = \"faulty\"\ngame.rules = \"tictactoe\"\nlearn = { games = 1000, rate = 0.1 }\n".into()),
        ("two architectures", lookup_and_mlp),
        (
            "a listed expert without a kind",
            META_PI.replace("experts   = [{ mlp = { hidden = [4] } }, { lookup = { by = \"square\" } }]\n", "")
                + "\n[[architecture.meta_pi.experts]]\nhidden = [4]\n",
        ),
        (
            "a listed expert with its kind beside it",
            META_PI.replace("experts   = [{ mlp = { hidden = [4] } }, { lookup = { by = \"square\" } }]\n", "")
                + "\n[[architecture.meta_pi.experts]]\nmlp = {}\nhidden = [4]\n",
        ),
        ("a key twice", edited(LOOKUP, "initial = 0.0", "initial = 0.0\ninitial = 0.1")),
        ("a section twice", format!("{LOOKUP}\n[game]\nrules = \"tictactoe\"\n")),
        ("a quote not closed", edited(LOOKUP, "\"tictactoe\"", "\"tictactoe")),
        ("a bracket not closed", edited(SYMBOLIC, "hidden = [4]", "hidden = [4")),
        ("a header not closed", edited(LOOKUP, "[learn]", "[learn")),
        ("no value", edited(LOOKUP, "rate      = 0.3", "rate      =")),
        ("no equals sign", edited(LOOKUP, "rate      = 0.3", "rate      0.3")),
        ("a name without quotes", edited(LOOKUP, "\"tictactoe\"", "tictactoe")),
        ("a name without quotes before a comment", edited(LOOKUP, "\"tictactoe\"", "tictactoe # the game")),
        ("a name without quotes in a table", edited(LOOKUP, "0.3", "{ from = 1, to = 0.1, shape = linear }")),
        ("a key without a value in a table", edited(SYMBOLIC, "{ hidden = [4] }", "{ hidden = [4], sensitivity = }")),
        ("JSON", "{\"name\": \"faulty\"}".into()),
    ];
    for (what, file) in files {
        let Err(error) = read(&file, &[]) else { panic!("accepted:\n{file}") };
        let _ = writeln!(text, "{what}\n{error}\n");
    }
    assert_readable("broken_files", &text);
}

#[test]
fn faults_of_set() {
    let mut text = String::new();
    let sets: [&[&str]; 25] = [
        &["learn.games"],
        &["=5"],
        &["learn.games="],
        &["learn.games=many"],
        &["learn.games=-5"],
        &["learn.games=0"],
        &["learn.gmaes=5"],
        &["lern.games=5"],
        &["games=5"],
        &["learn.games.more=5"],
        &["learn=5"],
        &["learn..games=5"],
        &["architecture.mlp.hiden=[4]"],
        &["architecture.mlp.hidden=[4"],
        &["architecture.mlp.hidden=4"],
        &["architecture.mlp.activation=rellu"],
        &["architecture.hme.experts=2"],
        &["learn.rate={ from = 1 }"],
        &["learn.against=tt"],
        &["learn.against=two words"],
        &["name=a b"],
        &["learn.against=greedy:runs/a"],
        &["learn.optimiser.sgd.momentum=0.5"],
        &["seed=2", "learn.lambda=1.5"],
        &["learn.lambda=1.5", "seed=2"],
    ];
    for set in sets {
        let Err(error) = read(MLP, set) else { panic!("accepted {set:?}") };
        let _ = writeln!(text, "--set {}\n{error}\n", set.join(" --set "));
    }
    let missing =
        adept_trainer::config::load("no/such.toml".as_ref(), &[], &Builtin).expect_err("there is no file");
    let _ = writeln!(text, "no file\n{missing}");
    assert_readable("faults_of_set", &text);
}
