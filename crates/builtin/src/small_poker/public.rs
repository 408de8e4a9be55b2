//! Small poker as a [`PublicTree`]: bets and the public card are public, a private index is the rank of a player's
//! card.

use super::rules::{Action, PublicState, RANKS, SmallPoker, State, Step};
use adept_game::{PublicTree, Turn};

impl PublicTree for SmallPoker {
    type Public = PublicState;

    fn privates(&self, _: usize) -> Vec<f64> {
        vec![1.0 / f64::from(RANKS); usize::from(RANKS)]
    }

    fn root(&self) -> PublicState {
        PublicState { board: None, rounds: vec![Vec::new()] }
    }

    fn public_turn(&self, public: &PublicState) -> Turn {
        match self.step(public) {
            Step::Board => Turn::Chance,
            Step::Player(player) => Turn::Player(player),
            Step::Folded(_) | Step::Showdown => Turn::Over,
        }
    }

    fn public_actions(&self, public: &PublicState, actions: &mut Vec<Action>) {
        actions.clear();
        match self.step(public) {
            Step::Board => actions.extend((0..RANKS).map(Action::Deal)),
            Step::Player(_) => self.moves(public, actions),
            Step::Folded(_) | Step::Showdown => {}
        }
    }

    fn public_apply(&self, public: &PublicState, action: &Action) -> PublicState {
        let mut next = public.clone();
        Self::advance(&mut next, *action);
        next
    }

    fn payoff(&self, public: &PublicState, own: [usize; 2]) -> f64 {
        self.pays(public, own.map(|rank| rank as u8))
    }

    fn is_weighted(&self) -> bool {
        true
    }

    fn weight(&self, public: &PublicState, own: [usize; 2]) -> f64 {
        let pairs = f64::from(RANKS) * f64::from(RANKS);
        pairs * self.chance(own.map(|rank| rank as u8), public.board)
    }

    fn state(&self, public: &PublicState, own: [usize; 2]) -> State {
        State { cards: own.map(|rank| Some(rank as u8)), dealt: 2, table: public.clone() }
    }
}
