//! Channels: the named parts of a row.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What one channel carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "size")]
pub enum ChannelKind {
    /// `n` real numbers, of order one.
    Dense(usize),
    /// `n` numbers, each 0 or 1.
    Bits(usize),
    /// One number in [−1, 1] from outside: a prior, or the output of a frozen expert. Networks read it only by name.
    Value,
    /// One integer in `0..n`: picks an expert, or a row of a table.
    Index(u64),
    /// One integer without a useful bound that identifies the row: the key of a growing table.
    Key,
}

impl ChannelKind {
    /// Columns that the channel takes in the dense part of a row.
    pub fn dense_width(self) -> usize {
        match self {
            Self::Dense(n) | Self::Bits(n) => n,
            Self::Value => 1,
            Self::Index(_) | Self::Key => 0,
        }
    }

    /// Columns that the channel takes in the index part of a row.
    pub fn index_width(self) -> usize {
        usize::from(matches!(self, Self::Index(_) | Self::Key))
    }
}

/// A named channel. Two channels are equal if name and kind are: [`about`](Self::about) is documentation, and is not
/// saved in checkpoints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Channel {
    /// Name by which architectures refer to it.
    pub name: Cow<'static, str>,
    /// What it carries.
    #[serde(flatten)]
    pub kind: ChannelKind,
    /// What each input means: one line for all inputs or for each range of them.
    #[serde(skip)]
    pub about: Cow<'static, str>,
}

impl Channel {
    /// A channel of that name and kind, without documentation.
    pub fn new(name: impl Into<Cow<'static, str>>, kind: ChannelKind) -> Self {
        Self { name: name.into(), kind, about: Cow::Borrowed("") }
    }

    /// A channel that is known when the program is compiled, with the meaning of its inputs.
    pub const fn fixed(name: &'static str, kind: ChannelKind, about: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), kind, about: Cow::Borrowed(about) }
    }

    /// The same channel with the meaning of its inputs.
    #[must_use]
    pub fn about(self, about: impl Into<Cow<'static, str>>) -> Self {
        Self { about: about.into(), ..self }
    }
}

impl PartialEq for Channel {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.kind) == (&other.name, other.kind)
    }
}

impl Eq for Channel {}

/// Where each channel of a list lies in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// First column of each channel, in the dense or the index part by its kind.
    pub offsets: Vec<usize>,
    /// Columns of the dense part.
    pub dense: usize,
    /// Columns of the index part.
    pub index: usize,
}

impl Layout {
    /// The layout of these channels.
    pub fn of(channels: &[Channel]) -> Self {
        let (mut offsets, mut dense, mut index) = (Vec::with_capacity(channels.len()), 0, 0);
        for channel in channels {
            offsets.push(if channel.kind.index_width() > 0 { index } else { dense });
            dense += channel.kind.dense_width();
            index += channel.kind.index_width();
        }
        Self { offsets, dense, index }
    }
}
