//! The configs in the repository, the round trip of a config, and its JSON schema.

use crate::common::{load_any, parse, template};
use adept::{Builtin, Catalogue};
use adept_lab::files::Kind;
use adept_lab::tournament::Tournament;
use adept_model::names::suggest;
use adept_trainer::config::{
    Config, Method, Schedule, Shape, Source, Suite, TdSettings, TraceKind, in_present_form,
};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// All files under `configs/`.
fn tracked() -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in folder.read_dir().expect("the folder is there") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "toml") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs"), &mut found);
    found.sort();
    found
}

fn read(text: &str, set: &[&str]) -> Config {
    let set = set.iter().map(|s| s.to_string()).collect();
    parse(&Source { file: "test.toml".into(), text: text.into(), set }).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_config_of_the_repository_is_valid_and_named_like_its_file() {
    let files = tracked();
    assert!(files.len() >= 10, "only {} configs found", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        // Published networks are named relative to the root of the repository.
        let (name, about, rules) = if text.contains("\"checkpoints/") {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/");
            let text = text.replace("\"checkpoints/", &format!("\"{}", root.display()));
            let source = Source { file: file.display().to_string(), text, set: Vec::new() };
            let plan = Tournament::parse(&source, &Builtin).unwrap_or_else(|e| panic!("{e}"));
            (plan.name, plan.about, plan.game)
        } else {
            match load_any(&file, &[]).unwrap_or_else(|e| panic!("{e}")) {
                Kind::Experiment(config) => (config.name, config.about, config.game.rules),
                Kind::Tournament(tournament) => (tournament.name, tournament.about, tournament.game),
            }
        };
        assert_eq!(Some(name.as_str()), file.file_stem().and_then(|s| s.to_str()));
        assert!(!about.is_empty(), "{} does not say what it is for", file.display());
        let game = rules.split(':').next().unwrap_or_default();
        let below = |folder: &Path| folder.file_name().is_some_and(|name| *name == *game);
        assert!(file.ancestors().any(below), "{} does not lie below the folder of its game", file.display());
    }
}

/// A run folder stores the config with all defaults. Reading it must give the same run.
#[test]
fn a_config_written_out_reads_back_to_itself() {
    let experiments = tracked().into_iter().filter(|f| matches!(load_any(f, &[]), Ok(Kind::Experiment(_))));
    let mut texts: Vec<String> =
        experiments.map(|f| std::fs::read_to_string(f).expect("it can be read")).collect();
    texts.push(EVERYTHING.into());
    texts.push(LEAST.into());
    for text in texts {
        let config = read(&text, &[]);
        let written = toml::to_string(&config).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(read(&written, &[]), config, "{written}");
        assert_eq!(toml::to_string(&read(&written, &[])).as_deref(), Ok(written.as_str()));
    }
}

/// Every form of every setting.
const EVERYTHING: &str = r#"
name  = "every.thing_1-2"
about = "every key, in the less usual of its forms"
seed  = 7

[game]
rules   = "tictactoe"
encoder = "fields"

[architecture.meta_pi]
threshold = 0.25

[architecture.meta_pi.gate]
inputs     = ["fields"]
hidden     = [3, 2]
activation = ["relu", "silu"]
init       = "fan_in"
rate       = 0.5

[[architecture.meta_pi.experts]]
mlp = { inputs = ["fields"], hidden = [], output = "linear", sensitivity = [2.0], init = 0.1, rate = 0.0 }

[[architecture.meta_pi.experts]]
mlp = { hidden = [4], activation = "sigmoid", sensitivity = { initial = 3.0, rate = [0.1, 0.2] } }

[[architecture.meta_pi.experts]]
hme = { experts = 2, expert.lookup = { by = "position", initial = -0.5, rate = 2.0 }, variance = 0.0025 }

[[architecture.meta_pi.experts]]
symbolic = { by = "square", expert.mlp = { hidden = [2] } }

[learn]
batch     = 16
rate      = { from = 0.1, to = 0.001, shape = "exponential" }
optimiser = { adam = { beta1 = 0.8, beta2 = 0.99, epsilon = 1e-6, decay = 0.01 } }
engine    = "burn"
device    = "wgpu:1"

[learn.td]
against   = "self"
games     = 500
lambda    = { from = 1, to = 0.5, shape = "cosine" }
explore   = 0
traces    = "backward"
workers   = 2
overlap   = false

[evaluate]
every      = 50
suites     = ["equity"]
against    = ["optimal:optimal:ttt", "minimax", "random"]
patience   = 20

[checkpoints]
every      = 250
keep       = 4
milestones = 500
"#;

const LEAST: &str = r#"
name              = "least"
game.rules        = "tictactoe"
architecture.mlp  = { hidden = [1] }
learn             = { rate = 1, td = { games = 1 } }
"#;

#[test]
fn what_is_left_out_has_its_documented_default() {
    let least = read(LEAST, &[]);
    assert_eq!((least.seed, least.about.as_str(), least.game.encoder.as_deref()), (1, "", None));
    assert_eq!((least.learn.against(), least.learn.batch), ("self", 1));
    assert_eq!(least.learn.td().unwrap().lambda, Schedule::constant(0.8));
    assert_eq!(least.learn.td().unwrap().explore, Schedule::constant(0.1));
    assert_eq!(least.learn.td().unwrap().traces, TraceKind::Backward);
    assert_eq!(least.evaluate.suites, Some(vec![Suite::Equity]));
    assert_eq!(least.evaluate_against(), ["random"], "self-play is measured against random");
    assert_eq!(least.evaluate_every(), 1, "no run is too short to measure");
    let longer = read(LEAST, &["learn.games=5000", "learn.against=ttt"]);
    assert_eq!(longer.evaluate_every(), 50);
    assert_eq!(longer.evaluate_against(), ["ttt"]);
}

#[test]
fn set_changes_what_it_names_and_nothing_else() {
    let base = read(EVERYTHING, &[]);
    type Change = fn(&mut Config);
    let changes: [(&str, Change); 8] = [
        ("learn.games=20_000", |c| c.learn.set_length(20_000)),
        (" learn.games = 20000 ", |c| c.learn.set_length(20_000)),
        ("learn.against=ttt", |c| td(c).against = "ttt".into()),
        ("about=\"two words\"", |c| c.about = "two words".into()),
        ("learn.rate=0.5", |c| c.learn.rate = Schedule::constant(0.5)),
        ("learn.rate.to=0.05", |c| c.learn.rate.to = 0.05),
        ("learn.lambda.shape=linear", |c| td(c).lambda.shape = Shape::Linear),
        ("evaluate.against=['random']", |c| c.evaluate.against = Some(vec!["random".into()])),
    ];
    for (set, change) in changes {
        let mut expected = base.clone();
        change(&mut expected);
        assert_ne!(expected, base);
        assert_eq!(read(EVERYTHING, &[set]), expected, "--set {set}");
    }
    // The last setting of a key counts; a missing section is added.
    let several = read(LEAST, &["learn.games=5", "evaluate.every=2", "learn.games=6"]);
    assert_eq!((several.learn.length(), several.evaluate.every), (6, Some(2)));
}

#[test]
fn the_template_of_every_game_is_valid_and_comes_with_comments() {
    for name in adept_builtin::names() {
        let game = Builtin.find(&name).expect("a built-in game").info();
        let text = template(&game.name).expect("every game has one");
        let config = read(&text, &[]);
        assert_eq!(
            (config.game.rules.as_str(), config.name),
            (game.name.as_str(), format!("my-{}", game.name.replace(':', "-")))
        );
        assert!(text.contains('#') && text.contains("adept list encoders"), "{text}");
    }
    assert_eq!(template("chess"), None);
}

fn td(config: &mut Config) -> &mut TdSettings {
    let Method::Td(td) = &mut config.learn.method else { panic!("it learns by td") };
    td
}

/// Keys of the named object in the schema, or of the config itself.
fn keys(name: Option<&str>) -> Vec<String> {
    let schema = serde_json::to_value(schemars::schema_for!(Config)).expect("a schema is JSON");
    let object = match name {
        None => &schema,
        Some(name) => &schema["$defs"][name],
    };
    let properties = object["properties"].as_object().unwrap_or_else(|| panic!("no {name:?} in {schema:#}"));
    properties.keys().cloned().collect()
}

#[test]
fn the_schema_lists_every_key() {
    assert_eq!(
        keys(None),
        ["name", "about", "seed", "head", "game", "architecture", "learn", "evaluate", "checkpoints"]
    );
    let methods = ["td", "expectation", "supervised", "regrets"];
    let learn =
        [&["rate", "batch", "shards", "optimiser", "average", "engine", "device"][..], &methods].concat();
    assert_eq!(keys(Some("Learn")), learn);
    let td = [
        "games",
        "against",
        "field",
        "distribution",
        "examples",
        "examples_per_game",
        "lambda",
        "discount",
        "rewards",
        "gap_discount",
        "clip",
        "next",
        "along",
        "explore",
        "temperature",
        "traces",
        "search",
        "workers",
        "overlap",
    ];
    assert_eq!(keys(Some("TdSettings")), td);
    let expectation = [
        "samples",
        "self_play",
        "explore",
        "distribution",
        "starts",
        "uses",
        "step",
        "screen",
        "rare",
        "examples",
    ];
    assert_eq!(keys(Some("ExpectationSettings")), expectation);
    assert_eq!(keys(Some("ScreenSettings")), ["checkpoint", "keep"]);
    assert_eq!(keys(Some("RareSettings")), ["share", "distributions", "file"]);
    assert_eq!(keys(Some("MixedExamples")), ["file", "share", "weight"]);
    assert_eq!(keys(Some("SupervisedSettings")), ["samples", "examples", "distribution"]);
    assert_eq!(keys(Some("GameConfig")), ["rules", "encoder"]);
    assert_eq!(
        keys(Some("Evaluate")),
        [
            "every",
            "suites",
            "distribution",
            "games",
            "random_plies",
            "positions",
            "validation",
            "against",
            "patience"
        ]
    );
    assert_eq!(keys(Some("Checkpoints")), ["every", "keep", "milestones"]);
    assert_eq!(keys(Some("Hme")), ["experts", "expert", "gate", "threshold", "variance"]);
    let mlp = ["inputs", "hidden", "activation", "output", "sensitivity", "init", "rate"];
    assert_eq!(keys(Some("Mlp")), mlp);
}

/// Whether a value matches its schema. Supports the JSON Schema keywords that our schema uses.
fn fits(schema: &Value, value: &Value, root: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return schema == &Value::Bool(true) };
    schema.iter().all(|(word, argument)| match word.as_str() {
        "$schema" | "$defs" | "title" | "description" | "default" | "format" => true,
        "$ref" => {
            let name = argument.as_str().and_then(|r| r.strip_prefix("#/$defs/")).expect("a definition");
            fits(&root["$defs"][name], value, root)
        }
        "anyOf" => argument.as_array().expect("a list").iter().any(|s| fits(s, value, root)),
        "oneOf" => argument.as_array().expect("a list").iter().filter(|s| fits(s, value, root)).count() == 1,
        "enum" => argument.as_array().expect("a list").contains(value),
        "const" => argument == value,
        "type" => {
            let is = |name: &Value| match name.as_str() {
                Some("object") => value.is_object(),
                Some("array") => value.is_array(),
                Some("string") => value.is_string(),
                Some("boolean") => value.is_boolean(),
                Some("number") => value.is_number(),
                Some("integer") => value.is_i64() || value.is_u64(),
                Some("null") => value.is_null(),
                _ => panic!("type {name}"),
            };
            argument.as_array().map_or_else(|| is(argument), |names| names.iter().any(is))
        }
        "minimum" => value.as_f64() >= argument.as_f64(),
        "minItems" => {
            value.as_array().is_none_or(|items| items.len() as u64 >= argument.as_u64().expect("a count"))
        }
        "maxItems" => {
            value.as_array().is_none_or(|items| items.len() as u64 <= argument.as_u64().expect("a count"))
        }
        "items" => value.as_array().is_none_or(|items| items.iter().all(|i| fits(argument, i, root))),
        "required" => value.as_object().is_none_or(|object| {
            argument
                .as_array()
                .expect("a list")
                .iter()
                .all(|k| object.contains_key(k.as_str().expect("a key")))
        }),
        "properties" => value.as_object().is_none_or(|object| {
            object.iter().all(|(key, v)| argument.get(key).is_none_or(|s| fits(s, v, root)))
        }),
        "additionalProperties" => value.as_object().is_none_or(|object| {
            assert_eq!(argument, &Value::Bool(false));
            let known = schema.get("properties").and_then(Value::as_object);
            object.keys().all(|key| known.is_some_and(|known| known.contains_key(key)))
        }),
        // The only pattern is for devices.
        "pattern" => value.as_str().is_none_or(|s| s.parse::<adept_model::DeviceName>().is_ok()),
        other => panic!("`{other}` is new in the schema: teach it to this test"),
    })
}

/// The schema accepts every valid config, also as written by a run, and rejects mistakes that the parser refuses.
#[test]
fn the_schema_accepts_what_the_parser_accepts() {
    let schema = serde_json::to_value(schemars::schema_for!(Config)).expect("a schema is JSON");
    let json = |text: &str| {
        let table: toml::Table = text.parse().unwrap_or_else(|e| panic!("{e}"));
        serde_json::to_value(table).expect("TOML fits into JSON")
    };
    let experiments = tracked().into_iter().filter(|f| matches!(load_any(f, &[]), Ok(Kind::Experiment(_))));
    let mut texts: Vec<String> =
        experiments.map(|f| std::fs::read_to_string(f).expect("it can be read")).collect();
    texts.extend([EVERYTHING, LEAST].map(String::from));
    texts.push(LEAST.replace("rate = 1", r#"rate = 1, optimiser = "adam""#));
    texts.push(LEAST.replace("rate = 1", "rate = 1, optimiser = { sgd = {} }"));
    for text in &texts {
        assert!(fits(&schema, &json(text), &schema), "{text}");
        let written = toml::to_string(&read(text, &[])).expect("it can be written");
        assert!(fits(&schema, &json(&written), &schema), "{written}");
    }
    for (valid, slip) in [
        ("seed  = 7", "sead  = 7"),
        ("seed  = 7", "seed  = -7"),
        (r#"name  = "every.thing_1-2""#, ""),
        ("games     = 500", "games     = 500.5"),
        ("games     = 500", r#"games     = "500""#),
        (r#"shape = "cosine""#, r#"shape = "cosinus""#),
        (r#"["relu", "silu"]"#, r#"["relu", "gelu"]"#),
        ("{ adam = {", "{ adamw = {"),
        ("sensitivity = [2.0]", "sensitivity = true"),
        ("sensitivity = { initial = 3.0", "sensitivity = { first = 3.0"),
        (r#"["equity"]"#, r#"["equty"]"#),
        ("mlp = { hidden = [4], ", "mlp = { "),
        ("hme = {", "hmm = {"),
    ] {
        assert_eq!(EVERYTHING.matches(valid).count(), 1, "{valid}");
        let text = EVERYTHING.replace(valid, slip);
        assert!(
            parse(&Source { file: "test.toml".into(), text: text.clone(), set: vec![] }).is_err(),
            "{slip}"
        );
        assert!(!fits(&schema, &json(&text), &schema), "{slip}");
    }
}

/// A key with any one letter missing is recognised, by the list of names and in the message for the whole config.
#[test]
fn a_dropped_letter_is_recognised() {
    for key in keys(Some("Learn")) {
        for i in 0..key.len() {
            let slip = format!("{}{}", &key[..i], &key[i + 1..]);
            let learn = keys(Some("Learn"));
            let known: Vec<&str> = learn.iter().map(String::as_str).collect();
            assert_eq!(suggest(&slip, &known), format!(": did you mean `{key}`?"), "{slip}");
            let text = format!("{LEAST}\n").replace("rate = 1,", &format!("rate = 1, {slip} = 1,"));
            let source = Source { file: "test.toml".into(), text, set: vec![] };
            let error = parse(&source).expect_err("it is not a key");
            assert_eq!(error.message, format!("unknown key `{slip}`: did you mean `{key}`?"));
            assert_eq!(error.place.map(|p| p.0), Some(5));
        }
    }
}

#[test]
fn names_far_from_all_others_are_answered_with_the_list() {
    let known = ["games", "batch", "rate"];
    assert_eq!(suggest("momentum", &known), "; there is games, batch, rate");
    assert_eq!(suggest("learning_rate", &known), ": did you mean `rate`?");
    assert_eq!(suggest("Games", &known), ": did you mean `games`?");
    assert_eq!(suggest("games", &[]), "");
}

/// The README shows a tracked config unchanged.
#[test]
fn the_readme_shows_a_tracked_config() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let config = std::fs::read_to_string(root.join("configs/tictactoe/hme-2x40-st3.toml")).unwrap();
    assert!(readme.contains(config.trim()), "README.md and configs/tictactoe/hme-2x40-st3.toml differ");
}

/// The README's first run equals the output of `config new bearoff`.
#[test]
fn the_first_run_is_the_starter_of_the_bear_off() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let starter = read("crates/builtin/src/bearoff/starter.toml");
    assert!(read("configs/bearoff/quick.toml").ends_with(&starter));
    assert!(read("README.md").contains("train configs/bearoff/quick.toml"));
}

/// The form of earlier versions, with the settings of all methods side by side.
#[test]
fn the_form_of_earlier_versions_is_read_and_rewritten() {
    const OLD: &str = r#"name = "old"
[game]
rules = "tictactoe"
[architecture.mlp]
hidden = [4]

# How it learns.
[learn]
method  = "td"     # along games
against = "ttt"
games   = 1000     # a few
rate    = 0.01
workers = 2
batch   = 8
"#;
    const NEW: &str = r#"name = "old"
[game]
rules = "tictactoe"
[architecture.mlp]
hidden = [4]

# How it learns.
[learn]
rate    = 0.01
batch   = 8

[learn.td]     # along games
against = "ttt"
games   = 1000     # a few
workers = 2
"#;
    assert_eq!(in_present_form(OLD).unwrap().as_deref(), Some(NEW));
    assert_eq!(in_present_form(NEW), Ok(None));
    assert!(in_present_form("[learn").is_err() && in_present_form("learn.method = \"q\"").is_err());
    let said = "[learn]\nmethod = 'supervised'  # exact\nagainst = 'self' # nobody\nsamples = 5\nrate = 1\n";
    assert_eq!(
        in_present_form(said).unwrap().unwrap(),
        "[learn]\nrate = 1\n\n[learn.supervised]  # exact\nsamples = 5\n"
    );
    assert_eq!(read(OLD, &[]), read(NEW, &[]));
    assert_eq!(read(OLD, &["learn.games=7"]), read(NEW, &["learn.td.games=7"]));
    assert_eq!(read(NEW, &["learn.games=7"]), read(NEW, &["learn.td.games=7"]));

    // A config saved by a run names all settings, even unused ones.
    let shared = json!({
        "against": "self", "batch": 64, "lambda": { "from": 0.8, "to": 0.8, "shape": "linear" }, "rate": 0.01,
        "explore": 0.1, "traces": "backward", "optimiser": "adam", "engine": "native", "device": "cpu", "workers": 1
    });
    for (method, own, then) in [
        ("td", json!({ "games": 9 }), json!({ "games": 9, "explore": 0.1, "lambda": 0.8, "workers": 1 })),
        ("supervised", json!({ "samples": 9, "examples": 5 }), json!({ "samples": 9, "examples": 5 })),
        (
            "expectation",
            json!({ "samples": 9, "self_play": 0.5 }),
            json!({ "samples": 9, "self_play": 0.5, "explore": 0.1 }),
        ),
        (
            "regrets",
            json!({ "iterations": 9, "regrets": { "passes": 2.0 } }),
            json!({ "iterations": 9, "passes": 2.0 }),
        ),
    ] {
        let config = |learn: Value| {
            let game = json!({ "rules": "tictactoe" });
            Config::from_saved(json!({
                "name": "x", "game": game, "architecture": { "mlp": { "hidden": [3] } }, "learn": learn
            }))
        };
        let mut old = shared.clone();
        old["method"] = method.into();
        own.as_object().unwrap().iter().for_each(|(key, value)| old[key] = value.clone());
        let mut new = json!({ "batch": 64, "rate": 0.01, "optimiser": "adam" });
        new[method] = then;
        assert_eq!(config(old).unwrap(), config(new).unwrap(), "{method}");
    }
}

/// Gates with a threshold start as clusters, but in the old form they started with random weights.
#[test]
fn configs_of_the_old_form_keep_random_gates() {
    let architecture = "[architecture.meta_pi]\nexperts = 4\nthreshold = 0.3\n[architecture.meta_pi.expert.hme]\n\
                        experts = [{ mlp = { hidden = [2] } }, { mlp = { hidden = [3] } }]\nthreshold = 0.2\n\
                        gate = { rate = 2.0 }\n";
    let head = "name = \"x\"\ngame.rules = \"tictactoe\"\n";
    let old = format!("{head}{architecture}[learn]\nmethod = \"td\"\ngames = 9\nrate = 0.01\n");
    let new = format!("{head}{architecture}[learn]\nrate = 0.01\n[learn.td]\ngames = 9\n");
    let clusters = |text: &str| {
        let source = Source { file: "x.toml".into(), text: text.into(), set: vec![] };
        let config = parse(&source).unwrap_or_else(|e| panic!("{e}"));
        let channels = [adept_model::Channel::new("x", adept_model::ChannelKind::Dense(9))];
        adept_model::lower(&config.architecture, &channels, &adept_model::Head::Value).unwrap().clusters.len()
    };
    // The outer gate and one in each of its four experts.
    assert_eq!((clusters(&old), clusters(&new)), (0, 5));
    let migrated = in_present_form(&old).unwrap().unwrap();
    assert_eq!(clusters(&migrated), 0, "{migrated}");
}

#[test]
fn the_page_of_config_keys_is_what_the_schema_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config-keys.md");
    let page = fs::read_to_string(page).unwrap();
    let keys = adept_lab::keys::markdown(&schemars::schema_for!(Config));
    let (_, found) = page.split_once("\n## ").unwrap();
    assert!(format!("## {found}") == keys, "write it anew: a head, then `adept config keys`");
}

#[test]
fn pages_name_every_architecture_and_suite() {
    let kinds = adept_model::Architecture::KINDS.map(|(kind, _)| kind.to_string());
    let suites = Suite::ALL.map(|(suite, _)| suite.name().replace('_', "-"));
    let pages = [
        ("docs/formats.md", &kinds[..]),
        ("docs/training.md", &kinds),
        ("docs/outcomes.md", &kinds),
        ("docs/commands.md", &suites),
        ("docs/glossary.md", &suites),
    ];
    for (page, names) in pages {
        let text =
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page)).unwrap();
        let missing: Vec<_> = names.iter().filter(|name| !text.contains(&format!("`{name}`"))).collect();
        assert!(missing.is_empty(), "{page} does not name {missing:?}");
    }
}
