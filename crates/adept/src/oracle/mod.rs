//! The commands `oracle build`, `value`, `moves`, `verify`, `cube`, `sample` and `export`: the exact bear-off, and backgammon with
//! few checkers.

mod args;
mod backgammon;
mod cube;
mod networks;
mod study;

use adept_builtin::backgammon::Backgammon;
use adept_builtin::backgammon::cube::Terms;
use adept_builtin::backgammon::exact::study as few;
use adept_builtin::bearoff::estimates::{Convolution, Kleinman, Normal};
use adept_builtin::bearoff::labelled;
use adept_builtin::bearoff::one_sided::gnubg::{GnubgOneSided, MOST_SOLVED as MOST_POINTS};
use adept_builtin::bearoff::two_sided::gnubg::GnubgTable;
use adept_builtin::bearoff::two_sided::{
    self, Precision, Seconds, Settings, Source, StudySettings, Table, TableError, TableErrors, Timings,
    usual_file,
};
use adept_builtin::bearoff::{
    DicePosition, Distribution, Estimate, MAX_CHECKERS, OneSided, POINTS, Position, Roll, Side, Situation,
    USUAL_CHECKERS, solving,
};
use adept_console::output::{self, say};
use adept_console::{OnRanks, Tool};
use adept_game::{Game, GameError};
use adept_ground::{files::Files, places, work};
use adept_lab::Catalogue;
use adept_ranks::Ranks;
use anyhow::{Context, Result, bail};
use args::{OracleAction, OracleArgs, TableArgs};
use clap::{ArgMatches, Args, FromArgMatches};
use serde_json::{Map, Value, json};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

/// Default folder of tables.
const FOLDER: &str = "datasets";

/// The command `oracle`.
pub(crate) struct Oracle;

impl Tool for Oracle {
    fn command(&self) -> clap::Command {
        OracleArgs::augment_args(clap::Command::new("oracle"))
            .about("The exact bear-off, and tables of hypergammon: build its table, look up values and moves, check tables, draw labelled positions")
            .after_help("Examples:\n  adept oracle value 1,1,1,1,1,1/1,1,1,1,1,1\n  adept oracle build --checkers 14")
    }

    fn run(&self, _games: &dyn Catalogue, matches: &ArgMatches, as_json: bool) -> Result<()> {
        run(&OracleArgs::from_arg_matches(matches)?, as_json)
    }

    fn on_ranks(&self, matches: &ArgMatches) -> OnRanks {
        match matches.subcommand_name() {
            Some("build") => OnRanks::Together,
            _ => OnRanks::First,
        }
    }

    fn kind(&self, cause: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
        Some(match cause.downcast_ref::<TableError>()? {
            TableError::Damaged { .. } | TableError::Format { .. } => "checkpoint",
            TableError::File { .. } => "io",
            TableError::Memory { .. } | TableError::CubeMemory { .. } | TableError::System { .. } => "memory",
            _ => "failed",
        })
    }
}

fn run(args: &OracleArgs, as_json: bool) -> Result<()> {
    match &args.action {
        OracleAction::Build { game, points: Some(points), out, no_file, .. } => {
            let game = game.as_deref().unwrap_or("backgammon");
            backgammon::build_race(game, usize::from(*points), out.as_deref(), *no_file, as_json)
        }
        OracleAction::Build { game: Some(game), cube, out, threads, no_file, .. } => {
            backgammon::build(game, *cube, out.as_deref(), *no_file, *threads, as_json)
        }
        OracleAction::Build { checkers, out, bits, threads, no_file, .. } => {
            let checkers = checkers.unwrap_or(USUAL_CHECKERS);
            let settings = Settings { precision: *bits, threads: *threads, ..Settings::new(checkers) };
            let usual = usual_file(Path::new(FOLDER), checkers);
            build(settings, destination(out.as_deref(), &usual, *no_file)?, as_json)
        }
        OracleAction::Value { positions, game, estimates, details, cube, jacoby, score, table } => {
            let terms = score.terms()?;
            if let Some(game) = other_game(game, table)? {
                if *estimates || *details {
                    bail!("--estimates and --details are of races: leave out --game, or these");
                }
                if !terms.is_empty() {
                    bail!("--match is of the bear-off: leave out --game, or this");
                }
                return backgammon::value(&game, positions, cube.then_some(*jacoby), table, as_json);
            }
            no_jacoby(*jacoby)?;
            let positions: Vec<Situation> =
                positions.iter().map(|text| text.parse()).collect::<Result<_, GameError>>()?;
            let also = Also { estimates: *estimates, details: *details, cube: *cube, terms: &terms };
            value(&positions, also, table, as_json)
        }
        OracleAction::Moves { position, dice, game, legal, cube, jacoby, score, table } => {
            let terms = score.terms_of(*cube)?;
            if let Some(game) = other_game(game, table)? {
                if terms.is_some() {
                    bail!("--match is of the bear-off: leave out --game, or this");
                }
                let listing = backgammon::Listing { legal: *legal, cube: *cube, jacoby: *jacoby };
                return backgammon::moves(&game, position, *dice, listing, table, as_json);
            }
            no_jacoby(*jacoby)?;
            let position: Situation = position.parse()?;
            let Situation { position, roll } = position.with_dice(*dice)?;
            let Some(roll) = roll else {
                bail!("{position}: which roll? Write it after the position, such as 65");
            };
            let decision = DicePosition { position, roll };
            match cube {
                Some(owner) => cube::moves(decision, *owner, terms, table, as_json),
                None if *legal => legal_moves(decision, as_json),
                None => moves(decision, table, as_json),
            }
        }
        OracleAction::Verify { one_sided: Some(file), tolerance, game, table, .. } => {
            if other_game(game, table)?.is_some() {
                bail!("--one-sided is of the bear-off: leave out --game, or this");
            }
            verify_one_sided(file, tolerance.unwrap_or(ONE_SIDED_TOLERANCE), as_json)
        }
        OracleAction::Verify { csv, gnubg, exact, checkers, tolerance, game, table, .. } => {
            if let Some(game) = other_game(game, table)? {
                if gnubg.is_some() || *exact {
                    bail!("--gnubg and --exact are of the bear-off: leave out --game, or these");
                }
                return backgammon::verify(&game, csv.as_deref(), *tolerance, table, as_json);
            }
            let what = match (csv, gnubg, exact) {
                (Some(csv), _, _) => Against::Csv(csv),
                (_, Some(gnubg), _) => Against::Gnubg(gnubg),
                (_, _, true) => Against::Exact(*checkers),
                _ => Against::Checksums,
            };
            verify(what, *tolerance, table, as_json)
        }
        OracleAction::Cube { checkers, game, table, jacoby, networks, positions, games, seed, threads } => {
            let args = TableArgs { table: table.clone(), bits: None, threads: *threads };
            let (checkers, games, seed, threads) = (*checkers, *games, *seed, *threads);
            if let Some(game) = other_game(game, &args)? {
                if checkers != args::CUBE_CHECKERS {
                    bail!("--checkers is of the bear-off: {} has {} a side", game.name(), game.checkers());
                }
                let positions = positions.unwrap_or(study::POSITIONS);
                let settings = few::StudySettings { jacoby: *jacoby, positions, games, seed, threads };
                return study::hypergammon(&game, settings, networks, &args, as_json);
            }
            no_jacoby(*jacoby)?;
            if table.is_some() || positions.is_some() || !networks.is_empty() {
                bail!("--table, --positions and --network are of hypergammon: add --game, or leave them out");
            }
            study::bearoff(StudySettings { checkers, games, seed, threads }, as_json)
        }
        OracleAction::Sample { distribution, count, seed, checkers, game, out, table } => {
            if let Some(game) = other_game(game, table)? {
                if *checkers != USUAL_CHECKERS {
                    bail!("--checkers is of the bear-off: {} has {} a side", game.name(), game.checkers());
                }
                if !["table", "all"].contains(&distribution.as_str()) {
                    bail!("`{distribution}` is a distribution of the bear-off: {} has `all`", game.name());
                }
                return backgammon::sample(&game, *count, *seed, out, table, as_json);
            }
            sample(
                distribution.parse().map_err(anyhow::Error::msg)?,
                *count,
                *seed,
                *checkers,
                out,
                table,
                as_json,
            )
        }
        OracleAction::Export { checkers, out, table } => export(*checkers, out, table, as_json),
    }
}

/// Refuses `--jacoby` for the bear-off.
fn no_jacoby(jacoby: bool) -> Result<()> {
    if jacoby {
        bail!("--jacoby is of hypergammon: in the bear-off no gammon counts");
    }
    Ok(())
}

/// The game of `--game`, unless it is the bear-off.
fn other_game(name: &str, args: &TableArgs) -> Result<Option<Backgammon>> {
    if name == "bearoff" {
        return Ok(None);
    }
    if args.bits.is_some() {
        bail!("--bits is of the bear-off: leave it out, or leave out --game");
    }
    backgammon::named(name).map(Some)
}

/// Finds or solves a table for sides with this many checkers.
fn find(checkers: u8, args: &TableArgs) -> Result<Table> {
    let checkers = checkers.max(1);
    let settings = Settings { threads: args.threads, ..Settings::for_values(checkers, args.bits) };
    let least = args.bits.unwrap_or(Precision::Bits16);
    let what = solving(settings);
    let begin = || {
        let places = places::in_words(FOLDER);
        say(format!("no table for {checkers} checkers with at least {} bits in {places}", least.bits()));
        work::share(&what, 0.0);
    };
    let (table, source) =
        two_sided::find(args.table.as_deref(), Path::new(FOLDER), least, settings, begin, &mut |p| {
            work::share(&what, p.share)
        })?;
    if let Source::Solved(Timings { moves, memory, solve }) = source {
        say(format!("solved in {:.2} s", moves.wall + memory.wall + solve.wall));
    }
    Ok(table)
}

/// Where a table is written, if it is: to the file that is asked for, else to the usual one.
fn destination<'a>(out: Option<&'a Path>, usual: &'a Path, no_file: bool) -> Result<Option<&'a Path>> {
    let path = (!no_file).then(|| out.unwrap_or(usual));
    path.map(|path| Files::default().try_file(path)).transpose()?;
    Ok(path)
}

/// The line that names a file, if there is one.
fn line(path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| format!("{}\n", path.display()))
}

fn build(settings: Settings, out: Option<&Path>, as_json: bool) -> Result<()> {
    let what = solving(settings);
    let ranks = adept_console::ranks();
    if ranks.are_several() {
        return build_on(&ranks, settings, out, as_json);
    }
    work::share(&what, 0.0);
    let (table, timings) = Table::solve(settings, &mut |progress| work::share(&what, progress.share))?;
    let write = out.map(|path| table.save(path)).transpose()?.unwrap_or_default();
    let steps = steps(timings, write);
    let (pairs, bytes) = (table.pairs(), table.bytes());
    if as_json {
        return output::json(&json!({
            "checkers": table.checkers(),
            "bits": table.precision().bits(),
            "pairs": pairs,
            "bytes": bytes,
            "seconds": by_step(&steps, |s| s.wall),
            "cpu_seconds": by_step(&steps, |s| s.cpu),
            "path": out,
        }));
    }
    let rows =
        steps.iter().map(|(name, s)| vec![(*name).into(), format!("{:.3}", s.wall), format!("{:.3}", s.cpu)]);
    let rows = output::table(&["step", "seconds", "CPU-seconds"], rows);
    output::text(&(size(settings, pairs, bytes) + &rows + &line(out)))
}

/// The steps of solving a table, and of writing it.
fn steps(timings: Timings, write: Seconds) -> [(&'static str, Seconds); 4] {
    let Timings { moves, memory, solve } = timings;
    [("moves", moves), ("memory", memory), ("solve", solve), ("write", write)]
}

fn by_step(steps: &[(&str, Seconds)], time: fn(Seconds) -> f64) -> Map<String, Value> {
    steps.iter().map(|&(name, seconds)| (name.into(), time(seconds).into())).collect()
}

/// The size of a table, in a line.
fn size(settings: Settings, pairs: u64, bytes: u64) -> String {
    let (checkers, bits, megabytes) = (settings.checkers, settings.precision.bits(), bytes as f64 / 1e6);
    format!("{pairs} pairs of sides with at most {checkers} checkers, {bits} bits, {megabytes:.1} MB\n")
}

/// Builds a table distributed over ranks.
fn build_on(ranks: &Ranks, settings: Settings, out: Option<&Path>, as_json: bool) -> Result<()> {
    let what = format!("{}, on {} ranks", solving(settings), ranks.size());
    let share = |share| {
        if ranks.is_first() {
            work::share(&what, share);
        }
    };
    share(0.0);
    let mut found = Table::solve_spread(settings, ranks, out, &mut |progress| share(progress.share))?;
    // The largest over all ranks.
    let mine = [found.own_bytes.to_ne_bytes(), found.exchange_bytes.to_ne_bytes()].concat();
    for bytes in ranks.collect(&mine) {
        let number = |at: usize| u64::from_ne_bytes(std::array::from_fn(|k| bytes[at + k]));
        found.own_bytes = found.own_bytes.max(number(0));
        found.exchange_bytes = found.exchange_bytes.max(number(8));
    }
    let steps = steps(found.timings, found.write);
    if as_json {
        return output::json(&json!({
            "checkers": settings.checkers,
            "bits": settings.precision.bits(),
            "pairs": found.pairs,
            "bytes": found.bytes,
            "ranks": ranks.size(),
            "bytes_per_rank": found.own_bytes,
            "exchange_bytes_per_rank": found.exchange_bytes,
            "seconds": by_step(&steps, |s| s.wall),
            "path": out,
        }));
    }
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let spread = format!(
        "{} ranks: at most {:.1} MB of the table on each, and {:.1} MB to exchange values\n",
        ranks.size(),
        megabytes(found.own_bytes),
        megabytes(found.exchange_bytes)
    );
    let rows = steps.iter().map(|(name, s)| vec![(*name).into(), format!("{:.3}", s.wall)]);
    let rows = output::table(&["step", "seconds"], rows);
    output::text(&(size(settings, found.pairs, found.bytes) + &spread + &rows + &line(out)))
}

/// Formats a value with the digits that the table's precision supports.
fn signed(table: &Table, value: f64) -> String {
    match table.precision() {
        Precision::Bits16 => format!("{value:+.5}"),
        Precision::Bits32 => format!("{value:+.6}"),
        Precision::Bits64 => format!("{value:+.9}"),
    }
}

/// Formats the probability of winning with the digits that the table's precision supports.
fn probability(table: &Table, value: f64) -> String {
    let places = if table.precision() == Precision::Bits16 { 5 } else { 6 };
    format!("{:.places$}", (1.0 + value) / 2.0)
}

/// Figures that `oracle value` shows beside the exact value.
#[derive(Clone, Copy)]
struct Also<'a> {
    estimates: bool,
    details: bool,
    cube: bool,
    /// The score for each owner of the cube; empty in money play.
    terms: &'a [Terms],
}

fn value(positions: &[Situation], also: Also<'_>, args: &TableArgs, as_json: bool) -> Result<()> {
    let Also { estimates, details, cube, terms } = also;
    for &Situation { position, roll } in positions {
        if let Some(roll) = roll {
            check_decision(DicePosition { position, roll })?;
        }
    }
    let cubes = match terms {
        [] if !cube => Vec::new(),
        [] => cube::answers(positions, args.threads)?,
        _ => cube::match_answers(positions, terms, args.threads)?,
    };
    let mut cubes = cubes.into_iter();
    let checkers = positions.iter().map(|p| p.position.checkers()).max().unwrap_or(1);
    // Values with the cube have 32 bits.
    let bits = args.bits.or(cube.then_some(Precision::Bits32));
    let table = find(checkers, &TableArgs { bits, ..args.clone() })?;
    let one_sided = (estimates || details).then(|| Arc::new(OneSided::solve(checkers)));
    let estimates: Vec<Box<dyn Estimate>> = match &one_sided {
        Some(solution) if estimates => vec![
            Box::new(Convolution(solution.clone())),
            Box::new(Normal(solution.clone())),
            Box::new(Kleinman),
        ],
        _ => Vec::new(),
    };
    let mut values = Vec::new();
    let mut rows = Vec::new();
    // Sections about each position.
    let mut sections = String::new();
    for &situation in positions {
        let Situation { position, roll } = situation;
        let before = table.value(position)?;
        let best = roll.map(|roll| best_move(&table, position, roll)).transpose()?;
        let value = best.as_ref().map_or(before, |(_, value)| *value);
        let mut object = json!({
            "position": situation.to_string(),
            "id": position.id(),
            "value": value,
            "win_probability": (1.0 + value) / 2.0,
        });
        let mut row = vec![situation.to_string(), signed(&table, value), probability(&table, value)];
        if let (Some(roll), Some((play, _))) = (roll, best) {
            object["roll"] = roll.to_string().into();
            object["value_before_roll"] = before.into();
            row[0] = format!("{situation}: {play}");
            object["move"] = play.into();
        }
        for estimate in &estimates {
            let value = estimated(&**estimate, situation);
            object[estimate.name()] = value.into();
            row.push(format!("{value:+.6}"));
        }
        if let (Some(solution), true) = (&one_sided, details) {
            let sides = [position.own, position.opponent].map(|side| Race::new(solution, side));
            sections.push_str(&format!("\n{position}\n{}", Race::table(&sides)));
            let [own, opponent] = sides.map(|race| race.json());
            object["details"] = json!({ "own": own, "opponent": opponent });
        }
        if let Some(cube::Answer { json, text }) = cubes.next() {
            object["cube"] = json;
            if let Some(first) = terms.first() {
                object["match"] = cube::match_json(first);
            }
            sections.push_str(&text);
        }
        values.push(object);
        rows.push(row);
    }
    if as_json {
        return output::json(&json!({ "values": values }));
    }
    let mut header = vec!["position (own to roll)", "V", "P(win)"];
    header.extend(estimates.iter().map(|e| e.name()));
    let mut note = format!("V for the side to roll, from a table of {} bits\n", table.precision().bits());
    if positions.iter().any(|p| p.roll.is_some()) {
        note.push_str("with a roll: V after the best move, which stands beside the position\n");
    }
    if cube {
        sections.push_str(
            &terms
                .first()
                .map_or_else(|| cube::NOTE.to_string(), |terms| cube::match_note(terms, "side to roll")),
        );
    }
    if details {
        sections.push_str("effective pips: mean rolls × 49/6, the pips of an average roll; wastage: effective pips − pips\n");
    }
    output::text(&(output::table(&header, rows) + &note + &sections))
}

/// The notation of the best move of a roll, and its exact value.
fn best_move(table: &Table, position: Position, roll: Roll) -> Result<(String, f64)> {
    let decision = DicePosition { position, roll };
    let mut moves = Vec::new();
    table.moves(decision, &mut moves)?;
    let &(after, value) = moves.first().with_context(|| format!("{position} {roll}: there is no move"))?;
    Ok((decision.notation(after), value))
}

/// An estimate for the side to roll; with a roll, of the move that the estimate prefers.
fn estimated(estimate: &dyn Estimate, situation: Situation) -> f64 {
    let Situation { position, roll } = situation;
    let Some(roll) = roll else { return estimate.value(position) };
    let decision = DicePosition { position, roll };
    let mut afterstates = Vec::new();
    decision.afterstates(&mut afterstates);
    afterstates.iter().map(|&after| -estimate.value(decision.after(after))).fold(f64::NEG_INFINITY, f64::max)
}

/// Race statistics of one side, which minimises its mean number of rolls.
struct Race {
    pips: u32,
    mean: f64,
    sd: f64,
    /// P(N = k) for k = 0, 1, ….
    rolls: Vec<f64>,
}

/// Pips of an average roll: 8 1/6.
const PIPS_PER_ROLL: f64 = 49.0 / 6.0;

impl Race {
    /// Computes the race of a side in the solution.
    fn new(solution: &OneSided, side: Side) -> Self {
        Self {
            pips: side.pips(),
            mean: solution.mean(side).unwrap_or(f64::NAN),
            sd: solution.sd(side).unwrap_or(f64::NAN),
            rolls: solution.distribution(side).unwrap_or_default().to_vec(),
        }
    }

    fn effective_pips(&self) -> f64 {
        self.mean * PIPS_PER_ROLL
    }

    fn wastage(&self) -> f64 {
        self.effective_pips() - f64::from(self.pips)
    }

    fn json(&self) -> Value {
        json!({
            "pips": self.pips,
            "mean_rolls": self.mean,
            "sd_rolls": self.sd,
            "effective_pips": self.effective_pips(),
            "wastage": self.wastage(),
            "rolls": self.rolls,
        })
    }

    /// A table with both sides. Numbers of rolls rarer than once in 100,000 games are omitted.
    fn table(sides: &[Self; 2]) -> String {
        let row = |name: &str, of: fn(&Self) -> f64| {
            let [own, opponent] = [0, 1].map(|i| format!("{:.3}", of(&sides[i])));
            vec![name.to_string(), own, opponent]
        };
        let mut rows = vec![
            vec!["pips".to_string(), sides[0].pips.to_string(), sides[1].pips.to_string()],
            row("mean rolls", |race| race.mean),
            row("standard deviation", |race| race.sd),
            row("effective pips", Self::effective_pips),
            row("wastage", Self::wastage),
        ];
        for k in 0..sides[0].rolls.len().max(sides[1].rolls.len()) {
            let share = |i: usize| 100.0 * sides[i].rolls.get(k).copied().unwrap_or(0.0);
            if share(0).max(share(1)) >= 1e-3 {
                let [own, opponent] = [share(0), share(1)].map(|share| format!("{share:.3} %"));
                rows.push(vec![format!("off in {k} roll{}", if k == 1 { "" } else { "s" }), own, opponent]);
            }
        }
        output::table(&["race", "to roll", "opponent"], rows)
    }
}

/// Default tolerance of a mean number of rolls. GNU Backgammon rounds each probability to 1/65535 at each step.
const ONE_SIDED_TOLERANCE: f64 = 5e-4;

/// Compares a one-sided file of GNU Backgammon with the exact solution.
fn verify_one_sided(file: &Path, tolerance: f64, as_json: bool) -> Result<()> {
    let found = GnubgOneSided::open(file)?;
    let checkers = found.checkers().min(MAX_CHECKERS);
    let errors = OneSided::solve(checkers).compare_with_gnubg(&found)?;
    let (mut means, sds, probabilities) = (errors.means, errors.sds, errors.probabilities);
    let whole = (found.points() > POINTS && found.points() <= MOST_POINTS && found.has_distributions())
        .then(|| GnubgOneSided::solve(found.points(), checkers).compare(&found))
        .transpose()?;
    if let Some([_, more, _]) = whole {
        means.max = means.max.max(more.max);
    }
    let passed = means.max <= tolerance;
    if as_json {
        let of = |errors: TableErrors| json!({ "max_abs_error": errors.max, "rms_error": errors.rms() });
        let mut object = json!({
            "rows": means.rows,
            "max_abs_error": means.max,
            "rms_error": means.rms(),
            "sd_rolls": of(sds),
            "worst": errors.worst.to_string(),
            "tolerance": tolerance,
            "checkers": checkers,
            "points": found.points(),
        });
        if found.has_distributions() {
            object["probabilities"] = of(probabilities);
        }
        if let Some([rolls, means, saving]) = whole {
            object["all_points"] =
                json!({ "rolls": of(rolls), "means": of(means), "saving_rolls": of(saving) });
        }
        output::json(&object)?;
    } else {
        let row = |name: &str, errors: TableErrors| {
            vec![name.to_string(), format!("{:.2e}", errors.max), format!("{:.2e}", errors.rms())]
        };
        let mut rows = vec![row("mean number of rolls", means), row("its standard deviation", sds)];
        if found.has_distributions() {
            rows.push(row("probability of each number", probabilities));
        }
        if let Some([rolls, means, saving]) = whole {
            let points = found.points();
            rows.push(row(&format!("mean, on {points} points"), means));
            rows.push(row(&format!("probabilities, on {points} points"), rolls));
            rows.push(row("probabilities of saving a gammon", saving));
        }
        let text = format!(
            "{} sides of at most {checkers} checkers on points 1 to 6; the file has {} points\n{}largest difference of a mean: {}; tolerance {tolerance:.1e}\n",
            means.rows,
            found.points(),
            output::table(&["difference of", "largest", "rms"], rows),
            errors.worst,
        );
        output::text(&text)?;
    }
    if !passed {
        bail!("the largest difference {:.3e} is above the tolerance {tolerance:.1e}", means.max);
    }
    Ok(())
}

fn legal_moves(decision: DicePosition, as_json: bool) -> Result<()> {
    check_decision(decision)?;
    let mut afterstates = Vec::new();
    decision.afterstates(&mut afterstates);
    let text = |own| Position { own, ..decision.position }.to_string();
    if as_json {
        let moves: Vec<Value> = afterstates
            .iter()
            .map(|&s| json!({ "afterstate": text(s), "play": decision.notation(s) }))
            .collect();
        return output::json(&json!({ "moves": moves }));
    }
    output::text(&afterstates.iter().map(|&s| text(s) + "\n").collect::<String>())
}

fn check_decision(decision: DicePosition) -> Result<()> {
    if decision.position.is_over() {
        bail!("{}: the game is over, so there are no moves", decision.position);
    }
    Ok(())
}

fn moves(decision: DicePosition, args: &TableArgs, as_json: bool) -> Result<()> {
    check_decision(decision)?;
    let table = find(decision.position.checkers(), args)?;
    let mut moves = Vec::new();
    table.moves(decision, &mut moves)?;
    let text = |own| Position { own, ..decision.position }.to_string();
    if as_json {
        let moves: Vec<Value> = moves
            .iter()
            .map(|&(s, value)| {
                json!({
                    "afterstate": text(s),
                    "play": decision.notation(s),
                    "value": value,
                    "win_probability": (1.0 + value) / 2.0,
                })
            })
            .collect();
        return output::json(&json!({ "moves": moves }));
    }
    let best = moves.first().map_or(0.0, |&(_, value)| value);
    let rows = moves.iter().map(|&(s, value)| {
        let [shown, loss] = [value, best - value].map(|value| signed(&table, value));
        vec![decision.notation(s), text(s), shown, probability(&table, value), loss[1..].to_string()]
    });
    let note = "V and P(win) of the side that moves; loss is that of V\n";
    output::text(&(output::table(&["play", "afterstate", "V", "P(win)", "loss"], rows) + note))
}

/// Reference for a comparison.
#[derive(Clone, Copy)]
enum Against<'a> {
    Csv(&'a Path),
    Gnubg(&'a Path),
    Exact(Option<u8>),
    Checksums,
}

/// Differences of the values in a file from those of a table.
#[derive(Default)]
struct Differences {
    all: TableErrors,
    worst: Option<Worst>,
}

/// The row of a file that differs most from the table.
struct Worst {
    line: u64,
    position: String,
    /// Its value in the file.
    value: f64,
    /// Its value in the table.
    exact: f64,
    /// The absolute difference.
    error: f64,
}

impl Differences {
    fn add(&mut self, line: u64, position: &dyn Display, value: f64, exact: f64) {
        self.all.add(exact - value);
        let error = (exact - value).abs();
        if self.worst.as_ref().is_none_or(|worst| worst.error < error) {
            self.worst = Some(Worst { line, position: position.to_string(), value, exact, error });
        }
    }

    fn json(&self) -> Option<Value> {
        let Worst { line, position, value, exact, error } = self.worst.as_ref()?;
        Some(json!({ "line": line, "error": error, "position": position, "value": value, "exact": exact }))
    }

    /// The worst row in a line, if any row differs.
    fn text(&self, signed: impl Fn(f64) -> String) -> String {
        let Some(worst) = self.worst.as_ref().filter(|worst| worst.error > 0.0) else { return String::new() };
        let Worst { line, position, value, exact, .. } = worst;
        let [value, exact] = [*value, *exact].map(signed);
        format!("worst: line {line}, {position}: {value} in the file, {exact} in the table\n")
    }
}

fn verify(what: Against<'_>, tolerance: Option<f64>, args: &TableArgs, as_json: bool) -> Result<()> {
    // References are seldom more precise. A more precise table can be requested.
    let args = &TableArgs { bits: Some(args.bits.unwrap_or(Precision::Bits16)), ..args.clone() };
    let (mut found, mut cubes) = (Differences::default(), None);
    let (table, errors, rounding) = match what {
        Against::Csv(path) => {
            let rows = labelled::read(path)?;
            let checkers = rows.iter().map(|row| row.position.checkers()).max();
            let table = find(checkers.ok_or_else(|| GameError::data(path, "has no rows"))?, args)?;
            for row in rows {
                found.add(row.line, &row.position, row.value, table.value(row.position)?);
            }
            (table, found.all, 0.0)
        }
        Against::Gnubg(path) => {
            let file = GnubgTable::open(path)?;
            let table = find(file.checkers(), args)?;
            let errors = table.compare_with_gnubg(&file)?;
            cubes = cube::compare_with_gnubg(&file, args.threads)?;
            (table, errors, 1e-4)
        }
        Against::Exact(checkers) => {
            let checkers = match (checkers, &args.table) {
                (Some(checkers), _) => checkers,
                (None, Some(path)) => Table::open(path)?.checkers(),
                (None, None) => 8,
            };
            let table = find(checkers, args)?;
            let settings =
                Settings { precision: Precision::Bits64, threads: args.threads, ..Settings::new(checkers) };
            let what = solving(settings);
            work::share(&what, 0.0);
            let (exact, _) = Table::solve(settings, &mut |progress| work::share(&what, progress.share))?;
            let errors = exact.compare(&table)?;
            (table, errors, 0.0)
        }
        Against::Checksums => {
            let table = match &args.table {
                Some(path) => Table::open(path)?,
                None => {
                    let mut files = (1..=15).rev().map(|n| usual_file(Path::new(FOLDER), n));
                    let file = files.find_map(|file| places::find(&file)).with_context(|| {
                        format!(
                            "no table in {}: name one with --table, build one with \
                             `adept oracle build`, or give values to compare with (--csv, --gnubg, --exact)",
                            places::in_words(FOLDER)
                        )
                    })?;
                    Table::open(&file)?
                }
            };
            table.verify()?;
            let rows = table.pairs();
            (table, TableErrors { rows, ..TableErrors::default() }, 0.0)
        }
    };
    let own = match table.precision() {
        Precision::Bits16 => 5e-5,
        Precision::Bits32 => 1e-6,
        Precision::Bits64 => 1e-9,
    };
    let tolerance = tolerance.unwrap_or(own + rounding);
    // In the total order, what is not a number is above any tolerance.
    let all = cubes.iter().flatten().chain([&errors]).map(|errors| errors.max);
    let largest = all.max_by(f64::total_cmp).unwrap_or(0.0);
    let passed = largest <= tolerance;
    if as_json {
        let mut object = json!({
            "rows": errors.rows,
            "max_abs_error": errors.max,
            "rms_error": errors.rms(),
            "tolerance": tolerance,
            "checkers": table.checkers(),
            "bits": table.precision().bits(),
            "worst": found.json(),
        });
        if let Some(cubes) = cubes {
            object["cube"] = cube::errors_json(cubes);
        }
        output::json(&object)?;
    } else if matches!(what, Against::Checksums) {
        let (checkers, bits) = (table.checkers(), table.precision().bits());
        output::text(&format!(
            "all blocks are intact: {} pairs, {checkers} checkers, {bits} bits\n",
            errors.rows
        ))?;
    } else {
        output::text(&format!(
            "{} values: largest difference {:.3e}, rms {:.3e}, tolerance {tolerance:.1e}\n",
            errors.rows,
            errors.max,
            errors.rms()
        ))?;
        if let Some(cubes) = cubes {
            output::text(&cube::errors_text(cubes))?;
        }
        let worst = found.text(|value| signed(&table, value));
        if !worst.is_empty() {
            output::text(&worst)?;
        }
    }
    if !passed {
        bail!("the largest difference {largest:.3e} is above the tolerance {tolerance:.1e}");
    }
    Ok(())
}

fn sample(
    distribution: Distribution,
    count: u64,
    seed: u64,
    checkers: u8,
    out: &Path,
    args: &TableArgs,
    as_json: bool,
) -> Result<()> {
    let most = if distribution == Distribution::Small { checkers.min(6) } else { checkers };
    Files::default().try_file(out)?;
    let table = find(most, args)?;
    labelled::write_samples(&table, distribution, checkers, count, seed, out)?;
    if as_json {
        return output::json(&json!({
            "rows": count,
            "path": out,
            "distribution": distribution.to_string(),
            "checkers": checkers,
            "seed": seed,
        }));
    }
    output::text(&format!("{count} positions of the distribution {distribution}: {}\n", out.display()))
}

fn export(checkers: u8, out: &Path, args: &TableArgs, as_json: bool) -> Result<()> {
    Files::default().try_file(out)?;
    let table = find(checkers, args)?;
    table.export_to_gnubg(checkers, out)?;
    let bytes = std::fs::metadata(out).with_context(|| out.display().to_string())?.len();
    say("the file is cubeless: gnubg reads cubeless values from it, so turn cubeful evaluation off");
    if as_json {
        return output::json(&json!({ "path": out, "bytes": bytes, "checkers": checkers }));
    }
    output::text(&format!("{}: {bytes} bytes\n", out.display()))
}
