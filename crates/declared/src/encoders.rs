//! Encoders of games from rules: the facts as bits, what each module of the rules reads, and index channels.

use crate::bits;
use crate::indices::{Indices, groups};
use crate::modules::Structure;
use crate::ruled::Ruled;
use adept_game::{
    Afterstate, Channel, ChannelKind, Encoder, Encoders, Game, Named, RowMut, Stream, Turn, stream,
};
use rand::RngExt;
use smallvec::SmallVec;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Description of the encoder `rules`.
const RULES: &str =
    "channels for every relation, operator and ending of the rules, for the architecture `modules`";

/// What the encoder `indices` is.
const INDICES: &str = "which of several facts holds, and how many: for gates with `by` or `cells`, beside other inputs, as in `bits+indices`";

/// Random games that show which facts exclude each other, and positions taken from each.
const GAMES: u64 = 16;
const KEPT: usize = 32;
/// Number of actions after which a game is aborted.
const LONGEST: usize = 2_000;

/// The encoders of a game.
pub(crate) fn encoders<G: Ruled>(game: &G) -> Encoders<'_, G> {
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
            return Some(Arc::new(Indexed::new(inner, indices(game).clone())));
        }
        match name {
            "bits" => Some(Arc::new(Bits::new(game, false))),
            "blind" => Some(Arc::new(Bits::new(game, true))),
            "rules" => Some(Arc::new(Relations::new(game))),
            _ => None,
        }
    })
}

/// The facts of a position as bits, with what else tells positions apart.
#[derive(Debug)]
struct Bits {
    channels: Vec<Channel>,
    /// The input of each bit, if they are shuffled.
    order: Option<Vec<u32>>,
    /// Number of facts.
    facts: usize,
    /// Whether a bit shows the move, because choices are hidden.
    hides: bool,
}

impl Bits {
    fn new<G: Ruled>(game: &G, is_blind: bool) -> Self {
        let named = game.named_facts();
        let shown = |(name, args): &(String, Vec<String>)| match args[..] {
            [] => name.clone(),
            _ => format!("{name}({})", args.join(",")),
        };
        let about: Vec<String> = named.iter().map(shown).collect();
        let mut channels = vec![Channel::new("facts", ChannelKind::Bits(named.len())).about(about.join(" "))];
        channels.extend(game.further_channels());
        let mut order = None;
        if is_blind {
            let count = channels.iter().map(|channel| channel.kind.dense_width()).sum();
            let mut shuffled: Vec<u32> = (0..count as u32).collect();
            let mut rng = stream(0, "order of bits", count as u64);
            for i in (1..count).rev() {
                shuffled.swap(i, rng.random_range(0..=i));
            }
            order = Some(shuffled);
            channels = vec![Channel::fixed("bits", ChannelKind::Bits(count), "bits without meaning")];
        }
        Self { channels, order, facts: named.len(), hides: game.hides() }
    }
}

impl<G: Ruled> Encoder<G> for Bits {
    fn name(&self) -> &str {
        if self.order.is_some() { "blind" } else { "bits" }
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn encode(&self, game: &G, after: Afterstate<'_, G>, row: RowMut<'_>) {
        let seen = game.seen(after.state, after.player);
        let facts = seen.as_ref();
        let mut set = |bit: usize| {
            let input = self.order.as_ref().map_or(bit, |order| order[bit] as usize);
            row.dense[input] = 1.0;
        };
        bits::each(facts, &mut set);
        game.marks(after).into_iter().for_each(|mark| set(self.facts + mark));
        if let Some(key) = row.index.first_mut() {
            let words = facts.iter().copied().chain(game.key(after));
            let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
            *key = xxh3_64(&bytes);
        }
    }

    fn needs_action(&self) -> bool {
        self.hides
    }
}

/// What each module of the rules reads.
#[derive(Debug)]
struct Relations {
    channels: Vec<Channel>,
    /// Or why there is none.
    structure: Result<Arc<Structure>, String>,
    /// Number of inputs of the modules.
    width: usize,
    /// Whether choices are hidden, so that a row shows the move.
    hides: bool,
}

impl Relations {
    fn new<G: Ruled>(game: &G) -> Self {
        let structure = game.structure().clone();
        let mut channels = structure.as_ref().map_or_else(|_| Vec::new(), |structure| structure.channels());
        let width = channels.iter().map(|channel| channel.kind.dense_width()).sum();
        channels.extend(game.turn_channel());
        Self { channels, structure, width, hides: game.hides() }
    }
}

impl<G: Ruled> Encoder<G> for Relations {
    fn name(&self) -> &str {
        "rules"
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn fits(&self, _game: &G) -> Result<(), String> {
        self.structure.as_ref().map(|_| ()).map_err(String::clone)
    }

    fn encode(&self, game: &G, after: Afterstate<'_, G>, row: RowMut<'_>) {
        if let Ok(structure) = &self.structure {
            let seen = game.seen(after.state, after.player);
            let action = after.action.copied().filter(|_| self.hides);
            let (modules, turn) = row.dense.split_at_mut(self.width);
            structure.fill(seen.as_ref(), after.player, action, modules);
            if !turn.is_empty() {
                game.marks(after).into_iter().for_each(|mark| turn[mark] = 1.0);
            }
        }
    }

    fn needs_action(&self) -> bool {
        self.hides
    }
}

/// Suffix of an encoder's name that adds index channels.
const ADDED: &str = "+indices";

/// The base encoder of a name with index channels: none for index channels alone. None if the name has no index
/// channels.
fn base_of(name: &str) -> Option<Option<&str>> {
    match name {
        "indices" => Some(None),
        _ => name.strip_suffix(ADDED).map(Some),
    }
}

/// An encoder that appends index channels to another one's.
struct Indexed<G: Game> {
    name: String,
    inner: Option<Arc<dyn Encoder<G>>>,
    indices: Arc<Indices>,
    channels: Vec<Channel>,
}

impl<G: Game> Indexed<G> {
    fn new(inner: Option<Arc<dyn Encoder<G>>>, indices: Arc<Indices>) -> Self {
        let mut channels = inner.as_ref().map_or(Vec::new(), |inner| inner.channels().to_vec());
        for channel in &indices.channels {
            let mut channel = channel.clone();
            while channels.iter().any(|other| other.name == channel.name) {
                channel.name = format!("{}@", channel.name).into();
            }
            channels.push(channel);
        }
        let name = inner.as_ref().map_or("indices".into(), |inner| format!("{}{ADDED}", inner.name()));
        Self { name, inner, indices, channels }
    }
}

impl<G: Ruled> Encoder<G> for Indexed<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn fits(&self, game: &G) -> Result<(), String> {
        if self.indices.channels.is_empty() {
            return Err(format!(
                "no facts of {} exclude each other, so `indices` has no channel",
                game.name()
            ));
        }
        self.inner.as_ref().map_or(Ok(()), |inner| inner.fits(game))
    }

    fn encode(&self, game: &G, after: Afterstate<'_, G>, row: RowMut<'_>) {
        let own = row.index.len() - self.indices.channels.len();
        let (index, indices) = row.index.split_at_mut(own);
        self.indices.fill(game.seen(after.state, after.player).as_ref(), indices);
        if let Some(inner) = &self.inner {
            inner.encode(game, after, RowMut { dense: row.dense, index });
        }
    }

    fn needs_action(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.needs_action())
    }
}

/// The index channels of a game, computed on demand.
fn indices<G: Ruled>(game: &G) -> &Arc<Indices> {
    let read = || Arc::new(Indices::new(groups(&game.named_facts()), &positions(game)));
    game.on_demand().indices.get_or_init(read)
}

/// Facts after actions in random games, from the view of the player who acted.
fn positions<G: Ruled>(game: &G) -> Vec<SmallVec<[u64; 4]>> {
    let seen = |state: &G::State, player| SmallVec::from_slice(game.seen(state, player).as_ref());
    let (mut found, mut actions) = (Vec::new(), Vec::new());
    for number in 0..GAMES {
        let (mut rng, mut state): (Stream, _) = (stream(0, "index channels", number), game.start());
        // Reservoir sampling over the positions of a game.
        let (first, mut count) = (found.len(), 0);
        for _ in 0..LONGEST {
            match game.turn(&state) {
                Turn::Over => break,
                Turn::Chance => {
                    let outcome = game.sample(&state, &mut rng);
                    game.apply(&mut state, &outcome);
                }
                Turn::Player(player) => {
                    game.actions(&state, &mut actions);
                    let Some(action) = actions.get(rng.random_range(0..actions.len().max(1))) else { break };
                    game.apply(&mut state, action);
                    count += 1;
                    let place = if count <= KEPT { count - 1 } else { rng.random_range(0..count) };
                    match place {
                        _ if count <= KEPT => found.push(seen(&state, player)),
                        place if place < KEPT => found[first + place] = seen(&state, player),
                        _ => {}
                    }
                }
            }
        }
    }
    found
}
