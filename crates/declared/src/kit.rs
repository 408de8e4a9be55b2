//! What commands need of a declared game besides its rules.

use crate::batch::Batch;
use crate::declaration::ONE;
use crate::declared::Declared;
use crate::game::{WORK, Words};
use crate::indices::{Indexed, Indices, base_of, groups, positions};
use crate::lanes::{BYTES, Wide};
use crate::modules::channels;
use crate::state::State;
use crate::structure::Structure;
use adept_game::{
    Afterstate, Agents, Audit, Card, Channel, ChannelKind, Encoder, Encoders, Game, GameError, Kit, Listing,
    Named, Numbering, OutcomeClass, RandomPlay, Results, RowMut, RuleText, Stream, Suite, Texts, Turn,
    stream,
};
use adept_ground::{limits, work};
use rand::RngExt;
use rustc_hash::FxHashSet;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

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

/// What the encoder `rules` is.
pub(crate) const RULES: &str =
    "channels for every relation, operator and ending of the rules, for the architecture `modules`";

/// What the encoder `indices` is.
pub(crate) const INDICES: &str = "which of several facts holds, and how many: for gates with `by` or `cells`, beside other inputs, as in `bits+indices`";

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

/// Games that take as long side by side as one by one.
const FEW: usize = 4;

/// Whether a name is that of a description in GDL.
pub(crate) fn is_gdl(name: &str) -> bool {
    name.len() >= 4
        && name.is_char_boundary(name.len() - 4)
        && name[name.len() - 4..].eq_ignore_ascii_case(".kif")
}

/// The text of a rule file that comes with adept.
pub(crate) fn shipped(wanted: &str) -> Result<&'static str, GameError> {
    let found = SHIPPED.iter().chain(SHIPPED_GDL).find(|(name, _)| *name == wanted);
    found.map(|(_, source)| *source).ok_or_else(|| {
        let names: Vec<&str> = SHIPPED.iter().chain(SHIPPED_GDL).map(|(name, _)| *name).collect();
        GameError::new(format!(
            "there is no rule file `{wanted}`; the rule files are {}; `file:PATH` names a file of your own",
            names.join(", ")
        ))
    })
}

/// What files of other programs are that describe games.
fn other_format(ending: &str) -> Option<&'static str> {
    match ending {
        "efg" => Some("a game tree in the format of Gambit"),
        "nfg" | "agg" | "bagg" => Some("a game in a matrix form of Gambit"),
        "lud" => Some("a game in the language of Ludii"),
        "zrf" => Some("a game for Zillions of Games"),
        "rbg" => Some("a game in Regular Boardgames"),
        _ => None,
    }
}

/// A config to begin with, for so many players, with few states or with many.
pub(crate) fn starter(players: usize, is_small: bool) -> String {
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
pub(crate) fn count_states<G: Game>(game: &G, cost: usize) -> Option<usize> {
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
pub(crate) fn is_quick(states: Option<usize>) -> bool {
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

/// Shares the probability among moves that win at once, or among all moves.
pub(crate) fn share(wins: &[bool], probabilities: &mut Vec<f64>) {
    let (count, all) = (wins.iter().filter(|wins| **wins).count(), wins.len());
    probabilities.clear();
    probabilities.extend(wins.iter().map(|&wins| match count {
        0 => 1.0 / all as f64,
        _ if wins => 1.0 / count as f64,
        _ => 0.0,
    }));
}

impl Declared {
    /// The number of its states, if they are few and none comes back.
    fn states(&self) -> Option<usize> {
        let may_return = self.has_chance() && self.rules.declaration.limit.is_none();
        if may_return { None } else { *self.facts.states.get_or_init(|| count_states(self, self.cost())) }
    }

    /// Whether chance may move.
    pub(crate) fn has_chance(&self) -> bool {
        self.rules.acts < self.rules.moves.len()
    }

    /// The game that `name` names: `file:PATH` for a rule file, `declared:NAME` for one that comes with adept. None if the name
    /// has another form; names that end in `.kif` are those of [`Described`](crate::Described).
    pub fn named(name: &str) -> Option<Result<Self, GameError>> {
        if is_gdl(name) {
            return None;
        }
        if let Some(path) = name.strip_prefix("file:") {
            return Some(Self::open(name, Path::new(path)));
        }
        let wanted = name.strip_prefix("declared:")?;
        Some(shipped(wanted).and_then(|source| Self::read(name, source)))
    }

    fn open(name: &str, path: &Path) -> Result<Self, GameError> {
        let read = limits::read_text(path, limits::CONFIG_BYTES).map_err(GameError::file(path));
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        match (read, other_format(&ending)) {
            (Ok(source), None) if source.trim_start().starts_with(['(', ';']) => {
                Err(GameError::new(format!(
                    "{name}: this looks like GDL, which is read from files that end in `.kif`: rename it"
                )))
            }
            (Ok(source), None) => Self::read(name, &source),
            (Ok(_), Some(format)) => Err(GameError::new(format!(
                "{name}: a file `.{ending}` is {format}, which adept does not read; it reads rules in its own form, which begin with \
                 `game \"NAME\"`, and GDL-I in files that end in `.kif`"
            ))),
            (Err(error), _) => Err(error),
        }
    }
}

/// The classes of a game of two players, whose results are few.
fn classes_of(game: &Declared) -> Result<Vec<OutcomeClass>, GameError> {
    match game.players() {
        1 => Err(GameError::new(format!("{}: a game for one has no winner", game.name()))),
        2 => Ok(classes(&game.rules.amounts)),
        n => Err(GameError::new(format!("{}: a game for {n} has no classes of results", game.name()))),
    }
}

impl Declared {
    /// What lists say of it.
    fn about(&self) -> String {
        let declaration = &self.rules.declaration;
        let about = declaration.about.clone().unwrap_or_else(|| declaration.name.clone());
        if self.name() != USUAL {
            return about;
        }
        let others: Vec<&str> =
            SHIPPED.iter().map(|(name, _)| *name).filter(|name| !USUAL.ends_with(name)).collect();
        format!("{about}; file:PATH for a rule file of your own, declared:NAME for {}", others.join(", "))
    }

    /// The rest of a starter config.
    fn starter(&self) -> String {
        let text = starter(self.players(), is_quick(self.states()));
        match self.has_chance() || self.players() > 2 {
            // Perfect play is known for two players without chance.
            true => {
                text.replace("[\"greedy\", \"minimax\"]         # the first one is reported", "[\"greedy\"]")
            }
            false => text,
        }
    }
}

impl Kit for Declared {
    fn card(&self) -> Card {
        let suites =
            vec![if is_quick(self.states()) && !self.hides() { Suite::Equity } else { Suite::Matches }];
        Card { about: self.about(), suites, starter: Some(self.starter()) }
    }

    fn results(&self) -> Results<Self> {
        Results::of(classes_of)
    }

    /// The moves as the player to move has them.
    fn action_numbers(&self) -> Numbering<Self> {
        Numbering::new(self.rules.acts, |_, _, &action| action as usize)
    }

    fn texts(&self) -> &dyn Texts<Self> {
        &Words
    }

    fn encoders(&self) -> Encoders<'_, Self> {
        let names = Named::list(&[
            ("bits", "a bit for every fact, as the player who moved sees it; a key of all for tables"),
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
                let seen = |game: &Self, after: Afterstate<'_, Self>| game.seen_by(after.state, after.player);
                return Some(Arc::new(Indexed::new(inner, self.indices().clone(), seen)));
            }
            match name {
                "bits" => Some(Arc::new(Bits::of(self))),
                "blind" => Some(Arc::new(Blind::of(self))),
                "rules" => Some(Arc::new(Relations::of(self))),
                _ => None,
            }
        })
    }

    fn agents(&self) -> Agents<'_, Self> {
        let about = "takes a move that wins at once; if there is none, any move";
        Agents::scripts(Listing::one("greedy", about, Arc::new(greedy)))
    }

    /// A game with chance and without a limit may come back to a state, and then it cannot be measured exactly.
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

impl RuleText for Declared {
    fn audit(&self, games: u64) -> Option<Audit> {
        Some(self.audited(games))
    }
}

/// Random games side by side, in the lanes of a batch.
struct Lanes;

impl RandomPlay<Declared> for Lanes {
    /// None for games that cannot be played in lanes, for so few games that they are played as fast one by one, if the values of a batch
    /// would take more than 32 MiB, or if games do not end in 20,000 moves.
    fn games(&self, game: &Declared, state: &State, games: usize, rng: &mut Stream) -> Option<Vec<f64>> {
        if games < FEW || game.cost() > BYTES / size_of::<Wide>() || Batch::fits(game).is_err() {
            return None;
        }
        // A batch counts wins, not what they are worth.
        if game.rules.amounts.len() > 1 {
            return None;
        }
        let play = |batch: &mut Batch| batch.games(&game.rules, state, games as u64, rng);
        let sum = game.facts.batches.with(|| Batch::blank(&game.rules), play).ok()?.sum() * game.scale();
        Some(if game.players() == 1 { vec![sum] } else { vec![sum, -sum] })
    }
}

/// The classes of results of two players if wins and losses count this much, in hundredths.
fn classes(amounts: &[u16]) -> Vec<OutcomeClass> {
    let Some(&most) = amounts.last().filter(|_| amounts != [ONE]) else {
        return OutcomeClass::loss_draw_win();
    };
    let name = |word: &str, amount: u16| match (amount / ONE, amount % ONE) {
        (1, 0) => word.to_string(),
        (whole, 0) => format!("{word}_{whole}"),
        (whole, rest) => format!("{word}_{whole}_{rest:02}"),
    };
    let count = amounts.len();
    let worth = |amount: u16| f32::from(amount) / f32::from(most);
    let losses = amounts.iter().rev().enumerate();
    let losses =
        losses.map(|(i, &amount)| OutcomeClass::new(name("loss", amount), -worth(amount), 2 * count - i));
    let wins = amounts.iter().enumerate();
    let wins = wins.map(|(i, &amount)| OutcomeClass::new(name("win", amount), worth(amount), count - 1 - i));
    losses.chain([OutcomeClass::new("draw", 0.0, count)]).chain(wins).collect()
}

/// A move that wins at once, or any move.
fn greedy(game: &Declared, state: &State, actions: &[u32], probabilities: &mut Vec<f64>) {
    let player = usize::from(state.mover);
    let wins = |action: &u32| {
        let mut next = state.clone();
        game.apply(&mut next, action);
        game.turn(&next) == Turn::Over && game.utility(&next, player) > 0.0
    };
    let wins: Vec<bool> = actions.iter().map(wins).collect();
    share(&wins, probabilities);
}

/// Inputs that say whose turn is next: none where that follows from who moved.
fn next_width(game: &Declared) -> usize {
    if game.stores_last() { game.players() } else { 0 }
}

/// Their channel, if there is one. A name in a rule file has no `-`.
fn next_channel(game: &Declared) -> Option<Channel> {
    let about = "whose turn is next, counted from the player who moved; it may begin with chance";
    let channel = Channel::fixed("whose-turn", ChannelKind::Bits(next_width(game)), about);
    game.stores_last().then_some(channel)
}

/// Whose turn is next, counted from the player who moved.
fn next_place(game: &Declared, after: Afterstate<'_, Declared>) -> usize {
    let players = game.players();
    (usize::from(after.state.mover) + players - after.player) % players
}

fn fill_next(game: &Declared, after: Afterstate<'_, Declared>, inputs: &mut [f32]) {
    if let Some(input) = inputs.get_mut(next_place(game, after)) {
        *input = 1.0;
    }
}

/// What each module of the rules reads.
#[derive(Debug)]
struct Relations {
    channels: Vec<Channel>,
    /// Or why there is none.
    structure: Result<Arc<Structure>, String>,
}

impl Relations {
    fn of(game: &Declared) -> Self {
        let structure = game.structure().clone();
        let channels = structure.iter().flat_map(|s| channels(&s.modules, 1));
        Self { channels: channels.chain(next_channel(game)).collect(), structure }
    }
}

impl Encoder<Declared> for Relations {
    fn name(&self) -> &str {
        "rules"
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn fits(&self, _game: &Declared) -> Result<(), String> {
        self.structure.as_ref().map(|_| ()).map_err(String::clone)
    }

    fn encode(&self, game: &Declared, after: Afterstate<'_, Declared>, row: RowMut<'_>) {
        if let Ok(structure) = &self.structure {
            let modules = row.dense.len() - next_width(game);
            structure.fill(&game.seen_by(after.state, after.player), &mut row.dense[..modules]);
            fill_next(game, after, &mut row.dense[modules..]);
        }
    }

    fn needs_action(&self) -> bool {
        false
    }
}

impl Declared {
    fn indices(&self) -> &Arc<Indices> {
        self.facts.indices.get_or_init(|| {
            let declaration = &self.rules.declaration;
            let fact = |(relation, tuple): &(usize, Vec<u16>)| {
                let args = tuple.iter().map(|&object| declaration.objects[usize::from(object)].clone());
                (declaration.relations[*relation].name.clone(), args.collect())
            };
            let facts: Vec<(String, Vec<String>)> = self.rules.facts.iter().map(fact).collect();
            let positions = positions(self, |state, player| self.seen_by(state, player));
            Arc::new(Indices::new(groups(&facts), &positions))
        })
    }
}

/// The facts as bits without meaning.
#[derive(Debug)]
struct Blind {
    channels: [Channel; 1],
    /// The input of each fact.
    order: Vec<u32>,
}

impl Blind {
    fn of(game: &Declared) -> Self {
        let count = game.rules.facts.len() + next_width(game);
        let mut order: Vec<u32> = (0..count as u32).collect();
        let mut rng = stream(0, "order of bits", count as u64);
        for i in (1..count).rev() {
            order.swap(i, rng.random_range(0..=i));
        }
        let channels = [Channel::fixed("bits", ChannelKind::Bits(count), "bits without meaning")];
        Self { channels, order }
    }
}

impl Encoder<Declared> for Blind {
    fn name(&self) -> &str {
        "blind"
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn encode(&self, game: &Declared, after: Afterstate<'_, Declared>, row: RowMut<'_>) {
        let facts = game.seen_by(after.state, after.player);
        let (of_facts, of_next) = self.order.split_at(game.rules.facts.len());
        for (fact, &input) in of_facts.iter().enumerate() {
            row.dense[input as usize] = (facts[fact / 64] >> (fact % 64) & 1) as f32;
        }
        if let Some(&input) = of_next.get(next_place(game, after)) {
            row.dense[input as usize] = 1.0;
        }
    }

    fn needs_action(&self) -> bool {
        false
    }
}

/// The facts of a position as bits.
#[derive(Debug)]
struct Bits {
    channels: Vec<Channel>,
}

impl Bits {
    fn of(game: &Declared) -> Self {
        let rules = &game.rules;
        let fact = |(relation, tuple): &(usize, Vec<u16>)| {
            rules.declaration.shown(&rules.declaration.relations[*relation].name, tuple)
        };
        let facts: Vec<String> = rules.facts.iter().map(fact).collect();
        let position = match next_width(game) {
            0 => "hash of all facts, as the player who moved sees them",
            _ => "hash of all facts, as the player who moved sees them, and of whose turn is next",
        };
        let channels =
            [Channel::new("facts", ChannelKind::Bits(facts.len())).about(facts.join(" "))].into_iter();
        let channels = channels.chain(next_channel(game));
        let channels = channels.chain([Channel::fixed("position", ChannelKind::Key, position)]).collect();
        Self { channels }
    }
}

impl Encoder<Declared> for Bits {
    fn name(&self) -> &str {
        "bits"
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn encode(&self, game: &Declared, after: Afterstate<'_, Declared>, row: RowMut<'_>) {
        let State { moves, .. } = after.state;
        let facts = game.seen_by(after.state, after.player);
        let (of_facts, of_next) = row.dense.split_at_mut(game.rules.facts.len());
        for (fact, input) in of_facts.iter_mut().enumerate() {
            *input = (facts[fact / 64] >> (fact % 64) & 1) as f32;
        }
        fill_next(game, after, of_next);
        let next = game.stores_last().then(|| next_place(game, after) as u64);
        let words = facts.iter().copied().chain([u64::from(*moves)]).chain(next);
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        row.index[0] = xxh3_64(&bytes);
    }

    fn needs_action(&self) -> bool {
        false
    }
}
