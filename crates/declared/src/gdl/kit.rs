//! What commands need of a described game besides its rules.

use super::batch::Batch;
use super::effects::Facts;
use super::game::Described;
use super::session::State;
use super::terms::Term;
use crate::kit::{Parallel, kit};
use crate::modules::Structure;
use crate::names::{USUAL_GDL, is_gdl, source_of};
use crate::ruled::{OnDemand, Ruled};
use adept_game::{
    Afterstate, Audit, Channel, ChannelKind, Game, GameError, OutcomeClass, RandomPlay, RuleText, Stream,
    TraceStep,
};
use smallvec::SmallVec;

impl Described {
    /// The game that `name` names: `file:PATH.kif` for a description in GDL, `declared:NAME.kif` for one that comes with adept. None
    /// if the name has another form.
    pub fn named(name: &str) -> Option<Result<Self, GameError>> {
        let source = if is_gdl(name) { source_of(name) } else { None }?;
        Some(source.and_then(|source| Self::read(name, &source)))
    }

    /// Whether some game may end as neither loss, draw nor win.
    fn is_graded(&self) -> bool {
        self.tried.is_graded || self.rules.goals.iter().any(|(_, value)| !matches!(value, 0 | 50 | 100))
    }
}

kit!(Described);

impl Ruled for Described {
    const BITS: &'static str =
        "a bit for every fact, and for who moved; a key of all for tables where nothing is hidden";

    type Seen<'a> = &'a Facts;

    fn on_demand(&self) -> &OnDemand {
        &self.on_demand
    }

    fn cost(&self) -> usize {
        self.rules.net.size() + self.rules.facts.len() + 100
    }

    fn about(&self) -> String {
        let rules = &*self.rules;
        let roles: Vec<String> = rules.roles.iter().map(|&role| rules.terms.shown(role)).collect();
        let about = format!("a game in GDL for {}", roles.join(", "));
        if self.name() != USUAL_GDL {
            return about;
        }
        format!("{about}; file:PATH.kif for a description of your own")
    }

    fn classes(&self) -> Result<Vec<OutcomeClass>, GameError> {
        let why = match self.players() {
            2 if !self.zero_sum() => {
                "what one role gains the other need not lose, so there is no winner but goals".into()
            }
            2 if !self.is_graded() => return Ok(OutcomeClass::loss_draw_win()),
            2 => "its goals have more than three values".into(),
            n => format!("a game for {n} has no winner but goals"),
        };
        Err(GameError::new(format!("{}: {why}", self.name())))
    }

    /// The moves of all roles, one role after the other.
    fn acts(&self) -> usize {
        self.rules.moves.len()
    }

    fn named_facts(&self) -> Vec<(String, Vec<String>)> {
        let terms = &self.rules.terms;
        let fact = |&term: &Term| {
            let args = terms.args(term).iter().map(|&arg| terms.shown(arg)).collect();
            (terms.name(terms.head(term)).to_string(), args)
        };
        self.rules.facts.iter().map(fact).collect()
    }

    fn modules(&self) -> Result<Structure, String> {
        self.rules.structure(&self.source, self.hides())
    }

    fn seen<'a>(&self, state: &'a State, _player: usize) -> &'a Facts {
        &state.facts
    }

    /// Who moved; and in games with simultaneous choices the move, because the position is the one before it.
    fn further_channels(&self) -> Vec<Channel> {
        let rules = &*self.rules;
        let channel = |name: &'static str, about: Vec<String>| {
            Channel::new(name, ChannelKind::Bits(about.len())).about(about.join(" "))
        };
        let shown = |term| rules.terms.shown(term);
        let mut channels = Vec::new();
        if self.players() > 1 {
            channels.push(channel("player", rules.roles.iter().map(|&role| shown(role)).collect()));
        }
        channels.push(match self.hides() {
            true => {
                let moves = rules.moves.iter();
                channel("move", moves.map(|&(role, what)| format!("{}:{}", role + 1, shown(what))).collect())
            }
            false => Channel::fixed("position", ChannelKind::Key, "hash of all facts and of who moved"),
        });
        channels
    }

    fn marks(&self, after: Afterstate<'_, Self>) -> SmallVec<[usize; 2]> {
        let roles = if self.players() > 1 { self.players() } else { 0 };
        let mover = (roles > 0).then_some(after.player);
        let chosen = after.action.filter(|_| self.hides()).map(|&action| roles + action as usize);
        mover.into_iter().chain(chosen).collect()
    }

    fn key(&self, after: Afterstate<'_, Self>) -> SmallVec<[u64; 2]> {
        SmallVec::from_slice(&[after.player as u64])
    }
}

impl RuleText for Described {
    fn fingerprint(&self) -> Option<String> {
        Some(self.print.to_string())
    }

    fn audit(&self, games: u64) -> Option<Audit> {
        Some(self.audited(games))
    }

    fn trace(&self, seed: u64) -> Option<Vec<TraceStep>> {
        Some(self.traced(seed))
    }
}

impl RandomPlay<Described> for Parallel {
    /// None if the circuit is so large that so few games are played faster one by one, if its values take more than 32 MiB or its gates
    /// have more than 4 million inputs, or if games do not end in 20,000 steps or stay without a choice for 2,500.
    fn games(&self, game: &Described, state: &State, games: usize, rng: &mut Stream) -> Option<Vec<f64>> {
        let batch = game.batch.get_or_init(|| Batch::new(&game.rules, game.tried.work)).as_ref()?;
        let goals = batch.play(state, games as u64, rng)?;
        // The sums of what `utility` says of each game.
        let goals: Vec<f64> = goals.into_iter().map(|sum| sum as f64).collect();
        Some(match goals[..] {
            [first, second] if game.zero_sum() => vec![(first - second) / 100.0, (second - first) / 100.0],
            _ => goals.iter().map(|sum| sum / 50.0 - games as f64).collect(),
        })
    }

    fn before_choices(&self, game: &Described, state: &State) -> Option<State> {
        Some(game.without_choices(state))
    }
}
