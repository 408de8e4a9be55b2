//! Prints code as a Rust module.

use super::code::{Arg, Array, Code, Data, Function, Helper, Number, Place, Slice, Step};
use super::text::{comment, float, numbers, shape, worth, written};
use super::values_of;
use adept_rows::{ChannelKind, OutcomeClass};
use std::fmt::Write as _;

/// The helpers. `core` has no exponential function: |x| ≤ 700 keeps 2ᵏ a normal number, and is far beyond what f32 can tell. Nor has it
/// a square root: Newton's method finds that of a number from 1 to 4.
const HELPERS: &str = include_str!("helpers.rust");

/// The module. `notes` are the paragraphs at its top, `name` is its name in the example.
pub(super) fn print(code: &Code, notes: &[String], name: &str) -> String {
    let mut text = comment(notes, "//");
    text.push_str("//\n");
    text.push_str(&comment(&usage(code, name), "//"));
    text.push_str("\n#![allow(clippy::all)]\n\n");
    inputs(code, &mut text);
    for array in &code.arrays {
        constant(array, &mut text);
    }
    for helper in code.helpers() {
        text.push_str(&helper.text(HELPERS, Helper::Exp));
    }
    for function in &code.functions {
        self::function(function, &mut text);
    }
    entry(code, &mut text);
    text
}

fn usage(code: &Code, name: &str) -> Vec<String> {
    let mut lines = vec![
        format!("How to call it, with this file as src/{name}.rs:"),
        String::new(),
        format!("    mod {name};"),
        String::new(),
        format!("    let mut inputs = {name}::Inputs::ZERO;"),
    ];
    lines.extend(code.example("inputs", ""));
    lines.push(format!("    let value: f32 = {name}::value(&inputs);"));
    if let Some(classes) = code.head.classes() {
        lines.push(format!("    let outcomes: [f32; {}] = {name}::outcomes(&inputs);", classes.len()));
    }
    lines.extend([
        String::new(),
        "It needs neither `std` nor an allocator, keeps no state, and may be called by any number of threads.".into(),
    ]);
    lines
}

fn inputs(code: &Code, text: &mut String) {
    text.push_str(
        "/// What the network reads.\n#[derive(Clone, Copy, Debug, PartialEq)]\npub struct Inputs {\n",
    );
    let mut zeros = String::new();
    for input in &code.inputs {
        text.push_str(&comment(&[values_of(input.kind)], "    ///"));
        text.push_str(&comment(std::slice::from_ref(&input.about), "    //"));
        let (kind, zero) = match input.kind {
            ChannelKind::Dense(n) | ChannelKind::Bits(n) => (format!("[f32; {n}]"), format!("[0.0; {n}]")),
            ChannelKind::Value => ("f32".into(), "0.0".into()),
            ChannelKind::Index(_) | ChannelKind::Key => ("usize".into(), "0".into()),
        };
        let _ = writeln!(text, "    pub {}: {kind},", input.name);
        let _ = write!(zeros, "{}{}: {zero}", if zeros.is_empty() { "" } else { ", " }, input.name);
    }
    let _ = write!(
        text,
        "}}\n\nimpl Inputs {{\n    /// All inputs 0.\n    #[allow(dead_code)]\n    pub const ZERO: Self = Self {{ {zeros} }};\n}}\n\n"
    );
}

fn constant(array: &Array, text: &mut String) {
    let length: usize = array.shape.iter().product();
    let (kind, all) = match &array.data {
        Data::Floats(all) => ("f32", numbers(all.iter().map(|&v| float(v)))),
        Data::Whole(all) => ("u16", numbers(all.iter().map(u16::to_string))),
    };
    text.push_str(&comment(&[format!("{} {}", array.param, shape(&array.shape))], "//"));
    let _ = write!(text, "static {}: [{kind}; {length}] = [\n{all}];\n\n", array.name.to_ascii_uppercase());
}

fn function(function: &Function, text: &mut String) {
    let Function { name, is_given, width, steps } = function;
    let _ = writeln!(text, "// Writes {}.", written(*width));
    let inputs = if steps.iter().any(Step::reads_inputs) { "inputs" } else { "_" };
    let given = match is_given {
        false => "",
        true if steps.iter().any(Step::reads_given) => "given: &[f32], ",
        true => "_: &[f32], ",
    };
    let _ = writeln!(text, "fn {name}({inputs}: &Inputs, {given}out: &mut [f32]) {{");
    for step in steps {
        self::step(step, text);
    }
    text.push_str("}\n\n");
}

fn step(step: &Step, text: &mut String) {
    let _ = match step {
        Step::Local { name, width, .. } => writeln!(text, "    let mut {name} = [0.0f32; {width}];"),
        Step::Call(helper, args) => {
            let args: Vec<String> = args.iter().filter_map(argument).collect();
            writeln!(text, "    {}({});", helper.name(), args.join(", "))
        }
        Step::Run { function, given, out, when } => {
            let call = format!("{function}(inputs, {}{});", self::given(given), mutable(out));
            match when {
                None => writeln!(text, "    {call}"),
                Some((weights, i)) => {
                    writeln!(text, "    if {}[{i}] > 0.0 {{\n        {call}\n    }}", array(weights))
                }
            }
        }
        Step::Choose { number, functions, given, out } => {
            let _ = writeln!(text, "    match {} {{", self::number(number));
            for (i, function) in functions.iter().enumerate() {
                let case = if i + 1 == functions.len() { "_".into() } else { i.to_string() };
                let _ = writeln!(
                    text,
                    "        {case} => {function}(inputs, {}{}),",
                    self::given(given),
                    mutable(out)
                );
            }
            writeln!(text, "    }}")
        }
    };
}

/// The argument for an array of the caller.
fn given(slice: &Option<Slice>) -> String {
    slice.as_ref().map_or(String::new(), |slice| format!("{}, ", shared(slice)))
}

fn number(number: &Number) -> String {
    let upper = |name: &String| name.to_ascii_uppercase();
    match number {
        Number::Input(input) => format!("inputs.{input}"),
        Number::Cell { inputs: [a, b], classes: [first, second], table, columns } => {
            let (first, second, table) = (upper(first), upper(second), upper(table));
            format!("{table}[{first}[inputs.{a}] as usize * {columns} + {second}[inputs.{b}] as usize]")
        }
    }
}

/// `None` for sizes, which slices know.
fn argument(arg: &Arg) -> Option<String> {
    match arg {
        Arg::In(slice) => Some(shared(slice)),
        Arg::Out(slice) => Some(mutable(slice)),
        Arg::Array(array) => Some(format!("&{}", array.to_ascii_uppercase())),
        Arg::Size(_) => None,
        Arg::Float(v) => Some(float(*v)),
        Arg::Index(input) | Arg::Value(input) => Some(format!("inputs.{input}")),
    }
}

fn array(slice: &Slice) -> String {
    match &slice.place {
        Place::Input(input) => format!("inputs.{input}"),
        Place::Value(input) => format!("[inputs.{input}]"),
        Place::Local(name) => name.clone(),
        Place::Given => "given".into(),
        Place::Out => "out".into(),
    }
}

/// The part of the array, if it is not the whole.
fn range(slice: &Slice) -> String {
    let Slice { from, width, of, .. } = slice;
    if width == of { String::new() } else { format!("[{from}..{}]", from + width) }
}

fn shared(slice: &Slice) -> String {
    match (&slice.place, range(slice)) {
        (Place::Out | Place::Given, range) if range.is_empty() => array(slice),
        (_, range) => format!("&{}{range}", array(slice)),
    }
}

fn mutable(slice: &Slice) -> String {
    match (&slice.place, range(slice)) {
        (Place::Out, range) if range.is_empty() => "out".into(),
        (_, range) => format!("&mut {}{range}", array(slice)),
    }
}

/// The function that users call.
fn entry(code: &Code, text: &mut String) {
    let checks = code.checks(|input, n| format!("inputs.{input} >= {n}"));
    let wrong =
        if checks.is_empty() { "" } else { " NaN if a whole number among the inputs is out of its range." };
    let n = code.outputs;
    let (about, head, nan, result) = match code.head.classes() {
        None => (
            "The output of the network".into(),
            "value(inputs: &Inputs) -> f32".into(),
            "f32::NAN".into(),
            "out[0]",
        ),
        Some(classes) => {
            let upper = |class: &OutcomeClass| class.name.to_ascii_uppercase();
            for (k, class) in classes.iter().enumerate() {
                let (name, place) = (&class.name, upper(class));
                let _ =
                    writeln!(text, "/// Place of the outcome `{name}`.\npub const {place}: usize = {k};\n");
            }
            let sum = worth(classes, |class| format!("{} * out[{}]", float(class.utility), upper(class)));
            let _ = writeln!(
                text,
                "/// The value: the sum of probabilities times what the outcomes are worth.{wrong}\npub fn value(inputs: \
                 &Inputs) -> f32 {{\n    let out = outcomes(inputs);\n    {sum}\n}}\n"
            );
            (
                format!("The probabilities of the {n} outcomes"),
                format!("outcomes(inputs: &Inputs) -> [f32; {n}]"),
                format!("[f32::NAN; {n}]"),
                "out",
            )
        }
    };
    let _ = writeln!(text, "/// {about}.{wrong}\npub fn {head} {{");
    if !checks.is_empty() {
        let _ = writeln!(text, "    if {checks} {{\n        return {nan};\n    }}");
    }
    let _ = writeln!(text, "    let mut out = [0.0; {n}];\n    network(inputs, &mut out);\n    {result}\n}}");
}
