//! Runs distributed over ranks, which are threads of this process; `scripts/ranks` does the same with MPI.

use crate::common::{State, StopAt, at, parse, state, train};
use adept::lab::{farm, worker};
use adept::{Builtin, Catalogue};
use adept_lab::seeds::{Seeds, train_seeds};
use adept_ranks::slots::{Role, connect};
use adept_ranks::{Ranks, threads};
use adept_trainer::config::{Config, Source};
use adept_trainer::run::{Cancel, Silent, TrainError, TrainOptions, estimate};
use std::path::Path;
use std::time::Duration;

fn config(text: &str) -> Config {
    let text = format!("name = \"test\"\n{text}");
    parse(&Source { file: "test.toml".into(), text, set: vec![] }).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs on this many ranks in a shared folder; the last one is asked to stop after `stop` games.
fn on(ranks: usize, config: &Config, out: &Path, stop: u64) -> Vec<Result<bool, TrainError>> {
    let run = |ranks: Ranks| {
        let cancel = Cancel::default();
        // Not the first rank, which leads.
        let stop = if ranks.rank() + 1 == ranks.size() { stop } else { u64::MAX };
        let options = TrainOptions { resume: true, threads: 1, ranks, ..at(out) };
        train(config, 3, &options, &StopAt(stop, cancel.clone()), &cancel).map(|(_, record)| record.finished)
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = threads(ranks).into_iter().map(|rank| scope.spawn(|| run(rank))).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

const TICTACTOE: &str =
    "game.rules = \"tictactoe\"\narchitecture.mlp = { hidden = [12], sensitivity = 3.0 }\n";
const BEAROFF: &str = "game = { rules = \"bearoff:4\", encoder = \"one-sided\" }\n\
                       architecture.hme = { experts = 2, expert.mlp = { hidden = [5] } }\n\
                       evaluate = { positions = 500, validation = 200 }\n";
const ONE_CHECKER: &str = "head = \"outcomes\"\ngame = { rules = \"backgammon:1\", encoder = \"points\" }\n\
                           architecture.mlp = { hidden = [6] }\n";
const EXPERTS: &str = "head = \"outcomes\"\ngame = { rules = \"backgammon:1\", encoder = \"points+classes\" }\n\
                       architecture.symbolic = { by = \"phase\", expert.mlp = { hidden = [6] } }\n";
const DICE: &str = "game = { rules = \"liars-dice:openspiel:1-1:3\", encoder = \"bids:1-1:3\" }\n\
                    architecture.mlp = { hidden = [8], activation = \"relu\", output = \"linear\" }\n";

/// A config with enough units that a step on a batch uses a second thread.
fn wide(game: &str) -> String {
    let units = [(12, 1500), (5, 200), (6, 250), (8, 2500)];
    units.into_iter().fold(game.to_owned(), |game, (few, many)| {
        game.replace(&format!("hidden = [{few}]"), &format!("hidden = [{many}]"))
    })
}

/// One process, threads, and two to four ranks that take over from each other give the same bits for every method.
#[test]
fn any_number_of_ranks_and_threads_gives_the_same_bits() {
    let played = "learn = { batch = 40, shards = 5, rate = 0.01, td = { games = 300, workers = 6 } }";
    let ahead =
        "learn = { batch = 40, shards = 3, rate = 0.01, td = { games = 300, workers = 3, overlap = true } }";
    let whole = "learn = { batch = 30, shards = 4, rate = 0.01, optimiser = \"adam\", average = 0.9, \
                 td = { games = 240 } }";
    let mixed = "learn = { batch = 30, shards = 2, rate = 0.01, td = { games = 240, workers = 2, examples = 50, \
                 examples_per_game = 3 } }";
    let burn = "learn = { batch = 40, shards = 3, rate = 0.01, engine = \"burn\", average = 0.9, \
                td = { games = 200, workers = 4 } }";
    let exact = "learn = { batch = 64, shards = 4, rate = 0.01, supervised = { samples = 2000 } }";
    // So large that threads draw the examples.
    let drawn = "learn = { batch = 300, shards = 4, rate = 0.01, supervised = { samples = 2000 } }";
    // Several epochs a batch, and some that end within a shard.
    let fixed =
        "learn = { batch = 300, shards = 4, rate = 0.01, supervised = { samples = 2000, examples = 70 } }";
    let backups = "learn = { batch = 64, shards = 3, rate = 0.01, optimiser = \"soap\", expectation = { samples = 1600 } }";
    let gathered = "learn = { batch = 64, shards = 3, rate = 0.01, optimiser.adam = { expert_rows = 200 }, \
                    expectation = { samples = 1600 } }";
    let held = "learn = { batch = 64, rate = 0.01, optimiser.soap = { expert_rows = 150 }, \
                expectation = { samples = 1600 } }";
    let replayed = "learn = { batch = 768, shards = 3, rate = 0.01, optimiser = \"adam\", \
                    average = 0.9, \
                    expectation = { samples = 1600, starts = \"rules\", uses = 2, step = 25 } }";
    let regrets = "learn = { shards = 3, rate = 0.01, optimiser = \"adam\", regrets = { iterations = 4, passes = 2, \
                   rows = 64, steps = 4, batch = 16, keep = 50, memory = 1000 } }";
    let all = [
        (TICTACTOE.to_owned(), played),
        (BEAROFF.to_owned(), exact),
        (TICTACTOE.to_owned(), burn),
        (wide(TICTACTOE), played),
        (wide(TICTACTOE), ahead),
        (wide(TICTACTOE), whole),
        (wide(BEAROFF), mixed),
        // The last batch is too small for a second thread.
        (wide(BEAROFF), exact),
        (wide(BEAROFF), drawn),
        (wide(BEAROFF), fixed),
        (wide(BEAROFF), backups),
        (wide(EXPERTS), gathered),
        (EXPERTS.to_owned(), held),
        (wide(ONE_CHECKER), replayed),
        (wide(DICE), regrets),
    ];
    let with_burn = cfg!(feature = "flex");
    for (game, learn) in all.into_iter().filter(|(_, learn)| with_burn || !learn.contains("burn")) {
        let config = config(&format!("{game}{learn}"));
        let folder = tempfile::tempdir().unwrap();
        let finished = |name: &str, threads: usize| -> State {
            let path = folder.path().join(name);
            let options = TrainOptions { threads, ..at(&path) };
            let (_, record) = train(&config, 3, &options, &Silent, &Cancel::default()).unwrap();
            assert!(record.finished);
            state(&path)
        };
        let one = finished("one", 1);
        // Not assert_eq, which would print pages of weights.
        assert!(one == finished("three", 3), "threads change the bits of {learn}");
        let parts = folder.path().join("parts");
        let length = config.learn.length();
        for (ranks, stop) in [(2, length / 4), (3, length / 2), (4, u64::MAX)] {
            for finished in on(ranks, &config, &parts, stop) {
                assert_eq!(finished.unwrap(), stop == u64::MAX, "{learn}");
            }
        }
        assert!(one == state(&parts), "ranks change the bits of {learn}");
    }
}

/// A refusal by the first rank reaches all others: none of them waits.
#[test]
fn all_ranks_hear_why_the_first_cannot_begin() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes"), "mine").unwrap();
    let config = config(&format!("{TICTACTOE}learn = {{ rate = 0.01, shards = 2, td.games = 10 }}"));
    for found in on(3, &config, folder.path(), u64::MAX) {
        let error = found.expect_err("the folder holds something else").to_string();
        assert!(error.contains("cannot be used as a run folder"), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A run that diverges does so on all ranks, at the same game.
#[test]
fn all_ranks_diverge_together() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(
        "game.rules = \"tictactoe\"\narchitecture.mlp = { hidden = [4], output = \"linear\" }\n\
         learn = { batch = 8, shards = 2, rate = 1e8, td = { games = 4000, workers = 2 } }",
    );
    let found: Vec<String> = on(2, &config, &folder.path().join("run"), u64::MAX)
        .into_iter()
        .map(|found| found.expect_err("the rate is far too high").to_string())
        .collect();
    assert!(found[0].contains("diverged") && found[0] == found[1], "{found:?}");
}

#[test]
fn an_estimate_says_what_ranks_would_bring() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&format!(
        "{BEAROFF}learn = {{ batch = 64, shards = 8, rate = 0.01, supervised.samples = 100000 }}"
    ));
    let game = adept_builtin::bearoff::Bearoff::new(4).unwrap();
    let run = |ranks: Ranks| {
        let options = TrainOptions { ranks, threads: 1, ..at(folder.path().join("none")) };
        estimate(&game, &config, 1, &options, Duration::from_millis(30)).unwrap()
    };
    let alone = run(Ranks::default());
    let several: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = threads(2).into_iter().map(|rank| scope.spawn(|| run(rank))).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (found, measured) in [(&alone, 1), (&several[0], 2)] {
        let numbers: Vec<usize> = found.ranks.iter().map(|on| on.ranks).collect();
        assert_eq!(numbers, [1, 2, 4, 8]);
        assert_eq!(found.ranks[0].speedup, 1.0);
        assert!(found.ranks.iter().all(|on| on.measured == (on.ranks == measured) && on.seconds > 0.0));
    }
    // With free communication more ranks are never slower, and never faster than their number.
    let faster = |pair: &[adept_trainer::run::OnRanks]| pair[1].speedup >= pair[0].speedup;
    assert!(alone.ranks.windows(2).all(faster), "{:?}", alone.ranks);
    assert!(alone.ranks.iter().all(|on| on.speedup <= on.ranks as f64 + 1e-9));
}

/// Another rank trains seeds as jobs in parallel with this one; the runs equal those of one process.
#[test]
fn seeds_are_trained_by_other_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&format!("{TICTACTOE}learn = {{ rate = 0.01, td.games = 300 }}"));
    let game = Builtin.find("tictactoe").unwrap();
    let seeds = Seeds { first: 5, count: 6, threads: 1 };
    let train = |name: &str| {
        let options = at(folder.path().join(name));
        let runs = train_seeds(&*game, &config, seeds, &options, &Silent, &Cancel::default());
        runs.into_iter().map(|(seed, run)| (seed, state(&run.unwrap().0))).collect::<Vec<_>>()
    };
    let alone = train("alone");
    let mut ranks = threads(2).into_iter();
    let (first, second) = (ranks.next().unwrap(), ranks.next().unwrap());
    let together = std::thread::scope(|scope| {
        scope.spawn(|| {
            let Ok(Role::Other(connections)) = connect(&second, 2) else { panic!("no connection") };
            worker::serve(&Builtin, connections, &Cancel::default());
        });
        let Ok(Role::First(slots)) = connect(&first, 1) else { panic!("no connection") };
        farm::open(slots);
        let together = train("together");
        farm::close();
        together
    });
    assert!(alone == together);
}
