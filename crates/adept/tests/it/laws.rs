//! A game that leaves a player without an action: it is detected and reported before training.

use adept::game::laws::{Budget, Law, check};
use adept::prelude::*;
use adept::trainer::config::load;
use adept::trainer::run::check_files;

/// Players add one or two to a sum; nothing can be added to four, and the game is over at five.
#[derive(Clone)]
struct Stuck;

impl Game for Stuck {
    type State = (u8, usize);
    type Action = u8;
    type Info = Self::State;

    fn name(&self) -> &str {
        "stuck"
    }

    fn players(&self) -> usize {
        2
    }

    fn start(&self) -> Self::State {
        (0, 0)
    }

    fn turn(&self, (sum, mover): &Self::State) -> Turn {
        if *sum >= 5 { Turn::Over } else { Turn::Player(*mover) }
    }

    fn actions(&self, (sum, _): &Self::State, actions: &mut Vec<u8>) {
        actions.clear();
        if *sum < 4 {
            actions.extend([1, 2]);
        }
    }

    fn apply(&self, (sum, mover): &mut Self::State, action: &u8) {
        (*sum, *mover) = (*sum + action, 1 - *mover);
    }

    fn utility(&self, (_, mover): &Self::State, player: usize) -> f64 {
        if player == *mover { -1.0 } else { 1.0 }
    }

    fn info(&self, state: &Self::State, _: usize) -> Self::State {
        *state
    }

    fn position_text(&self, (sum, mover): &Self::State) -> String {
        format!("{sum} @{}", mover + 1)
    }

    fn parse_position(&self, text: &str) -> Result<ParsedPosition<Self>, GameError> {
        match text.split(" @").map(str::parse).collect::<Result<Vec<u8>, _>>().as_deref() {
            Ok([sum, mover @ 1..=2]) => Ok(((*sum, usize::from(*mover) - 1), None)),
            _ => Err(GameError::new("write a sum and who is to move")),
        }
    }
}

impl Kit for Stuck {
    fn encoders(&self) -> Encoders<'_, Self> {
        let channel = Channel::fixed("sum", ChannelKind::Dense(1), "the sum");
        let write =
            |_: &Self, after: Afterstate<'_, Self>, row: RowMut<'_>| row.dense[0] = after.state.0.into();
        EncoderFn::new("sum", vec![channel], write).listed("the sum")
    }
}

#[test]
fn a_player_without_an_action_is_an_error_and_no_panic() {
    let report = check(&Stuck, &Budget::default());
    let laws: Vec<Law> = report.breaches.iter().map(|breach| breach.law).collect();
    assert_eq!(laws, [Law::Actions], "{report}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stuck.toml");
    for against in ["self", "random"] {
        let text = format!(
            "name = \"stuck\"\ngame = {{ rules = \"stuck\", encoder = \"sum\" }}\narchitecture.mlp = {{ hidden = [2] }}\n\
             learn = {{ rate = 0.01, td = {{ games = 100, against = \"{against}\" }} }}\n\
             evaluate = {{ suites = [\"matches\"], games = 10, every = 100 }}\n"
        );
        std::fs::write(&file, text).unwrap();
        let config = load(&file, &[], &One(Stuck)).unwrap();
        let fault = check_files(&Stuck, &config).unwrap_err();
        assert_eq!(fault.key, "game.rules");
        let said = fault.error.to_string();
        assert!(said.contains("stuck breaks a law of games: a player to move has an action"), "{said}");
        assert!(said.contains("position `4 @"), "{said}");
        let options = TrainOptions { out: Some(folder.path().join(against)), ..TrainOptions::default() };
        let error = train(&Stuck, &config, 1, &options, &Silent, &Cancel::default()).unwrap_err().to_string();
        assert!(error.contains("without an action in `4 @"), "{error}");
    }
}
