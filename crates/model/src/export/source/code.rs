//! Code in no particular language: constant arrays, and functions that call helpers.

use crate::head::Head;
use adept_rows::ChannelKind;
use std::collections::BTreeSet;

/// The computation that a file prints.
#[derive(Debug, Default)]
pub(super) struct Code {
    /// The channels that are read.
    pub(super) inputs: Vec<Input>,
    /// The constants.
    pub(super) arrays: Vec<Array>,
    /// Functions of the inputs. Each calls only earlier ones; the last is the network.
    pub(super) functions: Vec<Function>,
    /// Width of the output.
    pub(super) outputs: usize,
    /// Meaning of the output.
    pub(super) head: Head,
}

/// A channel that is read.
#[derive(Debug)]
pub(super) struct Input {
    /// Name as an identifier.
    pub(super) name: String,
    pub(super) kind: ChannelKind,
    /// Meaning of its numbers.
    pub(super) about: String,
}

/// A constant array.
#[derive(Debug)]
pub(super) struct Array {
    /// Name in lower case, unique.
    pub(super) name: String,
    /// Name of the parameter.
    pub(super) param: String,
    pub(super) shape: Vec<usize>,
    pub(super) data: Data,
}

#[derive(Debug)]
pub(super) enum Data {
    Floats(Vec<f32>),
    /// Classes and numbers of experts, which fit 16 bits.
    Whole(Vec<u16>),
}

/// A function of the inputs that writes `width` numbers.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    /// Whether it also gets an array of its caller, [`Place::Given`].
    pub(super) is_given: bool,
    pub(super) width: usize,
    pub(super) steps: Vec<Step>,
}

#[derive(Debug)]
pub(super) enum Step {
    /// A local array; `zero` if a step may leave it as it is.
    Local { name: String, width: usize, zero: bool },
    /// Calls a helper.
    Call(Helper, Vec<Arg>),
    /// Runs a function, if there is no condition or entry i of this array is above 0.
    Run { function: String, given: Option<Slice>, out: Slice, when: Option<(Slice, usize)> },
    /// Runs the function with this number.
    Choose { number: Number, functions: Vec<String>, given: Option<Slice>, out: Slice },
}

/// A number below the number of functions.
#[derive(Debug)]
pub(super) enum Number {
    /// The value of an index channel.
    Input(String),
    /// T[c₀[i₀]][c₁[i₁]], by names of inputs and arrays.
    Cell { inputs: [String; 2], classes: [String; 2], table: String, columns: usize },
}

/// An argument of a helper, in the order of the C function. Rust knows sizes from slices.
#[derive(Clone, Debug)]
pub(super) enum Arg {
    In(Slice),
    Out(Slice),
    /// A constant array.
    Array(String),
    Size(usize),
    Float(f32),
    /// An index channel.
    Index(String),
    /// A value channel.
    Value(String),
}

/// Some entries of an array.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub(super) place: Place,
    pub(super) from: usize,
    pub(super) width: usize,
    /// Width of the whole array.
    pub(super) of: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A dense or bits channel.
    Input(String),
    /// A value channel: one number.
    Value(String),
    Local(String),
    /// A buffer from the caller of the function.
    Given,
    /// The output of the function.
    Out,
}

/// Functions that steps call, in the order in which they are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Exp,
    TanhOf,
    Copy,
    Entry,
    Affine,
    Scale,
    Tanh,
    Sigmoid,
    Relu,
    Silu,
    Softmax,
    Select,
    Blend,
    Correct,
    Tilt,
}

impl Helper {
    /// Helpers that this one calls, where the language has no such functions of its own.
    pub(super) fn needs(self) -> &'static [Self] {
        match self {
            Self::Sigmoid | Self::Silu | Self::Softmax => &[Self::Exp],
            Self::Tanh | Self::Correct => &[Self::Exp, Self::TanhOf],
            _ => &[],
        }
    }

    /// Its name as a function.
    pub(super) fn name(self) -> &'static str {
        const NAMES: [&str; Helper::Tilt as usize + 1] = [
            "exp", "tanh_of", "copy", "entry", "affine", "scale", "tanh", "sigmoid", "relu", "silu",
            "softmax", "select", "blend", "correct", "tilt",
        ];
        NAMES[self as usize]
    }

    /// Its text, with an empty line after it. `all` has the helpers from `first` on in their order, with empty lines between them.
    pub(super) fn text(self, all: &str, first: Self) -> String {
        let own = all.split("\n\n").nth(self as usize - first as usize);
        format!("{}\n\n", own.expect("the text of each helper").trim_end())
    }
}

impl Step {
    /// Whether it reads an input of the network.
    pub(super) fn reads_inputs(&self) -> bool {
        let is_input = |arg: &Arg| match arg {
            Arg::In(slice) => matches!(slice.place, Place::Input(_) | Place::Value(_)),
            arg => matches!(arg, Arg::Index(_) | Arg::Value(_)),
        };
        match self {
            Self::Local { .. } => false,
            Self::Call(_, args) => args.iter().any(is_input),
            Self::Run { .. } | Self::Choose { .. } => true,
        }
    }

    /// Whether it reads the array of the caller.
    pub(super) fn reads_given(&self) -> bool {
        let is_given = |slice: &Slice| slice.place == Place::Given;
        match self {
            Self::Local { .. } => false,
            Self::Call(_, args) => args.iter().any(|arg| matches!(arg, Arg::In(slice) if is_given(slice))),
            Self::Run { given, .. } | Self::Choose { given, .. } => given.as_ref().is_some_and(is_given),
        }
    }
}

impl Code {
    /// Lines of an example that set the first input of `object`. `suffix` ends floats.
    pub(super) fn example(&self, object: &str, suffix: &str) -> Vec<String> {
        let Some(Input { name, kind, .. }) = self.inputs.first() else { return Vec::new() };
        let one = match kind {
            ChannelKind::Dense(_) | ChannelKind::Bits(_) => format!("{name}[0] = 1.0{suffix};"),
            ChannelKind::Value => format!("{name} = 0.5{suffix};"),
            ChannelKind::Index(_) | ChannelKind::Key => format!("{name} = 0;"),
        };
        vec![format!("    {object}.{one}"), "    ...".into()]
    }

    /// The condition that an index among the inputs is out of its range, from that of each; empty without any.
    pub(super) fn checks(&self, is_outside: impl Fn(&str, u64) -> String) -> String {
        let checks = self.inputs.iter().filter_map(|input| match input.kind {
            ChannelKind::Index(n) => Some(is_outside(&input.name, n)),
            _ => None,
        });
        checks.collect::<Vec<_>>().join(" || ")
    }

    /// The helpers that are called, and those that these call.
    pub(super) fn helpers(&self) -> BTreeSet<Helper> {
        let steps = self.functions.iter().flat_map(|f| &f.steps);
        let called =
            steps.filter_map(|step| if let Step::Call(helper, _) = step { Some(*helper) } else { None });
        called.flat_map(|helper| [&[helper], helper.needs()].concat()).collect()
    }

    /// Bytes of the arrays that are alive at once on the longest path of calls.
    pub(super) fn stack(&self) -> usize {
        let mut known: Vec<(&str, usize)> = Vec::new();
        for function in &self.functions {
            let of = |name: &str| known.iter().rev().find(|k| k.0 == name).map_or(0, |k| k.1);
            let (mut own, mut below) = (0, 0);
            for step in &function.steps {
                match step {
                    Step::Local { width, .. } => own += width * size_of::<f32>(),
                    Step::Run { function, .. } => below = below.max(of(function)),
                    Step::Choose { functions, .. } => {
                        below = functions.iter().map(|f| of(f)).fold(below, usize::max);
                    }
                    Step::Call(..) => {}
                }
            }
            known.push((&function.name, own + below));
        }
        known.last().map_or(0, |k| k.1) + self.outputs * size_of::<f32>()
    }
}

#[cfg(test)]
mod tests {
    use super::Helper::*;

    #[test]
    fn helpers_stand_in_the_order_of_their_names() {
        let all = [
            Exp, TanhOf, Copy, Entry, Affine, Scale, Tanh, Sigmoid, Relu, Silu, Softmax, Select, Blend,
            Correct, Tilt,
        ];
        for (text, first) in [(include_str!("helpers.c"), Copy), (include_str!("helpers.rust"), Exp)] {
            let own = &all[first as usize..];
            assert_eq!(text.trim_end().split("\n\n").count(), own.len());
            for helper in own {
                let text = helper.text(text, first);
                assert!(text.contains(&format!("{}(", helper.name())), "{helper:?}: {text}");
            }
        }
    }
}
