//! Every built-in game satisfies the laws of games.

use adept_builtin::{names, visit, visit_erased};
use adept_game::laws::{Budget, Report, check};
use adept_game::{Kit, Visitor};
use std::any::Any;

/// The bound on the number of legal actions of a state, and the number in one position.
struct Actions(&'static str);

impl Visitor for Actions {
    type Output = (Option<usize>, usize);

    fn visit<G: Kit>(self, game: G) -> Self::Output {
        let (state, _) = game.parse_position(self.0).expect(self.0);
        let mut actions = Vec::new();
        game.actions(&state, &mut actions);
        (game.action_numbers().most, actions.len())
    }
}

struct Erase;

impl Visitor for Erase {
    type Output = Box<dyn Any>;

    fn visit<G: Kit>(self, game: G) -> Self::Output {
        Box::new(game)
    }
}

struct Name;

impl Visitor for Name {
    type Output = String;

    fn visit<G: Kit>(self, game: G) -> String {
        game.name().into()
    }
}

#[test]
fn a_game_is_visited_when_its_type_is_erased() {
    for name in names() {
        let (game, known) = (visit(&name, Erase).unwrap().unwrap(), visit(&name, Name).unwrap().unwrap());
        assert_eq!(visit_erased(&*game, Name), Some(known));
    }
    assert_eq!(visit_erased(&"no game", Name), None);
}

struct Check(Budget);

impl Visitor for Check {
    type Output = Report;

    fn visit<G: Kit>(self, game: G) -> Report {
        check(&game, &self.0)
    }
}

/// Rule sets besides the default ones, with parameters that change what a game hides or how it ends.
const MORE: [&str; 19] = [
    "hypergammon",
    "backgammon:1",
    "backgammon:money",
    "backgammon:money-no-jacoby-beavers",
    "backgammon:match-3",
    "hypergammon:money",
    "hypergammon:match-2",
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

/// The laws check along random games that no state exceeds the bound.
#[test]
fn the_bound_on_the_actions_of_a_state_is_close() {
    for (name, position, most, there) in [
        ("backgammon", "24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 11", 3060, 42),
        ("hypergammon", "24:1 16:1 8:1/24:1 23:1 22:1 11", 15, 15),
        ("backgammon:1", "24:1/24:1 21", 2, 1),
        ("backgammon:2", "24:1 20:1/22:1 21:1 21", 6, 4),
        ("bearoff:2", "0,0,0,0,1,1/0,0,0,0,0,2 11", 5, 3),
        ("bearoff", "2,2,2,2,2,2/0,0,0,0,0,2 11", 126, 95),
        // Each of 120 bids without a push, and with each proper subset of five different dice; and a pass.
        ("liars-dice:soar:4x5", "12345/12345/12345/12345 @1", 3725, 3721),
        ("tictactoe", ".........", 9, 9),
    ] {
        let found = visit(name, Actions(position)).expect(name).expect(name);
        assert_eq!(found, (Some(most), there), "{name} {position}");
    }
}
