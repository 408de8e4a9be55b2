//! Follek (2003), tables 3-1 and 3-3: SoarBot's days at the tables of the University of Alberta, and matches against
//! opponents of one kind.
//!
//! The opponents of the thesis, people and the university's programs, are not available. Its tables are shown next to
//! tables of agents that play here. The testable question is how much of the variation between its days is luck.

use crate::report::{Paper, Report};
use crate::runs::{FIRST_SEED, interrupted, pool, seeds};
use adept_arena::matches::{Net, Order, Tally, compete};
use adept_arena::{Agent, OpenError, open};
use adept_builtin::holdem::{Holdem, Stakes};
use adept_game::{Game, Unit};
use adept_ground::work;
use adept_lab::reproduction::Work;
use adept_trainer::run::TrainError;
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;

/// The agent of the thesis.
const SOARBOT: &str = "soarbot";

/// Heads-up opponents, with reference results in mbb per hand.
const DUELS: [(&str, Option<[f64; 2]>); 4] = [
    ("always-call", Some([417.0, 9.0])),
    ("random", Some([-5.0, 10.0])),
    ("always-raise", Some([-40.0, 20.0])),
    ("equity:0.5", None),
];

/// The eight opponents of a nine-player table by kind, with reference results in dollars per hand.
type Company = (&'static str, &'static [(&'static str, usize)], Option<[f64; 2]>);

const TABLES: [Company; 4] = [
    ("eight that always call", &[("always-call", 8)], Some([6.56, 0.38])),
    ("eight that play at random", &[("random", 8)], Some([13.68, 0.55])),
    (MIXED, &[("soarbot-hutchison", 2), ("soarbot-2002", 2), ("always-call", 2), ("random", 2)], None),
    (BOTS, &[("soarbot-hutchison", 4), ("soarbot-2002", 4)], None),
];
const MIXED: &str = "two each of soarbot-hutchison, soarbot-2002, always-call, random";
const BOTS: &str = "four each of soarbot-hutchison and soarbot-2002";

/// A day of the thesis: number of hands, and dollars won per hand.
type Day = (u64, f64);

/// Table 3-1, people and programs.
const MIXED_DAYS: [Day; 35] = [
    (515, -0.48),
    (615, -3.56),
    (540, -4.16),
    (1124, -1.24),
    (1402, 0.65),
    (1787, -0.23),
    (851, -0.47),
    (1029, -1.10),
    (1593, -1.39),
    (877, 3.38),
    (1750, -0.86),
    (1780, -1.08),
    (1036, 0.62),
    (2159, -1.06),
    (515, -4.22),
    (1068, 0.26),
    (663, -0.43),
    (1182, 0.22),
    (544, 4.33),
    (1121, 0.98),
    (1181, -1.78),
    (541, -1.89),
    (1339, -1.53),
    (714, -1.76),
    (1099, 0.05),
    (1606, -1.23),
    (594, -0.63),
    (828, 0.18),
    (1118, 1.89),
    (1873, 0.32),
    (810, -0.01),
    (2545, -0.81),
    (1858, -0.33),
    (592, -3.03),
    (1003, -0.99),
];

/// Table 3-3, programs only.
const BOT_DAYS: [Day; 4] = [(5435, -0.70), (2152, -0.99), (2469, -1.45), (1491, -1.54)];

/// Hands per seed: heads-up, and at a full table.
const HANDS: [u64; 2] = [100_000, 45_000];

/// A result next to a reference result.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SoarBotRow {
    /// The opponents.
    #[serde(rename = "name")]
    pub(crate) against: String,
    /// Players at the table.
    pub(crate) players: usize,
    /// `mbb` per hand, or `$` per hand at a table with bets of $10 and $20.
    pub(crate) unit: &'static str,
    /// Number of hands; each deal is played in all seats.
    pub(crate) hands: u64,
    /// SoarBot's winnings per hand.
    pub(crate) won: f64,
    /// Half the width of the 95 % interval.
    pub(crate) half_width: f64,
    /// Reference result.
    pub(crate) elsewhere: Option<[f64; 2]>,
}

/// The days of a table of the thesis, next to as many hands here.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SoarBotDays {
    /// The table of the thesis.
    pub(crate) table: &'static str,
    /// The opponents here.
    pub(crate) against: &'static str,
    /// Number of days.
    pub(crate) days: usize,
    /// Number of hands of all days.
    pub(crate) hands: u64,
    /// Dollars per hand in the thesis, over all hands.
    pub(crate) thesis: f64,
    /// Half the width of its 95 % interval, with the standard deviation of a hand measured here.
    pub(crate) half_width: f64,
    /// Dollars per hand here, each hand dealt once as in the thesis.
    pub(crate) ours: f64,
    /// Standard deviation of a hand here, in dollars.
    pub(crate) sd: f64,
    /// χ² of the days of the thesis around their mean, with the standard deviation measured here; its expectation under
    /// pure luck is days − 1.
    pub(crate) chi2: f64,
    /// χ² of our days, the mean over the seeds.
    pub(crate) chi2_ours: f64,
}

/// All tables.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SoarBotStudy {
    /// Matches.
    pub(crate) rows: Vec<SoarBotRow>,
    /// Days of the thesis.
    pub(crate) days: Vec<SoarBotDays>,
}

/// The tables as a reproduction.
pub(crate) const DAYS: Paper = Paper {
    name: "soarbot",
    about: "Follek: SoarBot's days at the poker tables, and its matches against players of one kind",
    runs: |_| 0,
    make: |work| pool(work.options)?.install(|| study(work))?.made(),
};

fn study(work: Work<'_>) -> Result<Report<SoarBotStudy>, TrainError> {
    let options = work.options;
    let started = Instant::now();
    let part = if options.quick { 20 } else { 1 };
    let steps = (DUELS.len() + TABLES.len() + 2) as f64;
    let mut done = 0.0;
    let mut step = || {
        done += 1.0;
        work::share("playing the matches", done / steps);
    };
    let mut rows = Vec::new();
    let duel = game(2)?;
    let unit = Unit { name: "mbb".into(), size: f64::from(duel.stakes().bets[0]) / 1000.0 };
    for (against, elsewhere) in DUELS {
        let hands = HANDS[0] / part * options.seeds;
        let [won, half_width] = result(&duel, &[(against, 1)], hands, &unit, work)?;
        let against = against.into();
        rows.push(SoarBotRow { against, players: 2, unit: "mbb", hands, won, half_width, elsewhere });
        step();
    }
    let table = game(9)?;
    let dollars = Unit { name: "$".into(), size: 1.0 };
    for (name, company, elsewhere) in TABLES {
        let hands = HANDS[1] / part / 9 * 9 * options.seeds;
        let [won, half_width] = result(&table, company, hands, &dollars, work)?;
        let against = name.into();
        rows.push(SoarBotRow { against, players: 9, unit: "$", hands, won, half_width, elsewhere });
        step();
    }
    let mut days = Vec::new();
    for (name, of_thesis, against) in
        [("3-1, people and programs", &MIXED_DAYS[..], MIXED), ("3-3, programs only", &BOT_DAYS, BOTS)]
    {
        days.push(as_days(&table, (name, of_thesis, against), work)?);
        step();
    }
    let made = Report::new(DAYS.name, options, started, SoarBotStudy { rows, days });
    let text = markdown(&made);
    made.publish(options, vec![("soarbot.md".into(), text)])
}

fn game(players: usize) -> Result<Holdem, TrainError> {
    Ok(Holdem::new(players, Stakes::default())?)
}

/// Seat orders of SoarBot, agent 0, and its opponents: all rotations of the table.
fn turns(company: &[(&str, usize)]) -> Vec<Order> {
    // Interleave the kinds, so that none has only one neighbour.
    let most = company.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let kinds = (0..most).flat_map(|k| company.iter().enumerate().filter(move |(_, (_, n))| k < *n));
    let mut order: Order = [0].into_iter().chain(kinds.map(|(kind, _)| kind + 1)).collect();
    (0..order.len())
        .map(|_| {
            order.rotate_left(1);
            order.clone()
        })
        .collect()
}

fn play_in(
    game: &Holdem,
    company: &[(&str, usize)],
    orders: &[Order],
    (hands, seed): (u64, u64),
    work: Work<'_>,
) -> Result<Tally, TrainError> {
    let make = || -> Result<Vec<Box<dyn Agent<Holdem>>>, OpenError> {
        let names = [SOARBOT].into_iter().chain(company.iter().map(|(name, _)| *name));
        names.map(|name| open::agent(game, name)).collect()
    };
    let tally = compete(game, make, orders, hands, seed, || work.cancel.requested())?;
    if work.cancel.requested() { Err(interrupted(work.options)) } else { Ok(tally) }
}

/// SoarBot's winnings per hand, every deal in all seats, and half the width of their 95 % interval.
fn result(
    game: &Holdem,
    company: &[(&str, usize)],
    hands: u64,
    unit: &Unit,
    work: Work<'_>,
) -> Result<[f64; 2], TrainError> {
    let tally = play_in(game, company, &turns(company), (hands, FIRST_SEED), work)?;
    let [low, high] = tally.uncertainty(Some(unit), game.scale(), 0.5).ci95;
    Ok([tally.score(Some(unit)), (high - low) / 2.0])
}

/// As many hands per day as in the thesis, each dealt once.
fn as_days(
    game: &Holdem,
    (name, of_thesis, against): (&'static str, &[Day], &'static str),
    work: Work<'_>,
) -> Result<SoarBotDays, TrainError> {
    let company =
        TABLES.iter().find(|(name, ..)| *name == against).map_or(&[][..], |(_, company, _)| company);
    let orders = turns(company);
    // The days of all seeds, one seed after another.
    let mut ours: Vec<Net> = Vec::new();
    let all = seeds(work.options).flat_map(|seed| of_thesis.iter().map(move |day| (seed, day)));
    for (day, (seed, (hands, _))) in all.enumerate() {
        let mut net = Net::default();
        for (seat, order) in orders.iter().enumerate() {
            // The first seats play an extra hand, so that all hands are played.
            let share = hands / 9 + u64::from((seat as u64) < hands % 9);
            // Every day and seat has its own hands.
            let own = (seed << 32) | (of_thesis.len() as u64) << 24 | (9 * day + seat) as u64;
            let tally = play_in(game, company, std::slice::from_ref(order), (share, own), work)?;
            net = net.and(tally.net);
        }
        ours.push(net);
    }
    let whole = ours.iter().fold(Net::default(), |sum, day| sum.and(*day));
    let sd = whole.error() * (whole.deals as f64).sqrt();
    let hands: u64 = of_thesis.iter().map(|(hands, _)| hands).sum();
    let thesis = of_thesis.iter().map(|(n, won)| *n as f64 * won).sum::<f64>() / hands as f64;
    let chi2 = |days: &mut dyn Iterator<Item = Day>, mean: f64| -> f64 {
        days.map(|(n, won)| n as f64 * ((won - mean) / sd).powi(2)).sum()
    };
    Ok(SoarBotDays {
        table: name,
        against,
        days: of_thesis.len(),
        hands,
        thesis,
        half_width: 1.96 * sd / (hands as f64).sqrt(),
        ours: whole.mean(),
        sd,
        chi2: chi2(&mut of_thesis.iter().copied(), thesis),
        chi2_ours: {
            let each = ours.chunks(of_thesis.len()).map(|days| {
                let mean = days.iter().fold(Net::default(), |sum, day| sum.and(*day)).mean();
                chi2(&mut days.iter().map(|day| (day.deals, day.mean())), mean)
            });
            each.sum::<f64>() / work.options.seeds as f64
        },
    })
}

fn markdown(made: &Report<SoarBotStudy>) -> String {
    let mut text = format!(
        "# SoarBot (Follek 2003) against others\n\nWhat SoarBot wins a hand, with 95 % intervals{}: heads-up in thousandths of \
         a small bet (mbb), at tables of nine in dollars, with bets of $10 and $20. Every deal is played in all seats.\n\n\
         | against | players | hands | SoarBot wins | measured elsewhere |\n|---|---:|---:|---:|---:|\n",
        if made.quick { ", a twentieth of the hands (--quick)" } else { "" }
    );
    let number = |unit: &str, won: f64, half: f64| match unit {
        "$" => format!("{}{:.2} ± {half:.2} $", if won < 0.0 { "−" } else { "+" }, won.abs()),
        _ => format!("{}{:.0} ± {half:.0} mbb", if won < 0.0 { "−" } else { "+" }, won.abs()),
    };
    for row in &made.body.rows {
        let elsewhere = row.elsewhere.map_or(String::new(), |[won, half]| number(row.unit, won, half));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {elsewhere} |",
            row.against,
            row.players,
            row.hands,
            number(row.unit, row.won, row.half_width)
        );
    }
    text.push_str(
        "\n## The days of the thesis\n\nIts opponents, people and the programs of the University of Alberta, cannot be had. Beside \
         its days stand as many hands of each seed at a table of nine agents, each hand dealt once. The interval of the thesis and χ² use the \
         standard deviation of a hand measured here. Luck alone gives a χ² near the number of days less one.\n\n\
         | table | days | hands | thesis | our table | ours | sd of a hand | χ² thesis | χ² ours |\n\
         |---|---:|---:|---:|---|---:|---:|---:|---:|\n",
    );
    for days in &made.body.days {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {}{:.2} $ | {:.1} $ | {:.1} | {:.1} |",
            days.table,
            days.days,
            days.hands,
            number("$", days.thesis, days.half_width),
            days.against,
            if days.ours < 0.0 { "−" } else { "+" },
            days.ours.abs(),
            days.sd,
            days.chi2,
            days.chi2_ours
        );
    }
    text
}
