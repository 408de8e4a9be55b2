//! Every built-in game keeps the laws of games.

use adept_builtin::{names, visit};
use adept_game::laws::{Budget, Report, check};
use adept_game::{Kit, Visitor};

struct Check(Budget);

impl Visitor for Check {
    type Output = Report;

    fn visit<G: Kit>(self, game: G) -> Report {
        check(&game, &self.0)
    }
}

/// Rule sets besides the default ones, with parameters that change what a game hides or how it ends.
const MORE: [&str; 14] = [
    "hypergammon",
    "backgammon:1",
    "bearoff:3",
    "liars-dice:openspiel:1-1:6",
    "liars-dice:openspiel:2-2:3:no-wild",
    "liars-dice:r-post:4x6",
    "liars-dice:soar:3x5",
    "kuhn",
    "leduc",
    "holdem:limit:2",
    "holdem:limit:6",
    "declared:nim",
    "declared:pennies",
    "declared:hexapawn-3x3",
];

#[test]
fn every_built_in_game_keeps_the_laws() {
    let budget = Budget { games: 40, states: 1_500, ..Budget::default() };
    let all = names().into_iter().chain(MORE.iter().map(|name| name.to_string()));
    let mut broken = Vec::new();
    for name in all {
        let start = std::time::Instant::now();
        let report = visit(&name, Check(budget)).expect(&name).expect(&name);
        eprintln!("{report} {:?}", start.elapsed());
        assert!(report.games > 0 && report.states > 20, "{report}");
        if !report.holds() {
            broken.push(report.to_string());
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n\n"));
}
