//! Compares circuits with the plain interpreter, and tests exact values and refusals.

use super::game::{Described, Sum};
use super::plain::{Derived, derive, satisfied};
use super::program::{Condition, GOAL, LEGAL, NEXT, Program, TERMINAL, TRUE};
use super::session::{Session, State};
use super::terms::Term;
use crate::modules::{Reads, Structure};
use crate::names::{SHIPPED, SHIPPED_GDL};
use crate::own::Declared;
use crate::random_play::{RandomPlay, assert_played_as_one_by_one, assert_repeats, walk};
use crate::ruled::Ruled;
use adept_game::laws::{self, Budget};
use adept_game::{Afterstate, Channel, Game, Kit, Turn, outcome_classes, stream};
use adept_rows::Rows;
use rand::RngExt;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

fn shipped(name: &str) -> Described {
    Described::named(&format!("declared:{name}")).unwrap().unwrap()
}

fn read(text: &str) -> Described {
    Described::read("g.kif", text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn refusal(text: &str) -> String {
    Described::read("g.kif", text).map_or_else(|fault| fault.to_string(), |_| "is read".into())
}

/// Alternating roles, with `noop` for the other one.
const TURNS: &str = "(role white) (role black) (other white black) (other black white) (init (control white))
    (<= (next (control ?q)) (true (control ?p)) (other ?p ?q))";
const WAITS: &str = "(<= (legal ?p noop) (role ?p) (not (true (control ?p))))";

/// Each role fills its own cells; a role without free cells passes with the waiting move.
fn passing() -> String {
    format!(
        "{TURNS} {WAITS} (cell white w1) (cell black b1) (cell black b2)
        (<= (open ?p ?c) (cell ?p ?c) (not (true (full ?c))))
        (<= (can ?p) (open ?p ?c))
        (<= (legal ?p (fill ?c)) (true (control ?p)) (open ?p ?c))
        (<= (legal ?p noop) (true (control ?p)) (not (can ?p)))
        (<= (next (full ?c)) (does ?p (fill ?c)))
        (<= (next (full ?c)) (true (full ?c)))
        (<= terminal (not (can white)) (not (can black)))
        (goal white 0) (goal black 100)"
    )
}

/// One choice of `good` or `bad`; the other role has one move, and no move is called `noop`.
const ONE_CHOICE: &str = "(role white) (role black) (legal white bad) (legal white good) (legal black ok)
    (<= (next chosen) (does white good)) (<= (next ruined) (does white bad))
    (<= terminal (true chosen)) (<= terminal (true ruined))
    (<= (goal white 0) (true ruined)) (<= (goal black 100) (true ruined))
    (<= (goal white 100) (true chosen)) (<= (goal black 0) (true chosen))";

/// A legal pass next to a blunder.
fn passing_beside_moves() -> String {
    format!(
        "{TURNS} (legal white noop) (legal black noop) (init (step 1)) (succ 1 2) (succ 2 3)
        (<= (legal white blunder) (true (control white)))
        (<= (legal black answer) (true (control black)))
        (<= (next lost) (does white blunder)) (<= (next lost) (true lost))
        (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
        (<= terminal (true (step 3)))
        (<= (goal white 0) (true lost)) (<= (goal white 100) (not (true lost))) (goal black 100)"
    )
}

/// Connects 1 with 3 on a path: `reach` depends on itself and on the state.
fn path(edges: &str) -> String {
    format!(
        "{TURNS} {WAITS} {edges} (node 1) (node 2) (node 3) (node 4)
        (<= (open ?n) (node ?n) (not (true (own white ?n))) (not (true (own black ?n))))
        (<= (legal ?p (mark ?n)) (true (control ?p)) (open ?n))
        (<= (next (own ?p ?n)) (does ?p (mark ?n)))
        (<= (next (own ?p ?n)) (true (own ?p ?n)))
        (<= (reach ?p 1) (true (own ?p 1)))
        (<= (reach ?p ?n) (reach ?p ?m) (edge ?m ?n) (true (own ?p ?n)))
        (<= some (open ?n)) (<= terminal (not some))
        (<= (goal ?p 100) (reach ?p 3))
        (<= (goal ?p 0) (role ?p) (not (reach ?p 3)))"
    )
}

/// Cells are flooded until walls separate them from the spring: `reach` decreases as walls are built, also in cycles.
fn flood() -> String {
    let cells: String = (1..=4)
        .flat_map(|x| {
            (1..=4).map(move |y| {
                format!(
                    "(cell {x}{y}) {}{}",
                    if x < 4 {
                        format!("(near {x}{y} {}{y}) (near {}{y} {x}{y}) ", x + 1, x + 1)
                    } else {
                        String::new()
                    },
                    if y < 4 {
                        format!("(near {x}{y} {x}{}) (near {x}{} {x}{y}) ", y + 1, y + 1)
                    } else {
                        String::new()
                    }
                )
            })
        })
        .collect();
    format!(
        "{TURNS} {WAITS} {cells} (spring 11)
        (<= (free ?c) (cell ?c) (not (true (wall ?c))))
        (<= (wet ?c) (spring ?c) (free ?c))
        (<= (wet ?c) (wet ?d) (near ?d ?c) (free ?c))
        (<= (dry ?c) (free ?c) (not (wet ?c)))
        (<= (shaded ?c) (dry ?c))
        (<= (shaded ?c) (shaded ?d) (near ?d ?c) (free ?c) (not (spring ?c)))
        (<= (legal ?p (build ?c)) (true (control ?p)) (wet ?c))
        (<= (next (wall ?c)) (does ?p (build ?c))) (<= (next (wall ?c)) (true (wall ?c)))
        (<= some (wet ?c)) (<= terminal (not some)) (<= terminal (shaded 44) (shaded 14))
        (<= (goal ?p 100) (true (control ?p))) (<= (goal ?p 0) (true (control ?q)) (other ?p ?q))"
    )
}

/// Two turns in a row: white, white, black, black.
const TWICE: &str = "(role white) (role black) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (bit a) (bit b)
    (turn 1 white) (turn 2 white) (turn 3 black) (turn 4 black) (init (step 1))
    (<= (legal ?p (say ?x)) (true (step ?n)) (turn ?n ?p) (bit ?x))
    (<= (busy ?p) (true (step ?n)) (turn ?n ?p))
    (<= (legal ?p noop) (role ?p) (not (busy ?p)))
    (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
    (<= (next (said ?n ?x)) (does ?p (say ?x)) (true (step ?n)))
    (<= (next (said ?n ?x)) (true (said ?n ?x)))
    (<= same (true (said 1 ?x)) (true (said 4 ?x)))
    (<= terminal (true (step 5)))
    (<= (goal black 100) same) (<= (goal white 0) same)
    (<= (goal black 0) (not same)) (<= (goal white 100) (not same))";

/// Three roles choose a number each; a role with a unique number scores it.
const THREE: &str = "(role a) (role b) (role c) (after a b) (after b c) (init (turn a)) (value 20) (value 70)
    (<= (legal ?r (take ?v)) (true (turn ?r)) (value ?v))
    (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
    (<= (next (turn ?q)) (true (turn ?p)) (after ?p ?q))
    (<= (next (took ?r ?v)) (does ?r (take ?v))) (<= (next (took ?r ?v)) (true (took ?r ?v)))
    (<= terminal (true (took c ?v)))
    (<= (shared ?r ?v) (true (took ?r ?v)) (true (took ?s ?v)) (distinct ?r ?s))
    (<= (goal ?r ?v) (true (took ?r ?v)) (not (shared ?r ?v)))
    (<= (goal ?r 0) (shared ?r ?v))";

/// Both choose heads or tails simultaneously.
const PENNIES: &str = "(role even) (role odd) (side heads) (side tails) (init open)
    (<= (legal ?r (show ?s)) (role ?r) (side ?s))
    (<= (next (shown ?r ?s)) (does ?r (show ?s)))
    (<= terminal (not (true open)))
    (<= same (true (shown even ?s)) (true (shown odd ?s)))
    (<= (goal even 100) same) (<= (goal odd 0) same)
    (<= (goal even 0) (not same)) (<= (goal odd 100) (not same))";

/// Squares are terms, `base` and `input` list what is possible, and moves are matched as whole terms.
fn terms() -> String {
    format!(
        "{TURNS} {WAITS} (square (at 1 1)) (square (at 1 2)) (square (at 2 1))
        (<= (base (holds ?s ?p)) (square ?s) (role ?p)) (<= (base (control ?p)) (role ?p))
        (<= (input ?p (mark ?s)) (role ?p) (square ?s)) (<= (input ?p noop) (role ?p))
        (<= (taken ?s) (true (holds ?s ?p)))
        (<= (legal ?p (mark ?s)) (true (control ?p)) (input ?p (mark ?s)) (not (taken ?s)))
        (<= (next (holds ?s ?p)) (does ?p (mark ?s)))
        (<= (next ?f) (does ?p ?m) (true ?f) (square ?s) (role ?q) (keeps ?f ?s ?q))
        (<= (keeps (holds ?s ?q) ?s ?q) (square ?s) (role ?q))
        (<= open (square ?s) (not (taken ?s))) (<= terminal (not open))
        (<= (goal ?p 100) (true (holds (at 1 1) ?p)))
        (<= (goal ?q 0) (true (holds (at 1 1) ?p)) (other ?p ?q))"
    )
}

/// Solitaire: the long way is worth 75, the short one 25.
const GRADES: &str = "(role solo) (init (at start)) (legal solo (go short)) (legal solo (go long))
    (<= (next (at ?x)) (does solo (go ?x)))
    (<= terminal (true (at short))) (<= terminal (true (at long)))
    (<= (goal solo 75) (true (at long))) (<= (goal solo 25) (true (at short))) (<= (goal solo 0) (true (at start)))";

pub(super) fn all() -> Vec<(&'static str, String)> {
    let mut all: Vec<(&str, String)> =
        SHIPPED_GDL.iter().map(|(name, text)| (*name, text.to_string())).collect();
    all.extend([
        ("passing", passing()),
        ("one choice", ONE_CHOICE.into()),
        ("passing beside moves", passing_beside_moves()),
        ("path", path("(edge 1 2) (edge 2 3) (edge 3 4)")),
        ("circle", path("(edge 1 2) (edge 2 4) (edge 4 2) (edge 4 3) (edge 3 4)")),
        ("flood", flood()),
        ("twice", TWICE.into()),
        ("three", THREE.into()),
        ("pennies", PENNIES.into()),
        ("terms", terms()),
        ("grades", GRADES.into()),
    ]);
    all
}

#[test]
fn circuits_agree_with_the_plain_interpreter() {
    for (name, text) in all() {
        let game = read(&text);
        let mut program = Program::read(&text).unwrap();
        for seed in 0..3 {
            let mut before: Option<BTreeSet<String>> = None;
            let mut steps = 0;
            for step in game.traced(seed) {
                let holding: BTreeSet<String> = step.facts.iter().cloned().collect();
                if let Some(before) = &before {
                    assert_eq!(before, &holding, "{name}");
                }
                let mut known: FxHashMap<String, Term> = FxHashMap::default();
                for &term in &game.rules.facts {
                    known.insert(game.rules.terms.written(term), term);
                }
                for &(_, term) in &game.rules.moves {
                    known.insert(game.rules.terms.written(term), term);
                }
                // Both read the same text, so their terms have the same numbers, except for later ones.
                let copy = |program: &mut Program, term: Term| copied(&game, program, term);
                let facts = step.facts.iter().map(|fact| copy(&mut program, known[fact])).collect();
                let moves: Vec<(Term, Term)> = program
                    .roles
                    .clone()
                    .into_iter()
                    .zip(&step.moves)
                    .map(|(role, what)| (role, copy(&mut program, known[what])))
                    .collect();
                let derived = derive(&mut program, &facts, &moves);
                assert_eq!(step.is_over, !derived[TERMINAL].is_empty(), "{name}");
                let said = |relation: usize, role: Term| -> BTreeSet<String> {
                    let tuples = derived[relation].iter().filter(|tuple| tuple[0] == role);
                    tuples.map(|tuple| program.terms.written(tuple[1])).collect()
                };
                for (number, &role) in program.roles.iter().enumerate() {
                    let legal: BTreeSet<String> = step.legal[number].iter().cloned().collect();
                    assert_eq!(legal, said(LEGAL, role), "{name}");
                    let goals: BTreeSet<String> = step.goals[number].iter().map(i64::to_string).collect();
                    assert_eq!(goals, said(GOAL, role), "{name}");
                }
                let next = derived[NEXT].iter().map(|tuple| program.terms.written(tuple[0])).collect();
                before = (!step.is_over).then_some(next);
                steps += 1;
                if steps > 12 {
                    break;
                }
            }
            assert!(steps > 1, "{name}");
        }
    }
}

/// The same term in a program.
fn copied(game: &Described, program: &mut Program, term: Term) -> Term {
    let args: Vec<Term> = game.rules.terms.args(term).iter().map(|&arg| copied(game, program, arg)).collect();
    let head = program.terms.symbol(game.rules.terms.name(game.rules.terms.head(term)));
    program.terms.term(head, &args)
}

/// The value of each role under optimal play, and the visited states.
fn solved(game: &Described, state: &State, known: &mut FxHashMap<State, Vec<f64>>) -> Vec<f64> {
    if let Some(value) = known.get(state) {
        return value.clone();
    }
    let value = match game.turn(state) {
        Turn::Player(mover) => {
            let mut actions = Vec::new();
            game.actions(state, &mut actions);
            let after = actions.iter().map(|action| {
                let mut next = state.clone();
                game.apply(&mut next, action);
                solved(game, &next, known)
            });
            let after: Vec<Vec<f64>> = after.collect();
            after
                .into_iter()
                .reduce(|best, other| if other[mover] > best[mover] { other } else { best })
                .unwrap()
        }
        _ => (0..game.players()).map(|player| game.utility(state, player)).collect(),
    };
    known.insert(state.clone(), value.clone());
    value
}

fn value(game: &Described) -> Vec<f64> {
    solved(game, &game.start(), &mut FxHashMap::default())
}

/// Of 100 moves one leads to a state without legal moves, one to two goals, one to none, and one to `rare`.
pub(super) fn rare_ends(rare: &str) -> String {
    let digits: String = (0..10).map(|digit| format!("(digit {digit}) ")).collect();
    format!(
        "{digits} (role solo) (init start) (<= (legal solo (pick ?a ?b)) (true start) (digit ?a) (digit ?b))
        (<= (legal solo on) (true on)) (<= (next on) (does solo (pick ?a ?b)) (distinct ?b 0))
        (<= (next stuck) (does solo (pick 1 0))) (<= (next double) (does solo (pick 2 0)))
        (<= (next blank) (does solo (pick 3 0))) (<= (next end) (does solo on))
        (<= (next rare) (does solo (pick 4 0))) (<= (next on) (does solo (pick 5 0)))
        (<= (next on) (does solo (pick ?a 0)) (digit ?a) (distinct ?a 1) (distinct ?a 2) (distinct ?a 3) (distinct ?a 4))
        {rare} (<= terminal (true end)) (<= terminal (true double)) (<= terminal (true blank))
        (<= (goal solo 100) (true end)) (<= (goal solo 100) (true double)) (<= (goal solo 30) (true double))
        (<= (goal solo 80) (true stuck))"
    )
}

/// States of small games, compared with exact random play, and others with sequential games.
#[test]
fn random_games_in_lanes_are_those_of_the_game() {
    let ends = ("rare ends", rare_ends("(<= terminal (true rare)) (<= (goal solo 10) (true rare))"));
    for (name, text) in all().into_iter().chain([ends]) {
        let game = read(&text);
        let is_large = ["connect-four.kif", "breakthrough.kif", "flood"].contains(&name);
        let mut play = RandomPlay::new(&game);
        for n in 0..9 {
            let mut state = walk(&game, &game.start(), n, &mut stream(n as u64, "walk", 0));
            if game.turn(&state) == Turn::Over {
                state = game.start();
            }
            match is_large {
                true if n % 3 == 0 => assert_played_as_one_by_one(&game, &state, 130),
                true => {}
                false => play.assert_played(&state, [130, 2000, 64][n % 3], n as u64),
            }
        }
        assert_repeats(&game, &read(&text));
    }
    // Each role names 20 or 70; the first two have named 70, which is worth nothing to both.
    let game = read(THREE);
    let mut state = game.start();
    for _ in 0..2 {
        let action = game.parse_action(&state, "take 70").unwrap();
        game.apply(&mut state, &action);
    }
    for games in [63, 64, 65, 512, 513, 5000] {
        let sums = game.random_play().games(&game, &state, games, &mut stream(1, "last", 0)).unwrap();
        assert_eq!(sums[..2], [-(games as f64); 2]);
    }
}

/// Choices made earlier in a step stay.
#[test]
fn random_games_keep_what_is_chosen() {
    let game = read(PENNIES);
    let heads = game.parse_action(&game.start(), "show heads").unwrap();
    let mut state = game.start();
    game.apply(&mut state, &heads);
    RandomPlay::new(&game).assert_played(&state, 10_000, 3);
    // If odd shows tails or the edge, even must not show tails.
    let text = PENNIES.replace("(role ?r) (side ?s))\n    (<= (next", "(can ?r ?s))\n    (<= (next")
        + "(can even heads) (can even tails) (can odd tails) (can odd edge) (side edge)";
    assert_ne!(text.len(), PENNIES.len());
    let game = read(&text);
    let mut state = game.start();
    let heads = game.parse_action(&state, "show heads").unwrap();
    game.apply(&mut state, &heads);
    assert_eq!(game.turn(&state), Turn::Player(1));
    for games in [64, 600] {
        let sums = game.random_play().games(&game, &state, games, &mut stream(3, "chosen", 0)).unwrap();
        assert_eq!(sums, [-(games as f64), games as f64]);
    }
}

/// Endless games are left to the caller.
#[test]
fn endless_random_games_are_refused() {
    for rare in [
        // No role, or one role, has a choice forever.
        "(<= (legal solo stay) (true rare)) (<= (next rare) (does solo stay))",
        "(<= (legal solo stay) (true rare)) (<= (legal solo wait) (true rare)) (<= (next rare) (true rare))",
    ] {
        let game = read(&rare_ends(rare));
        assert_eq!(game.random_play().games(&game, &game.start(), 3000, &mut stream(1, "endless", 0)), None);
        let game = read(&rare_ends(&format!("{rare} (<= terminal (true rare))")));
        assert!(game.random_play().games(&game, &game.start(), 3000, &mut stream(1, "endless", 0)).is_some());
    }
}

#[test]
fn nothing_is_silently_wrong() {
    // Black fills more cells after white has none left: a pass does not end the game.
    let game = read(&passing());
    assert_eq!(value(&game), [-1.0, 1.0]);
    let step = game.traced(1);
    assert_eq!(step.last().unwrap().facts.iter().filter(|fact| fact.starts_with("(full")).count(), 3);
    // The better of two moves, although the other role has only one and no move is called `noop`.
    let game = read(ONE_CHOICE);
    assert_eq!(value(&game), [1.0, -1.0]);
    let mut actions = Vec::new();
    game.actions(&game.start(), &mut actions);
    let texts: Vec<String> = actions.iter().map(|action| game.action_text(&game.start(), action)).collect();
    assert_eq!(texts, ["bad", "good"]);
    // White passes, and both have 100.
    let game = read(&passing_beside_moves());
    assert_eq!(value(&game), [1.0, 1.0]);
    // Black sets the fourth bit last.
    assert_eq!(value(&read(TWICE)), [-1.0, 1.0]);
    let game = read(TWICE);
    let mut state = game.start();
    let mut movers = Vec::new();
    while let Turn::Player(mover) = game.turn(&state) {
        movers.push(mover);
        let mut actions = Vec::new();
        game.actions(&state, &mut actions);
        game.apply(&mut state, &actions[0]);
    }
    assert_eq!(movers, [0, 0, 1, 1]);
    // Goals are grades.
    assert_eq!(value(&read(GRADES)), [0.5]);
    // A unique number: the first two take 70, then the last takes 20, or the second yields.
    assert_eq!(value(&read(THREE)).len(), 3);
    let game = read(THREE);
    let (mut state, mut shown) = (game.start(), Vec::new());
    for text in ["take 70", "take 20", "take 20"] {
        let action = game.parse_action(&state, text).unwrap();
        shown.push(game.turn(&state));
        game.apply(&mut state, &action);
    }
    assert_eq!(shown, [Turn::Player(0), Turn::Player(1), Turn::Player(2)]);
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(close(game.utility(&state, 0), 0.4) && close(game.utility(&state, 1), -1.0));
    // A cycle of edges that nothing enters does not reach itself.
    let game = read(&path("(edge 1 2) (edge 2 4) (edge 4 2) (edge 4 3) (edge 3 4)"));
    assert!(game.rules.net.cycles() > 0);
    let (state, _) =
        game.parse_position("1/2 control(white) own(black,2) own(black,4) own(black,3)").unwrap();
    let mut next = state;
    let action = game.parse_action(&next, "mark 1").unwrap();
    game.apply(&mut next, &action);
    assert_eq!((game.turn(&next), game.utility(&next, 1)), (Turn::Over, 0.0));
}

/// The circuit can move between any positions, not only step by step.
#[test]
fn a_circuit_moves_between_any_positions() {
    for (name, text) in all() {
        let game = read(&text);
        let rules = &*game.rules;
        let mut states = vec![game.start()];
        let mut rng = stream(9, "positions", 0);
        for _ in 0..60 {
            let mut state = states[rng.random_range(0..states.len())].clone();
            let mut actions = Vec::new();
            game.actions(&state, &mut actions);
            if let Some(&action) = actions.get(rng.random_range(0..actions.len().max(1))) {
                game.apply(&mut state, &action);
                states.push(state);
            }
        }
        let mut session = Session::new(rules);
        for _ in 0..200 {
            let state = &states[rng.random_range(0..states.len())];
            session.go(rules, &state.facts);
            let mut fresh = Session::new(rules);
            fresh.go(rules, &state.facts);
            assert_eq!(session.outputs(), fresh.outputs(), "{name}");
        }
    }
}

/// Precomputed effects of moves equal those of the circuit, and so do results of the lean circuit.
#[test]
fn known_effects_are_those_of_the_circuit() {
    let mut lean = 0;
    for (name, text) in all() {
        let game = read(&text);
        let rules = &*game.rules;
        let (mut whole, mut fast) = (Session::new(rules), Session::fast(rules, &game.tried));
        lean += usize::from(game.tried.is_lean);
        for seed in 0..20 {
            let mut rng = stream(seed, "effects", 0);
            whole.go(rules, &rules.start);
            fast.go(rules, &rules.start);
            for _ in 0..30 {
                let shown = rules.start.len()..;
                assert_eq!(whole.outputs()[shown.clone()], fast.outputs()[shown], "{name}");
                if whole.is_terminal(rules) {
                    break;
                }
                let moves: Vec<u32> = (0..rules.roles.len())
                    .map(|role| {
                        let mut legal = Vec::new();
                        whole.each(rules, role, |number| legal.push(number));
                        legal[rng.random_range(0..legal.len())]
                    })
                    .collect();
                whole.step(rules, &moves);
                fast.step(rules, &moves);
                assert_eq!(whole.holding(), fast.holding(), "{name}");
            }
        }
    }
    assert!(lean >= 6, "{lean}");
}

/// Hidden choices are revealed once all have chosen.
#[test]
fn a_choice_is_told_when_all_have_chosen() {
    let game = read(PENNIES);
    let mut state = game.start();
    let heads = game.parse_action(&state, "show heads").unwrap();
    assert!(game.texts().is_secret(&game, &state, &heads));
    assert_eq!(game.texts().told(&game, &state, &heads, "It", false), "It has chosen.");
    assert_eq!(
        (
            game.texts().event(&game, &state, &heads, 1),
            game.texts().told(&game, &state, &heads, "You", true).as_str()
        ),
        (None, "You choose show(heads).")
    );
    game.apply(&mut state, &heads);
    let tails = game.parse_action(&state, "show tails").unwrap();
    assert!(!game.texts().is_secret(&game, &state, &tails));
    assert_eq!(
        game.texts().event(&game, &state, &tails, 0).unwrap(),
        "All have chosen: even: show(heads), odd: show(tails)."
    );
}

/// A step with several choosing roles that occurs too late for the games at the start to find it.
#[test]
fn no_role_chooses_for_another() {
    let steps: String = (1..10).map(|n| format!("(succ {n} {}) ", n + 1)).collect();
    let text = format!(
        "{steps} (role even) (role odd) (side heads) (side tails) (init (step 1)) (init ok)
        (<= late (true (step 10))) (<= (legal even a) (not late)) (<= (legal even b) (not late))
        (<= (legal odd wait) (not late)) (<= (legal ?r ?s) (role ?r) (side ?s) late (true ok))
        (<= (legal ?r wait) (role ?r) late (not (true ok)))
        (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n)) (<= (next ok) (true ok) (does even a)) (<= (next ok) late (true ok))
        (<= (next (shown ?r ?s)) (does ?r ?s) (side ?s)) (<= (next done) late) (<= terminal (true done))
        (<= same (true (shown even ?s)) (true (shown odd ?s)))
        (<= (goal even 100) same) (<= (goal odd 0) same) (<= (goal even 0) (not same)) (<= (goal odd 100) (not same))"
    );
    let game = read(&text);
    assert!(!game.hides());
    let (mut state, _) = game.parse_position("1/1 ok step(9)").unwrap();
    let first = game.parse_action(&state, "a").unwrap();
    game.apply(&mut state, &first);
    let heads = game.parse_action(&state, "heads").unwrap();
    game.apply(&mut state, &heads);
    assert_eq!(game.turn(&state), Turn::Player(1));
    assert!(game.audited(3000).notes.iter().any(|note| note.contains("several roles had a choice")));
}

/// Static relations whose tuples only the fixpoint determines.
#[test]
fn what_never_changes_is_known_at_the_start() {
    let game = read(
        "(role x) (legal x a) (legal x b) (<= (can ?m) (legal x ?m)) (<= (next (got ?m)) (does x ?m) (can ?m))
        (succ 1 2) (succ 2 3) (<= (odd ?x) (succ ?x ?y) (not (even ?x))) (<= (even ?x) (succ ?y ?x) (odd ?y))
        (<= (init (cell ?x)) (odd ?x)) (<= terminal (true (got ?m))) (<= (goal x 100) (true (got a))) (<= (goal x 0) (true (got b)))",
    );
    assert_eq!(game.position_text(&game.start()), "cell(1)");
    assert_eq!(value(&game), [1.0]);
}

#[test]
fn choices_at_the_same_time_are_hidden() {
    let game = read(PENNIES);
    assert!(game.hides());
    let mut state = game.start();
    let heads = game.parse_action(&state, "show heads").unwrap();
    let mut other = state.clone();
    game.apply(&mut state, &heads);
    let tails = game.parse_action(&other, "show tails").unwrap();
    game.apply(&mut other, &tails);
    assert_eq!(game.turn(&state), Turn::Player(1));
    assert_eq!(game.info(&state, 1), game.info(&other, 1));
    assert_ne!(game.info(&state, 0), game.info(&other, 0));
    assert_eq!(game.parse_position(&game.position_text(&state)).unwrap().0, state);
    let answer = game.parse_action(&state, "show heads").unwrap();
    game.apply(&mut state, &answer);
    assert_eq!((game.utility(&state, 0), game.utility(&state, 1)), (1.0, -1.0));
}

#[test]
fn all_descriptions_keep_the_laws_of_games() {
    for (name, text) in all() {
        let game = read(&text);
        // Rows of modules are slow without optimisation.
        for (budget, of_rules) in [(Budget::default(), false), (Budget::short(), true)] {
            let report = laws::check_with(&game, &budget, &|encoder| (encoder == "rules") == of_rules);
            assert!(report.holds(), "{name}: {report}");
        }
    }
}

#[test]
fn positions_are_read_as_they_are_written() {
    for (name, text) in all() {
        let game = read(&text);
        let mut rng = stream(5, "positions", 0);
        let mut state = game.start();
        for _ in 0..30 {
            let written = game.position_text(&state);
            assert_eq!(game.parse_position(&written).unwrap().0, state, "{name}: {written}");
            let mut actions = Vec::new();
            game.actions(&state, &mut actions);
            let Some(&action) = actions.get(rng.random_range(0..actions.len().max(1))) else { break };
            let shown = game.action_text(&state, &action);
            assert_eq!(game.parse_action(&state, &shown), Ok(action), "{name}: {shown}");
            game.apply(&mut state, &action);
        }
    }
}

/// Compares games in rule files with the same games in GDL, move by move.
#[test]
fn gdl_agrees_with_our_form() {
    /// Converts a move of a rule file to GDL.
    type Same = fn(&str, usize) -> String;
    let same: [(&str, Same); 4] = [
        ("tic-tac-toe", |text, _| {
            let square = text.trim_start_matches("put(").as_bytes();
            format!("mark({},{})", square[0] - b'a' + 1, square[1] - b'0')
        }),
        ("connect-four", |text, _| format!("drop({})", &text[5..6])),
        ("breakthrough", |text, mover| {
            let n: Vec<i32> =
                text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
            let ahead = if mover == 0 { 1 } else { -1 };
            format!("move({},{},{},{})", n[0], n[1], n.get(2).unwrap_or(&n[0]), n[1] + ahead)
        }),
        ("nim", |text, _| {
            let args: Vec<&str> = text[6..text.len() - 1].split(',').collect();
            format!("leave({},{})", args[0], args[2])
        }),
    ];
    for (name, same) in same {
        let ours = Declared::named(&format!("declared:{name}")).unwrap().unwrap();
        let gdl = shipped(&format!("{name}.kif"));
        for walk in 0..20 {
            let mut rng = stream(walk, "gdl", 0);
            let (mut a, mut b) = (ours.start(), gdl.start());
            loop {
                assert_eq!(ours.turn(&a), gdl.turn(&b), "{name}: {}", ours.position_text(&a));
                let Turn::Player(mover) = ours.turn(&a) else {
                    assert_eq!(ours.utility(&a, 0), gdl.utility(&b, 0), "{name}");
                    break;
                };
                let (mut actions, mut others) = (Vec::new(), Vec::new());
                ours.actions(&a, &mut actions);
                gdl.actions(&b, &mut others);
                let texts: BTreeSet<String> =
                    actions.iter().map(|action| same(&ours.action_text(&a, action), mover)).collect();
                let found: BTreeSet<String> =
                    others.iter().map(|action| gdl.action_text(&b, action)).collect();
                assert_eq!(texts, found, "{name}: {}", ours.position_text(&a));
                let action = actions[rng.random_range(0..actions.len())];
                let text = same(&ours.action_text(&a, &action), mover);
                let other = others.iter().copied().find(|other| gdl.action_text(&b, other) == text).unwrap();
                ours.apply(&mut a, &action);
                gdl.apply(&mut b, &other);
            }
        }
    }
    assert_eq!(value(&shipped("tic-tac-toe.kif")), [0.0, 0.0]);
    // 3, 4 and 5 are not 0 in binary addition without carries: the first player wins.
    assert_eq!(value(&shipped("nim.kif")), [1.0, -1.0]);
}

#[test]
fn faults_say_where_and_what() {
    let game = |rules: &str| {
        format!(
            "(role x) (init (f 1)) (<= terminal (true (f 2))) (goal x 100) (legal x a) (legal x b) {rules}"
        )
    };
    let cases = [
        "(role x".into(),
        "(role x))".into(),
        "(role ?x)".into(),
        "(<= (role x) (legal x a))".into(),
        "(legal x a)".into(),
        "(role x) (legal x a) (goal x 100)".into(),
        "(role x) (<= terminal (true (f 1))) (goal x 100)".into(),
        "(role x) (role y) (legal x a) (<= terminal (true (f 1))) (goal x 100)".into(),
        "(role x) (role y) (legal x a) (legal x b) (<= terminal (true (f 1))) (goal x 100) (goal y 0)".into(),
        game(""),
        game("(goal x 101)"),
        game("(<= (goal x ?y) (true (f ?y)) (big ?y)) (big 500) (init (f 500))"),
        game("(<= (true (f 1)) (role x))"),
        game("(<= )"),
        game("(<= (p ?y) (not (true (f ?y)))) (<= terminal (p 1))"),
        game("(<= (p ?y) (or (q ?y) (distinct ?y 1))) (q 1) (<= terminal (p 1))"),
        game("(<= p (not q) (true (f 1))) (<= q (not p) (true (f 1))) (<= terminal p)"),
        game("(<= p (not p)) (<= terminal p)"),
        game("(<= (legal x c) (does x a))"),
        game("(<= (can ?m) (does x ?m)) (<= terminal (can b))"),
        game("(<= terminal (next (f 1)))"),
        game("(<= terminal (?q 1))"),
        game("(<= terminal ((f 1) 1))"),
        game("(<= (init (f ?n)) (true (f ?n)))"),
        game("(<= (next (f (s ?n))) (true (f ?n)))"),
        format!("{TURNS} {WAITS} (<= (legal white go) (true (control white))) (<= (legal white stay) (true (control white)))
            (<= terminal (true never)) (goal white 100) (goal black 0)"),
        format!("{TURNS} {WAITS} (<= (legal ?p go) (true (control ?p))) (<= (legal ?p stay) (true (control ?p)))
            (<= terminal (true (control black))) (goal white 100) (goal white 0) (goal black 0)"),
    ];
    let found: Vec<String> =
        cases.iter().map(|text: &String| format!("{text}\n  {}\n", refusal(text))).collect();
    insta::assert_snapshot!(found.join("\n"));
}

/// An offer and its answer: one role's gain is not always the other's loss.
const ULTIMATUM: &str = "(role proposer) (role responder) (init open)
    (<= (legal proposer (offer 10)) (true open)) (<= (legal proposer (offer 40)) (true open))
    (<= (legal responder noop) (true open)) (<= (legal proposer noop) (true (offered ?x)))
    (<= (legal responder accept) (true (offered ?x))) (<= (legal responder refuse) (true (offered ?x)))
    (<= (next (offered ?x)) (does proposer (offer ?x)))
    (<= (next (deal ?x)) (true (offered ?x)) (does responder accept)) (<= (next nodeal) (does responder refuse))
    (<= terminal (true (deal ?x))) (<= terminal (true nodeal)) (rest 10 90) (rest 40 60)
    (<= (goal responder ?x) (true (deal ?x))) (<= (goal proposer ?y) (true (deal ?x)) (rest ?x ?y))
    (<= (goal ?r 0) (role ?r) (true nodeal))";

/// Sixteen cells are filled alternately, and the role that fills the first cell takes 10 from the other. No rule states
/// that the points sum to 100.
fn points(cells: usize) -> String {
    let list: String = (1..=cells).map(|cell| format!("(cell {cell}) ")).collect();
    format!(
        "{TURNS} {WAITS} {list} (init (points white 50)) (init (points black 50)) (more 50 60) (less 50 40)
        (<= (open ?c) (cell ?c) (not (true (full ?c)))) (<= some (open ?c)) (<= terminal (not some))
        (<= (legal ?p (fill ?c)) (true (control ?p)) (open ?c))
        (<= (next (full ?c)) (does ?p (fill ?c))) (<= (next (full ?c)) (true (full ?c)))
        (<= first (does ?p (fill 1)))
        (<= (next (points ?p ?n)) (true (points ?p ?n)) (not first))
        (<= (next (points ?p ?m)) (does ?p (fill 1)) (true (points ?p ?n)) (more ?n ?m))
        (<= (next (points ?q ?m)) (does ?p (fill 1)) (other ?p ?q) (true (points ?q ?n)) (less ?n ?m))
        (<= (goal ?p ?n) (true (points ?p ?n)))"
    )
}

/// A two-player game is zero-sum only if the rules or all of its ends prove it.
#[test]
fn two_roles_keep_their_own_goals() {
    let game = read(ULTIMATUM);
    assert_eq!((game.sum, game.zero_sum()), (Sum::Different, false));
    assert!(outcome_classes(&game).is_err());
    let close = |found: Vec<f64>, expected: [f64; 2]| {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    };
    // The responder takes what it gets, so 10 are offered: 90 to 10.
    close(value(&game), [0.8, -0.8]);
    let mut state = game.start();
    for text in ["offer 40", "refuse"] {
        let action = game.parse_action(&state, text).unwrap();
        game.apply(&mut state, &action);
    }
    close(vec![game.utility(&state, 0), game.utility(&state, 1)], [-1.0, -1.0]);
    RandomPlay::new(&game).assert_played(&game.start(), 2000, 1);
    let report = laws::check(&game, &Budget::short());
    assert!(report.holds(), "{report}");
    assert!(
        game.audited(20).facts.contains(&(
            "sum of goals".into(),
            "not always the same: each role plays for its own goal".into()
        ))
    );
    // The gates of the goals prove it for all bundled games, without visiting states.
    for (name, _) in SHIPPED_GDL {
        let game = shipped(name);
        assert_eq!(game.rules.sums, Some(BTreeSet::from([100])), "{name}");
        assert!(game.zero_sum(), "{name}");
    }
    for text in [PENNIES, TWICE, &passing()] {
        assert!(read(text).zero_sum());
    }
    // Proved by all ends instead of the gates; with too many states it is not proved.
    let game = read(&points(8));
    assert!(game.rules.sums.as_ref().unwrap().len() > 1);
    assert_eq!((game.sum, value(&game)), (Sum::Constant, vec![0.2, -0.2]));
    assert_eq!(read(&points(20)).sum, Sum::Unknown);
    // Some ends have the sum 0.
    let rare = points(8)
        .replace("(less 50 40)", "(less 50 40) (<= (next lost) (does black (fill 8)) (true (control black)))")
        .replace(
            "(<= (goal ?p ?n) (true (points ?p ?n)))",
            "(<= (next lost) (true lost)) (<= bad (true lost) (true (points black 60)))
        (<= (goal ?p ?n) (true (points ?p ?n)) (not bad)) (<= (goal ?p 0) (role ?p) bad)",
        );
    assert_eq!(read(&rare).sum, Sum::Different);
}

/// GDL-II has chance, the role `random`, and hidden information, by `sees`.
#[test]
fn gdl_ii_is_refused() {
    let dice = "(role random) (role player) (init bet) (face 1) (face 2)
        (<= (legal player low) (true bet)) (<= (legal player safe) (true bet)) (<= (legal random noop) (true bet))
        (<= (legal player noop) (true chosen)) (<= (legal random (roll ?f)) (face ?f) (true chosen))
        (<= (next chosen) (true bet)) (<= (next (die ?f)) (does random (roll ?f))) (<= terminal (true (die ?f)))
        (<= (goal player 100) (true (die 1))) (<= (goal player 0) (true (die 2))) (goal random 0)
        (<= (sees player (face ?f)) (does random (roll ?f)))";
    let why = refusal(dice);
    assert!(
        why.starts_with("g.kif: line 1, column 7: the role `random` is chance in GDL-II, where `sees`"),
        "{why}"
    );
    let hidden = dice.replace("random", "thrower");
    assert!(refusal(&hidden).contains("`sees` says in GDL-II what a role learns"), "{}", refusal(&hidden));
    // A `sees` that conditions read is an ordinary relation.
    let asked = format!("{hidden} (<= (next seen) (sees player (face 1)))");
    assert_eq!(refusal(&asked), "is read");
}

/// Unused relations are neither computed nor a reason to refuse a game.
#[test]
fn what_nothing_uses_does_not_matter() {
    let many: String = (0..60).map(|n| format!("(n {n}) ")).collect();
    let more = format!(
        "{many} (<= (base (f ?a ?b ?c ?d ?e)) (n ?a) (n ?b) (n ?c) (n ?d) (n ?e)) (<= (input ?r (say ?x)) (role ?r))
        (<= (drawit ?x) (not (true ?x))) (<= paradox (not paradox)) (<= (base (step (s ?n))) (base (step ?n))) (base (step 0))"
    );
    let game = read(&format!("{PENNIES} {more}"));
    assert_eq!(game.rules.facts.len(), read(PENNIES).rules.facts.len());
    let said: Vec<&str> = game.rules.notes.iter().map(String::as_str).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("`?x` is unbound") && said[0].ends_with("nothing uses `input`"), "{said:?}");
    assert!(said[1].ends_with("nothing uses `drawit`"), "{said:?}");
    // A used one is refused.
    assert!(refusal(&format!("{PENNIES} {more} (<= terminal (drawit 1))")).contains("`?x` is unbound"));
}

/// Large input is refused before it takes memory, with the rule that is too large.
#[test]
fn sizes_are_bounded() {
    let or = |n: usize| format!("(or {})", (0..n).map(|i| format!("(true (f {i})) ")).collect::<String>());
    let many = format!("(role x) (<= terminal {} {} {})", or(100), or(100), or(100));
    assert!(refusal(&many).contains("`or` makes more than"), "{}", refusal(&many));
    assert!(refusal(&"(".repeat(1 << 20)).contains("brackets"));
    let wide = format!("(role x) (legal x a) (goal x 0) (<= terminal (p{}))", " 1".repeat(300));
    assert!(refusal(&wide).contains("`p` has 300 arguments"), "{}", refusal(&wide));
    // 2 to the power of 20 steps, each a term within the last; and terms that hold the last one twice.
    let deep = "(role x) (init (f z)) (legal x a) (legal x b) (goal x 0) (<= (next (f (s ?n))) (true (f ?n))) (<= terminal (true (f 1)))";
    assert!(refusal(deep).contains("100 deep"), "{}", refusal(deep));
    let long = deep.replace("(s ?n)", "(s ?n ?n)");
    assert!(refusal(&long).contains("100 deep"), "{}", refusal(&long));
    let equal: String =
        (0..30).map(|n| format!("(not (distinct ?v{n} (f ?v{} ?v{}))) ", n + 1, n + 1)).collect();
    let equal = format!("(role x) (legal x a) (goal x 0) (<= terminal (p ?v30) {equal}) (p 1)");
    assert!(refusal(&equal).contains("too large"), "{}", refusal(&equal));
    let numbers: String = (0..60).map(|n| format!("(n {n}) ")).collect();
    let wide = format!(
        "{numbers} (role x) (legal x a) (legal x b) (goal x 0) (<= terminal (true t))
        (<= (p ?a ?b ?c ?d ?e ?f) (n ?a) (n ?b) (n ?c) (n ?d) (n ?e) (n ?f)) (<= (next t) (p 1 2 3 4 5 6))"
    );
    assert!(refusal(&wide).contains("beyond a gigabyte"), "{}", refusal(&wide));
}

#[test]
fn an_audit_tells_authors_what_is_probably_wrong() {
    let text = format!(
        "{TURNS} {WAITS} (<= (legal ?p go) (true (control ?p))) (<= (legal ?p stay) (true (control ?p)))
        (<= (next lost) (does white go)) (<= (next over) (does black ?m) (distinct ?m noop))
        (<= (next lost) (does white walk)) (<= terminal (true over)) (<= (goal white 0) (true lost))
        (<= (goal white 30) (true never)) (<= (goal black 100) (true lost)) (<= (goal black 50) (not (true lost)))
        (<= odd (colour white))"
    );
    let audit = read(&text).audited(50);
    let facts: Vec<String> = audit.facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    insta::assert_snapshot!(format!("{}\n\n{}", facts.join("\n"), audit.notes.join("\n")));
}

/// Descriptions with dropped, repeated, exchanged or foreign words are read or refused, and never panic.
#[test]
fn damaged_descriptions_are_refused() {
    let mut kept = 0;
    let texts: Vec<String> = all()
        .into_iter()
        .map(|(_, text)| text)
        .chain(SHIPPED.iter().map(|(_, text)| text.to_string()))
        .collect();
    for round in 0..1500 {
        let mut rng = stream(round, "damage", 0);
        let text = &texts[rng.random_range(0..texts.len() / 2)];
        let other = &texts[rng.random_range(0..texts.len())];
        let mut words: Vec<&str> = text.split_inclusive([' ', '(', ')']).collect();
        let others: Vec<&str> = other.split_inclusive([' ', '(', ')', '\n']).collect();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..words.len());
            match rng.random_range(0..5) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, words[at]),
                2 => words[at] = others[rng.random_range(0..others.len())],
                3 => words.swap(at, 0),
                _ => {
                    words[at] =
                        ["?x", "99999999999", "(", "not ", "(or ", "\u{0}", "é"][rng.random_range(0..7)]
                }
            }
        }
        if let Ok(game) = Described::read("g.kif", &words.concat()) {
            kept += 1;
            let state = game.start();
            assert_eq!(game.parse_position(&game.position_text(&state)).map(|(state, _)| state), Ok(state));
            game.traced(round);
            if game.structure().is_ok() {
                row_of(&game, &game.start(), 0);
            }
        }
    }
    assert!((100..1000).contains(&kept), "{kept}");
}

/// A path of five places with a wall, with additional rules `more`.
fn walled(wall: &str, has: &str, more: &str) -> String {
    format!(
        "(role r) (init (at 1)) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (init (clock 1)) {wall} {more}
        (<= (to ?n) (true (at ?m)) (succ ?m ?n) (not {has}))
        (<= (legal r (go ?n)) (to ?n)) (legal r stay)
        (<= (next (at ?n)) (does r (go ?n))) (<= (next (at ?n)) (does r stay) (true (at ?n)))
        (<= (next (clock ?n)) (true (clock ?m)) (succ ?m ?n))
        (<= terminal (true (clock 5))) (<= (goal r 100) (true (at 5))) (<= (goal r 0) (not (true (at 5))))"
    )
}

#[test]
fn facts_that_hold_for_ever_are_conditions_that_never_change() {
    let keep = "(<= (next (wall ?n)) (true (wall ?n)))";
    let fixed = read(&walled("(init (wall 3))", "(true (wall ?n))", keep));
    let known = read(&walled("(wall 3)", "(wall ?n)", ""));
    let falls = read(&walled(
        "(init (wall 3))",
        "(true (wall ?n))",
        "(<= (next (wall ?n)) (true (wall ?n)) (true (clock 1)))",
    ));
    let grows = read(&walled(
        "(init (wall 3))",
        "(true (wall ?n))",
        &format!("{keep} (<= (next (wall 5)) (does r stay))"),
    ));
    assert_eq!(fixed.rules.net.len(), known.rules.net.len());
    assert!(falls.rules.net.len() > fixed.rules.net.len() && grows.rules.net.len() > fixed.rules.net.len());
    // The facts are still there.
    assert!(fixed.position_text(&fixed.start()).contains("wall(3)"));
    let moves = |game: &Described, steps: &[&str]| {
        let mut state = game.start();
        for step in steps {
            let action = game.parse_action(&state, step).unwrap();
            game.apply(&mut state, &action);
        }
        let mut actions = Vec::new();
        game.actions(&state, &mut actions);
        actions.iter().map(|action| game.action_text(&state, action)).collect::<Vec<_>>()
    };
    for game in [&fixed, &known] {
        assert_eq!(moves(game, &[]), ["go(2)", "stay"]);
        assert_eq!(moves(game, &["go(2)"]), ["stay"]);
    }
    let (typed, _) = fixed.parse_position("at(2) clock(2)").unwrap();
    assert_eq!(fixed.position_text(&typed), "at(2) clock(2) wall(3)");
    assert_eq!(moves(&falls, &["go(2)", "stay"]), ["go(3)", "stay"]);
    assert_eq!(moves(&grows, &["go(2)"]), ["stay"]);
}

fn structure(game: &Described) -> Arc<Structure> {
    game.structure().clone().unwrap()
}

/// The row of the encoder `rules` for a role that has supposedly moved.
fn row_of(game: &Described, state: &State, player: usize) -> Vec<f32> {
    let encoder = game.encoders().open("rules").unwrap();
    let mut rows = Rows::new(encoder.channels());
    let action = game.rules.ranges[player].0;
    encoder.encode(game, Afterstate { state, action: Some(&action), player }, rows.push());
    rows.dense_row(0).to_vec()
}

/// Each module with its inputs.
fn inputs_of<'a>(structure: &'a Structure, row: &'a [f32]) -> Vec<(&'a crate::modules::Module, &'a [f32])> {
    let mut rest = row;
    let all = structure.modules.iter().map(|module| {
        let (own, others) = rest.split_at(module.width() * structure.copies);
        rest = others;
        (module, own)
    });
    all.collect()
}

/// The tuples that hold in a module, by the plain interpreter.
fn holding(program: &Program, derived: &Derived) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (number, relation) in program.relations.iter().enumerate() {
        for tuple in &derived[number] {
            let args: Vec<String> = tuple.iter().map(|&term| program.terms.shown(term)).collect();
            all.insert(match number {
                TRUE => args[0].clone(),
                LEGAL => args.join(":"),
                _ if args.is_empty() => relation.name.clone(),
                _ => format!("{}({})", relation.name, args.join(",")),
            });
        }
    }
    all
}

/// Positions of random games.
fn positions(game: &Described, games: u64) -> Vec<State> {
    let mut all = Vec::new();
    for seed in 0..games {
        let (mut rng, mut state) = (stream(seed, "modules", 0), game.start());
        for _ in 0..12 {
            let mut actions = Vec::new();
            game.actions(&state, &mut actions);
            let Some(&action) = actions.get(rng.random_range(0..actions.len().max(1))) else { break };
            game.apply(&mut state, &action);
            all.push(state.clone());
        }
    }
    all
}

/// Tuples and numbers of satisfied bindings agree, for roles that play the same game and for others.
#[test]
fn modules_agree_with_the_plain_interpreter() {
    let mut counted = 0;
    for (name, text) in all() {
        let first = read(&text).rules.terms.shown(read(&text).rules.roles[0]);
        for text in [text.clone(), format!("{text} (<= (next (solely {first})) (does {first} ?m))")] {
            let game = read(&text);
            let Ok(structure) = game.structure().clone() else {
                assert_eq!(name, "one choice");
                continue;
            };
            let differ = text.contains("solely");
            assert!(!differ || structure.copies == game.players(), "{name}");
            let mut program = Program::read(&text).unwrap();
            // Bindings that hold in all positions before the end are not counted.
            let mut always: FxHashMap<String, f32> = FxHashMap::default();
            for state in positions(&game, 2).iter().filter(|state| game.turn(state) != Turn::Over) {
                let facts: Vec<Term> = (0..game.rules.facts.len())
                    .filter(|fact| state.facts[fact / 64] >> (fact % 64) & 1 == 1)
                    .map(|fact| game.rules.facts[fact])
                    .collect();
                let facts = facts.into_iter().map(|fact| copied(&game, &mut program, fact)).collect();
                let derived = derive(&mut program, &facts, &[]);
                let holding = holding(&program, &derived);
                let row = row_of(&game, state, 0);
                for (module, inputs) in inputs_of(&structure, &row) {
                    let (inputs, others) = inputs.split_at(module.width());
                    assert!(others.iter().all(|input| *input == 0.0), "{name}: {}", module.name);
                    if let Reads::Tuples { .. } = module.reads
                        && module.name != "chosen"
                    {
                        for (text, &input) in module.about.split(' ').zip(inputs) {
                            assert_eq!(holding.contains(text), input == 1.0, "{name}: {text}");
                        }
                    }
                    let relation = module.name.strip_suffix("-rules").unwrap_or(&module.name);
                    let found = program.relations.iter().position(|one| one.name == relation);
                    let all = module.bindings(inputs);
                    let Some(relation) = found.filter(|_| differ && !all.is_empty()) else { continue };
                    let changes = |&rule: &usize| {
                        program.rules[rule].body.iter().any(|condition| match condition {
                            Condition::Holds(atom) | Condition::Fails(atom) => {
                                program.relations[atom.relation].changes
                            }
                            Condition::Differ(..) => false,
                        })
                    };
                    let rules: Vec<usize> =
                        program.relations[relation].rules.iter().copied().filter(changes).collect();
                    let expected = satisfied(&mut program, &derived, &rules);
                    let found: f32 = all.iter().map(|(bindings, inputs)| bindings.satisfied(inputs)).sum();
                    let left = expected as f32 - found;
                    let known = *always.entry(module.name.clone()).or_insert(left);
                    assert_eq!(left, known, "{name}: {} {}", module.name, game.position_text(state));
                    counted += 1;
                }
            }
        }
    }
    assert!(counted > 300, "{counted}");
}

/// The lines of the same game in a rule file have the same counts, and the same pairs of lines that share a square.
#[test]
fn lines_are_counted_as_in_our_form() {
    let marks = SHIPPED_GDL.iter().find(|(name, _)| *name == "tic-tac-toe.kif").unwrap().1;
    // Roles with other names than their marks.
    let apart = marks
        .replace(" x)", " xplayer)")
        .replace(" o)", " oplayer)")
        .replace("(legal x ", "(legal xplayer ")
        .replace("(legal o ", "(legal oplayer ")
        .replace("(other x ", "(other xplayer ")
        .replace("(other o ", "(other oplayer ")
        .replace(
            "(<= (next (cell ?c ?r ?p)) (does ?p (mark ?c ?r)))",
            "(<= (next (cell ?c ?r x)) (does xplayer (mark ?c ?r))) (<= (next (cell ?c ?r o)) (does oplayer (mark ?c ?r)))",
        )
        .replace("(<= (line ?p) (role ?p) (row ?p))", "(<= (line xplayer) (row x)) (<= (line oplayer) (row o))");
    // Without a row above the board.
    let four = SHIPPED_GDL.iter().find(|(name, _)| *name == "connect-four.kif").unwrap().1;
    let four = four.replace("(next (on ?p ?c ?r)) (does", "(next (on ?p ?c ?r)) (row ?r) (does");
    for (name, text, relation, endings) in [
        ("tic-tac-toe", marks, "row-rules", 1),
        ("tic-tac-toe", &apart[..], "row-rules", 1),
        ("connect-four", &four, "line-rules", 4),
    ] {
        let ours = Declared::named(&format!("declared:{name}")).unwrap().unwrap();
        let gdl = read(text);
        let (structure, plain) = (structure(&gdl), ours.structure().clone().unwrap());
        assert_eq!(structure.copies, 1, "{name}");
        let encoder = ours.encoders().open("rules").unwrap();
        let width = |channel: &Channel| channel.kind.dense_width();
        let before: usize =
            encoder.channels().iter().take_while(|channel| channel.name != "ending-win").map(width).sum();
        for walk in 0..10 {
            let mut rng = stream(walk, "lines", 0);
            let (mut a, mut b) = (ours.start(), gdl.start());
            while let Turn::Player(player) = ours.turn(&a) {
                let (mut actions, mut others) = (Vec::new(), Vec::new());
                ours.actions(&a, &mut actions);
                gdl.actions(&b, &mut others);
                let at = rng.random_range(0..actions.len());
                // Squares by column and row.
                let digits = |text: String| -> String {
                    let digit =
                        |c: char| if c.is_ascii_digit() { c } else { (c as u8 - b'a' + b'1') as char };
                    let args = text.split_once('(').unwrap().1;
                    args.chars().filter(char::is_ascii_alphanumeric).map(digit).collect()
                };
                let wanted = digits(ours.action_text(&a, &actions[at]));
                let other = others
                    .iter()
                    .find(|other| wanted.starts_with(&digits(gdl.action_text(&b, other))))
                    .unwrap();
                ours.apply(&mut a, &actions[at]);
                gdl.apply(&mut b, other);
                let mut rows = Rows::new(encoder.channels());
                encoder.encode(&ours, Afterstate { state: &a, action: None, player }, rows.push());
                let win = plain.modules.iter().find(|module| module.name == "ending-win").unwrap();
                let mut expected = Vec::new();
                for (bindings, inputs) in win.bindings(&rows.dense_row(0)[before..]) {
                    let counted = bindings.counted(inputs);
                    expected.resize(counted.len(), 0.0);
                    expected.iter_mut().zip(counted).for_each(|(sum, one)| *sum += one);
                }
                let row = row_of(&gdl, &b, player);
                let all = inputs_of(&structure, &row);
                let (module, inputs) = all.iter().find(|(module, _)| module.name == relation).unwrap();
                let (bindings, inputs) = *module.bindings(inputs).last().unwrap();
                let counted = bindings.counted(inputs);
                // In our form lines of different rules do not meet.
                let compared = if endings == 1 { counted.len() } else { 25 };
                assert_eq!(counted[..compared], expected[..compared], "{name}: {}", ours.position_text(&a));
            }
        }
    }
}

/// After a move of either role, the row equals that of the position with exchanged roles.
#[test]
fn roles_that_play_the_same_game_see_the_same() {
    let exchanged = |text: &str, turn: bool| -> String {
        let words = text.split(' ').enumerate().map(|(at, word)| {
            let names = [("white", "black"), ("x", "o"), ("first", "second"), ("1/2", "2/1")];
            let mut parts: Vec<String> = word.split_inclusive(['(', ',', ')']).map(String::from).collect();
            for part in &mut parts {
                let name = part.trim_end_matches(['(', ',', ')']).to_string();
                let end = part[name.len()..].to_string();
                let other = names.iter().find_map(|&(a, b)| match &name[..] {
                    name if name == a => Some(b.to_string()),
                    name if name == b => Some(a.to_string()),
                    _ => None,
                });
                let turned = name.parse::<i32>().ok().filter(|_| turn && at > 0).map(|n| (9 - n).to_string());
                *part = other.or(turned).unwrap_or(name) + &end;
            }
            parts.concat()
        });
        words.collect::<Vec<_>>().join(" ")
    };
    for (name, text) in SHIPPED_GDL {
        let game = read(text);
        assert_eq!(structure(&game).copies, 1, "{name}");
        let mut seen = 0;
        for state in positions(&game, 4) {
            let other = exchanged(&game.position_text(&state), *name == "breakthrough.kif");
            let (other, _) = game.parse_position(&other).unwrap();
            let player = game.just_acted(&state).unwrap();
            assert_eq!(row_of(&game, &state, player), row_of(&game, &other, 1 - player), "{name}");
            assert_ne!(row_of(&game, &state, player), row_of(&game, &state, 1 - player), "{name}");
            seen += 1;
        }
        assert!(seen > 10, "{name}");
    }
    // Three roles in a cycle, two that choose simultaneously, and two with cells of their own.
    assert_eq!(structure(&read(PENNIES)).copies, 2);
    assert_eq!(structure(&read(&passing())).copies, 2);
    assert_eq!(structure(&read(&path("(edge 1 2) (edge 2 3) (edge 3 4)"))).copies, 1);
    assert_eq!(structure(&read(&flood())).copies, 1);
}

/// Rows include the player's own hidden choice, and channels come after their parts.
#[test]
fn all_descriptions_have_modules() {
    for (name, text) in all() {
        let game = read(&text);
        let encoder = game.encoders().open("rules").unwrap();
        // With one choice, all unfinished positions are equal.
        assert_eq!(encoder.fits(&game).is_err(), name == "one choice", "{name}");
        let channels = encoder.channels();
        let place = |name: &str| channels.iter().position(|channel| channel.name == name);
        for (at, channel) in channels.iter().enumerate() {
            assert_eq!(place(&channel.name), Some(at), "{name}: {}", channel.name);
            assert!(channel.parts.iter().all(|part| place(part).is_some_and(|part| part < at)), "{name}");
        }
        assert_eq!(encoder.needs_action(), game.hides(), "{name}");
        let state = game.start();
        let mut actions = Vec::new();
        game.actions(&state, &mut actions);
        let rows = actions.iter().map(|action| {
            let (mut rows, player) = (Rows::new(channels), usize::from(state.mover));
            encoder.encode(&game, Afterstate { state: &state, action: Some(action), player }, rows.push());
            rows.dense_row(0).to_vec()
        });
        let rows: Vec<Vec<f32>> = rows.collect();
        assert_eq!(rows.windows(2).all(|pair| pair[0] != pair[1]), game.hides(), "{name}");
    }
}

/// Oversized modules are omitted or refused with a message.
#[test]
fn modules_are_bounded() {
    let about = |numbers: usize, facts: &str| {
        let numbers: String = (0..numbers).map(|n| format!("(n {n}) ")).collect();
        read(&format!(
            "{numbers} {facts} (role x) (legal x a) (legal x b) (<= (next (on ?n)) (does x a) (n ?n)) (<= (next done) (does x ?m))
            (<= three (true (on ?a)) (true (on ?b)) (true (on ?c))) (<= terminal (true done)) (<= (goal x 100) three)
            (<= (goal x 0) (not three))"
        ))
    };
    let names = |game: &Described| -> Vec<String> {
        structure(game).modules.iter().map(|module| module.name.clone()).collect()
    };
    let few = names(&about(20, ""));
    let many = names(&about(40, ""));
    assert!(few.contains(&"three-rules".to_string()) && few.contains(&"three".to_string()), "{few:?}");
    assert!(!many.contains(&"three-rules".to_string()) && many.contains(&"three".to_string()), "{many:?}");
    let kinds: String = (0..1100).map(|n| format!("(init f{n}) ")).collect();
    let refused = about(2, &kinds).structure().clone().map(|_| ()).unwrap_err();
    assert_eq!(refused, "g.kif: facts of more than 1024 kinds; use the encoder `bits`");
}
