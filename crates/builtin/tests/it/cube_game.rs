//! Backgammon with the cube, for money and in matches: rules, texts and IDs.

use adept_builtin::backgammon::cube::{CubeOwner, Scoring, Terms};
use adept_builtin::backgammon::{Action, Backgammon, Rules, Stage, Stakes, State, Win};
use adept_builtin::visit;
use adept_game::rand::RngExt;
use adept_game::{Counting, Game, Kit, Reduction, Turn, Visitor, stream};

fn game(name: &str) -> Backgammon {
    Backgammon::named(name).expect(name)
}

/// The position that the text names.
fn at(game: &Backgammon, text: &str) -> State {
    game.parse_position(text).unwrap_or_else(|e| panic!("{e}")).0
}

/// The position after these actions and rolls.
fn after(game: &Backgammon, mut state: State, actions: &[&str]) -> State {
    for text in actions {
        let action = game.parse_action(&state, text).unwrap_or_else(|e| panic!("{e}"));
        game.apply(&mut state, &action);
    }
    state
}

fn choices(game: &Backgammon, state: &State) -> Vec<String> {
    let mut actions = Vec::new();
    game.actions(state, &mut actions);
    actions.iter().map(|action| game.action_text(state, action)).collect()
}

/// The name of a rule set.
struct Name;

impl Visitor for Name {
    type Output = String;

    fn visit<G: Kit>(self, game: G) -> String {
        game.name().into()
    }
}

/// The start of hypergammon in an XGID.
const START: &str = "-aaa------------------AAA-";
/// Player 0 bears off its last checker with any roll. Player 1 has borne off none, and has no checker in the home of player 0.
const GAMMON: &str = "-A-------------c----------";
/// The same, and player 1 has borne off two.
const SINGLE: &str = "-A----------------------a-";

#[test]
fn rule_sets_have_names() {
    let cubeless =
        ["backgammon", "hypergammon", "backgammon:1", "backgammon:2", "backgammon:4", "backgammon:5"];
    let money = ["money", "money-beavers", "money-no-jacoby", "money-no-jacoby-beavers"].map(String::from);
    let matches = (1..=25).map(|length| format!("match-{length}"));
    let kinds: Vec<String> = money.into_iter().chain(matches).collect();
    let with_cube = ["backgammon", "hypergammon"]
        .into_iter()
        .flat_map(|base| kinds.iter().map(move |kind| format!("{base}:{kind}")));
    for name in cubeless.map(String::from).into_iter().chain(with_cube) {
        let found = game(&name);
        assert_eq!((found.name(), found.has_cube()), (&*name, name.contains(":m")));
        assert_eq!(Backgammon::with_rules(found.checkers(), found.rules()), Some(found));
    }
    assert_eq!(game("hypergammon:match-7"), Backgammon::with_rules(3, Rules::Match { length: 7 }).unwrap());
    assert_eq!(Backgammon::with_rules(15, Rules::Match { length: 0 }), None);
    assert_eq!(Backgammon::with_rules(4, Rules::Money { jacoby: true, beavers: false }), None);
    for name in [
        "backgammon:match-0",
        "backgammon:match-26",
        "backgammon:match",
        "backgammon:4:money",
        "hypergammon:cube",
    ] {
        let error = visit(name, Name).expect(name).unwrap_err().to_string();
        assert!(error.contains("backgammon:money") && error.contains("backgammon:match-7"), "{error}");
    }
    let [money, match_] = ["backgammon:money", "backgammon:match-3"].map(game);
    assert_eq!((money.scale(), match_.scale(), match_.counting()), (192.0, 1.0, Counting::Wins));
    assert!(adept_game::outcome_classes(&money).unwrap_err().to_string().contains("classes of backgammon"));
}

#[test]
#[cfg(target_pointer_width = "64")]
fn the_stakes_fit_in_the_gaps_of_a_state() {
    assert_eq!((size_of::<Stakes>(), size_of::<State>()), (5, 48));
}

/// A match to 2 points: the position after each action, and who is next.
#[test]
fn golden_match() {
    let game = game("hypergammon:match-2");
    let mut state = game.start();
    assert_eq!((game.position_text(&state), game.just_acted(&state)), ("start".into(), None));
    let [zero, one, chance] = [Turn::Player(0), Turn::Player(1), Turn::Chance];
    for (action, turn, acted, text) in [
        ("1 31", zero, None, "-aaa------------------AAA-:0:0:1:31:0:0:0:2:10"),
        ("24/21 22/21", one, Some(0), "-aaa-----------------B-A--:0:0:-1:00:0:0:0:2:10"),
        ("roll", chance, Some(1), "-aaa-----------------B-A--:0:0:-1:00:0:0:0:2:10 roll"),
        ("62", one, None, "-aaa-----------------B-A--:0:0:-1:62:0:0:0:2:10"),
        ("24/16", zero, Some(1), "--aa-----a-----------B-A--:0:0:1:00:0:0:0:2:10"),
        ("double", one, Some(0), "--aa-----a-----------B-A--:0:0:1:D:0:0:0:2:10"),
        ("drop", chance, Some(1), "-aaa------------------AAA-:0:0:1:00:1:0:1:2:10 opening"),
        // The Crawford game: nobody doubles.
        ("2 65", one, None, "-aaa------------------AAA-:0:0:-1:65:1:0:1:2:10"),
        ("24/18 23/18", chance, Some(1), "---a---b--------------AAA-:0:0:1:00:1:0:1:2:10"),
        ("11", zero, None, "---a---b--------------AAA-:0:0:1:11:1:0:1:2:10"),
    ] {
        state = after(&game, state, &[action]);
        assert_eq!(
            (game.position_text(&state), game.turn(&state)),
            (format!("XGID={text}"), turn),
            "{action}"
        );
        assert_eq!(game.just_acted(&state), acted, "{action}");
        assert_eq!(at(&game, &game.position_text(&state)), state, "{action}");
    }
    // Player 1 wins the Crawford game. Both need one point now, and nobody doubles any more.
    let state = after(&game, at(&game, &format!("XGID={SINGLE}:0:0:-1:21:1:0:1:2:10")), &["1/off"]);
    assert_eq!(game.position_text(&state), format!("XGID={START}:0:0:1:00:1:1:0:2:10 opening"));
    assert_eq!(game.turn(&after(&game, state, &["1 31", "24/21 22/21"])), chance);
    let state = after(&game, at(&game, &format!("XGID={SINGLE}:0:0:1:21:1:1:0:2:10")), &["1/off"]);
    assert_eq!(game.position_text(&state), "XGID=------------------------a-:0:0:-1:00:2:1:0:2:10");
    assert_eq!(
        (game.turn(&state), game.utility(&state, 0), game.utility(&state, 1)),
        (Turn::Over, 1.0, -1.0)
    );
}

#[test]
fn a_gammon_counts_twice_the_cube_and_by_jacoby_only_if_it_was_turned() {
    for (name, cube, points) in [
        ("hypergammon:money", "0:0", 1.0),
        ("hypergammon:money-no-jacoby", "0:0", 2.0),
        ("hypergammon:money", "1:-1", 4.0),
        ("hypergammon:money", "6:1", 128.0),
    ] {
        let game = game(name);
        let rules = u8::from(!name.contains("no-jacoby"));
        let state = at(&game, &format!("XGID={GAMMON}:{cube}:1:21:0:0:{rules}:0:10"));
        let over = after(&game, state, &["1/off"]);
        assert_eq!((game.turn(&over), game.just_acted(&over)), (Turn::Over, Some(0)), "{name} {cube}");
        assert_eq!([0, 1].map(|player| game.utility(&over, player)), [points, -points], "{name} {cube}");
        assert_eq!(at(&game, &game.position_text(&over)), over);
    }
}

#[test]
fn a_dropped_double_costs_the_cube_before_it() {
    let game = game("hypergammon:money-beavers");
    let state = at(&game, &format!("XGID={START}:2:-1:-1:00:0:0:3:0:10"));
    assert_eq!(
        (game.turn(&state), choices(&game, &state)),
        (Turn::Player(1), vec!["roll".into(), "double".into()])
    );
    let doubled = after(&game, state, &["double"]);
    assert_eq!(game.turn(&doubled), Turn::Player(0));
    assert_eq!(choices(&game, &doubled), ["take", "drop", "beaver"]);
    let dropped = after(&game, doubled, &["pass"]);
    assert_eq!((game.turn(&dropped), game.just_acted(&dropped)), (Turn::Over, Some(0)));
    assert_eq!([0, 1].map(|player| game.utility(&dropped, player)), [-4.0, 4.0]);
    assert!(game.position_text(&dropped).ends_with(":2:-1:-1:00:0:0:3:0:10 dropped"));

    let taken = after(&game, doubled, &["take"]);
    assert_eq!((game.turn(&taken), taken.player, game.just_acted(&taken)), (Turn::Chance, 1, Some(0)));
    assert_eq!((taken.stakes.cube(), taken.stakes.owner()), (8, Some(0)));

    // A beaver doubles once more and keeps the cube; the player who doubled first takes or drops.
    let beavered = after(&game, doubled, &["beaver"]);
    assert_eq!(
        (game.turn(&beavered), choices(&game, &beavered)),
        (Turn::Player(1), vec!["take".into(), "drop".into()])
    );
    assert!(game.position_text(&beavered).ends_with(":2:-1:-1:B:0:0:3:0:10"));
    let dropped = after(&game, beavered, &["drop"]);
    assert_eq!((game.utility(&dropped, 0), game.just_acted(&dropped)), (8.0, Some(1)));
    let taken = after(&game, beavered, &["take"]);
    assert_eq!((game.turn(&taken), taken.player, game.just_acted(&taken)), (Turn::Chance, 1, Some(1)));
    assert_eq!((taken.stakes.cube(), taken.stakes.owner()), (16, Some(0)));
}

#[test]
fn the_cube_goes_to_64() {
    let game = game("hypergammon:money-beavers");
    let with = |cube: u8| at(&game, &format!("XGID={START}:{cube}:1:1:00:0:0:3:0:10"));
    assert_eq!(game.turn(&with(6)), Turn::Chance);
    assert_eq!(choices(&game, &after(&game, with(5), &["double"])), ["take", "drop"]);
    assert_eq!(after(&game, with(5), &["double", "take"]).stakes.cube(), 64);
    assert_eq!(after(&game, with(4), &["double", "beaver", "take"]).stakes.cube(), 64);
}

/// Who may double before a roll, at these scores of a match to 7 points.
#[test]
fn a_match_limits_the_cube() {
    let game = game("hypergammon:match-7");
    for (fields, doubles) in [
        ("0:0:1:00:0:0:0", true),
        ("0:0:-1:00:0:0:0", true),
        // The other player owns it.
        ("1:-1:1:00:0:0:0", false),
        ("1:1:1:00:0:0:0", true),
        // The Crawford game, and the game after it: only the trailer doubles.
        ("0:0:1:00:2:6:1", false),
        ("0:0:-1:00:2:6:1", false),
        ("0:0:1:00:2:6:0", true),
        ("0:0:-1:00:2:6:0", false),
        // A win at the cube's value is enough.
        ("1:1:1:00:5:3:0", false),
        ("1:1:1:00:4:3:0", true),
        ("2:-1:-1:00:4:3:0", false),
        ("2:-1:-1:00:4:2:0", true),
        ("0:0:1:00:6:6:0", false),
    ] {
        let state = at(&game, &format!("XGID={START}:{fields}:7:10"));
        let player = state.player;
        let turn = if doubles { Turn::Player(player) } else { Turn::Chance };
        assert_eq!((game.turn(&state), state.stakes.may_double(player)), (turn, doubles), "{fields}");
    }
}

#[test]
fn games_of_a_match_follow_each_other() {
    let game = game("hypergammon:match-7");
    let won = |board: &str, fields: &str| {
        let state = after(&game, at(&game, &format!("XGID={board}:{fields}:7:10")), &["1/off"]);
        assert_eq!(at(&game, &game.position_text(&state)), state, "{fields}");
        state
    };
    for (board, fields, text) in [
        (SINGLE, "0:0:1:21:3:2:0", "0:0:-1:00:4:2:0"),
        (GAMMON, "0:0:1:21:3:2:0", "0:0:-1:00:5:2:0"),
        // The first game after a player comes within one point is the Crawford game; the next is not.
        (SINGLE, "1:-1:1:21:4:2:0", "0:0:-1:00:6:2:1"),
        (SINGLE, "0:0:1:21:2:6:1", "0:0:-1:00:3:6:0"),
        (SINGLE, "0:0:1:21:5:6:0", "0:0:-1:00:6:6:0"),
    ] {
        let state = won(board, fields);
        assert_eq!(game.position_text(&state), format!("XGID={START}:{text}:7:10 opening"));
        assert_eq!((game.turn(&state), game.just_acted(&state)), (Turn::Chance, Some(0)), "{fields}");
        assert_eq!(game.utility(&state, 0), 0.0);
    }
    // The match ends at once, and a score is never above its length.
    for (board, fields, text) in
        [(SINGLE, "0:0:1:21:6:2:1", "0:0:-1:00:7:2:0"), (GAMMON, "3:1:1:21:1:6:0", "0:0:-1:00:7:6:0")]
    {
        let state = won(board, fields);
        assert!(game.position_text(&state).ends_with(&format!(":{text}:7:10")), "{fields}");
        assert_eq!((game.turn(&state), game.just_acted(&state)), (Turn::Over, Some(0)), "{fields}");
        assert_eq!([0, 1].map(|player| game.utility(&state, player)), [1.0, -1.0]);
    }
    // A drop costs what the cube was worth.
    let doubled = at(&game, &format!("XGID={START}:1:-1:-1:D:6:2:0:7:10"));
    let state = after(&game, doubled, &["drop"]);
    assert_eq!(game.position_text(&state), format!("XGID={START}:0:0:-1:00:6:4:0:7:10 opening"));
    assert_eq!((game.turn(&state), game.just_acted(&state)), (Turn::Chance, Some(0)));
}

/// A resignation costs 1 to 3 points times the cube, at any time, and a match goes on with its next game.
#[test]
fn games_are_resigned() {
    let money = game("hypergammon:money");
    for (fields, text, win, player, points, word) in [
        // The cube is turned by a take alone, and in the middle gammons count 1 by the Jacoby rule.
        ("1:1:1:00:0:0:1:0:10", "resign", Win::Single, 0, 2.0, "resigned"),
        ("1:1:1:31:0:0:1:0:10", "resign gammon", Win::Gammon, 0, 4.0, "resigned-gammon"),
        ("2:-1:1:00:0:0:1:0:10", "2 resign backgammon", Win::Backgammon, 1, 12.0, "resigned-backgammon"),
        ("1:1:1:D:0:0:1:0:10", "resign gammon", Win::Gammon, 1, 4.0, "resigned-gammon"),
        ("0:0:1:00:0:0:1:0:10", "resign backgammon", Win::Backgammon, 0, 1.0, "resigned-backgammon"),
        ("6:1:1:31:0:0:1:0:10", "resign  backgammon", Win::Backgammon, 0, 192.0, "resigned-backgammon"),
    ] {
        let before = at(&money, &format!("XGID={START}:{fields}"));
        let action = Action::Resign(player, win);
        // Nobody resigns for another player.
        let of_actor = !text.starts_with('2');
        assert_eq!(money.parse_action(&before, text).ok(), of_actor.then_some(action), "{fields} {text}");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(money.action_text(&before, &action), words.join(" "));
        let mut state = before;
        money.apply(&mut state, &action);
        assert_eq!((money.turn(&state), money.just_acted(&state)), (Turn::Over, Some(player)), "{fields}");
        assert_eq!(money.utility(&state, 1 - player), points, "{fields} {text}");
        assert_eq!(money.utility(&state, player), -points, "{fields} {text}");
        let shown = money.position_text(&state);
        assert!(shown.ends_with(&format!(" {word}")), "{shown}");
        assert_eq!(at(&money, &shown), state, "{shown}");
        assert!(choices(&money, &state).is_empty() && money.parse_action(&state, "resign").is_err());
    }
    // Agents never resign, and nobody does so without the cube.
    assert_eq!(
        choices(&money, &at(&money, &format!("XGID={START}:0:0:1:00:0:0:1:0:10"))),
        ["roll", "double"]
    );
    let cubeless = game("backgammon");
    assert!(cubeless.parse_action(&cubeless.start(), "resign").is_err());
    assert!((cubeless.results().resignations)(&cubeless, &cubeless.start(), 0).is_empty());

    let long = game("hypergammon:match-7");
    for (fields, player, win, score) in [
        ("1:1:1:00:3:2:0:7:10", 0, Win::Single, "3:4:0"),
        ("0:0:1:31:3:2:0:7:10", 0, Win::Gammon, "3:4:0"),
        // The Crawford game follows where the winner comes within one point, and only once.
        ("1:-1:1:31:3:2:0:7:10", 0, Win::Gammon, "3:6:1"),
        ("0:0:1:31:3:6:1:7:10", 1, Win::Gammon, "5:6:0"),
        ("0:0:1:31:5:3:0:7:10", 1, Win::Single, "6:3:1"),
    ] {
        let mut state = at(&long, &format!("XGID={START}:{fields}"));
        long.apply(&mut state, &Action::Resign(player, win));
        let shown = long.position_text(&state);
        assert!(shown.ends_with(&format!(":00:{score}:7:10 opening")), "{fields}: {shown}");
        assert_eq!((long.turn(&state), long.utility(&state, 0)), (Turn::Chance, 0.0));
    }
    let lost = after(&long, at(&long, &format!("XGID={START}:2:1:1:00:3:2:0:7:10")), &["resign gammon"]);
    assert_eq!((long.turn(&lost), long.utility(&lost, 1), lost.stakes.winner()), (Turn::Over, 1.0, Some(1)));

    let state = at(&long, &format!("XGID={START}:1:-1:1:31:3:2:0:7:10"));
    let ways = (long.results().resignations)(&long, &state, 0);
    assert_eq!(
        ways.iter().map(|way| way.name).collect::<Vec<_>>(),
        ["loss", "loss_gammon", "loss_backgammon"]
    );
    let texts = long.texts();
    let said = texts.told(&long, &state, &ways[1].action, "You", true);
    assert_eq!(said, "You resign a gammon and lose 4 points.");
    let event = texts.event(&long, &state, &ways[1].action, 0);
    assert_eq!(event.as_deref(), Some("The score is 3 to 6 of 7, yours first. The Crawford game follows."));
}

/// Games can be played on without the cube, and a match to the end of one game, whose value is that of the score after it.
#[test]
fn games_are_played_without_the_cube_and_matches_to_the_end_of_a_game() {
    let long = game("hypergammon:match-7");
    let reduced = |game: &Backgammon, text: &str, without_cube: bool, one_game: bool| {
        (game.results().reduced)(game, &at(game, text), Reduction { without_cube, one_game })
    };
    let text = format!("XGID={START}:0:0:1:00:3:2:0:7:10");
    let state = reduced(&long, &text, true, false).unwrap();
    assert_eq!((state.stage, long.turn(&state)), (Stage::Roll, Turn::Chance));
    // Nobody doubles any more, and the next game has its cube again.
    let moved = after(&long, state, &["31", "24/21 23/22"]);
    assert_eq!((moved.stage, moved.stakes.may_double(1)), (Stage::Roll, false));
    let last = reduced(&long, &format!("XGID={SINGLE}:0:0:1:21:3:2:0:7:10"), true, false).unwrap();
    let next = after(&long, last, &["1/off"]);
    assert_eq!((long.turn(&next), next.stakes.away()), (Turn::Chance, Some([3, 5])));
    assert!(State { stage: Stage::Cube, ..next }.stakes.may_double(0));

    // The value after the game is that of the score: at 4 to 2 of 7 the leader is ahead, and both values add up to 0.
    let last = reduced(&long, &format!("XGID={SINGLE}:0:0:1:21:3:2:0:7:10"), false, true).unwrap();
    let ended = after(&long, last, &["1/off"]);
    let value = long.utility(&ended, 0);
    assert_eq!(long.turn(&ended), Turn::Over);
    assert!((0.2..0.5).contains(&value) && long.utility(&ended, 1) == -value, "{value}");
    let doubled = reduced(&long, &text, false, true).unwrap();
    assert_eq!(doubled.stage, Stage::Cube);
    let dropped = after(&long, doubled, &["double", "drop"]);
    assert_eq!((long.turn(&dropped), long.utility(&dropped, 0)), (Turn::Over, value));
    let mut resigned = doubled;
    long.apply(&mut resigned, &Action::Resign(1, Win::Single));
    assert_eq!((long.turn(&resigned), long.utility(&resigned, 0)), (Turn::Over, value));
    let won = reduced(&long, &format!("XGID={GAMMON}:1:1:1:21:3:2:0:7:10"), false, true).unwrap();
    assert_eq!(long.utility(&after(&long, won, &["1/off"]), 0), 1.0);

    // In money games gammons count without the cube, also by the Jacoby rule.
    let money = game("hypergammon:money");
    let gammon = format!("XGID={GAMMON}:0:0:1:21:0:0:1:0:10");
    let with = at(&money, &gammon);
    let without = reduced(&money, &gammon, true, false).unwrap();
    let points = [with, without].map(|state| money.utility(&after(&money, state, &["1/off"]), 0));
    assert_eq!(points, [1.0, 2.0]);
    for (name, fields, without_cube, one_game, why) in [
        ("hypergammon:money", "0:0:1:00:0:0:1:0:10", false, true, "one game anyway"),
        ("hypergammon:money", "0:0:1:D:0:0:1:0:10", true, false, "waits for an answer"),
        ("hypergammon", "0:0:1:00:0:0:0:0:10", true, false, "no cube to leave out"),
    ] {
        let game = game(name);
        let error = reduced(&game, &format!("XGID={START}:{fields}"), without_cube, one_game).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}

/// All positions of random games read back to the same state, as XGIDs and as gnubg's IDs.
#[test]
fn positions_of_random_games_read_back() {
    let names = [
        "backgammon:money",
        "backgammon:money-no-jacoby-beavers",
        "hypergammon:money-beavers",
        "backgammon:match-3",
        "backgammon:match-25",
        "hypergammon:match-7",
    ];
    let (mut rng, mut actions) = (stream(1, "cube game", 0), Vec::new());
    let (mut states, mut stages) = (0, std::collections::HashSet::new());
    for game in names.map(game).iter().cycle() {
        if states >= 10_000 {
            break;
        }
        let (mut state, mut crawford_games, mut opening) = (game.start(), 0, game.start());
        loop {
            states += 1;
            stages.insert(std::mem::discriminant(&state.stage));
            let text = game.position_text(&state);
            assert_eq!(at(game, &text), state, "{text}");
            if let Some(id) = game.gnubg_id(&state).filter(|_| state.stage != Stage::Rolling) {
                assert_eq!(at(game, &id), state, "{text} {id}");
            }
            if state.stage == Stage::Opening && state != opening {
                opening = state;
                crawford_games += usize::from(state.stakes.is_crawford());
            }
            let action = match game.turn(&state) {
                Turn::Over => break,
                Turn::Chance => game.sample(&state, &mut rng),
                Turn::Player(_) => {
                    game.actions(&state, &mut actions);
                    actions[rng.random_range(0..actions.len())]
                }
            };
            assert!(!(state.stakes.is_crawford() && action == Action::Double));
            // Drops would end most games early.
            if action == Action::Drop && rng.random_range(0..4) > 0 {
                continue;
            }
            game.apply(&mut state, &action);
        }
        assert!(crawford_games <= 1);
        if let Rules::Match { length } = game.rules() {
            let away = state.stakes.away().unwrap();
            assert!(away.contains(&0) && away.iter().all(|away| *away <= length));
        }
    }
    assert_eq!(stages.len(), 8);
}

#[test]
fn impossible_positions_are_refused() {
    for (name, fields, part) in [
        ("hypergammon:match-7", "0:0:1:00:0:0:1:0:10", "it is one of hypergammon:money"),
        ("hypergammon:match-7", "0:0:1:00:0:0:0:9:10", "it is one of hypergammon:match-9"),
        ("hypergammon:match-7", "0:0:1:00:0:0:0:26:10", "matches go to 25"),
        ("hypergammon:money", "0:0:1:00:2:3:0:7:10", "it is one of hypergammon:match-7"),
        ("hypergammon:money", "0:0:1:00:0:0:0:0:10", "it is one of hypergammon:money-no-jacoby"),
        ("hypergammon:money", "0:0:1:00:0:0:3:0:10", "it is one of hypergammon:money-beavers"),
        ("hypergammon:match-7", "0:0:1:00:8:0:0:7:10", "a score is above 7"),
        ("hypergammon:match-7", "0:0:1:00:7:0:0:7:10", "the match is over"),
        ("hypergammon:match-7", "0:0:1:00:7:7:0:7:10", "one winner"),
        ("hypergammon:match-7", "0:0:1:00:2:3:1:7:10", "Crawford"),
        ("hypergammon:match-7", "1:1:1:00:6:3:1:7:10", "nobody doubles in the Crawford game"),
        ("hypergammon:money", "2:0:1:00:0:0:1:0:10", "the value 4 and no owner"),
        ("hypergammon:money", "0:1:1:00:0:0:1:0:10", "which nobody has turned"),
        ("hypergammon:money", "7:1:1:00:0:0:1:0:10", "the value 128"),
        ("hypergammon:money", "1:-1:1:D:0:0:1:0:10", "may not turn the cube"),
        ("hypergammon:match-7", "0:0:1:D:2:6:1:7:10", "may not turn the cube"),
        ("hypergammon:money", "1:1:1:B:0:0:1:0:10", "a beaver is not possible"),
        ("hypergammon:money-beavers", "0:0:1:R:0:0:3:0:10", "raccoons"),
        ("hypergammon:money", "0:0:1:D:0:0:1:0:10 31", "no roll is to be played"),
        ("hypergammon:money", "0:0:1:31:0:0:1:0:10 roll", "no roll is to be played"),
        ("hypergammon:money", "1:-1:1:00:0:0:1:0:10 roll", "nothing to decide"),
        ("hypergammon:money", "0:0:1:00:0:0:1:0:10 opening", "write `start`"),
        ("hypergammon:match-7", "1:1:1:00:2:3:0:7:10 opening", "the cube in the middle"),
        ("hypergammon:match-7", "0:0:1:00:2:3:0:7:10 dropped", "the match goes on"),
        ("hypergammon:money", "1:-1:1:00:0:0:1:0:10 dropped", "could not double"),
        ("hypergammon:match-7", "0:0:1:00:2:3:0:7:10 resigned", "the match goes on"),
        ("hypergammon:money", "0:0:1:31:0:0:1:0:10 resigned-gammon", "no roll is to be played"),
    ] {
        let error = game(name).parse_position(&format!("XGID={START}:{fields}")).unwrap_err().to_string();
        assert!(error.contains(part), "{name} {fields}: {error}");
    }
    // A finished game of a match that goes on; a resignation.
    let error = game("hypergammon:match-7")
        .parse_position("XGID=------------------------a-:0:0:1:00:2:3:0:7:10")
        .unwrap_err()
        .to_string();
    assert!(error.contains("goes on with the next one"), "{error}");
    let error =
        game("backgammon:match-7").parse_position("4HPhASjgc/ABMA:cEHgACAAIAAE").unwrap_err().to_string();
    assert!(error.contains("a resignation waits for an answer"), "{error}");
    let error =
        game("backgammon:money").parse_action(&game("backgammon:money").start(), "double").unwrap_err();
    assert!(error.to_string().contains("is not an opening"), "{error}");
}

/// Positions without cube and score: the cube is in the middle, and a match at its start.
#[test]
fn cubeless_texts_are_read_too() {
    let game = game("backgammon:match-5");
    let state = at(&game, "4HPwATDgc/ABMA");
    assert_eq!((state.stage, state.stakes), (Stage::Cube, Stakes::start(5)));
    let state = at(&game, "24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31");
    assert_eq!(game.position_text(&state), "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:5:10");
    let terms = game.terms(&after(&game, state, &["8/5 6/5", "double", "take"]));
    let scoring = Scoring::Match { away: [5, 5], crawford: false };
    assert_eq!(terms, Terms { cube: 2, owner: CubeOwner::Theirs, scoring });
    // gnubg labels its IDs.
    let labelled = "Position ID: 4HPhASjgc/ABMA Match ID: QQngACAAIAAE";
    let state = at(&Backgammon::named("backgammon:match-7").unwrap(), labelled);
    assert_eq!((state.player, state.stakes.cube(), state.stakes.owner()), (1, 2, Some(0)));
    assert_eq!(state.stakes.away(), Some([5, 3]));
}

#[test]
fn cube_and_score_are_shown() {
    let game = game("backgammon:match-7");
    let texts = game.texts();
    let state = at(&game, "XGID=-b----E-C---eE---c-e----B-:1:1:1:D:2:4:0:7:10");
    let board = texts.board(&game, &state, &[], 0);
    for part in [
        "○ to take or drop 4",
        "cube at 2 with ●, ● needs 5, ○ needs 3 to win the match\n",
        "\n XGID=-b----E-C---eE---c-e----B-:1:1:1:D:2:4:0:7:10\n",
    ] {
        assert!(board.contains(part), "{board}");
    }
    assert!(board.lines().all(|line| line.chars().count() < 80), "{board}");
    assert_eq!(texts.told(&game, &state, &Action::Drop, "Ann", false), "Ann drops and loses 2 points.");
    assert_eq!(texts.told(&game, &state, &Action::Take, "You", true), "You take the cube at 4.");
    // Player 1 wins a single game: player 2 has borne off one of 15 checkers.
    let last = at(&game, "XGID=-A-----------------eed----:0:0:1:21:5:2:0:7:10");
    let moved = game.parse_action(&last, "1/off").unwrap();
    let said = texts.event(&game, &last, &moved, 1);
    assert_eq!(said.as_deref(), Some("The score is 2 to 6 of 7, yours first. The Crawford game follows."));
    let rules = texts.rules(&game).unwrap();
    assert!(rules.contains("The match goes to 7 points") && rules.contains("`take` or `drop`"));
}

/// At the end of a money game the values are exact, whatever a network says: 4 and 2 against 1 is a double and a take of .5556, where the
/// usual efficiency rolls.
#[test]
fn ends_of_money_games_are_exact() {
    let money = game("backgammon:money");
    // Capital letters are player 0, to roll: checkers on its points 4 and 2, and one of the opponent on its ace point.
    let state = at(&money, "XGID=--A-A-------------------a-:0:0:1:00:0:0:1:0:10");
    let state = State { stage: Stage::Cube, ..state };
    let adapted = money.results().adapted.expect("networks without the cube play it");
    for probabilities in [[1.0 / 6.0; 6], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]] {
        let points = |state: &State, player| {
            (adapted.value)(&money, state, player).of(&probabilities) * money.scale() as f32
        };
        let reading = (adapted.reading)(&money, &state, 0, &probabilities).unwrap();
        let figure = |name: &str| reading.figures.iter().find(|(known, _)| *known == name).unwrap().1;
        assert_eq!(reading.advice, "double, take");
        let [no_double, take] = [figure("no double"), figure("double, take")];
        assert!((2.0 * no_double - take).abs() < 1e-6, "the next roll decides: {no_double}, {take}");
        assert!(
            (points(&state, 0) - take as f32).abs() < 1e-6 && (points(&state, 1) + take as f32).abs() < 1e-6
        );
        let rolling = State { stage: Stage::Rolling, ..state };
        assert!((points(&rolling, 0) - no_double as f32).abs() < 1e-6);
        let doubled = State { stage: Stage::Doubled, ..state };
        assert!((points(&doubled, 0) - take as f32).abs() < 1e-6);
    }
    // In a match, and with a side that has borne off nothing, networks are asked.
    let asked = [
        (game("backgammon:match-7"), "XGID=--A-D-------------------a-:0:0:1:00:0:0:0:7:10"),
        (money, "XGID=--A-A-------------------o-:0:0:1:00:0:0:1:0:10"),
    ];
    for (game, text) in asked {
        let state = at(&game, text);
        let rule = (game.results().adapted.unwrap().value)(&game, &state, 0);
        assert_ne!(
            rule.of(&[0.0, 0.0, 0.5, 0.5, 0.0, 0.0]),
            rule.of(&[0.0, 0.0, 0.1, 0.9, 0.0, 0.0]),
            "{text}"
        );
    }
}
