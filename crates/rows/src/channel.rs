//! Channels: the named parts of a row.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Type and number of the values in a channel.
///
/// ```
/// use adept_rows::ChannelKind;
///
/// assert_eq!((ChannelKind::Bits(9).dense_width(), ChannelKind::Bits(9).index_width()), (9, 0));
/// assert_eq!((ChannelKind::Index(64).dense_width(), ChannelKind::Index(64).index_width()), (0, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "size")]
pub enum ChannelKind {
    /// `n` real numbers, of order one.
    Dense(usize),
    /// `n` numbers, each 0 or 1.
    Bits(usize),
    /// One number in [−1, 1] from another source: a prior, or the output of a frozen expert. Networks read it only by
    /// name.
    Value,
    /// One integer in `0..n` that selects an expert or a row of a table.
    Index(u64),
    /// One integer without a useful bound: the key of a growing table.
    Key,
}

impl ChannelKind {
    /// Number of columns in the dense part of a row.
    pub fn dense_width(self) -> usize {
        match self {
            Self::Dense(n) | Self::Bits(n) => n,
            Self::Value => 1,
            Self::Index(_) | Self::Key => 0,
        }
    }

    /// Number of columns in the index part of a row.
    pub fn index_width(self) -> usize {
        usize::from(matches!(self, Self::Index(_) | Self::Key))
    }
}

/// A named channel. Two channels are equal if their names, kinds and parts are equal. [`about`](Self::about) is documentation
/// and is not saved in checkpoints.
///
/// ```
/// use adept_rows::{Channel, ChannelKind};
///
/// let squares = Channel::new("squares", ChannelKind::Bits(9)).about("a bit for each square with an own stone");
/// assert_eq!(squares, Channel::new("squares", ChannelKind::Bits(9))); // `about` does not count
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Channel {
    /// Name that architectures use.
    pub name: Cow<'static, str>,
    /// Type and number of its values.
    #[serde(flatten)]
    pub kind: ChannelKind,
    /// Meaning of each input: one line for all inputs, or one line for each range.
    #[serde(skip)]
    pub about: Cow<'static, str>,
    /// Names of the channels that this one depends on, in games whose rules define such a structure. The architecture
    /// `modules` reads them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
}

impl Channel {
    /// Creates a channel with this name and kind, without documentation.
    pub fn new(name: impl Into<Cow<'static, str>>, kind: ChannelKind) -> Self {
        Self { name: name.into(), kind, about: Cow::Borrowed(""), parts: Vec::new() }
    }

    /// Creates a documented channel, usable in constants.
    ///
    /// ```
    /// use adept_rows::{Channel, ChannelKind};
    ///
    /// const CHANNELS: [Channel; 1] = [Channel::fixed("pips", ChannelKind::Dense(2), "pips of each side, divided by 167")];
    /// assert_eq!(CHANNELS[0].name, "pips");
    /// ```
    pub const fn fixed(name: &'static str, kind: ChannelKind, about: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), kind, about: Cow::Borrowed(about), parts: Vec::new() }
    }

    /// Sets the documentation of the inputs.
    #[must_use]
    pub fn about(self, about: impl Into<Cow<'static, str>>) -> Self {
        Self { about: about.into(), ..self }
    }

    /// Sets the channels that it depends on.
    ///
    /// ```
    /// use adept_rows::{Channel, ChannelKind};
    ///
    /// let board = Channel::new("board", ChannelKind::Bits(18)).made_of(vec!["own".into(), "other".into()]);
    /// assert_eq!(board.parts.len(), 2);
    /// ```
    #[must_use]
    pub fn made_of(self, parts: Vec<String>) -> Self {
        Self { parts, ..self }
    }
}

impl PartialEq for Channel {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.kind, &self.parts) == (&other.name, other.kind, &other.parts)
    }
}

impl Eq for Channel {}

/// Position in a row of each channel of a list.
///
/// ```
/// use adept_rows::{Channel, ChannelKind, Layout};
///
/// let kinds = [("pips", ChannelKind::Dense(2)), ("stage", ChannelKind::Index(3)), ("prior", ChannelKind::Value)];
/// let layout = Layout::new(&kinds.map(|(name, kind)| Channel::new(name, kind)));
/// assert_eq!((layout.offsets, layout.dense, layout.index), (vec![0, 0, 2], 3, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layout {
    /// First column of each channel, in the dense or the index part, depending on its kind.
    pub offsets: Vec<usize>,
    /// Number of columns in the dense part.
    pub dense: usize,
    /// Number of columns in the index part.
    pub index: usize,
}

impl Layout {
    /// Computes the layout of these channels.
    pub fn new(channels: &[Channel]) -> Self {
        let (mut offsets, mut dense, mut index) = (Vec::with_capacity(channels.len()), 0, 0);
        for channel in channels {
            offsets.push(if channel.kind.index_width() > 0 { index } else { dense });
            dense += channel.kind.dense_width();
            index += channel.kind.index_width();
        }
        Self { offsets, dense, index }
    }
}
