//! The small games as a [`PublicTree`]: public states and private dice.

use super::dice::Dice;
use super::game::MOST_OUTCOMES;
use super::rules::{Action, LiarsDice, RuleSet, Target};
use super::state::{Phase, State};
use adept_game::{Game, PublicTree, Turn};
use std::sync::Arc;

const DOUBT: Action = Action::Challenge(Target::Bid);

/// The public state of a small game: the bids, and whether the last bid was challenged.
#[derive(Clone, Debug)]
pub struct Public {
    /// The round before a challenge, with empty cups.
    table: State,
    /// Whether the last bid was challenged, which ends the game.
    doubted: bool,
    /// For each player: the dice of each private index.
    cups: Arc<[Vec<Dice>; 2]>,
}

impl LiarsDice {
    /// Whether this is a game of the rule set openspiel whose dice can be listed. Only these games support
    /// [`PublicTree`]; other rule sets have no private indices and a finished root.
    pub(super) fn is_listed(&self) -> bool {
        matches!(self.rules, RuleSet::OpenSpiel { .. })
            && self.dice.iter().all(|n| Dice::count_outcomes(*n, self.faces) <= MOST_OUTCOMES)
    }

    /// Utility for player 0 if the last bid is challenged.
    fn doubt_pays(&self, state: &State) -> f64 {
        match self.showdown(state, &DOUBT).and_then(|end| end.loser()) {
            Some(0) => -1.0,
            Some(_) => 1.0,
            None => 0.0,
        }
    }
}

impl Public {
    /// Puts the dice of a private index under a player's cup.
    fn cover(&self, state: &mut State, player: usize, own: usize) {
        if let (Some(seat), Some(cup)) = (state.seats.get_mut(player), self.cups[player].get(own)) {
            seat.cup = *cup;
        }
    }
}

/// A private index is an index into [`Dice::outcomes`].
impl PublicTree for LiarsDice {
    type Public = Public;

    fn privates(&self, player: usize) -> Vec<f64> {
        match self.dice.get(player) {
            Some(n) if self.is_listed() => {
                Dice::outcomes(*n, self.faces).into_iter().map(|(_, p)| p).collect()
            }
            _ => Vec::new(),
        }
    }

    fn root(&self) -> Public {
        let listed = self.is_listed();
        let cups = |player: usize| match self.dice.get(player) {
            Some(n) if listed => Dice::outcomes(*n, self.faces).into_iter().map(|(dice, _)| dice).collect(),
            _ => Vec::new(),
        };
        let mut table = self.first();
        while listed && table.phase == Phase::Roll {
            self.advance(&mut table, &Action::Roll(Dice::default()));
        }
        Public { table, doubted: false, cups: Arc::new([cups(0), cups(1)]) }
    }

    fn public_turn(&self, public: &Public) -> Turn {
        match public.table.phase {
            Phase::Act if !public.doubted => Turn::Player(public.table.mover.into()),
            _ => Turn::Over,
        }
    }

    fn public_actions(&self, public: &Public, actions: &mut Vec<Action>) {
        if public.doubted {
            actions.clear();
        } else {
            self.actions(&public.table, actions);
        }
    }

    fn public_apply(&self, public: &Public, action: &Action) -> Public {
        let mut next = public.clone();
        match action {
            Action::Challenge(_) => next.doubted = true,
            _ => self.advance(&mut next.table, action),
        }
        next
    }

    fn payoff(&self, public: &Public, own: [usize; 2]) -> f64 {
        let mut state = public.table.clone();
        public.cover(&mut state, 0, own[0]);
        public.cover(&mut state, 1, own[1]);
        self.doubt_pays(&state)
    }

    fn payoffs(&self, public: &Public, sizes: [usize; 2], matrix: &mut Vec<f64>) {
        matrix.clear();
        let mut state = public.table.clone();
        for i in 0..sizes[0] {
            public.cover(&mut state, 0, i);
            for j in 0..sizes[1] {
                public.cover(&mut state, 1, j);
                matrix.push(self.doubt_pays(&state));
            }
        }
    }

    fn state(&self, public: &Public, own: [usize; 2]) -> State {
        let mut state = public.table.clone();
        public.cover(&mut state, 0, own[0]);
        public.cover(&mut state, 1, own[1]);
        if public.doubted {
            self.advance(&mut state, &DOUBT);
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks a game by its rules and by the public tree together. Counts the finished games.
    fn compare(game: &LiarsDice, state: &State, public: &Public, own: [usize; 2]) -> u64 {
        assert_eq!(game.state(public, own), *state);
        assert_eq!(game.public_turn(public), game.turn(state));
        let (mut actions, mut found) = (Vec::new(), vec![Action::Exact]);
        game.actions(state, &mut actions);
        game.public_actions(public, &mut found);
        assert_eq!(found, actions);
        if game.turn(state) == Turn::Over {
            assert_eq!(game.payoff(public, own), game.utility(state, 0));
            let (sizes, mut matrix) = ([0, 1].map(|p| game.privates(p).len()), vec![9.0]);
            game.payoffs(public, sizes, &mut matrix);
            assert_eq!(matrix.len(), sizes[0] * sizes[1]);
            assert_eq!(matrix[own[0] * sizes[1] + own[1]], game.utility(state, 0));
            return 1;
        }
        let mut ended = 0;
        for action in &actions {
            let mut next = state.clone();
            game.apply(&mut next, action);
            ended += compare(game, &next, &game.public_apply(public, action), own);
        }
        ended
    }

    #[test]
    fn the_public_tree_is_the_game() {
        for (name, bids) in
            [("1-1:2", 4), ("1-2:2", 6), ("2-1:3", 9), ("1-1:3:no-wild", 6), ("2-2:2:no-wild", 8)]
        {
            let game = LiarsDice::named(&format!("liars-dice:openspiel:{name}")).expect("a game");
            assert!(game.is_listed());
            let rolls = [0, 1].map(|p| Dice::outcomes(game.dice()[p], game.faces()));
            for (player, rolls) in rolls.iter().enumerate() {
                assert_eq!(game.privates(player), rolls.iter().map(|(_, p)| *p).collect::<Vec<_>>());
            }
            for (i, first) in rolls[0].iter().enumerate() {
                for (j, second) in rolls[1].iter().enumerate() {
                    let mut state = game.start();
                    game.apply(&mut state, &Action::Roll(first.0));
                    game.apply(&mut state, &Action::Roll(second.0));
                    // Every nonempty set of bids is a sequence that can be challenged.
                    let ended = compare(&game, &state, &game.root(), [i, j]);
                    assert_eq!(ended, (1 << bids) - 1, "{name}");
                }
            }
        }
    }

    #[test]
    fn other_rule_sets_have_no_public_tree() {
        for name in ["liars-dice:soar:2x2", "liars-dice:r-post:2x6", "liars-dice:openspiel:60-60:6"] {
            let game = LiarsDice::named(name).expect("a game");
            assert!(!game.is_listed());
            assert_eq!([game.privates(0), game.privates(1)], [[0.0; 0], [0.0; 0]]);
            assert_eq!(game.public_turn(&game.root()), Turn::Over);
        }
    }
}
