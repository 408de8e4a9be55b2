//! Size and cost of a model.

use crate::program::{Block, Op, Param, Program, Selector};

/// Size and cost of a model.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Description {
    /// Number of learned parameters.
    pub parameters: usize,
    /// Multiply-adds of one evaluation if every expert runs.
    pub multiply_adds: usize,
    /// Multiply-adds of one evaluation if each selecting node runs only its cheapest expert.
    pub multiply_adds_least: usize,
    /// Size in bytes of the parameters as 32-bit floats, and of the keys of a table.
    pub bytes: usize,
    /// Each parameter tensor: name, shape, learning-rate group.
    pub tensors: Vec<TensorInfo>,
    /// The ops, one line each, indented inside routes.
    pub ops: Vec<String>,
}

/// A parameter tensor.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TensorInfo {
    /// Name in the checkpoint.
    pub name: String,
    /// Shape.
    pub shape: Vec<usize>,
    /// Learning-rate group.
    pub group: String,
    /// Factor on the run's learning rate.
    pub rate: f32,
}

impl Program {
    /// Size and cost of the program.
    pub fn describe(&self) -> Description {
        let mut ops = Vec::new();
        self.list(&self.body, 0, &mut ops);
        let (most, least) = self.cost(&self.body);
        Description {
            parameters: self.params.iter().filter(|p| !p.fixed).map(Param::len).sum(),
            multiply_adds: most,
            multiply_adds_least: least,
            bytes: 4 * self.parameters(),
            tensors: self
                .params
                .iter()
                .map(|p| TensorInfo {
                    name: p.name.clone(),
                    shape: p.shape.clone(),
                    group: self.groups[p.group].name.clone(),
                    rate: self.groups[p.group].rate,
                })
                .collect(),
            ops,
        }
    }

    /// The most and the fewest multiply-adds of a block, without densities, which only training needs.
    fn cost(&self, block: &Block) -> (usize, usize) {
        let (mut most, mut least) = (0, 0);
        for op in &block.ops {
            let plain = match op {
                Op::Route { select, branches, .. } => {
                    let costs: Vec<_> = branches.iter().map(|b| self.cost(b)).collect();
                    let cheapest = costs.iter().map(|c| c.1).min().unwrap_or(0);
                    let (all_most, all_least) = costs.iter().fold((0, 0), |(m, l), c| (m + c.0, l + c.1));
                    let dearest = costs.iter().map(|c| c.0).max().unwrap_or(0);
                    let (m, l) = match select {
                        Selector::All => (all_most, all_least),
                        Selector::Mask(_) => (all_most, cheapest),
                        Selector::Index(_) | Selector::Cells(_) => (dearest, cheapest),
                    };
                    most += m;
                    least += l;
                    0
                }
                op => self.plain_cost(op),
            };
            most += plain;
            least += plain;
        }
        (most, least)
    }

    /// Multiply-adds of an op that is not a route.
    pub(crate) fn plain_cost(&self, op: &Op) -> usize {
        match op {
            Op::Affine { weight, .. } => self.params[*weight].len(),
            Op::Scale { x, .. } | Op::Residual { x, .. } => self.widths[*x],
            Op::Blend { y, .. } => self.widths[*y],
            _ => 0,
        }
    }

    fn list(&self, block: &Block, depth: usize, lines: &mut Vec<String>) {
        for op in &block.ops {
            let width = |v: &usize| self.widths[*v];
            let line = match op {
                Op::Input { channels, out } => {
                    let names: Vec<_> = channels.iter().map(|&c| &*self.channels[c].name).collect();
                    format!("input {} → {}", names.join(" + "), width(out))
                }
                Op::Concat { xs, out } => {
                    let widths: Vec<String> = xs.iter().map(|x| width(x).to_string()).collect();
                    format!("concat {} → {}", widths.join(" + "), width(out))
                }
                Op::Affine { x, out, .. } => format!("affine {} → {}", width(x), width(out)),
                Op::Scale { x, .. } => format!("scale {}", width(x)),
                Op::Activation { x, f, .. } => format!("{} {}", format!("{f:?}").to_lowercase(), width(x)),
                Op::LogSoftmax { x, .. } => format!("log-softmax {}", width(x)),
                Op::Threshold { threshold, .. } => format!("threshold {threshold}"),
                Op::Blend { log_weights, out, .. } => {
                    format!("blend {} → {}", width(log_weights), width(out))
                }
                Op::Density { variance, .. } => format!("density, variance {variance}"),
                Op::LogMix { log_weights, .. } => format!("log-mix {}", width(log_weights)),
                Op::Gather { table, channel, .. } => {
                    format!("gather {} by {}", self.params[*table].shape[0], self.channels[*channel].name)
                }
                Op::Softmax { x, .. } => format!("softmax {}", width(x)),
                Op::Categorical { p, .. } => format!("cross entropy of {} classes", width(p)),
                Op::PriorLogits { prior, out, .. } => {
                    format!("logits of {} {}", self.channels[*prior].name, width(out))
                }
                Op::Residual { prior, x, .. } => {
                    format!("residual on {} {}", self.channels[*prior].name, width(x))
                }
                Op::Outer { x, .. } => format!("outer {}", width(x)),
                Op::Route { select, branches, .. } => match select {
                    Selector::All => format!("route to all of {}", branches.len()),
                    Selector::Mask(_) => format!("route to the selected of {}", branches.len()),
                    Selector::Cells(gate) => {
                        let [a, b] = gate.channels.map(|c| &self.channels[c].name);
                        let shape = &self.params[gate.table].shape;
                        let (n, m, experts) = (shape[0], shape[1], branches.len());
                        format!("route to one of {experts} by {n} × {m} cells of {a} and {b}")
                    }
                    Selector::Index(c) => {
                        format!("route to one of {} by {}", branches.len(), self.channels[*c].name)
                    }
                },
            };
            lines.push(format!("{}{line}", "  ".repeat(depth)));
            if let Op::Route { branches, .. } = op {
                let equal = branches.windows(2).all(|w| self.shape_of(&w[0]) == self.shape_of(&w[1]));
                for branch in &branches[..if equal { 1 } else { branches.len() }] {
                    self.list(branch, depth + 1, lines);
                }
            }
        }
    }

    /// The lines of a block. They are equal for branches that differ only in their parameters.
    fn shape_of(&self, block: &Block) -> Vec<String> {
        let mut lines = Vec::new();
        self.list(block, 0, &mut lines);
        lines
    }
}
