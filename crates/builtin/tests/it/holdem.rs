//! Hold'em: golden hands for every rule, texts, random hands, SoarBot's decisions.

use adept_builtin::holdem::{
    Action, Holdem, MAX_PLAYERS, NO_LIMIT, Profile, SoarBot, Stakes, State, agreement,
};
use adept_game::{
    Afterstate, Choice, Deliberation, Deliberator, Game, GameRecord, Kit, RowMut, RowSink, Turn, stream,
};
use rand::RngExt;
use std::path::Path;

fn limit(players: usize) -> Holdem {
    Holdem::new(players, Stakes::default()).unwrap()
}

fn stacked(players: usize, stack: u32) -> Holdem {
    Holdem::new(players, Stakes { stacks: [stack; MAX_PLAYERS], ..Stakes::default() }).unwrap()
}

fn read(game: &Holdem, text: &str) -> State {
    game.parse_position(text).unwrap_or_else(|e| panic!("{e}")).0
}

fn legal(game: &Holdem, state: &State) -> Vec<Action> {
    let mut actions = Vec::new();
    game.actions(state, &mut actions);
    actions
}

/// Checks the winnings of each seat in a finished hand.
fn check(game: &Holdem, text: &str, expected: &[i64]) {
    let state = read(game, text);
    assert_eq!(game.turn(&state), Turn::Over, "{text}");
    assert_eq!(&game.payoffs(&state)[..expected.len()], expected, "{text}");
}

#[test]
fn golden_hands() {
    // Heads-up the button has the small blind and acts first: its fold gives it up.
    check(&limit(2), "f:AhKd|2c7d", &[5, -5]);
    // An uncalled bet is not lost: only the blind of 10 and the call before.
    check(&limit(2), "rc/rf:AhKd|2c7d/3h4h5d", &[20, -20]);
    // Showdowns: three kings, a shared board, and the wheel.
    check(&limit(2), "cc/cc/cc/cc:KhKd|AcQd/Ks7s2d/8c/3h", &[10, -10]);
    check(&limit(2), "cc/cc/cc/cc:2h3d|2c3s/TsJsQs/Ks/As", &[0, 0]);
    check(&limit(2), "cc/cc/cc/crc:Ah2d|AcKd/3s4s5d/9c/9h", &[30, -30]);
    // Bets double on the turn, and a round has at most four bets: 40 + 40 + 80 + 80.
    check(&limit(2), "rrrc/rrrrc/rrrrc/rrrrc:AhAd|KcKd/2s7s9d/Jc/3h", &[240, -240]);
    // Three players: small blind, big blind, button, which acts first before the flop.
    check(&limit(3), "ff:AhAd|KcKd|QcQd", &[-5, 5, 0]);
    check(&limit(3), "rfc/cc/cc/cc:AhAd|KcKd|QcQd/2s7s9d/Jc/3h", &[-5, 25, -20]);
}

#[test]
fn side_pots_and_odd_chips() {
    // All are all in with 25: no bets follow, and the cards are dealt.
    check(&stacked(3, 25), "rrcc///:AhAd|KcKd|QcQd/2s7s9d/Jc/3h", &[50, -25, -25]);
    // With 15, 30 and 40 chips there is a main pot of 45 and a side pot of 30.
    let mut stacks = [NO_LIMIT; MAX_PLAYERS];
    stacks[..3].copy_from_slice(&[15, 30, 40]);
    let uneven = Holdem::new(3, Stakes { stacks, ..Stakes::default() }).unwrap();
    check(&uneven, "rcrc///:AhAd|KcQd|KdQs/2s7s9d/Jc/3h", &[30, -15, -15]);
    check(&uneven, "rcrc///:KhQh|AcAd|QcJd/2s7s9d/Jc/3h", &[-15, 45, -30]);
    check(&uneven, "rcrc///:AhAd|QdTd|KcJd/2s7s9d/Jc/3h", &[30, -30, 0]);
    // Chips that cannot be halved: the first winner after the button gets the odd one.
    let odd = Holdem::new(3, Stakes { blinds: [5, 9], bets: [9, 9, 18, 18], ..Stakes::default() }).unwrap();
    check(&odd, "cfc/cc/cc/cc:2h3d|KcKd|2c3s/TsJsQs/Ks/As", &[-5, 3, 2]);
}

/// The winnings of each seat, pot by pot and chip by chip.
fn plain_payoffs(state: &State, seats: usize, strength: &[u32]) -> Vec<i64> {
    let mut net: Vec<i64> = (0..seats).map(|seat| -i64::from(state.paid(seat))).collect();
    let most = (0..seats).map(|seat| state.paid(seat)).max().unwrap();
    let in_hand = |seat: &usize| !state.has_folded(*seat);
    let mut pots: Vec<(Vec<usize>, i64)> = Vec::new();
    for chip in 1..=most {
        let amount = (0..seats).filter(|seat| state.paid(*seat) >= chip).count() as i64;
        let mut entitled: Vec<usize> =
            (0..seats).filter(in_hand).filter(|s| state.paid(*s) >= chip).collect();
        if entitled.is_empty() {
            entitled = pots.last().unwrap().0.clone();
        }
        match pots.last_mut() {
            Some((seats, pot)) if *seats == entitled => *pot += amount,
            _ => pots.push((entitled, amount)),
        }
    }
    for (entitled, pot) in pots {
        let best = entitled.iter().map(|seat| strength[*seat]).max().unwrap();
        let winners: Vec<usize> = entitled.into_iter().filter(|seat| strength[*seat] == best).collect();
        for k in 0..pot {
            net[winners[k as usize % winners.len()]] += 1;
        }
    }
    net
}

#[test]
fn random_hands_keep_their_chips_and_their_text() {
    use adept_builtin::holdem::{Hand, Strengths};
    let stakes = |stack| {
        // Three sizes of stacks, for side pots.
        let stacks = std::array::from_fn(|seat| match stack {
            Some(stack) => stack + (seat % 3) as u32 * stack / 2,
            None => NO_LIMIT,
        });
        Stakes { stacks, blinds: [3, 7], bets: [7, 7, 13, 13], ..Stakes::default() }
    };
    for (k, (players, stack)) in
        [(2, None), (3, Some(20)), (4, Some(40)), (6, Some(75)), (10, None), (9, Some(33))]
            .into_iter()
            .enumerate()
    {
        let game = Holdem::new(players, stakes(stack)).unwrap();
        assert!(adept_builtin::visit(game.name(), Nothing).unwrap().is_ok(), "{}", game.name());
        let mut rng = stream(1, "hands", k as u64);
        for _ in 0..300 {
            let mut state = game.start();
            let mut moves = 0;
            loop {
                let again = game.parse_position(&game.position_text(&state)).unwrap().0;
                assert_eq!(again, state, "{}", game.position_text(&state));
                let action = match game.turn(&state) {
                    Turn::Over => break,
                    Turn::Chance => game.sample(&state, &mut rng),
                    Turn::Player(player) => {
                        assert!(!state.has_folded(player) && !state.is_all_in(player));
                        let all = legal(&game, &state);
                        assert_eq!(all.contains(&Action::Fold), state.to_call(player) > 0);
                        // Few folds, so that hands are long.
                        let action = all[rng.random_range(0..all.len())];
                        if action == Action::Fold && rng.random_bool(0.6) { Action::Call } else { action }
                    }
                };
                game.apply(&mut state, &action);
                moves += 1;
                assert!(moves < 400);
            }
            let net = game.payoffs(&state);
            assert_eq!(net.iter().sum::<i64>(), 0);
            let board = state.board().fold(Hand::default(), Hand::with);
            let strength = |seat: usize| {
                let [a, b] = state.hole(seat).unwrap();
                let hand = board.with(a).with(b);
                if hand.len() == 7 { u32::from(Strengths::shared().strength(&hand).number()) } else { 0 }
            };
            let strengths: Vec<u32> = (0..players).map(strength).collect();
            let text = game.position_text(&state);
            assert_eq!(net[..players], plain_payoffs(&state, players, &strengths)[..], "{text}");
            for (seat, won) in net.iter().enumerate().take(players) {
                assert!(state.paid(seat) <= game.stakes().stacks[seat], "{text}");
                assert!((*won as f64).abs() <= game.scale(), "{text}");
                // A player's view does not reveal the cards of players who folded.
                let shown = game.shown_to(&state, seat);
                let hidden = (0..players).filter(|other| *other != seat && state.has_folded(*other));
                assert!(hidden.into_iter().all(|other| shown.hole(other).is_none()));
            }
        }
    }
}

#[test]
fn illegal_moves_are_refused_with_the_reason() {
    let game = limit(2);
    let refused = |text: &str| game.parse_position(text).unwrap_err().to_string();
    for (text, why) in [
        ("rrrr:AhKd|", "a round has at most 4 bets"),
        ("ccf:AhKd|/2c3c4c", "there is no bet to fold to"),
        ("cc:AhKd|AhQd", "has the card Ah twice"),
        ("ccc:AhKd|", "before the next cards of the board"),
        ("c:AhKd|/2c3c4c", "of a round that is not reached"),
        ("cc:AhKd|/2c3c", "are not 3 cards"),
        ("x:AhKd|", "`x` is not a move"),
        ("c:AhKd", "cards of 1 seats instead of 2"),
        ("c/c:AhKd|", "a slash comes before the end of a round"),
        ("cc/cc/cc/cc:AhKd|/2c3c4c/5d/6d", "at a showdown the cards of all who are left"),
        ("AhKd", "there is no colon"),
    ] {
        assert!(refused(text).contains(why), "{}", refused(text));
    }
    let state = read(&game, "r:AhKd|");
    let said = |word: &str| game.parse_action(&state, word).map_err(|e| e.to_string());
    assert_eq!((said("raise"), said("K")), (Ok(Action::Raise), Ok(Action::Call)));
    assert!(said("check").unwrap_err().contains("there is a bet"));
    assert!(said("all in").unwrap_err().contains("fold, call, raise"));
    for (name, why) in [
        ("holdem", "no such game"),
        ("holdem:limit:1", "2 to 10 players"),
        ("holdem:limit:2:cap=9", "9 raises: at most 8 in a round"),
        ("holdem:limit:2:raises=3/9/4/4", "9 raises"),
        ("holdem:limit:2:bets=10/0/20/20", "a bet of 0"),
        ("holdem:limit:2:cap=4:raises=3/4/4/4", "after another option of its kind"),
        ("holdem:limit:11:stack=5/5/5/5/5/5/5/5/5/5/5", "`stack=5/5/5/5/5/5/5/5/5/5/5` is not an option"),
        ("holdem:limit:2:stack=5", "from the big blind"),
        ("holdem:limit:2:bets=10", "`bets=10` is not an option"),
        ("holdem:limit:2:blinds=20/10", "the small one is at most the big one"),
    ] {
        let error = adept_builtin::visit(name, Nothing).unwrap().unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("write holdem:limit:2"), "{error}");
    }
}

struct Nothing;

impl adept_game::Visitor for Nothing {
    type Output = ();

    fn visit<G: Kit>(self, _: G) {}
}

/// The big blind may raise after calls; an all-in raise of less than half a bet does not reopen the betting.
#[test]
fn options_and_short_raises() {
    let game = limit(3);
    let option = read(&game, "cc:AhKd||");
    assert_eq!(
        (game.turn(&option), legal(&game, &option)),
        (Turn::Player(1), vec![Action::Call, Action::Raise])
    );
    // 23 chips, 20 of them paid: the raise brings three more.
    let short = stacked(3, 23);
    let state = read(&short, "rcr:AhKd||");
    assert_eq!(state.to_call(2), 3);
    assert_eq!(legal(&short, &state), [Action::Fold, Action::Call]);
    // 26 chips: six more are half a bet, and count.
    let state = read(&stacked(3, 26), "rcr:AhKd||");
    assert_eq!(state.bets(), 3);
}

#[derive(Default)]
struct OneRow {
    dense: Vec<f32>,
    index: Vec<u64>,
}

impl RowSink for OneRow {
    fn push(&mut self) -> RowMut<'_> {
        RowMut { dense: &mut self.dense, index: &mut self.index }
    }
}

/// Rows do not depend on the other players' cards, but on the move.
#[test]
fn rows_hold_what_the_player_knows() {
    let game = limit(3);
    let encoder = game.encoders().open("features").unwrap();
    let width: usize = encoder.channels().iter().map(|c| c.kind.dense_width()).sum();
    let row = |text: &str, action: Action| {
        let state = read(&game, text);
        let Turn::Player(player) = game.turn(&state) else { panic!("{text}") };
        let mut row = OneRow { dense: vec![0.0; width], index: vec![0; 2] };
        encoder.encode(&game, Afterstate { state: &state, action: Some(&action), player }, row.push());
        (row.dense, row.index)
    };
    let whole = row("rcc/c:AhKd|AcQd|2s2c/As7d9d", Action::Call);
    let own = row("rcc/c:|AcQd|/As7d9d", Action::Call);
    assert_eq!(whole, own);
    assert!(whole.0.iter().all(|v| v.is_finite() && v.abs() <= 1.0));
    // The flop, and the highest steps of the share of the pot.
    assert!(whole.1[0] == 1 && whole.1[1] > 50, "{:?}", whole.1);
    assert_ne!(whole.0, row("rcc/c:|AcQd|/As7d9d", Action::Raise).0);
    // A pair of aces with a queen: top pair, and far ahead of one random hand.
    assert!(whole.0[28] > 0.8 && whole.0[29] > 0.85, "{:?}", &whole.0[28..32]);
}

fn recorded() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/soarbot-2002-decisions.csv"))
}

#[test]
fn the_rules_of_2002_decide_as_recorded() {
    let profile = Profile::built_in("soarbot-2002").unwrap().unwrap();
    let found = agreement(&profile, recorded()).unwrap();
    for difference in &found.differences {
        println!("{difference:?}");
    }
    assert_eq!((found.rows, found.agree), (600, 600));
    // The corrected rules differ somewhere.
    let mended = agreement(&Profile::built_in("soarbot").unwrap().unwrap(), recorded()).unwrap();
    assert!(mended.share > 0.85 && mended.share < 0.95, "{}", mended.share);
}

/// Rules may read the chances in every stage, not only on the river.
#[test]
fn chances_are_those_of_the_board_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let game = limit(2);
    // Of 1081 hands on 7-2-2, 91 with a deuce and three pairs of sevens beat aces, and one shares; before the flop 85.2 % is theirs.
    let cases = [
        ("preflop", ":|AsAd", "best-hand-probability >= 0.852", "best-hand-probability >= 0.853"),
        ("flop", "cc/c:|AsAd/7c2d2h", "best-hand-probability >= 0.912", "best-hand-probability >= 0.913"),
        // Four to a flush: nine of 47 cards, and more.
        ("flop", "cc/c:|AsKs/7s2s9d", "potential >= 0.2", "potential >= 0.9"),
        ("turn", "cc/cc/c:|AsKs/7s2s9d/3c", "adjusted-odds >= 0.1", "potential >= 0.9"),
    ];
    for (stage, position, holds, fails) in cases {
        let raise = |when: &str| {
            let rule = format!(
                "[{stage}]\nrule = [{{ name = \"a\", when = [\"{when}\"], action = \"raise\", score = 30 }}]"
            );
            std::fs::write(&path, format!("straights = \"exact\"\n{rule}")).unwrap();
            policy(&game, &SoarBot::new("mine", Profile::read(&path).unwrap()), position)[2]
        };
        assert_eq!((raise(holds), raise(fails)), (1.0, 0.0), "{stage} {position}");
    }
}

fn policy(game: &Holdem, agent: &SoarBot, text: &str) -> [f64; 3] {
    let state = read(game, text);
    let Turn::Player(player) = game.turn(&state) else { panic!("{text}") };
    agent.policy(game, &state, player)
}

/// Raises before the flop need the flag, so a raise reveals that it is set.
#[test]
fn the_hidden_flag_follows_from_what_was_played() {
    let game = limit(2);
    let agent = SoarBot::new("soarbot", Profile::built_in("soarbot").unwrap().unwrap());
    // Aces on the button: half the time it raises.
    assert_eq!(policy(&game, &agent, ":|AsAd"), [0.0, 0.5, 0.5]);
    assert_eq!(policy(&game, &agent, "rr:|AsAd"), [0.0, 0.0, 1.0]);
    assert_eq!(policy(&game, &agent, "cr:|AsAd"), [0.0, 1.0, 0.0]);
    assert_eq!(policy(&game, &agent, ":|7s2d"), [1.0, 0.0, 0.0]);
}

/// With ten players, the best hands in early seats check-raise.
#[test]
fn a_check_raise_is_a_plan() {
    let game = limit(10);
    let agent = SoarBot::new("soarbot", Profile::built_in("soarbot").unwrap().unwrap());
    let early = ":||AsAd|||||||";
    assert_eq!(policy(&game, &agent, early), [0.0, 1.0, 0.0]);
    let raised = "cffffffr".to_string() + "ff" + early;
    assert_eq!(policy(&game, &agent, &raised), [0.0, 0.0, 1.0]);
    let (state, mut found) = (read(&game, &raised), Deliberation::default());
    found.explains = true;
    agent.deliberate(&game, &state, 2, &mut found);
    assert_eq!(agent.choice(), Choice::Proportional);
    assert!(found.remarks.iter().any(|r| r.contains("it has checked to raise")), "{:?}", found.remarks);
}

/// Rule files of users: faults are named with their place.
#[test]
fn rule_files_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let read = |text: &str| {
        std::fs::write(&path, format!("straights = \"exact\"\n{text}")).unwrap();
        Profile::read(&path).map(|_| ()).map_err(|e| e.to_string())
    };
    let rule = |when: &str| {
        read(&format!(
            "[flop]\nrule = [{{ name = \"a\", when = [\"{when}\"], action = \"call\", score = 20 }}]"
        ))
    };
    assert_eq!(rule("pot-odds > 2"), Ok(()));
    for (when, why) in [
        ("aces", "flop.rule `a`: `aces` is not a flag; the flags are pair, "),
        ("pots > 2", "`pots` is not a number of the rules; the numbers are strength, "),
        ("pot > big", "`big` is not a number"),
        ("pot > nan", "`nan` is not a number"),
        ("none of dangers", "[sets] has no `dangers`"),
    ] {
        let error = rule(when).unwrap_err();
        assert!(error.contains(why) && error.contains("mine.toml"), "{error}");
    }
    assert!(
        read("[flop]\nrule = [{ name = \"a\", action = \"bet\", score = 1 }]")
            .unwrap_err()
            .contains("unknown variant `bet`")
    );
    assert!(read("maybe = 2.0").unwrap_err().contains("a probability"));
    let missing = Profile::read(Path::new("no/such.toml")).unwrap_err().to_string();
    assert!(missing.contains("no/such.toml"), "{missing}");
}

/// An all-in raise of less than half a bet counts, and the next one adds a full bet; no player raises if no other can
/// respond.
#[test]
fn raises_beside_short_stacks() {
    let mut stacks = [NO_LIMIT; MAX_PLAYERS];
    stacks[..4].copy_from_slice(&[100, 100, 100, 22]);
    let game = Holdem::new(4, Stakes { stacks, ..Stakes::default() }).unwrap();
    // The button has 22 chips: its raise brings two.
    let state = read(&game, "rrr:|||");
    assert_eq!((state.bets(), state.to_call(1)), (4, 22));
    // The big blind is all in with 20, the small blind has one chip left: the button can only call.
    stacks[..3].copy_from_slice(&[11, 20, 100]);
    let game = Holdem::new(3, Stakes { stacks, ..Stakes::default() }).unwrap();
    let state = read(&game, "ccr:||");
    assert_eq!(legal(&game, &state), [Action::Fold, Action::Call]);
}

#[test]
fn game_definitions() {
    let mut stacks = [NO_LIMIT; MAX_PLAYERS];
    stacks[..4].copy_from_slice(&[50, 60, 70, 80]);
    let uneven = Stakes { bets: [2, 2, 4, 8], raises: [1, 2, 3, 4], stacks, blinds: [1, 3] };
    for game in [limit(2), limit(3), limit(9), Holdem::new(4, uneven).unwrap()] {
        let name = game.name();
        let again = Holdem::of_definition(&game.definition()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(again, game);
    }
    let text = limit(2).definition();
    // As in the dealer's own file of heads-up hold'em.
    for line in ["blind = 10 5", "raiseSize = 10 10 20 20", "firstPlayer = 2 1 1 1", "maxRaises = 3 4 4 4"] {
        assert!(text.contains(line), "{text}");
    }
    let faults = [
        ("", "", "no line END GAMEDEF"),
        ("limit\n", "nolimit\n", "line 2: `nolimit`"),
        ("limit\n", "", "no line `limit`"),
        ("blind = 10 5\n", "", "`blind` is missing"),
        ("blind = 10 5", "blind = 10 5 5", "small and the big blind"),
        ("numRanks = 13", "numRanks = 6", "`numRanks = 6`: hold'em has `13`"),
        ("firstPlayer = 2 1 1 1", "firstPlayer = 1 1 1 1", "hold'em has `2 1 1 1`"),
        ("numPlayers = 2", "numPlayers = 11", "expected 2 to 10"),
        ("numSuits = 4", "numSuits = four", "line 9: `numSuits = four`"),
        ("numSuits = 4", "suits = 4", "`suits` is not a key"),
        ("numSuits = 4", "blind = 10 5", "`blind` comes twice"),
        ("maxRaises = 3 4 4 4", "maxRaises = 3 4 4", "expected 4 numbers"),
        ("maxRaises = 3 4 4 4", "maxRaises = 3 4 4 9", "9 raises: at most 8"),
        ("maxRaises = 3 4 4 4", "maxRaises = 3 4 4 400", "too many raises"),
    ];
    for (from, to, expected) in faults {
        let wrong = if from.is_empty() { "GAMEDEF\n".to_string() } else { text.replace(from, to) };
        let error = Holdem::of_definition(&wrong).unwrap_err().to_string();
        assert!(error.contains(expected), "{from} → {to}: {error}");
    }
}

/// Plays at random and returns all moves and deals.
fn random_hand(game: &Holdem, number: u64) -> Vec<Action> {
    let mut rng = stream(number, "hand", 0);
    let (mut state, mut all, mut actions) = (game.start(), Vec::new(), Vec::new());
    loop {
        let action = match game.turn(&state) {
            Turn::Over => return all,
            Turn::Chance => game.sample(&state, &mut rng),
            Turn::Player(_) => {
                game.actions(&state, &mut actions);
                actions[rng.random_range(0..actions.len())]
            }
        };
        game.apply(&mut state, &action);
        all.push(action);
    }
}

/// Written histories are read back: every decision of every hand.
#[test]
fn hand_histories() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hands.phhs");
    let mut stacks = [NO_LIMIT; MAX_PLAYERS];
    stacks[..5].copy_from_slice(&[11, 22, 33, 100, 57]);
    let short = Holdem::new(5, Stakes { stacks, ..Stakes::default() }).unwrap();
    for game in [limit(2), limit(6), short] {
        let (mut text, mut expected) = (String::new(), Vec::new());
        let names = vec!["someone \"else\""; game.players()];
        for number in 0..200 {
            let hand = random_hand(&game, number);
            let record =
                GameRecord { number: number + 1, names: &names, scores: &[], actions: &hand, resigned: None };
            text += &game.records().write(&game, &record).unwrap().unwrap();
            text.push('\n');
            let mut state = game.start();
            for action in &hand {
                if let Turn::Player(_) = game.turn(&state) {
                    expected.push((state.clone(), None));
                }
                game.apply(&mut state, action);
            }
        }
        std::fs::write(&path, &text).unwrap();
        assert_eq!(game.files().read(&game, &path).unwrap(), expected, "{}", game.name());
    }
}

#[test]
fn a_hand_history_by_letter() {
    let game = limit(2);
    let state = read(&game, "rc/rc/cc/cc:AhKd|QsQc/2c7dTs/3h/4h");
    let mut actions = Vec::new();
    let (mut past, mut boards) = (game.start(), vec!["4h", "3h", "2c7dTs", "AhKdQsQc"]);
    let mut moves = state.history().entries();
    while past != state {
        let action = match game.turn(&past) {
            Turn::Chance => {
                let dealt = adept_builtin::holdem::parse_cards(boards.pop().unwrap()).unwrap();
                Action::Deal(adept_builtin::holdem::Deal::new(dealt.into_iter().map(Some)))
            }
            _ => match moves.find(|entry| *entry != adept_builtin::holdem::Entry::End).unwrap() {
                adept_builtin::holdem::Entry::Fold => Action::Fold,
                adept_builtin::holdem::Entry::Raise => Action::Raise,
                _ => Action::Call,
            },
        };
        game.apply(&mut past, &action);
        actions.push(action);
    }
    let record = GameRecord { number: 1, names: &["a", "b"], scores: &[], actions: &actions, resigned: None };
    let text = game.records().write(&game, &record).unwrap().unwrap();
    insta::assert_snapshot!(text, @r#"
    [1]
    variant = "FT"
    ante_trimming_status = true
    antes = [0, 0]
    blinds_or_straddles = [5, 10]
    small_bet = 10
    big_bet = 20
    starting_stacks = [inf, inf]
    actions = ["d dh p1 AhKd", "d dh p2 QsQc", "p2 cbr 20", "p1 cc", "d db 2c7dTs", "p1 cbr 10", "p2 cc", "d db 3h", "p1 cc", "p2 cc", "d db 4h", "p1 cc", "p2 cc", "p1 sm AhKd", "p2 sm QsQc"]
    players = ["a", "b"]
    _won = [-30, 30]
    "#);
    // A file with one hand has no number; hidden cards give no positions.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hand.phh");
    let one = text.trim_start_matches("[1]\n");
    std::fs::write(&path, one.replace("p2 QsQc", "p2 ????").replace(", \"p2 sm QsQc\"", "")).unwrap();
    assert_eq!(game.files().read(&game, &path).unwrap().len(), 4);
    let faults = [
        ("\"FT\"", "\"NT\"", "expected `FT`"),
        ("p2 cbr 20", "p2 cbr 30", "action 3: the bet is 20 in this game"),
        ("\"p2 cbr 20\"", "\"p1 cc\"", "it is the turn of p2"),
        ("\"p2 cbr 20\"", "\"p3 cc\"", "players are p1 to p2"),
        ("p2 QsQc", "p2 QsJc", "action 15, `p2 sm QsQc`: the player shows other cards"),
        ("2c7dTs", "2c7dAh", "has the card Ah twice"),
        ("\"d db 2c7dTs\", ", "", "the next cards of the board come before it"),
        ("d db 2c7dTs", "d db 2c7d", "3 cards of the board"),
        ("small_bet = 10", "small_bet = 5", "small_bet is 5, but holdem:limit:2 has 10"),
        ("[5, 10]", "[10, 5]", "blinds_or_straddles"),
        ("[inf, inf]", "[30, 30]", "starting_stacks"),
        ("[inf, inf]", "[inf, inf, inf]", "the number of players is 3"),
        ("[0, 0]", "[1, 1]", "antes"),
        ("p2 cbr 20", "p2 jump", "expected `d dh pN CARDS`"),
        ("variant", "= variant", "hand 1, from line 1"),
    ];
    for (from, to, expected) in faults {
        assert!(text.contains(from), "{from}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
        let error = game.files().read(&game, &path).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("hand.phh: hand 1"), "{from} → {to}: {error}");
    }
}
