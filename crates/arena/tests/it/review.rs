//! Reviews of whole games: what noise says, and who judges.

use adept_arena::review::{CI95, Judged, Keep, StepKind, Verdict, judge_each, review};
use adept_arena::{ByValuation, Decision, Evaluator, Luck, each_after, naming};
use adept_builtin::backgammon::Backgammon;
use adept_builtin::bearoff::{Action, Bearoff, State};
use adept_builtin::tictactoe::TicTacToe;
use adept_game::{Afterstate, Game, Kit, Turn, WholeGame, stream};

/// Values that are the worse the later an action is listed, with this standard error.
#[derive(Clone)]
struct Falling(f32, Vec<f32>);

impl<G: Game> Evaluator<G> for Falling {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        values.clear();
        let mut n = 0;
        each_after(at.game, at.state, actions, |_, _| {
            values.push(0.5 - 0.1 * n as f32);
            n += 1;
        });
        self.1 = vec![self.0; if self.0 > 0.0 { values.len() } else { 0 }];
    }

    fn errors(&self) -> &[f32] {
        &self.1
    }
}

/// Keeps everything.
const KEEP: Keep = Keep { slips: 100, steps: true };

/// A game in which each player takes the last square.
fn whole(game: &TicTacToe) -> WholeGame<<TicTacToe as Game>::Action> {
    let (mut state, mut actions, mut all) = (game.start(), Vec::new(), Vec::new());
    while game.turn(&state) != Turn::Over {
        game.actions(&state, &mut actions);
        let last = *actions.last().unwrap();
        game.apply(&mut state, &last);
        all.push((all.len() as u64 + 1, last));
    }
    WholeGame { names: Vec::new(), from: None, actions: all, result: None, fault: None, opinions: Vec::new() }
}

#[test]
fn what_lies_within_the_error_is_undecided() {
    let game = TicTacToe;
    let whole = whole(&game);
    let reviewed = |error: f32| {
        let by = Falling(error, Vec::new());
        let mut luck = Luck::of(Box::new(by.clone()));
        review(&game, &whole, (&mut by.clone(), &mut luck), KEEP, || false).unwrap().unwrap()
    };
    let exact = reviewed(0.0);
    let [first, second] = exact.players;
    assert!(first.wrong > 2 && second.wrong > 2 && first.undecided == 0 && first.ci95() == [None, None]);
    assert_eq!(exact.slips.len() as u64, first.wrong + second.wrong);
    let noisy = reviewed(1.0);
    let [first, second] = noisy.players;
    assert_eq!((first.wrong, first.loss, second.loss, noisy.slips.len()), (0, 0.0, 0.0, 0));
    assert_eq!(first.undecided, exact.players[0].wrong);
    let [loss, luck] = first.ci95();
    let expected = CI95 * (2.0 * first.undecided as f64).sqrt();
    assert!((loss.unwrap() - expected).abs() < 1e-6 && luck.is_none(), "{loss:?} {expected}");
    // Of eight other moves, one is better by luck more often than one of one: at the first move .8 has to be above 2.73 errors of √2 ε.
    for (error, verdict) in [(0.2, Verdict::Wrong), (0.22, Verdict::Undecided)] {
        let mut by = Falling(error, Vec::new());
        let mut luck = Luck::of(Box::new(by.clone()));
        let mut first = None;
        let played = whole.actions.iter().map(|(_, action)| action);
        judge_each(&game, game.start(), played, (&mut by, &mut luck), |_, judged| {
            if let Judged::Decision(weighed) = judged {
                first = Some(weighed.verdict());
            }
            false
        })
        .unwrap();
        assert_eq!(first, Some(verdict), "{error}");
    }
}

/// Every action is a step, with the best candidates and the one that was played.
#[test]
fn steps_tell_each_decision() {
    let game = TicTacToe;
    let whole = whole(&game);
    let reviewed = |error: f32, steps| {
        let by = Falling(error, Vec::new());
        let mut luck = Luck::of(Box::new(by.clone()));
        let keep = Keep { slips: 100, steps };
        review(&game, &whole, (&mut by.clone(), &mut luck), keep, || false).unwrap().unwrap()
    };
    let found = reviewed(0.0, true);
    assert_eq!(found.steps.len(), whole.actions.len());
    let mut lost = [0.0; 2];
    for (i, step) in found.steps.iter().enumerate() {
        let player = i % 2;
        assert_eq!((step.place, step.number, step.player), (i, i as u64 + 1, Some(player)));
        assert_eq!((step.kind, step.side, step.luck, step.point), (StepKind::Move, Some(player), None, None));
        // The first action of the list is the best.
        assert!((step.value.unwrap() - [0.5, -0.5][player]).abs() < 1e-6, "{step:?}");
        let found = step.assessment.as_ref().unwrap();
        let own = &found.candidates[found.played];
        assert_eq!((&own.action, found.points, found.mark, found.name), (&step.played, None, None, None));
        // The last one of the list was played: it comes last.
        assert_eq!((found.played + 1, found.candidates[0].loss), (found.candidates.len(), 0.0));
        assert!(found.candidates.len() <= 6 && (own.loss - found.loss).abs() < 1e-6, "{step:?}");
        assert_eq!((found.verdict, found.judge), (Verdict::Wrong, 0), "{step:?}");
        lost[player] += found.loss;
    }
    assert_eq!(found.steps[0].position, game.position_text(&game.start()));
    assert_eq!(found.players.map(|account| account.loss), lost);
    let noisy = reviewed(1.0, true);
    let verdicts = noisy.steps.iter().map(|step| step.assessment.as_ref().unwrap().verdict);
    assert!(verdicts.eq(noisy.steps.iter().map(|_| Verdict::Undecided)), "{noisy:?}");
    // Nobody who does not ask gets them.
    let without = reviewed(0.0, false);
    assert!(without.steps.is_empty() && without.slips == found.slips && without.players == found.players);
}

/// A position that a table knows is judged by the table, not by samples.
#[test]
fn exact_tables_come_before_samples() {
    let game = Bearoff::default();
    let found = naming::resolve(&game, "playouts:20", &[]).unwrap();
    let mut judge = naming::judge(&game, &found, false).unwrap();
    assert!(!judge.references.is_empty());
    let oracle = Bearoff::new(8).unwrap().values().valuations.open("oracle-32").unwrap().unwrap();
    let (state, _) = game.parse_position("1,1,0,0,0,1/0,0,1,0,0,2 65").unwrap();
    let Turn::Player(player) = game.turn(&state) else { panic!() };
    let (mut actions, mut values) = (Vec::new(), Vec::new());
    judge.values.study(Decision::new(&game, &state, player), &mut actions, &mut values);
    assert!(actions.len() > 1 && judge.values.errors().iter().all(|error| *error == 0.0));
    each_after(&game, &state, &actions, |after, action| {
        let i = actions.iter().position(|other| other == action).unwrap();
        let exact = oracle.value(&game, Afterstate { state: after, action: Some(action), player });
        assert_eq!(values[i], exact as f32);
    });
    // Luck is told by the table too.
    let (before, _) = game.parse_position("1,1,0,0,0,1/0,0,1,0,0,2").unwrap();
    let drawn = game.sample(&before, &mut stream(1, "review", 0));
    use adept_arena::Fortune;
    judge.luck.luck(&game, &before, &drawn).unwrap();
    assert_eq!(judge.luck.error(), 0.0);
    // All checkers: nothing but samples.
    let (state, _) = game.parse_position("2,2,2,2,3,3/0,0,0,4,5,5 21").unwrap();
    let Turn::Player(player) = game.turn(&state) else { panic!() };
    judge.values.study(Decision::new(&game, &state, player), &mut actions, &mut values);
    assert!(
        judge.values.errors().len() == actions.len()
            && judge.values.errors().iter().all(|error| *error > 0.0)
    );
    let references = |game: &Backgammon| -> Vec<String> {
        game.values().references().unwrap().into_iter().map(|reference| reference.name.into()).collect()
    };
    assert_eq!(references(&Backgammon::new(2).unwrap()), ["oracle"]);
}

/// The player in this seat has checkers on points 5 and 2, plays 2-1 badly, and then misses. The other plays 2-1 well. The other
/// seat's first roll, if it begins, takes two checkers.
fn one_sided(blunderer: usize) -> WholeGame<Action> {
    let start = ["0,1,0,0,1,0/3,1,0,0,0,0", "3,3,0,0,0,0/0,1,0,0,1,0"][blunderer];
    let first = [("65", "3,1,0,0,0,0")];
    let rest = [("21", "0,2,0,0,0,0"), ("21", "2,0,0,0,0,0"), ("21", "1,0,0,0,0,0"), ("43", "0,0,0,0,0,0")];
    let turns = first[..blunderer]
        .iter()
        .chain(&rest)
        .flat_map(|(roll, side)| [Action::Roll(roll.parse().unwrap()), Action::Move(side.parse().unwrap())]);
    let actions = [Action::Setup(start.parse().unwrap())].into_iter().chain(turns);
    WholeGame {
        names: Vec::new(),
        from: None,
        actions: actions.enumerate().map(|(i, action)| (i as u64, action)).collect(),
        result: None,
        fault: None,
        opinions: Vec::new(),
    }
}

#[test]
fn loss_and_luck_belong_to_their_players() {
    let game = Bearoff::new(6).unwrap();
    let oracle = game.values().valuations.open("oracle").unwrap().unwrap();
    // The table has 16 bits for a value.
    let near = |a: f64, b: f64| (a - b).abs() < 2e-4;
    // Checkers on 4 or on 3 and 1 are taken by 34 of 36 rolls, two on 2 by 26. The opponent, with checkers on 2, 1, 1 and 1, wins at
    // once by the doubles of 2 to 6, and else by any roll after the next.
    let (best, played, misses) = (34.0 / 36.0, 26.0 / 36.0, 31.0 / 36.0);
    for blunderer in [0, 1] {
        let whole = one_sided(blunderer);
        let judge = || (ByValuation(oracle.clone()), Luck::of(Box::new(ByValuation(oracle.clone()))));
        let (mut by, mut luck) = judge();
        let found = review(&game, &whole, (&mut by, &mut luck), KEEP, || false).unwrap().unwrap();
        let (account, other) = (found.players[blunderer], found.players[1 - blunderer]);
        assert_eq!((account.decisions, account.wrong), (1, 1), "{found:?}");
        assert_eq!((other.decisions, other.wrong, other.loss), (1, 0, 0.0), "{found:?}");
        assert!(near(account.loss, 2.0 * misses * (best - played)), "{found:?}");
        let [slip] = &found.slips[..] else { panic!("{found:?}") };
        assert_eq!((slip.player, slip.number), (blunderer, 2 + 2 * blunderer as u64), "{slip:?}");
        assert!(near(slip.loss, account.loss), "{slip:?}");
        // A result less its luck is the value of the start less the loss, with the sign of each player.
        let Action::Setup(start) = whole.actions[0].1 else { panic!() };
        let state = State::to_roll(start);
        let value = oracle.value(&game, Afterstate { state: &state, action: None, player: blunderer });
        assert_eq!((account.result, other.result), (-1.0, 1.0), "{found:?}");
        assert!(near(account.adjusted, value - account.loss), "{found:?}");
        assert!(near(other.adjusted, -account.adjusted) && near(other.luck, -account.luck), "{found:?}");
        // Luck and losses lead from the value of each step to that of the next.
        let known: Vec<_> = found.steps.iter().filter(|step| step.value.is_some()).collect();
        assert_eq!((found.steps.len(), known.len() + 1), (whole.actions.len(), whole.actions.len()));
        let after = known[1..].iter().map(|step| step.value.unwrap()).chain([found.players[0].result]);
        for (step, after) in known.iter().zip(after) {
            let lost = step.assessment.as_ref().map_or(0.0, |found| found.loss);
            let lost = if step.player == Some(1) { -lost } else { lost };
            let value = step.value.unwrap() + step.luck.unwrap_or(0.0) - lost;
            assert!((value - after).abs() < 1e-3, "{step:?} {after}");
            assert_eq!(step.kind == StepKind::Chance, step.player.is_none() && step.luck.is_some());
        }
        // The opponent does not throw a double, the player misses, and the opponent wins by any roll.
        let (mut by, mut luck) = judge();
        let mut told = Vec::new();
        let actions = whole.actions.iter().map(|(_, action)| action);
        judge_each(&game, game.start(), actions, (&mut by, &mut luck), |_, judged| {
            if let Judged::Chance { luck, .. } = judged {
                told.push(if blunderer == 0 { luck } else { -luck });
            }
            true
        })
        .unwrap();
        let expected = [2.0 * played * (1.0 - misses), -2.0 * played, 0.0];
        let last = &told[told.len() - 3..];
        assert!(last.iter().zip(expected).all(|(a, b)| near(*a, b)), "{told:?} {expected:?}");
    }
}
