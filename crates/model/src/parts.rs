//! The parts of an architecture, and whether two networks can exchange weights.

use crate::architecture::{Architecture, Cells, Experts, Hme, MetaPi, Symbolic};
use crate::head::Head;
use crate::lower::lower;
use adept_rows::{Channel, ChannelKind};

impl Architecture {
    /// The least range that its output cannot leave, whatever the weights; ends are infinite if nothing bounds them. It
    /// follows from the last activation: [−1, 1] for tanh. Entries of a table may be anything.
    pub fn range(&self, channels: &[Channel]) -> (f32, f32) {
        match self {
            Self::Mlp(mlp) => mlp.output.range(),
            Self::Modules(_) | Self::Blind(_) | Self::Residual(_) => (-1.0, 1.0),
            // A frozen value may be that of a network with a linear output.
            Self::Lookup(_) | Self::Frozen(_) => (f32::NEG_INFINITY, f32::INFINITY),
            // Weights of experts are at least 0, and their sum is 1.
            Self::Shared(shared) => shared.top.range(channels),
            Self::Hme(_) | Self::MetaPi(_) | Self::Symbolic(_) | Self::Cells(_) => {
                let all = self.experts(channels).into_iter().map(|expert| expert.range(channels));
                all.reduce(|(a, b), (low, high)| (a.min(low), b.max(high)))
                    .unwrap_or((f32::NEG_INFINITY, f32::INFINITY))
            }
        }
    }

    /// The experts of a node over rows of these channels, in order; empty for a leaf.
    pub fn experts(&self, channels: &[Channel]) -> Vec<&Self> {
        match self {
            Self::Mlp(_)
            | Self::Modules(_)
            | Self::Lookup(_)
            | Self::Blind(_)
            | Self::Residual(_)
            | Self::Frozen(_) => Vec::new(),
            Self::Hme(Hme { experts, expert, .. }) | Self::MetaPi(MetaPi { experts, expert, .. }) => {
                match (experts, expert) {
                    (Experts::List(list), _) => list.iter().collect(),
                    (Experts::Count(n), Some(expert)) => vec![expert; *n],
                    (Experts::Count(_), None) => Vec::new(),
                }
            }
            Self::Cells(Cells { expert, experts, .. }) => vec![&**expert; *experts],
            Self::Shared(shared) => shared.top.experts(channels),
            Self::Symbolic(Symbolic { by, expert, experts }) => match (expert, experts) {
                (Some(expert), _) => {
                    let n = channels.iter().find(|c| c.name == *by).map_or(0, |c| match c.kind {
                        ChannelKind::Index(n) => n as usize,
                        _ => 0,
                    });
                    vec![expert; n]
                }
                (None, Some(list)) => list.iter().collect(),
                (None, None) => Vec::new(),
            },
        }
    }

    /// The nodes directly below this one over rows of these channels, with the prefixes of their parameter names: `expert.0`, `net`
    /// or `top`.
    pub(crate) fn below(&self, channels: &[Channel]) -> Vec<(String, &Self)> {
        match self {
            Self::Residual(residual) => vec![("net".into(), &*residual.net)],
            Self::Shared(shared) => vec![("top".into(), &*shared.top)],
            Self::Mlp(_)
            | Self::Modules(_)
            | Self::Lookup(_)
            | Self::Blind(_)
            | Self::Frozen(_)
            | Self::Hme(_)
            | Self::MetaPi(_)
            | Self::Symbolic(_)
            | Self::Cells(_) => {
                let experts = self.experts(channels).into_iter().enumerate();
                experts.map(|(i, expert)| (format!("expert.{i}"), expert)).collect()
            }
        }
    }

    /// All networks below this node, with the prefixes of their parameter names: `expert.0`, `expert.0.expert.1`,
    /// `net`, … Excludes lookups: a nested table has a fixed size, a table of its own grows. Excludes what stands on shared
    /// layers, because it is no network without them.
    pub fn parts(&self, channels: &[Channel]) -> Vec<(String, &Self)> {
        let mut parts = Vec::new();
        let nodes = if let Self::Shared(_) = self { Vec::new() } else { self.below(channels) };
        for (name, node) in nodes.into_iter().filter(|(_, node)| !node.grows()) {
            let below = node.parts(channels).into_iter();
            let below: Vec<_> = below.map(|(inner, node)| (format!("{name}.{inner}"), node)).collect();
            parts.push((name, node));
            parts.extend(below);
        }
        parts
    }

    /// Whether a node has learned cells.
    pub fn has_cells(&self, channels: &[Channel]) -> bool {
        matches!(self, Self::Cells(_))
            || self.below(channels).iter().any(|(_, node)| node.has_cells(channels))
    }

    /// Checks that weights of `found` fit this architecture, both with this head: they need the same inputs, layers, activations, gates and
    /// experts. Initial weights, learning rates, thresholds and variances may differ.
    ///
    /// # Errors
    /// The first difference.
    pub fn same_shape(&self, found: &Self, channels: &[Channel], head: &Head) -> Result<(), String> {
        if let (Self::Lookup(here), Self::Lookup(there)) = (self, found) {
            return match here.by == there.by {
                true => Ok(()),
                false => Err("the tables have different keys".into()),
            };
        }
        if let (Self::Blind(here), Self::Blind(there)) = (self, found) {
            return match here.input == there.input {
                true => Ok(()),
                false => Err("they see different bits".into()),
            };
        }
        if self.kind() != found.kind() {
            return Err(format!(
                "it is of kind `{}`, the checkpoint of kind `{}`",
                self.kind(),
                found.kind()
            ));
        }
        let (mut a, mut b) = (self.clone(), found.clone());
        a.forget_settings();
        b.forget_settings();
        let program = |architecture: &Self| lower(architecture, channels, head).map_err(|e| e.to_string());
        let (a, b) = (program(&a)?, program(&b)?);
        for p in &a.params {
            match b.params.iter().find(|q| q.name == p.name) {
                Some(q) if q.shape == p.shape => {}
                Some(q) => {
                    return Err(format!(
                        "`{}` has shape {:?} here, {:?} in the checkpoint",
                        p.name, p.shape, q.shape
                    ));
                }
                None => return Err(format!("the checkpoint has no `{}`", p.name)),
            }
        }
        if let Some(extra) = b.params.iter().find(|q| a.params.iter().all(|p| p.name != q.name)) {
            return Err(format!("only the checkpoint has `{}`", extra.name));
        }
        // Lowering numbers values in a fixed order, so equal programs compare equal.
        if a.body == b.body {
            return Ok(());
        }
        let (a, b) = (a.describe().ops, b.describe().ops);
        let differs = a.iter().zip(&b).find(|(a, b)| a != b);
        Err(match differs {
            Some((a, b)) => format!("it computes `{}`, the checkpoint computes `{}`", a.trim(), b.trim()),
            None => "it reads other inputs than the checkpoint".into(),
        })
    }

    /// Resets the settings that may differ between networks with compatible weights.
    fn forget_settings(&mut self) {
        match self {
            Self::Hme(hme) => (hme.threshold, hme.variance) = (0.0, 1.0),
            Self::MetaPi(pi) => pi.threshold = 0.0,
            Self::Cells(cells) => (cells.gamma, cells.probe, cells.reassign) = (0.5, 1, 0),
            Self::Mlp(_)
            | Self::Modules(_)
            | Self::Lookup(_)
            | Self::Blind(_)
            | Self::Frozen(_)
            | Self::Symbolic(_)
            | Self::Residual(_)
            | Self::Shared(_) => {}
        }
        self.children().into_iter().for_each(Self::forget_settings);
    }

    /// The nodes that are written below this one.
    pub(crate) fn children(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Hme(Hme { experts, expert, .. }) | Self::MetaPi(MetaPi { experts, expert, .. }) => {
                let list = match experts {
                    Experts::List(list) => &mut list[..],
                    Experts::Count(_) => &mut [],
                };
                list.iter_mut().chain(expert.as_deref_mut()).collect()
            }
            Self::Symbolic(symbolic) => {
                let list = symbolic.experts.iter_mut().flatten();
                list.chain(symbolic.expert.as_deref_mut()).collect()
            }
            Self::Cells(cells) => vec![&mut cells.expert],
            Self::Residual(residual) => vec![&mut residual.net],
            Self::Shared(shared) => vec![&mut shared.top],
            Self::Mlp(_) | Self::Modules(_) | Self::Lookup(_) | Self::Blind(_) | Self::Frozen(_) => vec![],
        }
    }
}
