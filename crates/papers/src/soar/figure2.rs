//! Figure 2: which kinds of knowledge win, in four-player games.

use crate::report::{Paper, Report};
use crate::runs::seeds;
use adept_arena::matches::binomial_test;
use adept_lab::reproduction::Work;
use adept_lab::statistics::{Summary, mean_sd, plus_minus};
use adept_lab::tournament::{
    Entrant, PairScore, Standings, Tournament, TournamentOptions, p_text, tournament,
};
use adept_trainer::run::TrainError;
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;

/// The paper's results: the first agent wins more often than the second. Model and heuristics help alone and
/// together, and expected numbers beat probabilities in every combination.
const RELATIONS: [(&str, &str); 13] = [
    ("PM", "P"),
    ("PH", "P"),
    ("PMH", "PM"),
    ("PMH", "PH"),
    ("EM", "E"),
    ("EH", "E"),
    ("EMH", "EM"),
    ("EMH", "EH"),
    ("E", "P"),
    ("EM", "PM"),
    ("EH", "PH"),
    ("EMH", "PMH"),
    // 2080 of 4000: the one that is not significant.
    ("EH", "EM"),
];

const AGENTS: [&str; 8] = ["P", "PM", "PH", "PMH", "E", "EM", "EH", "EMH"];

/// Sets of agents: the older published agents, which are those of the paper; the newer P with the older E; the profile
/// `paper`, with classes of E that were calibrated on other seeds.
const PROFILES: [Profile; 3] = [
    Profile { name: "old", agents: |letters| format!("soar-old:{letters}") },
    Profile { name: "new", agents: str::to_string },
    Profile {
        name: "paper",
        agents: |letters| match letters.starts_with('E') {
            true => format!("{letters}+"),
            false => format!("paper:{letters}"),
        },
    },
];

struct Profile {
    name: &'static str,
    /// The agent with these letters.
    agents: fn(&str) -> String,
}

const GAMES: u64 = 4000;

/// A relation of the figure.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Relation {
    /// Name, such as `PH > P`.
    pub(crate) name: String,
    /// Set of agents: `old`, `new` or `paper`.
    pub(crate) agents: &'static str,
    /// Share of games won by the first agent, averaged over the seeds.
    pub(crate) score: f64,
    /// Standard deviation over the seeds.
    pub(crate) sd: f64,
    /// Total number of games.
    pub(crate) games: u64,
    /// Two-sided p over all games.
    pub(crate) p: f64,
    /// Whether the first agent won more often, with p < .01.
    pub(crate) holds: bool,
}

/// The relations of the figure, by set of agents.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SoarFigure2 {
    /// The relations.
    pub(crate) rows: Vec<Relation>,
}

/// Figure 2 as a reproduction.
pub(crate) const KNOWLEDGE: Paper = Paper {
    name: "soar-figure2",
    about: "Laird, Derbinsky & Tinkerhess: deliberating agents play four-player liar's dice, every pair (each seed is a \
            run of 4000 games)",
    runs: |_| 0,
    make: |work| soar_figure2(work)?.made(),
};

/// Makes the figure.
///
/// # Errors
/// See [`TrainError`].
fn soar_figure2(work: Work<'_>) -> Result<Report<SoarFigure2>, TrainError> {
    let Work { games, options, cancel, .. } = work;
    let started = Instant::now();
    let mut rows = Vec::new();
    let mut tables = String::new();
    for profile in PROFILES {
        let mut played: Vec<Standings> = Vec::new();
        for seed in seeds(options) {
            let plan = plan(&profile, seed, options.quick);
            let folder = options.out.join(&plan.name);
            let how = TournamentOptions {
                out: folder,
                resume: options.resume,
                threads: options.threads,
                ..TournamentOptions::default()
            };
            let table = tournament(games, &plan, &how, &|_| {}, cancel)?;
            if !table.finished {
                return Err(crate::runs::interrupted(options));
            }
            played.push(table);
        }
        rows.extend(RELATIONS.iter().filter_map(|(a, b)| relation(profile.name, (a, b), &played)));
        if let Some(first) = played.first() {
            tables += &format!("\n{}", first.markdown());
        }
    }
    let figure = Report::new(KNOWLEDGE.name, options, started, SoarFigure2 { rows });
    let text = markdown(&figure) + &tables;
    figure.publish(options, vec![("soar-figure2.md".into(), text)])
}

fn plan(profile: &Profile, seed: u64, quick: bool) -> Tournament {
    let entrant = |name: &&str| Entrant {
        name: (*name).into(),
        agent: Some((profile.agents)(name)),
        ..Entrant::default()
    };
    Tournament {
        name: format!("{}-{seed}", profile.name),
        about: String::new(),
        seed,
        game: "liars-dice:soar:4x5".into(),
        games: if quick { GAMES / 20 } else { GAMES },
        random_plies: Some(0),
        luck: None,
        seats: adept_lab::tournament::Seats::Half,
        orders: Some(["XXYY", "YYXX", "XYYX", "XYXY"].map(String::from).to_vec()),
        agents: AGENTS.iter().map(entrant).collect(),
    }
}

fn relation(agents: &'static str, (a, b): (&str, &str), played: &[Standings]) -> Option<Relation> {
    // Wins of the first agent and number of games, by seed.
    let of = |pair: &PairScore| if pair.a == a { (pair.wins, pair.games) } else { (pair.losses, pair.games) };
    let is = |pair: &&PairScore| (pair.a == a && pair.b == b) || (pair.a == b && pair.b == a);
    let all: Vec<(u64, u64)> = played.iter().filter_map(|t| t.pairs.iter().find(is)).map(of).collect();
    let scores: Vec<f64> = all.iter().map(|(wins, games)| *wins as f64 / *games as f64).collect();
    let (wins, games) = all.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let Summary { mean, sd } = mean_sd(&scores);
    let p = binomial_test(wins, games, 0.5);
    (games > 0).then(|| Relation {
        name: format!("{a} > {b}"),
        agents,
        score: mean,
        sd,
        games,
        p,
        holds: mean > 0.5 && p < 0.01,
    })
}

fn markdown(figure: &Report<SoarFigure2>) -> String {
    let mut text = format!(
        "# Figure 2 of Laird, Derbinsky & Tinkerhess: knowledge in the dice game\n\nFour players, two of each kind, {} \
         games per pair and seed{}, {} seeds; the dice are the same in all four orders of seats. A relation holds if \
         its first agent won more often with p < .01 (two-sided binomial test), and fails if its second agent did. \
         *old*: the older published agents, whose rules are those of the paper. *new*: the newer published agents with P, the \
         older ones with E. *paper*: the profile `paper`, its classes of E calibrated on other seeds.\n\n\
         | relation of the paper | agents | first wins % | p | holds |\n|---|---|---:|---:|---|\n",
        if figure.quick { GAMES / 20 } else { GAMES },
        if figure.quick { ", a twentieth (--quick)" } else { "" },
        figure.seeds
    );
    for row in &figure.body.rows {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            row.name,
            row.agents,
            plus_minus(100.0 * row.score, 100.0 * row.sd, figure.seeds as usize, 1),
            p_text(row.p),
            match row.holds {
                true => "yes",
                false if row.p < 0.01 => "fails",
                false => "not decided",
            }
        );
    }
    text
}
