//! What commands need of a game from rules, in either language.

use crate::declared::Declared;
use crate::encoders::{Bits, Relations};
use crate::game::WORK;
use crate::gdl::Described;
use crate::indices::{Indexed, Indices, base_of, groups, positions};
use crate::modules::Structure;
use adept_game::{
    Afterstate, Agents, Card, Channel, Encoders, Game, GameError, Kit, Listing, Named, Numbering,
    OutcomeClass, RandomPlay, Results, RuleText, Suite, Texts, Turn, stream,
};
use adept_ground::{limits, work};
use rand::RngExt;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Rule files that come with adept, by name.
pub const SHIPPED: &[(&str, &str)] = &[
    ("birthday", include_str!("../games/birthday.game")),
    ("breakthrough", include_str!("../games/breakthrough.game")),
    ("connect-four", include_str!("../games/connect-four.game")),
    ("dots-and-boxes", include_str!("../games/dots-and-boxes.game")),
    ("eight-puzzle", include_str!("../games/eight-puzzle.game")),
    ("hanoi", include_str!("../games/hanoi.game")),
    ("hex", include_str!("../games/hex.game")),
    ("hexapawn-3x3-loss", include_str!("../games/hexapawn-3x3-loss.game")),
    ("hexapawn-3x3", include_str!("../games/hexapawn-3x3.game")),
    ("hexapawn-4x4-loss", include_str!("../games/hexapawn-4x4-loss.game")),
    ("hexapawn-4x4", include_str!("../games/hexapawn-4x4.game")),
    ("merlin", include_str!("../games/merlin.game")),
    ("nim-cycle", include_str!("../games/nim-cycle.game")),
    ("nim-lines", include_str!("../games/nim-lines.game")),
    ("nim-path", include_str!("../games/nim-path.game")),
    ("nim", include_str!("../games/nim.game")),
    ("pennies", include_str!("../games/pennies.game")),
    ("pig", include_str!("../games/pig.game")),
    ("race", include_str!("../games/race.game")),
    ("small-backgammon", include_str!("../games/small-backgammon.game")),
    ("tic-tac-toe-4x4", include_str!("../games/tic-tac-toe-4x4.game")),
    ("tic-tac-toe", include_str!("../games/tic-tac-toe.game")),
];

/// Descriptions in GDL that come with adept, by name.
pub const SHIPPED_GDL: &[(&str, &str)] = &[
    ("breakthrough.kif", include_str!("../games/breakthrough.kif")),
    ("connect-four.kif", include_str!("../games/connect-four.kif")),
    ("nim.kif", include_str!("../games/nim.kif")),
    ("tic-tac-toe.kif", include_str!("../games/tic-tac-toe.kif")),
];

/// The game that stands for all of them in lists.
pub const USUAL: &str = "declared:hexapawn-3x3";

/// The game that stands for all descriptions in GDL in lists.
pub const USUAL_GDL: &str = "declared:tic-tac-toe.kif";

/// What the encoder `rules` is.
const RULES: &str =
    "channels for every relation, operator and ending of the rules, for the architecture `modules`";

/// What the encoder `indices` is.
const INDICES: &str = "which of several facts holds, and how many: for gates with `by` or `cells`, beside other inputs, as in `bits+indices`";

/// States up to which a game is measured exactly unless something else is asked for: it then takes seconds.
const QUICK: usize = 100_000;
/// Moves that are made to count the states of a game that has more than [`QUICK`], which takes seconds; and gates of a move above which
/// they are not counted.
const COUNTED: usize = 4_000_000;
const CHEAP: usize = 1_000;
/// Random games from which the number of states is estimated, the fewest that go on, and the most moves and outcomes of chance in them.
const MET: usize = 4_096;
const LEFT: usize = 256;
const DEEP: usize = 256;

/// Whether a name is that of a description in GDL.
pub(crate) fn is_gdl(name: &str) -> bool {
    name.len() >= 4
        && name.is_char_boundary(name.len() - 4)
        && name[name.len() - 4..].eq_ignore_ascii_case(".kif")
}

/// The text of a rule file that comes with adept.
fn shipped(wanted: &str) -> Result<&'static str, GameError> {
    let found = SHIPPED.iter().chain(SHIPPED_GDL).find(|(name, _)| *name == wanted);
    found.map(|(_, source)| *source).ok_or_else(|| {
        let names: Vec<&str> = SHIPPED.iter().chain(SHIPPED_GDL).map(|(name, _)| *name).collect();
        GameError::new(format!(
            "there is no rule file `{wanted}`; the rule files are {}; `file:PATH` names a file of your own",
            names.join(", ")
        ))
    })
}

/// The text of the rules `file:PATH` or `declared:NAME`. None if the name has another form.
pub(crate) fn source_of(name: &str) -> Option<Result<Cow<'static, str>, GameError>> {
    match (name.strip_prefix("file:").map(Path::new), name.strip_prefix("declared:")) {
        (Some(path), _) => {
            let text = limits::read_text(path, limits::CONFIG_BYTES).map_err(GameError::file(path));
            Some(text.map(Cow::Owned))
        }
        (None, wanted) => Some(shipped(wanted?).map(Cow::Borrowed)),
    }
}

/// A config to begin with, for so many players, with few states or with many.
fn starter(players: usize, is_small: bool) -> String {
    match (players, is_small) {
        (1, true) => include_str!("starters/alone.toml").into(),
        (1, false) => {
            let text = include_str!("starters/alone.toml");
            text.replace("[\"equity\"]          # +1 if", "[\"matches\"]         # mean over games: +1 if")
                + "games  = 100\n"
        }
        (_, true) => include_str!("starters/small.toml").into(),
        (_, false) => include_str!("starters/large.toml").into(),
    }
}

/// The number of states that can be reached, if it is at most [`limits::STATES`] and counting them takes seconds at most. `cost` is what a
/// move reads.
fn count_states<G: Game>(game: &G, cost: usize) -> Option<usize> {
    match walk(game, QUICK, WORK / cost, &mut |_| true) {
        Walked::All(states) => Some(states),
        Walked::Most if cost <= CHEAP && !looks_large(game) => {
            match walk(game, limits::states(2 * size_of::<G::State>()), COUNTED, &mut |_| true) {
                Walked::All(states) => Some(states),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether exact measures are usual: they then take seconds.
fn is_quick(states: Option<usize>) -> bool {
    states.is_some_and(|states| states <= QUICK)
}

/// Whether there are more states than can be counted, as far as random games tell. Of n games in N states after some number of moves,
/// n²/2N pairs meet, or more where some states are more frequent. So the sum of N over the numbers of moves is seldom too high, unless
/// states come back later.
fn looks_large<G: Game>(game: &G) -> bool {
    let mut rng = stream(0, "games that meet", 0);
    let mut states: Vec<_> = (0..MET).map(|_| game.start()).collect();
    let (mut actions, mut estimate) = (Vec::new(), 0);
    for _ in 0..DEEP {
        for state in &mut states {
            let action = match game.turn(state) {
                Turn::Over => continue,
                Turn::Chance => game.sample(state, &mut rng),
                Turn::Player(_) => {
                    game.actions(state, &mut actions);
                    if actions.is_empty() {
                        continue;
                    }
                    actions.swap_remove(rng.random_range(0..actions.len()))
                }
            };
            game.apply(state, &action);
        }
        states.retain(|state| game.turn(state) != Turn::Over);
        let (n, distinct) = (states.len(), states.iter().collect::<FxHashSet<_>>().len());
        if n < LEFT || estimate > limits::STATES {
            break;
        }
        estimate += if 2 * distinct <= n { distinct } else { n * n / (2 * (n - distinct).max(1)) };
    }
    estimate > limits::STATES
}

/// How a walk through the states of a game ends.
enum Walked {
    /// It has been everywhere: so many states.
    All(usize),
    /// There are more states, or they would take too long.
    Most,
    /// No exact measure comes to its end.
    Never,
}

/// What is reported while states are counted.
const COUNTING: &str = "counting the states of the game";

/// Visits every end that can be reached, some of them several times, while `visit` returns true. Whether all were visited: not if there
/// are more than [`QUICK`] states, or if it would take more than a fraction of a second. `cost` is what a move reads.
pub(crate) fn visits_all<G: Game>(game: &G, cost: usize, mut visit: impl FnMut(&G::State) -> bool) -> bool {
    matches!(walk(game, QUICK, WORK / cost, &mut visit), Walked::All(_))
}

/// Walks through at most `most` states, by at most `left` moves, and shows all ends to `visit`, which may stop it.
fn walk<G: Game>(game: &G, most: usize, mut left: usize, visit: &mut dyn FnMut(&G::State) -> bool) -> Walked {
    let (mut seen, mut open, mut actions) = (FxHashSet::default(), vec![game.start()], Vec::new());
    let (mut outcomes, mut taken) = (Vec::new(), 0usize);
    while let Some(state) = open.pop() {
        game.actions(&state, &mut actions);
        if game.turn(&state) == Turn::Chance {
            if !game.outcomes(&state, &mut outcomes) {
                return Walked::Never;
            }
            actions.extend(outcomes.drain(..).map(|(outcome, _)| outcome));
        }
        for action in &actions {
            let mut next = state.clone();
            game.apply(&mut next, action);
            left = left.saturating_sub(1);
            if next == state && game.turn(&state) == Turn::Chance {
                // Such as a die that is thrown again: exact measures never come to its end.
                return Walked::Never;
            }
            if game.turn(&next) == Turn::Over {
                if !visit(&next) {
                    return Walked::Never;
                }
            } else if seen.insert(next.clone()) {
                open.push(next);
            }
        }
        if seen.len() > most || left == 0 {
            work::share(COUNTING, 1.0);
            return Walked::Most;
        }
        taken += 1;
        if taken.is_multiple_of(1 << 14) && most > QUICK {
            work::share(COUNTING, seen.len() as f64 / (most + 1) as f64);
        }
    }
    work::share(COUNTING, 1.0);
    Walked::All(seen.len())
}

/// A move that wins at once, or any move.
fn greedy<G: Ruled>(game: &G, state: &G::State, actions: &[u32], probabilities: &mut Vec<f64>) {
    let wins = |action: &u32| {
        let mut next = state.clone();
        game.apply(&mut next, action);
        let is_won = |player: usize| game.turn(&next) == Turn::Over && game.utility(&next, player) > 0.0;
        matches!(game.turn(state), Turn::Player(player) if is_won(player))
    };
    let wins: Vec<bool> = actions.iter().map(wins).collect();
    let (count, all) = (wins.iter().filter(|wins| **wins).count(), wins.len());
    probabilities.clear();
    probabilities.extend(wins.iter().map(|&wins| match count {
        0 => 1.0 / all as f64,
        _ if wins => 1.0 / count as f64,
        _ => 0.0,
    }));
}

/// Data of a game that is computed once, on demand.
#[derive(Debug, Default)]
pub(crate) struct OnDemand {
    /// Number of states, if the game is small.
    states: OnceLock<Option<usize>>,
    /// Input of the encoder `rules`, or why there is none.
    structure: OnceLock<Result<Arc<Structure>, String>>,
    /// Input of the encoder `indices`.
    indices: OnceLock<Arc<Indices>>,
}

/// A game from rules in either language.
pub(crate) trait Ruled: Kit + Game<Action = u32> {
    /// What the encoder `bits` is.
    const BITS: &'static str;

    /// The facts of a position as a player sees them.
    type Seen<'a>: AsRef<[u64]>;

    /// What is computed once, on demand.
    fn on_demand(&self) -> &OnDemand;

    /// Number of gates and facts that a move reads.
    fn cost(&self) -> usize;

    /// One-line description for lists.
    fn about(&self) -> String;

    /// The classes of results.
    fn classes(&self) -> Result<Vec<OutcomeClass>, GameError>;

    /// Number of moves of all players.
    fn acts(&self) -> usize;

    /// Name and arguments of each fact.
    fn named_facts(&self) -> Vec<(String, Vec<String>)>;

    /// The structure of the rules as modules, or why there is none.
    fn modules(&self) -> Result<Structure, String>;

    /// The facts of a position as a player sees them.
    fn seen<'a>(&self, state: &'a Self::State, player: usize) -> Self::Seen<'a>;

    /// Channels of the encoder `bits` beside the facts. Their bits are the [`marks`](Self::marks).
    fn further_channels(&self) -> Vec<Channel>;

    /// The bits beside the facts that are set.
    fn marks(&self, after: Afterstate<'_, Self>) -> SmallVec<[usize; 2]>;

    /// What a key of a position is made of beside the facts.
    fn key(&self, after: Afterstate<'_, Self>) -> SmallVec<[u64; 2]>;

    /// The channel of the encoder `rules` beside the modules. Its bits are the [`marks`](Self::marks).
    fn turn_channel(&self) -> Option<Channel> {
        None
    }

    /// Whether a state may come back, so that the game cannot be measured exactly.
    fn may_return(&self) -> bool {
        false
    }

    /// Whether the starter config measures against perfect play, which is known for two players without chance.
    fn has_perfect_play(&self) -> bool {
        true
    }

    /// The number of states, if they are few and none comes back.
    fn states(&self) -> Option<usize> {
        if self.may_return() {
            return None;
        }
        *self.on_demand().states.get_or_init(|| count_states(self, self.cost()))
    }

    /// The structure of the rules, computed on demand, or why there is none.
    fn structure(&self) -> &Result<Arc<Structure>, String> {
        let read = || self.modules().map(Arc::new).map_err(|e| format!("{}: {e}", self.name()));
        self.on_demand().structure.get_or_init(read)
    }

    /// The index channels, computed on demand.
    fn indices(&self) -> &Arc<Indices> {
        let read = || Arc::new(Indices::new(groups(&self.named_facts()), &positions(self)));
        self.on_demand().indices.get_or_init(read)
    }
}

fn card<G: Ruled>(game: &G) -> Card {
    let is_exact = is_quick(game.states()) && !game.hides();
    let mut text = starter(game.players(), is_exact);
    if !game.has_perfect_play() {
        text = text.replace("[\"greedy\", \"minimax\"]         # the first one is reported", "[\"greedy\"]");
    }
    // It is not known which hidden moves win at once.
    if game.hides() {
        text = text.replace("[\"greedy\", \"random\"]", "[\"random\"]");
    }
    let suites = vec![if is_exact { Suite::Equity } else { Suite::Matches }];
    Card { about: game.about(), suites, starter: Some(text) }
}

fn encoders<G: Ruled>(game: &G) -> Encoders<'_, G> {
    let names = Named::list(&[
        ("bits", G::BITS),
        ("blind", "the same bits without names, shuffled"),
        ("indices", INDICES),
        ("rules", RULES),
    ]);
    Encoders::<G>::new(names, |name| {
        if let Some(base) = base_of(name) {
            let inner = match base {
                Some(base) => Some(game.encoders().open(base)?),
                None => None,
            };
            return Some(Arc::new(Indexed::new(inner, game.indices().clone())));
        }
        match name {
            "bits" => Some(Arc::new(Bits::new(game, false))),
            "blind" => Some(Arc::new(Bits::new(game, true))),
            "rules" => Some(Arc::new(Relations::new(game))),
            _ => None,
        }
    })
}

fn agents<G: Ruled>(game: &G) -> Agents<'_, G> {
    if game.hides() {
        return Agents::none();
    }
    let about = "takes a move that wins at once; if there is none, any move";
    Agents::scripts(Listing::one("greedy", about, Arc::new(greedy)))
}

/// Games from rules in words and pictures.
pub(crate) struct Words;

/// Random games in parallel lanes.
pub(crate) struct Parallel;

/// Implements [`Kit`] for games from rules.
macro_rules! kits {
    ($($game:ty),+) => {$(
        impl Kit for $game {
            fn card(&self) -> Card {
                card(self)
            }

            fn results(&self) -> Results<Self> {
                Results::of(Self::classes)
            }

            fn action_numbers(&self) -> Numbering<Self> {
                Numbering::new(self.acts(), |_, _, &action| action as usize)
            }

            fn texts(&self) -> &dyn Texts<Self> {
                &Words
            }

            fn encoders(&self) -> Encoders<'_, Self> {
                encoders(self)
            }

            fn agents(&self) -> Agents<'_, Self> {
                agents(self)
            }

            fn is_small(&self) -> bool {
                self.states().is_some()
            }

            fn rule_text(&self) -> Option<&dyn RuleText> {
                Some(self)
            }

            fn random_play(&self) -> &dyn RandomPlay<Self> {
                &Parallel
            }
        }
    )+};
}

kits!(Declared, Described);
