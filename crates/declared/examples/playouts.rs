//! Random games per second of every description in a folder, in parallel and sequentially on one core, and whether the
//! results agree: `cargo run --release -p adept-declared --example playouts FOLDER [SECONDS]`. SECONDS is the time for
//! each figure, .3 by default.

use adept_declared::Described;
use adept_game::{Game, Kit, Stream, Turn, stream};
use rand::RngExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Games of the first call, and of the last ones.
const LEAST: usize = 512;
const MOST: usize = 10_000;

/// Results of one way of playing.
#[derive(Default)]
struct Played {
    games: usize,
    seconds: f64,
    /// For each player, the sum of the utilities.
    sums: Vec<f64>,
    /// The sums of their squares, for sequential games.
    squares: Vec<f64>,
}

impl Played {
    fn rate(&self) -> f64 {
        self.games as f64 / self.seconds
    }

    fn mean(&self, player: usize) -> f64 {
        self.sums[player] / self.games as f64
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seconds = args.get(1).map_or(Ok(0.3), |text| text.parse::<f64>());
    let (Some(folder), Some(seconds)) = (args.first(), seconds.ok().filter(|s| (0.0..=1e6).contains(s)))
    else {
        eprintln!("usage: playouts FOLDER [SECONDS]");
        std::process::exit(2);
    };
    let mut files = Vec::new();
    list(Path::new(folder), &mut files);
    files.sort();
    let time = Duration::from_secs_f64(seconds);
    println!("{:<48} {:>12} {:>12} {:>8} {:>8}", "", "batch", "one by one", "ratio", "sigmas");
    let mut rates: [Vec<f64>; 2] = Default::default();
    let mut without = 0;
    for file in &files {
        let name = file.strip_prefix(folder).unwrap_or(file).display();
        let source = match std::fs::read_to_string(file) {
            Ok(source) => source,
            Err(fault) => {
                println!("{name:<48} {fault}");
                continue;
            }
        };
        let game = match Described::read(&name.to_string(), &source) {
            Ok(game) => game,
            Err(fault) => {
                println!("{name:<48} {}", fault.to_string().chars().take(120).collect::<String>());
                continue;
            }
        };
        let single = one_by_one(&game, time);
        let Some(batch) = batched(&game, time) else {
            println!("{name:<48} {:>12} {:>12.1}", "-", single.rate());
            rates.iter_mut().for_each(|rates| rates.push(single.rate()));
            without += 1;
            continue;
        };
        let sigmas = (0..game.players()).map(|player| {
            let (mean, n) = (single.mean(player), single.games as f64);
            // An event that is as likely as not to be missed in this many games counts as seen once.
            let variance = (single.squares[player] / n - mean * mean).max(0.0) + 1.0 / n;
            (batch.mean(player) - mean) / (variance * (1.0 / n + 1.0 / batch.games as f64)).sqrt()
        });
        let worst =
            sigmas.fold(0.0, |worst: f64, sigma| if sigma.abs() > worst.abs() { sigma } else { worst });
        println!(
            "{name:<48} {:>12.1} {:>12.1} {:>8.2} {worst:>8.2}{}",
            batch.rate(),
            single.rate(),
            batch.rate() / single.rate(),
            if worst.abs() > 4.5 { "  differ" } else { "" }
        );
        rates[0].push(batch.rate());
        rates[1].push(single.rate());
    }
    let [batch, single] = rates.map(|rates| {
        let logs: f64 = rates.iter().map(|rate| rate.ln()).sum();
        (logs / rates.len().max(1) as f64).exp()
    });
    println!("geometric mean of random games a second: {batch:.1} side by side, {single:.1} one by one");
    println!("{} files, {} of them without a batch", files.len(), without);
}

/// All descriptions below a folder.
fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            list(&path, files);
        } else if path.extension().is_some_and(|end| end == "kif") {
            files.push(path);
        }
    }
}

/// Parallel games, in growing batches.
fn batched(game: &Described, time: Duration) -> Option<Played> {
    let mut rng: Stream = stream(1, "games side by side", 0);
    let mut played = Played { sums: vec![0.0; game.players()], ..Played::default() };
    // The first call creates the batch.
    game.random_play().games(game, &game.start(), LEAST, &mut rng)?;
    let (mut games, begin) = (LEAST, Instant::now());
    while begin.elapsed() < time {
        let sums = game.random_play().games(game, &game.start(), games, &mut rng)?;
        played.sums.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
        played.games += games;
        games = (games * 2).min(MOST);
    }
    played.seconds = begin.elapsed().as_secs_f64();
    Some(played)
}

/// Sequential games with the methods of [`Game`].
fn one_by_one(game: &Described, time: Duration) -> Played {
    let (mut rng, mut actions): (Stream, _) = (stream(1, "games", 0), Vec::new());
    let players = game.players();
    let mut played = Played { sums: vec![0.0; players], squares: vec![0.0; players], ..Played::default() };
    let (begin, mut utilities) = (Instant::now(), Vec::new());
    while begin.elapsed() < time || played.games == 0 {
        let mut state = game.start();
        while game.turn(&state) != Turn::Over {
            game.actions(&state, &mut actions);
            game.apply(&mut state, &actions[rng.random_range(0..actions.len())]);
        }
        game.utilities(&state, &mut utilities);
        for (player, utility) in utilities.iter().enumerate() {
            played.sums[player] += utility;
            played.squares[player] += utility * utility;
        }
        played.games += 1;
    }
    played.seconds = begin.elapsed().as_secs_f64();
    played
}
