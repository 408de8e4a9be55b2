//! Source text: a network as one C99 header or one Rust file, to be compiled into another program.
//!
//! A file holds the weights as constant arrays and the evaluation as functions, one for the network and one for each
//! expert. It needs no library beyond `<math.h>` in C and nothing beyond `core` in Rust, and it allocates nothing.
//! [`build`] is one more engine of the op program: it turns each op into calls of a few helpers. [`c`](mod@c) and
//! [`rust`](mod@rust) print them.

mod build;
mod c;
mod code;
mod rust;
mod text;

use super::About;
use crate::error::ModelError;
use crate::program::Program;
use crate::reference;
use adept_ground::limits;
use adept_rows::{ChannelKind, RowMut, Rows};
use code::Code;

/// The text of a C99 header that computes the output of a program with these flat parameters.
///
/// `name` is that of the file, without `.h`. Names of types and functions begin with it, made a C identifier. The function
/// is `float NAME_value(const NAME_inputs *in)`; for a distribution over classes of outcomes there is also
/// `void NAME_outcomes(const NAME_inputs *in, float *out)`, and a constant `NAME_CLASS` for the place of each class.
///
/// # Errors
/// [`ModelError::Unsupported`] if the network is too large for source text, or if a parameter is not finite.
///
/// # Panics
/// If the number of parameters is wrong.
pub fn c(program: &Program, params: &[f32], about: &About, name: &str) -> Result<String, ModelError> {
    let code = code(program, params, about)?;
    let notes = notes(program, params, about, &code);
    Ok(c::print(&code, &notes, name, &text::identifier(name, "network")))
}

/// The text of a Rust module that computes the output of a program with these flat parameters.
///
/// The function is `pub fn value(inputs: &Inputs) -> f32`; for a distribution over classes of outcomes there is also
/// `pub fn outcomes(inputs: &Inputs) -> [f32; CLASSES]`, and a constant for the place of each class. `name` is the module's name in the example of the file.
///
/// # Errors
/// As [`c()`].
///
/// # Panics
/// If the number of parameters is wrong.
pub fn rust(program: &Program, params: &[f32], about: &About, name: &str) -> Result<String, ModelError> {
    let code = code(program, params, about)?;
    Ok(rust::print(&code, &notes(program, params, about, &code), &text::identifier(name, "network")))
}

fn code(program: &Program, params: &[f32], about: &About) -> Result<Code, ModelError> {
    assert_eq!(params.len(), program.parameters());
    let unsupported = |message: String| Err(ModelError::Unsupported(message));
    let (most, found) = (limits::SOURCE_PARAMETERS, params.len());
    if found > most {
        return unsupported(format!(
            "source text has at most {most} parameters, and this network has {found}: export it as onnx"
        ));
    }
    if let Some(at) = params.iter().position(|v| !v.is_finite()) {
        return unsupported(format!("parameter {at} is {}: source text holds finite numbers", params[at]));
    }
    let code = build::code(program, params, about);
    let (most, found) = (limits::SOURCE_STACK, code.stack());
    if found > most {
        return unsupported(format!(
            "evaluating it takes {found} bytes of stack, more than {most}: its layers are too wide for source text, \
             export it as onnx"
        ));
    }
    Ok(code)
}

/// Paragraphs of the comment at the top of a file; lines that begin with a space are not wrapped.
fn notes(program: &Program, params: &[f32], about: &About, code: &Code) -> Vec<String> {
    let mut notes = Vec::new();
    let name = if about.name.is_empty() { "A network" } else { &about.name };
    let colon = if about.text.is_empty() { "" } else { ": " };
    notes.push(format!("{name}{colon}{}", about.text));
    let entry = |key: &str| about.metadata.iter().find(|e| e.0 == key && !e.1.is_empty()).map(|e| &e.1);
    let lines = ["game", "encoder", "experiment", "seed", "step", "revision", "checksum"]
        .iter()
        .filter_map(|key| entry(key).map(|text| format!("  {key:<11} {text}")));
    notes.extend(lines);
    notes.push(String::new());
    let value = if about.value.is_empty() { "the output of the network" } else { &about.value };
    notes.push(format!("Output: {value}."));
    if let Some(classes) = program.head.classes() {
        let list: Vec<String> =
            classes.iter().map(|class| format!("{} ({:+})", class.name, class.utility)).collect();
        notes.push(format!("Outcomes, and what they are worth: {}.", list.join(", ")));
    }
    notes.extend(Some(&about.impossible).filter(|text| !text.is_empty()).cloned());
    notes.push("A finished game has no inputs: its result is its value.".into());
    let zero = at_zero(program, params).iter().map(|v| format!("{v:.6}")).collect::<Vec<_>>().join(", ");
    notes.push(format!("A check: with all inputs 0 it gives {zero}."));
    notes.push(format!(
        "{} parameters; an evaluation takes about {} bytes of stack.",
        params.len(),
        code.stack()
    ));
    notes
}

/// The outputs where all inputs are 0.
fn at_zero(program: &Program, params: &[f32]) -> Vec<f64> {
    let mut rows = Rows::new(&program.channels);
    let RowMut { dense, index } = rows.push();
    dense.fill(0.0);
    index.fill(0);
    let params: Vec<f64> = params.iter().map(|&v| f64::from(v)).collect();
    reference::run(program, &params, &rows, None).output
}

/// Number and range of the values of a channel.
fn values_of(kind: ChannelKind) -> String {
    match kind {
        ChannelKind::Dense(1) => "A number of order one.".into(),
        ChannelKind::Dense(n) => format!("{n} numbers of order one."),
        ChannelKind::Bits(1) => "A number, 0 or 1.".into(),
        ChannelKind::Bits(n) => format!("{n} numbers, each 0 or 1."),
        ChannelKind::Value => "A number from -1 to 1.".into(),
        ChannelKind::Index(n) => format!("A whole number from 0 to {}.", n - 1),
        ChannelKind::Key => "A whole number.".into(),
    }
}
