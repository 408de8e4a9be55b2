//! Learning from positions: examples, mixtures with games, and expected backups. The bear-offs are small enough to be
//! solved instantly.

use crate::common::{StopAt, at, evaluate, finished, parse, state, train};
use adept::{Builtin, Catalogue};
use adept_arena::{GameModel, open};
use adept_builtin::backgammon::Backgammon;
use adept_builtin::bearoff::{Bearoff, Distribution};
use adept_game::Kit;
use adept_game::{Afterstate, Game, stream};
use adept_lab::labelling::LabelOptions;
use adept_lab::measure::EvaluateOptions;
use adept_trainer::config::{Config, Source, Suite};
use adept_trainer::run::{Cancel, Silent, TrainOptions};

const NETWORK: &str = "mlp]\nhidden = [8]\nsensitivity = 1.0\ninit = 0.1";
const RESIDUAL: &str =
    "residual]\nnet.mlp = { inputs = [\"one_sided\"], hidden = [4], output = \"linear\", init = 0.1 }";

fn experiment(encoder: &str, architecture: &str, learn: &str) -> Config {
    let text = format!(
        "name = \"test\"\ngame = {{ rules = \"bearoff:5\", encoder = \"{encoder}\" }}\n[architecture.{architecture}\n\
         [learn]\n{learn}\n[evaluate]\npositions = 3000\nvalidation = 1000\n"
    );
    parse(&Source { file: "test.toml".into(), text, set: vec![] }).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_method_learns() {
    let folder = tempfile::tempdir().unwrap();
    let plain = "one-sided";
    let prior = "one-sided+prior:convolution";
    let supervised = "method = \"supervised\"\nsamples = 200_000\nbatch = 32\noptimiser = \"adam\"\n\
                      rate = { from = 0.01, to = 0.0001 }";
    let fixed = format!("{supervised}\nexamples = 400");
    let burn = "method = \"supervised\"\nsamples = 60_000\nbatch = 128\noptimiser = \"adam\"\nengine = \"burn\"\n\
                device = \"flex\"\nrate = { from = 0.02, to = 0.0002 }";
    let games = "games = 6000\nlambda = 0.5\nexplore = 0\nbatch = 4\nrate = { from = 0.03, to = 0.001 }";
    let mixed = format!("{games}\nexamples = 400\nexamples_per_game = 10");
    let backups = "method = \"expectation\"\nsamples = 60_000\nbatch = 64\noptimiser = \"adam\"\n\
                   rate = { from = 0.01, to = 0.0001 }";
    let hme = "hme]\nexperts = 2\nexpert.mlp = { hidden = [6], init = 0.1 }\nthreshold = 0.3";
    let meta_pi = "meta_pi]\nexperts = 2\nexpert.mlp = { hidden = [6], init = 0.1 }";
    let phase =
        "symbolic]\nby = \"phase\"\nexpert.mlp = { inputs = [\"one_sided\"], hidden = [3], init = 0.1 }";
    let clusters = "meta_pi]\nexperts = 4\nthreshold = 0.999\ngate = { inputs = [\"rolls\"], clusters = 3.0 }\n\
                    expert.mlp = { inputs = [\"bits\", \"one_sided\"], hidden = [3], init = 0.1 }";
    let cells = "cells]\nby = [\"pace_moved\", \"pace_to_roll\"]\nexperts = 4\nprobe = 20_000\n\
                 expert.mlp = { inputs = [\"one_sided\"], hidden = [3], init = 0.1 }";
    for (i, (encoder, architecture, learn, most)) in [
        ("one-sided+pace", cells, supervised, 0.03),
        ("one-sided+pace", cells, games, 0.3),
        ("one-sided+pace", cells, burn, 0.1),
        ("one-sided+rolls", clusters, supervised, 0.03),
        ("one-sided+rolls", clusters, games, 0.3),
        (plain, NETWORK, supervised, 0.03),
        (plain, NETWORK, &fixed, 0.08),
        (plain, NETWORK, games, 0.15),
        (plain, NETWORK, &mixed, 0.1),
        (plain, NETWORK, backups, 0.08),
        (plain, hme, supervised, 0.03),
        (plain, meta_pi, supervised, 0.03),
        ("one-sided+phase", phase, supervised, 0.05),
        (plain, NETWORK, burn, 0.1),
        (prior, RESIDUAL, burn, 0.004),
        (prior, RESIDUAL, supervised, 0.004),
        (prior, RESIDUAL, backups, 0.004),
    ]
    .into_iter()
    .enumerate()
    {
        let config = experiment(encoder, architecture, learn);
        let path = folder.path().join(i.to_string());
        let last = finished(&config, 1, &path).r#final.expect("it is measured").figure();
        assert!(last < most, "{architecture} by {learn}: {last}");
        if encoder == prior {
            let options = EvaluateOptions { samples: Some(3000), ..Default::default() };
            let rms = evaluate(&path, false, &options).unwrap().rms.unwrap();
            let baselines = &rms.distributions[0].baselines;
            let convolution = baselines.iter().find(|(name, _)| name == "convolution").unwrap().1;
            assert!(last < 0.97 * convolution, "{learn}: {last}, its prior alone {convolution}");
        }
    }
}

/// A small set of examples is overfitted: the error on other positions is lowest before the end, and validation
/// chooses that checkpoint. Without examples no checkpoint is chosen.
#[test]
fn validation_chooses_where_examples_teach() {
    let folder = tempfile::tempdir().unwrap();
    let learn = "method = \"supervised\"\nsamples = 400_000\nbatch = 8\noptimiser = \"adam\"\nrate = 0.01\nexamples = 60";
    let network = "mlp]\nhidden = [20]";
    let record = finished(&experiment("bits", network, learn), 1, &folder.path().join("heart"));
    let (best, last) = (record.best.unwrap(), record.r#final.unwrap());
    assert!(best.validation < last.validation && best.step < last.step, "{best:?}, {last:?}");
    assert!(best.figure() < last.figure(), "{best:?}, {last:?}");
    let games = experiment("one-sided", NETWORK, "games = 300\nrate = 0.01");
    let record = finished(&games, 1, &folder.path().join("games"));
    assert!(record.best.is_none() && record.r#final.is_some_and(|last| last.validation.is_some()));
}

/// A resumed run gives the same bits for every source of samples.
#[test]
fn resumed_runs_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let kinds = [
        "method = \"supervised\"\nsamples = 4000\nbatch = 8\nexamples = 300\nrate = 0.01",
        "method = \"supervised\"\nsamples = 4000\nbatch = 8\nrate = 0.01",
        "method = \"expectation\"\nsamples = 1000\nbatch = 8\nrate = 0.01",
        "games = 400\nbatch = 4\nexamples = 300\nexamples_per_game = 3.3\nrate = 0.01\ndistribution = \"small\"",
        "games = 400\nbatch = 4\nworkers = 2\noverlap = true\nexamples = 300\nexamples_per_game = 3.3\nrate = 0.01",
    ];
    for (i, learn) in kinds.into_iter().enumerate() {
        let config = experiment("one-sided", NETWORK, learn);
        let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(format!("{i}-{name}")));
        finished(&config, 1, &whole);
        for stop in [100, 300] {
            let cancel = Cancel::default();
            let options = TrainOptions { resume: true, ..at(&parts) };
            let record = train(&config, 1, &options, &StopAt(stop, cancel.clone()), &cancel).unwrap().1;
            assert!(!record.finished, "{learn}");
        }
        let options = TrainOptions { resume: true, ..at(&parts) };
        assert!(train(&config, 1, &options, &Silent, &Cancel::default()).unwrap().1.finished);
        assert!(state(&whole) == state(&parts), "{learn}");
    }
}

/// A run that learns from a file continues only with the same file.
#[test]
fn a_file_of_examples_must_stay_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (file, run) = (folder.path().join("my.csv"), folder.path().join("run"));
    let header = "own1,own2,own3,own4,own5,own6,opp1,opp2,opp3,opp4,opp5,opp6,value\n";
    let write = |value: f64| {
        let mut rng = stream(1, "test", 0);
        let row = |_| {
            format!("{},{value}\n", Distribution::Table.sample(5, &mut rng).to_string().replace('/', ","))
        };
        std::fs::write(&file, header.to_string() + &(0..200).map(row).collect::<String>()).unwrap();
    };
    write(0.25);
    let learn = format!(
        "method = \"supervised\"\nsamples = 2000\nrate = 0.01\nexamples = {:?}",
        file.display().to_string()
    );
    let config = experiment("one-sided", NETWORK, &learn);
    let cancel = Cancel::default();
    train(&config, 1, &at(&run), &StopAt(100, cancel.clone()), &cancel).unwrap();
    let resume = TrainOptions { resume: true, ..at(&run) };
    write(0.5);
    let error = train(&config, 1, &resume, &Silent, &Cancel::default()).unwrap_err().to_string();
    assert!(error.contains("its positions changed after this run began"), "{error}");
    write(0.25);
    assert!(train(&config, 1, &resume, &Silent, &Cancel::default()).unwrap().1.finished);
}

/// A trained network can be the prior of another, and replacing it by a third network is detected.
#[test]
fn a_checkpoint_is_a_prior() {
    let folder = tempfile::tempdir().unwrap();
    let [first, other, run] = ["first", "other", "run"].map(|name| folder.path().join(name));
    let learn = "method = \"supervised\"\nsamples = 100_000\nbatch = 32\noptimiser = \"adam\"\n\
                 rate = { from = 0.01, to = 0.0001 }";
    let weak = "mlp]\ninputs = [\"one_sided\"]\nhidden = [1]\ninit = 0.1";
    let alone = finished(&experiment("one-sided", weak, learn), 1, &first).r#final.unwrap().figure();
    finished(&experiment("one-sided", NETWORK, learn), 2, &other);
    let encoder = format!("one-sided+prior:{}", first.display());
    let config = experiment(&encoder, RESIDUAL, learn);
    let corrected = finished(&config, 1, &run).r#final.unwrap().figure();
    assert!(corrected < 0.8 * alone, "{corrected}, its prior alone {alone}");
    let options = EvaluateOptions { samples: Some(3000), ..Default::default() };
    let again = evaluate(&run, false, &options).unwrap().rms.unwrap().errors.rms;
    assert!((again - corrected).abs() < 1e-6, "{again}, while learning {corrected}");
    let game = Bearoff::new(5).unwrap();
    let (bound, manifest) = open::open(&game, &run, false).unwrap();
    assert_eq!(bound.encoder().name(), manifest.encoder);
    let (stopped, cancel) = (folder.path().join("stopped"), Cancel::default());
    train(&config, 2, &at(&stopped), &StopAt(50_000, cancel.clone()), &cancel).unwrap();
    std::fs::remove_dir_all(&first).unwrap();
    std::fs::rename(&other, &first).unwrap();
    let resume = TrainOptions { resume: true, ..at(&stopped) };
    let error = train(&config, 2, &resume, &Silent, &Cancel::default()).unwrap_err().to_string();
    assert!(error.contains("put its prior back"), "{error}");
    let error = evaluate(&run, false, &options).unwrap_err().to_string();
    assert!(error.contains("restore that checkpoint"), "{error}");
    std::fs::remove_dir_all(&first).unwrap();
    let error = evaluate(&run, false, &options).unwrap_err().to_string();
    assert!(error.contains("has no prior"), "{error}");
}

/// The prior is one more channel, for the player who just moved. A residual network that adds nothing equals
/// its prior.
#[test]
fn priors_are_channels() {
    let game = Bearoff::new(5).unwrap();
    let encoder = open::encoder(&game, Some("counts+prior:convolution")).unwrap();
    assert_eq!(encoder.channels().iter().map(|c| c.name.as_ref()).collect::<Vec<_>>(), ["counts", "prior"]);
    let channels = encoder.channels().to_vec();
    let architecture: adept_model::Architecture = serde_json::from_value(serde_json::json!({
        "residual": { "net": { "mlp": { "hidden": [2], "output": "linear", "init": 1e-30 } } }
    }))
    .unwrap();
    let mut rng = stream(1, "test", 0);
    let learner =
        adept_model::build(&architecture, &channels, &adept_model::Head::Value, Default::default(), &mut rng)
            .unwrap();
    let mut bound = GameModel::new(&game, encoder, learner);
    let convolution = game.values().valuations.open("convolution").unwrap().unwrap();
    for player in [0, 1] {
        for _ in 0..50 {
            let mut state = adept_builtin::bearoff::State::to_roll(Distribution::Table.sample(5, &mut rng));
            state.player = player;
            let mover = 1 - player;
            let rows = bound.encode(&game, &state, None, mover);
            let mut value = Vec::new();
            bound.model.evaluate(&rows, &mut value);
            let expected =
                convolution.value(&game, Afterstate { state: &state, action: None, player: mover });
            assert!(
                (f64::from(value[0]) - expected).abs() < 2e-6,
                "{} {}",
                game.position_text(&state),
                value[0]
            );
        }
    }
}

/// Games without positions of their own, from all kinds of rules: labelled positions of their games, runs on such a
/// file and on exact values of random games, and errors against exact values.
#[test]
fn every_game_has_positions_to_learn_from() {
    let folder = tempfile::tempdir().unwrap();
    for (i, rules) in
        ["tictactoe", "declared:tic-tac-toe", "declared:tic-tac-toe.kif"].into_iter().enumerate()
    {
        let game = Builtin.find(rules).unwrap();
        let out = folder.path().join(format!("{i}.csv"));
        let options = LabelOptions {
            agent: "oracle".into(),
            best: false,
            count: 500,
            moves: 3,
            starts: Vec::new(),
            one_ply: false,
            hard: 0.0,
            trials: None,
            truncate: None,
            seed: 1,
            threads: 1,
            out: out.clone(),
            resume: false,
        };
        assert!(game.label_positions(&options, &Cancel::default()).unwrap().finished, "{rules}");
        let report = game.check_labels(&out, 1e-5).unwrap();
        assert!(report.compared == report.rows && report.rows >= 500 && !report.has_faults(), "{report:?}");
        assert!(report.parts.training > report.parts.test && report.parts.test > 0, "{report:?}");
        for (kind, examples) in [("drawn", String::new()), ("file", format!("examples = {out:?}\n"))] {
            let text = format!(
                "name = \"test\"\ngame = {{ rules = \"{rules}\" }}\n[architecture.mlp]\nhidden = [32]\n[learn]\n\
                 batch = 32\noptimiser = \"adam\"\nrate = {{ from = 0.01, to = 0.0001 }}\n[learn.supervised]\n\
                 samples = 80_000\n{examples}[evaluate]\nsuites = [\"rms\"]\npositions = 500\nvalidation = 200\n"
            );
            let config = parse(&Source { file: "test.toml".into(), text, set: vec![] });
            let path = folder.path().join(format!("{kind}-{i}"));
            let run = finished(&config.unwrap_or_else(|e| panic!("{rules}: {e}")), 1, &path);
            let last = run.r#final.expect("it is measured").figure();
            let options =
                EvaluateOptions { suites: vec![Suite::Rms], samples: Some(500), ..Default::default() };
            let rms = evaluate(&path, false, &options).unwrap().rms.unwrap();
            assert_eq!(rms.distribution, "play");
            if kind == "drawn" {
                let (_, constant) = rms.distributions[0].baselines[0];
                assert!(
                    last < 0.85 * constant && rms.errors.rms < 0.85 * constant,
                    "{rules}: {last} of {constant}"
                );
            }
        }
    }
}

/// The default mixture keeps at least three of four experts live: each has a twentieth of the weight.
#[test]
fn default_mixtures_live() {
    let folder = tempfile::tempdir().unwrap();
    let adam = "optimiser = \"adam\"\nrate = { from = 0.003, to = 0.00003 }\n";
    let exact = format!("batch = 64\n{adam}[learn.supervised]\nsamples = 100_000\n");
    let games = |games: u64| {
        format!(
            "rate = {{ from = 0.01, to = 0.0005 }}\n[learn.td]\ngames = {games}\nlambda = 0.5\n\
             explore = {{ from = 0.2, to = 0.05 }}\n"
        )
    };
    let errors = "suites = [\"rms\"]\npositions = 300\nvalidation = 100\n";
    let matches = "suites = [\"matches\"]\nagainst = [\"random\"]\ngames = 20\n";
    for (i, (rules, encoder, learn, evaluate)) in [
        ("bearoff:6", "race+distribution:12", exact, errors),
        ("tictactoe", "fields", games(10_000), "suites = [\"equity\"]\n"),
        ("connect-four", "threats", games(1_000), matches),
    ]
    .into_iter()
    .enumerate()
    {
        for kind in ["hme", "meta_pi"] {
            let text = format!(
                "name = \"test\"\ngame = {{ rules = \"{rules}\", encoder = \"{encoder}\" }}\n[architecture.{kind}]\n\
                 experts = 4\nexpert.mlp = {{ hidden = [8] }}\n[learn]\n{learn}[evaluate]\n{evaluate}"
            );
            let config = parse(&Source { file: "test.toml".into(), text, set: vec![] });
            let config = config.unwrap_or_else(|e| panic!("{rules}: {e}"));
            assert_eq!(config.cautions(), Vec::<String>::new());
            let run = finished(&config, 1, &folder.path().join(format!("{kind}-{i}")));
            let used = run.r#final.and_then(|score| score.experts).expect("a mixture");
            let live = used.weights.iter().filter(|weight| **weight >= 0.05).count();
            assert!(live >= 3 && used.live >= 3, "{kind} in {rules}: {used:?}");
        }
    }
}

/// A network learns money games with the cube from equities of the cube's owners. Methods that need values of positions are refused.
#[test]
fn a_network_learns_what_the_cube_is_worth() {
    let config = |learn: &str| {
        let text = format!(
            "name = \"test\"\ngame = {{ rules = \"hypergammon:money\", encoder = \"points+cube\" }}\n[architecture.symbolic]\n\
             by = \"owner\"\nexpert.mlp = {{ hidden = [16], init = 0.1 }}\n[learn]\n{learn}\n[evaluate]\nsuites = []\n"
        );
        parse(&Source { file: "test.toml".into(), text, set: vec![] }).unwrap_or_else(|e| panic!("{e}"))
    };
    let learn = "optimiser = \"adam\"\nrate = { from = 0.01, to = 0.001 }\nbatch = 512\nshards = 2\n[learn.expectation]\n\
                 samples = 120_000\nself_play = 0.5\nuses = 4\nstep = 64";
    let folder = tempfile::tempdir().unwrap();
    finished(&config(learn), 1, folder.path());
    let game = Backgammon::named("hypergammon:money").unwrap();
    let (mut network, _) = open::open(&game, folder.path(), false).unwrap();
    let mut points = |text: &str| {
        let (state, _) = game.parse_position(text).unwrap();
        let (mut values, player) = (Vec::new(), game.just_acted(&state).unwrap());
        network.afterstates(&game, &[state], &mut values, &mut Vec::new());
        (if player == 0 { values[0] } else { -values[0] }) * game.scale() as f32
    };
    // Player 0 has one checker left, and player 1 all three in the home of player 0: 3 points, or 1 by the Jacoby rule.
    let [centred, own, theirs] = ["0:0", "1:1", "1:-1"]
        .map(|cube| points(&format!("XGID=-A-c----------------------:{cube}:1:00:0:0:1:0:10")));
    // Player 0 doubles the cube in the middle, and player 1 passes.
    assert!((0.8..1.1).contains(&centred), "{centred}");
    // A cube of 2, for 3 points; player 0 is too good to double.
    assert!((3.0..7.0).contains(&own) && (3.0..7.0).contains(&theirs), "{own}, {theirs}");
    let lost = points("XGID=----------------------C-a-:1:-1:-1:00:0:0:1:0:10");
    assert!((-7.0..-3.0).contains(&lost), "{lost}");
    let faulty = config("rate = 0.01\n[learn.td]\ngames = 10");
    let error = train(&faulty, 1, &at(folder.path().join("other")), &Silent, &Cancel::default()).unwrap_err();
    assert!(error.to_string().contains("take [learn.expectation] or [learn.supervised]"), "{error}");
}
