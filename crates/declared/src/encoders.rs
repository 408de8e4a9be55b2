//! Encoders of games from rules: the facts as bits, and what each module of the rules reads.

use crate::bits;
use crate::kit::Ruled;
use crate::modules::Structure;
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, RowMut, stream};
use rand::RngExt;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The facts of a position as bits, with what else tells positions apart.
#[derive(Debug)]
pub(crate) struct Bits {
    channels: Vec<Channel>,
    /// The input of each bit, if they are shuffled.
    order: Option<Vec<u32>>,
    /// Number of facts.
    facts: usize,
    /// Whether a bit shows the move, because choices are hidden.
    hides: bool,
}

impl Bits {
    pub(crate) fn new<G: Ruled>(game: &G, is_blind: bool) -> Self {
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
pub(crate) struct Relations {
    channels: Vec<Channel>,
    /// Or why there is none.
    structure: Result<Arc<Structure>, String>,
    /// Number of inputs of the modules.
    width: usize,
    /// Whether choices are hidden, so that a row shows the move.
    hides: bool,
}

impl Relations {
    pub(crate) fn new<G: Ruled>(game: &G) -> Self {
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
