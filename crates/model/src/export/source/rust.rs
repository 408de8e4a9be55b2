//! Prints code as a Rust module.

use super::code::{Arg, Array, Code, Data, Function, Helper, Number, Place, Slice, Step, reads_given};
use super::text::{comment, float, numbers, shape};
use super::values_of;
use adept_rows::ChannelKind;
use std::fmt::Write as _;

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
        text.push_str(helper_text(helper));
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
    if let Some(first) = code.inputs.first() {
        let one = match first.kind {
            ChannelKind::Dense(_) | ChannelKind::Bits(_) => format!("    inputs.{}[0] = 1.0;", first.name),
            ChannelKind::Value => format!("    inputs.{} = 0.5;", first.name),
            ChannelKind::Index(_) | ChannelKind::Key => format!("    inputs.{} = 0;", first.name),
        };
        lines.extend([one, "    ...".into()]);
    }
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
    let _ = writeln!(
        text,
        "// Writes {}.",
        if *width == 1 { "a number".into() } else { format!("{width} numbers") }
    );
    let reads = |step: &Step| match step {
        Step::Local { .. } => false,
        Step::Call(_, args) => args.iter().any(|arg| match arg {
            Arg::In(slice) => matches!(slice.place, Place::Input(_) | Place::Value(_)),
            Arg::Index(_) | Arg::Value(_) => true,
            _ => false,
        }),
        Step::Run { .. } | Step::Choose { .. } => true,
    };
    let inputs = if steps.iter().any(reads) { "inputs" } else { "_" };
    let given = match is_given {
        false => "",
        true if steps.iter().any(reads_given) => "given: &[f32], ",
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
            writeln!(text, "    {}({});", helper_name(*helper), args.join(", "))
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
    let checks = code.inputs.iter().filter_map(|input| match input.kind {
        ChannelKind::Index(n) => Some(format!("inputs.{} >= {n}", input.name)),
        _ => None,
    });
    let checks = checks.collect::<Vec<_>>().join(" || ");
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
            for (k, class) in classes.iter().enumerate() {
                let name = class.name.to_ascii_uppercase();
                let _ = writeln!(
                    text,
                    "/// Place of the outcome `{}`.\npub const {name}: usize = {k};\n",
                    class.name
                );
            }
            let sum: Vec<String> = classes
                .iter()
                .filter(|class| class.utility != 0.0)
                .map(|class| format!("{} * out[{}]", float(class.utility), class.name.to_ascii_uppercase()))
                .collect();
            let _ = writeln!(
                text,
                "/// The value: the sum of probabilities times what the outcomes are worth.{wrong}\npub fn value(inputs: \
                 &Inputs) -> f32 {{\n    let out = outcomes(inputs);\n    {}\n}}\n",
                sum.join(" + ")
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

fn helper_name(helper: Helper) -> &'static str {
    match helper {
        Helper::Exp => "exp",
        Helper::TanhOf => "tanh_of",
        Helper::Copy => "copy",
        Helper::Entry => "entry",
        Helper::Affine => "affine",
        Helper::Scale => "scale",
        Helper::Tanh => "tanh",
        Helper::Sigmoid => "sigmoid",
        Helper::Relu => "relu",
        Helper::Silu => "silu",
        Helper::Softmax => "softmax",
        Helper::Select => "select",
        Helper::Blend => "blend",
        Helper::Correct => "correct",
        Helper::Tilt => "tilt",
    }
}

fn helper_text(helper: Helper) -> &'static str {
    match helper {
        // `core` has no exponential function. |x| ≤ 700 keeps 2ᵏ a normal number, and far beyond what f32 can tell.
        Helper::Exp => {
            "// e^x = 2^k e^r with |r| <= ln(2) / 2, and e^r by its series.
fn exp(x: f64) -> f64 {
    let x = if x > 700.0 { 700.0 } else if x < -700.0 { -700.0 } else { x };
    let k = (x * core::f64::consts::LOG2_E + if x < 0.0 { -0.5 } else { 0.5 }) as i64;
    let r = x - k as f64 * core::f64::consts::LN_2;
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..13 {
        term *= r / n as f64;
        sum += term;
    }
    sum * f64::from_bits(((1023 + k) as u64) << 52)
}

"
        }
        Helper::TanhOf => {
            "fn tanh_of(x: f32) -> f64 {
    1.0 - 2.0 / (exp(2.0 * x as f64) + 1.0)
}

"
        }
        Helper::Copy => {
            "fn copy(x: &[f32], out: &mut [f32]) {
    out.copy_from_slice(x);
}

"
        }
        Helper::Entry => {
            "// out = row `index` of a table
fn entry(table: &[f32], index: usize, out: &mut [f32]) {
    let n = out.len();
    out.copy_from_slice(&table[index * n..(index + 1) * n]);
}

"
        }
        Helper::Affine => {
            "// out = x W + b. The weights of the first input come first.
fn affine(x: &[f32], weight: &[f32], bias: &[f32], out: &mut [f32]) {
    out.copy_from_slice(bias);
    for (&x, weights) in x.iter().zip(weight.chunks_exact(out.len())) {
        // As many inputs are.
        if x == 0.0 {
            continue;
        }
        for (sum, w) in out.iter_mut().zip(weights) {
            *sum += x * w;
        }
    }
}

"
        }
        Helper::Scale => {
            "// Sensitivities of units: x = beta x
fn scale(beta: &[f32], x: &mut [f32]) {
    for (v, b) in x.iter_mut().zip(beta) {
        *v *= b;
    }
}

"
        }
        Helper::Tanh => {
            "fn tanh(x: &mut [f32]) {
    for v in x {
        *v = tanh_of(*v) as f32;
    }
}

"
        }
        Helper::Sigmoid => {
            "fn sigmoid(x: &mut [f32]) {
    for v in x {
        *v = (1.0 / (1.0 + exp(-*v as f64))) as f32;
    }
}

"
        }
        Helper::Relu => {
            "fn relu(x: &mut [f32]) {
    for v in x {
        *v = v.max(0.0);
    }
}

"
        }
        Helper::Silu => {
            "fn silu(x: &mut [f32]) {
    for v in x {
        *v = (*v as f64 / (1.0 + exp(-*v as f64))) as f32;
    }
}

"
        }
        Helper::Softmax => {
            "// Positive numbers with sum 1: weights of experts, or probabilities.
fn softmax(x: &mut [f32]) {
    let largest = x.iter().fold(x[0], |a, &b| a.max(b));
    let mut sum = 0.0;
    for v in x.iter_mut() {
        *v = exp((*v - largest) as f64) as f32;
        sum += *v;
    }
    for v in x {
        *v /= sum;
    }
}

"
        }
        Helper::Select => {
            "// Only weights above the threshold stay, or the largest one if there is none. Their sum is 1 again.
fn select(threshold: f32, weights: &mut [f32]) {
    let (mut sum, mut largest) = (0.0, 0);
    for i in 0..weights.len() {
        if weights[i] > weights[largest] {
            largest = i;
        }
        if weights[i] > threshold {
            sum += weights[i];
        }
    }
    for (i, w) in weights.iter_mut().enumerate() {
        *w = if sum > 0.0 {
            if *w > threshold { *w / sum } else { 0.0 }
        } else if i == largest {
            1.0
        } else {
            0.0
        };
    }
}

"
        }
        Helper::Blend => {
            "// out = the weighted sum of what the experts say
fn blend(weights: &[f32], y: &[f32], out: &mut [f32]) {
    out.fill(0.0);
    for (w, y) in weights.iter().zip(y.chunks_exact(out.len())) {
        for (sum, v) in out.iter_mut().zip(y) {
            *sum += w * v;
        }
    }
}

"
        }
        Helper::Correct => {
            "// x = tanh(atanh(prior) + x): the prior, corrected
fn correct(prior: f32, limit: f32, x: &mut [f32]) {
    let p = prior.max(-limit).min(limit) as f64;
    for v in x {
        let t = tanh_of(*v);
        *v = ((p + t) / (1.0 + p * t)) as f32;
    }
}

"
        }
        // `core` has no square root. Newton's method for a number from 1 to 4.
        Helper::Tilt => {
            "// x = the distribution p, tilted by a prior value: p_k w_k / sum, with the weights of a win, 1 of a draw, of a
// loss. They are those of the distribution of the greatest entropy with the prior as its value.
fn tilt(prior: f32, limit: f32, draws: f32, utilities: &[f32], x: &mut [f32]) {
    let p = prior.max(-limit).min(limit) as f64;
    let (mut win, mut loss) = (1.0 + p, 1.0 - p);
    if draws > 0.0 {
        let size = if p < 0.0 { -p } else { p };
        let square = 4.0 - 3.0 * size * size;
        let mut root = 1.5;
        for _ in 0..6 {
            root = 0.5 * (root + square / root);
        }
        let s = (size + root) / (2.0 * (1.0 - size));
        win = if p < 0.0 { 1.0 / s } else { s };
        loss = 1.0 / win;
    }
    let mut sum = 0.0;
    for (v, u) in x.iter_mut().zip(utilities) {
        *v = (*v as f64 * if *u > 0.0 { win } else if *u < 0.0 { loss } else { 1.0 }) as f32;
        sum += *v;
    }
    for v in x {
        *v /= sum;
    }
}

"
        }
    }
}
