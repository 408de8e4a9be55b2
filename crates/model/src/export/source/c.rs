//! Prints code as a C99 header.

use super::code::{Arg, Array, Code, Data, Function, Helper, Number, Place, Slice, Step};
use super::text::{comment, float, numbers, shape, worth, written};
use super::values_of;
use adept_rows::{ChannelKind, OutcomeClass};
use std::fmt::Write as _;

/// The helpers that `<math.h>` does not have; NAME stands for the name of the network.
const HELPERS: &str = include_str!("helpers.c");

/// The header `file`.h. `notes` are the paragraphs at its top, `name` is an identifier.
pub(super) fn print(code: &Code, notes: &[String], file: &str, name: &str) -> String {
    let mut text = String::from("/*\n");
    text.push_str(&comment(notes, " *"));
    text.push_str(" *\n");
    text.push_str(&comment(&usage(code, file, name), " *"));
    text.push_str(" */\n");
    let guard = format!("ADEPT_{}_H", name.to_ascii_uppercase());
    let _ = write!(text, "#ifndef {guard}\n#define {guard}\n\n#include <math.h>\n\n");
    inputs(code, name, &mut text);
    for array in &code.arrays {
        constant(array, name, &mut text);
    }
    for helper in code.helpers().range(Helper::Copy..) {
        text.push_str(&helper.text(HELPERS, Helper::Copy).replace("NAME", name));
    }
    for function in &code.functions {
        self::function(function, name, &mut text);
    }
    entry(code, name, &mut text);
    let _ = writeln!(text, "\n#endif /* {guard} */");
    text
}

fn usage(code: &Code, file: &str, name: &str) -> Vec<String> {
    let mut lines = vec![
        "How to call it:".to_string(),
        String::new(),
        format!("    #include \"{file}.h\""),
        String::new(),
        format!("    {name}_inputs in = {{0}};"),
    ];
    lines.extend(code.example("in", "f"));
    lines.push(format!("    float value = {name}_value(&in);"));
    if let Some(classes) = code.head.classes() {
        lines.extend([
            format!("    float outcomes[{}];", classes.len()),
            format!("    {name}_outcomes(&in, outcomes);"),
        ]);
    }
    lines.extend([
        String::new(),
        "    cc -std=c99 -O2 program.c -lm".into(),
        String::new(),
        "It allocates nothing, keeps no state, and may be called by any number of threads. Each source file that \
         includes it has a copy of the weights."
            .into(),
    ]);
    lines
}

fn inputs(code: &Code, name: &str, text: &mut String) {
    text.push_str("/* What the network reads. */\ntypedef struct {\n");
    for input in &code.inputs {
        text.push_str("    /*\n");
        text.push_str(&comment(&[values_of(input.kind)], "     *"));
        text.push_str(&comment(std::slice::from_ref(&input.about), "     *"));
        text.push_str("     */\n");
        let _ = match input.kind {
            ChannelKind::Dense(n) | ChannelKind::Bits(n) => writeln!(text, "    float {}[{n}];", input.name),
            ChannelKind::Value => writeln!(text, "    float {};", input.name),
            ChannelKind::Index(_) | ChannelKind::Key => writeln!(text, "    unsigned long {};", input.name),
        };
    }
    let _ = writeln!(text, "}} {name}_inputs;\n");
}

fn constant(array: &Array, name: &str, text: &mut String) {
    let length: usize = array.shape.iter().product();
    let (kind, all) = match &array.data {
        Data::Floats(all) => ("float", numbers(all.iter().map(|&v| format!("{}f", float(v))))),
        Data::Whole(all) => ("unsigned short", numbers(all.iter().map(u16::to_string))),
    };
    text.push_str(
        &comment(&[format!("{} {}", array.param, shape(&array.shape))], "/*").trim_end().replace('\n', " "),
    );
    let _ = write!(text, " */\nstatic const {kind} {name}_{}[{length}] = {{\n{all}}};\n\n", array.name);
}

fn function(function: &Function, name: &str, text: &mut String) {
    let Function { name: own, is_given, width, steps } = function;
    let _ = writeln!(text, "/* Writes {}. */", written(*width));
    let given = if *is_given { "const float *given, " } else { "" };
    let _ = writeln!(text, "static inline void {name}_{own}(const {name}_inputs *in, {given}float *out)\n{{");
    for step in steps {
        if let Step::Local { name, width, zero } = step {
            let _ = writeln!(text, "    float {name}[{width}]{};", if *zero { " = {0}" } else { "" });
        }
    }
    if !steps.iter().any(Step::reads_inputs) {
        text.push_str("    (void)in;\n");
    }
    if *is_given && !steps.iter().any(Step::reads_given) {
        text.push_str("    (void)given;\n");
    }
    for step in steps {
        self::step(step, name, text);
    }
    text.push_str("}\n\n");
}

fn step(step: &Step, name: &str, text: &mut String) {
    let _ = match step {
        Step::Local { .. } => Ok(()),
        Step::Call(helper, args) => {
            let args: Vec<String> = args.iter().map(|arg| argument(arg, name)).collect();
            writeln!(text, "    {name}_{}({});", helper.name(), args.join(", "))
        }
        Step::Run { function, given, out, when } => {
            let when = when.as_ref().map(|(weights, i)| format!("if ({}[{i}] > 0.0f) ", array(weights)));
            writeln!(
                text,
                "    {}{name}_{function}(in, {}{});",
                when.unwrap_or_default(),
                self::given(given),
                pointer(out)
            )
        }
        Step::Choose { number, functions, given, out } => {
            let _ = writeln!(text, "    switch ({}) {{", self::number(number, name));
            for (i, function) in functions.iter().enumerate() {
                let case = if i + 1 == functions.len() { "default".into() } else { format!("case {i}") };
                let _ = writeln!(
                    text,
                    "    {case}: {name}_{function}(in, {}{}); break;",
                    self::given(given),
                    pointer(out)
                );
            }
            writeln!(text, "    }}")
        }
    };
}

/// The argument for an array of the caller.
fn given(slice: &Option<Slice>) -> String {
    slice.as_ref().map_or(String::new(), |slice| format!("{}, ", pointer(slice)))
}

fn number(number: &Number, name: &str) -> String {
    match number {
        Number::Input(input) => format!("in->{input}"),
        Number::Cell { inputs: [a, b], classes: [first, second], table, columns } => {
            format!("{name}_{table}[{name}_{first}[in->{a}] * {columns} + {name}_{second}[in->{b}]]")
        }
    }
}

fn argument(arg: &Arg, name: &str) -> String {
    match arg {
        Arg::In(slice) | Arg::Out(slice) => pointer(slice),
        Arg::Array(array) => format!("{name}_{array}"),
        Arg::Size(n) => n.to_string(),
        Arg::Float(v) => format!("{}f", float(*v)),
        Arg::Index(input) | Arg::Value(input) => format!("in->{input}"),
    }
}

fn array(slice: &Slice) -> String {
    match &slice.place {
        Place::Input(input) => format!("in->{input}"),
        Place::Value(input) => format!("&in->{input}"),
        Place::Local(name) => name.clone(),
        Place::Given => "given".into(),
        Place::Out => "out".into(),
    }
}

fn pointer(slice: &Slice) -> String {
    match slice.from {
        0 => array(slice),
        from => format!("{} + {from}", array(slice)),
    }
}

/// The function that users call.
fn entry(code: &Code, name: &str, text: &mut String) {
    let checks = code.checks(|input, n| format!("in->{input} >= {n}UL"));
    let wrong =
        if checks.is_empty() { "" } else { " NAN if a whole number among the inputs is out of its range." };
    match code.head.classes() {
        None => {
            let _ = writeln!(text, "/* The output of the network.{wrong} */");
            let _ = writeln!(
                text,
                "static inline float {name}_value(const {name}_inputs *in)\n{{\n    float out[1];"
            );
            if !checks.is_empty() {
                let _ = writeln!(text, "    if ({checks}) return NAN;");
            }
            let _ = writeln!(text, "    {name}_network(in, out);\n    return out[0];\n}}");
        }
        Some(classes) => {
            let n = classes.len();
            let upper = |class: &OutcomeClass| format!("{name}_{}", class.name).to_ascii_uppercase();
            let places: Vec<String> = classes.iter().map(upper).collect();
            let _ = writeln!(text, "/* Places of the outcomes. */\nenum {{ {} }};\n", places.join(", "));
            let _ = writeln!(text, "/* Writes the probabilities of the {n} outcomes.{wrong} */");
            let _ =
                writeln!(text, "static inline void {name}_outcomes(const {name}_inputs *in, float *out)\n{{");
            if !checks.is_empty() {
                let _ = writeln!(
                    text,
                    "    if ({checks}) {{\n        int i;\n        for (i = 0; i < {n}; i++) out[i] = NAN;\n        return;\n    }}"
                );
            }
            let _ = writeln!(text, "    {name}_network(in, out);\n}}\n");
            let sum = worth(classes, |class| format!("{}f * out[{}]", float(class.utility), upper(class)));
            let _ = writeln!(
                text,
                "/* The value: the sum of probabilities times what the outcomes are worth.{wrong} */"
            );
            let _ = writeln!(
                text,
                "static inline float {name}_value(const {name}_inputs *in)\n{{\n    float out[{n}];\n    \
                 {name}_outcomes(in, out);\n    return {sum};\n}}"
            );
        }
    }
}
