//! What commands need of a described game besides its rules.

use super::batch::Batch;
use super::game::{Described, Words};
use super::session::State;
use super::structure::Structure;
use super::terms::Term;
use crate::indices::{Indexed, Indices, base_of, groups, positions};
use crate::kit::{INDICES, RULES, count_states, is_gdl, is_quick, shipped};
use crate::modules::channels;
use adept_game::{
    Afterstate, Agents, Audit, Card, Channel, ChannelKind, Encoder, Encoders, Game, GameError, Kit, Listing,
    Named, Numbering, OutcomeClass, RandomPlay, Results, RowMut, RuleText, Stream, Suite, Texts, TraceStep,
    Turn, stream,
};
use adept_ground::limits;
use rand::RngExt;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The game that stands for all of them in lists.
pub const USUAL_GDL: &str = "declared:tic-tac-toe.kif";

impl Described {
    /// The game that `name` names: `file:PATH.kif` for a description in GDL, `declared:NAME.kif` for one that comes with adept. None
    /// if the name has another form.
    pub fn named(name: &str) -> Option<Result<Self, GameError>> {
        if !is_gdl(name) {
            return None;
        }
        if let Some(path) = name.strip_prefix("file:") {
            let path = Path::new(path);
            let text = limits::read_text(path, limits::CONFIG_BYTES).map_err(GameError::file(path));
            return Some(text.and_then(|text| Self::read(name, &text)));
        }
        let wanted = name.strip_prefix("declared:")?;
        Some(shipped(wanted).and_then(|source| Self::read(name, source)))
    }

    /// Whether some game may end as neither loss, draw nor win.
    fn is_graded(&self) -> bool {
        self.tried.is_graded || self.rules.goals.iter().any(|(_, value)| !matches!(value, 0 | 50 | 100))
    }
}

/// The classes of a game of two players, whose results are few.
fn classes_of(game: &Described) -> Result<Vec<OutcomeClass>, GameError> {
    match game.players() {
        2 if !game.zero_sum() => {
            let why = "what one role gains the other need not lose, so there is no winner but goals";
            Err(GameError::new(format!("{}: {why}", game.name())))
        }
        2 if !game.is_graded() => Ok(OutcomeClass::loss_draw_win()),
        2 => Err(GameError::new(format!("{}: its goals have more than three values", game.name()))),
        n => Err(GameError::new(format!("{}: a game for {n} has no winner but goals", game.name()))),
    }
}

impl Described {
    /// What lists say of it.
    fn about(&self) -> String {
        let rules = &*self.rules;
        let roles: Vec<String> = rules.roles.iter().map(|&role| rules.terms.shown(role)).collect();
        let about = format!("a game in GDL for {}", roles.join(", "));
        if self.name() != USUAL_GDL {
            return about;
        }
        format!("{about}; file:PATH.kif for a description of your own")
    }

    /// The rest of a starter config.
    fn starter(&self) -> String {
        let text = crate::kit::starter(self.players(), is_quick(self.states()) && !self.hides());
        // What wins at once is not known where moves are hidden.
        if self.hides() { text.replace("[\"greedy\", \"random\"]", "[\"random\"]") } else { text }
    }
}

impl Kit for Described {
    fn card(&self) -> Card {
        let suites =
            vec![if is_quick(self.states()) && !self.hides() { Suite::Equity } else { Suite::Matches }];
        Card { about: self.about(), suites, starter: Some(self.starter()) }
    }

    fn results(&self) -> Results<Self> {
        Results::of(classes_of)
    }

    /// The moves of all roles, one role after the other.
    fn action_numbers(&self) -> Numbering<Self> {
        Numbering::new(self.rules.moves.len(), |_, _, &action| action as usize)
    }

    fn texts(&self) -> &dyn Texts<Self> {
        &Words
    }

    fn encoders(&self) -> Encoders<'_, Self> {
        let names = Named::list(&[
            (
                "bits",
                "a bit for every fact, and for who moved; a key of all for tables where nothing is hidden",
            ),
            ("blind", "the same bits without names, shuffled"),
            ("indices", INDICES),
            ("rules", RULES),
        ]);
        Encoders::<Self>::new(names, |name| {
            if let Some(base) = base_of(name) {
                let inner = match base {
                    Some(base) => Some(self.encoders().open(base)?),
                    None => None,
                };
                let seen = |_: &Self, after: Afterstate<'_, Self>| after.state.facts.clone();
                return Some(Arc::new(Indexed::new(inner, self.indices().clone(), seen)));
            }
            match name {
                "bits" => Some(Arc::new(Bits::of(self, false))),
                "blind" => Some(Arc::new(Bits::of(self, true))),
                "rules" => Some(Arc::new(Relations::of(self))),
                _ => None,
            }
        })
    }

    fn agents(&self) -> Agents<'_, Self> {
        if self.hides() {
            return Agents::none();
        }
        let about = "takes a move that wins at once; if there is none, any move";
        Agents::scripts(Listing::one("greedy", about, Arc::new(greedy)))
    }

    fn is_small(&self) -> bool {
        self.states().is_some()
    }

    fn rule_text(&self) -> Option<&dyn RuleText> {
        Some(self)
    }

    fn random_play(&self) -> &dyn RandomPlay<Self> {
        &Lanes
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

/// Random games side by side, in the lanes of a batch.
struct Lanes;

impl RandomPlay<Described> for Lanes {
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

impl Described {
    /// The number of its states, if they are few.
    fn states(&self) -> Option<usize> {
        *self.states.get_or_init(|| count_states(self, self.cost()))
    }
}

/// A move that wins at once, or any move.
fn greedy(game: &Described, state: &State, actions: &[u32], probabilities: &mut Vec<f64>) {
    let player = usize::from(state.mover);
    let wins = |action: &u32| {
        let mut next = state.clone();
        game.apply(&mut next, action);
        game.turn(&next) == Turn::Over && game.utility(&next, player) > 0.0
    };
    let wins: Vec<bool> = actions.iter().map(wins).collect();
    crate::kit::share(&wins, probabilities);
}

/// What each module of the rules reads.
#[derive(Debug)]
struct Relations {
    channels: Vec<Channel>,
    /// Or why there is none.
    structure: Result<Arc<Structure>, String>,
    /// Whether choices are hidden, so that a row shows the move.
    hides: bool,
}

impl Relations {
    fn of(game: &Described) -> Self {
        let structure = game.structure().clone();
        let channels = structure.iter().flat_map(|s| channels(&s.modules, s.copies)).collect();
        Self { channels, structure, hides: game.hides() }
    }
}

impl Encoder<Described> for Relations {
    fn name(&self) -> &str {
        "rules"
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn fits(&self, _game: &Described) -> Result<(), String> {
        self.structure.as_ref().map(|_| ()).map_err(String::clone)
    }

    fn encode(&self, _game: &Described, after: Afterstate<'_, Described>, row: RowMut<'_>) {
        if let Ok(structure) = &self.structure {
            let action = after.action.copied().filter(|_| self.hides);
            structure.fill(&after.state.facts, after.player, action, row.dense);
        }
    }

    fn needs_action(&self) -> bool {
        self.hides
    }
}

impl Described {
    fn indices(&self) -> &Arc<Indices> {
        self.indices.get_or_init(|| {
            let rules = &*self.rules;
            let fact = |&term: &Term| {
                let args = rules.terms.args(term).iter().map(|&arg| rules.terms.shown(arg)).collect();
                (rules.terms.name(rules.terms.head(term)).to_string(), args)
            };
            let facts: Vec<(String, Vec<String>)> = rules.facts.iter().map(fact).collect();
            let positions = positions(self, |state, _| state.facts.clone());
            Arc::new(Indices::new(groups(&facts), &positions))
        })
    }
}

/// The facts of a position as bits, and who moved; in games with simultaneous choices, the position before and the move.
#[derive(Debug)]
struct Bits {
    channels: Vec<Channel>,
    /// The input of each bit, if they are shuffled.
    order: Option<Vec<u32>>,
    facts: usize,
    /// Bits of the player who moved, and of the move.
    players: usize,
    moves: usize,
}

impl Bits {
    fn of(game: &Described, is_blind: bool) -> Self {
        let rules = &*game.rules;
        let facts = rules.facts.len();
        let players = if rules.roles.len() > 1 { rules.roles.len() } else { 0 };
        let moves = if game.hides() { rules.moves.len() } else { 0 };
        let names = |list: &mut dyn Iterator<Item = String>| list.collect::<Vec<_>>().join(" ");
        let about = |name: &'static str, count: usize, about: String| {
            Channel::new(name, ChannelKind::Bits(count)).about(about)
        };
        if is_blind {
            let count = facts + players + moves;
            let mut order: Vec<u32> = (0..count as u32).collect();
            let mut rng = stream(0, "order of bits", count as u64);
            for i in (1..count).rev() {
                order.swap(i, rng.random_range(0..=i));
            }
            let channels = vec![Channel::fixed("bits", ChannelKind::Bits(count), "bits without meaning")];
            return Self { channels, order: Some(order), facts, players, moves };
        }
        let shown = |term| rules.terms.shown(term);
        let mut channels =
            vec![about("facts", facts, names(&mut rules.facts.iter().map(|&fact| shown(fact))))];
        if players > 0 {
            channels.push(about("player", players, names(&mut rules.roles.iter().map(|&role| shown(role)))));
        }
        if moves > 0 {
            let text =
                names(&mut rules.moves.iter().map(|&(role, what)| format!("{}:{}", role + 1, shown(what))));
            channels.push(about("move", moves, text));
        } else {
            channels.push(Channel::fixed("position", ChannelKind::Key, "hash of all facts and of who moved"));
        }
        Self { channels, order: None, facts, players, moves }
    }
}

impl Encoder<Described> for Bits {
    fn name(&self) -> &str {
        if self.order.is_some() { "blind" } else { "bits" }
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn encode(&self, _game: &Described, after: Afterstate<'_, Described>, row: RowMut<'_>) {
        let facts = &after.state.facts;
        let mut set = |bit: usize| {
            let input = self.order.as_ref().map_or(bit, |order| order[bit] as usize);
            row.dense[input] = 1.0;
        };
        for (w, &word) in facts.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                set(w * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
        if self.players > 0 {
            set(self.facts + after.player);
        }
        if let Some(&action) = after.action.filter(|_| self.moves > 0) {
            set(self.facts + self.players + action as usize);
        }
        if let Some(key) = row.index.first_mut() {
            let bytes: Vec<u8> =
                facts.iter().chain([&(after.player as u64)]).flat_map(|word| word.to_le_bytes()).collect();
            *key = xxh3_64(&bytes);
        }
    }

    fn needs_action(&self) -> bool {
        self.moves > 0
    }
}
