//! The commands `export` and `import`.

use crate::args::{ExportArgs, FormatArg, ImportArgs};
use crate::output;
use adept_lab::Catalogue;
use adept_lab::exchange;
use adept_lab::export::Format;
use anyhow::Result;

pub(crate) fn export(games: &dyn Catalogue, args: &ExportArgs, as_json: bool) -> Result<()> {
    let format = match args.format {
        FormatArg::Onnx => Format::Onnx,
        FormatArg::Safetensors => Format::Safetensors,
        FormatArg::C => Format::C,
        FormatArg::Rust => Format::Rust,
        FormatArg::Quantised => Format::Quantised,
        FormatArg::Bf16 => Format::Bf16,
    };
    let exported = exchange::export(games, &args.of.checkpoint, args.of.best, format, &args.out)?;
    if as_json {
        return output::json(&exported);
    }
    let (path, value) = (exported.path.display(), output::entry("value:", 7, &exported.value));
    let mut text =
        format!("{path}: {} bytes, inputs from the encoder {}\n{value}", exported.bytes, exported.encoder);
    if !exported.impossible.is_empty() {
        text.push_str(&output::entry("note:", 7, &exported.impossible));
    }
    if let Some(quantised) = &exported.quantised {
        text.push_str(&output::entry("differs:", 7, &output::quantised(quantised)));
    }
    output::text(&text)
}

pub(crate) fn import(games: &dyn Catalogue, args: &ImportArgs, as_json: bool) -> Result<()> {
    let imported =
        exchange::import(games, &args.file, args.like.as_deref(), args.strip.as_deref(), &args.out)?;
    if as_json {
        return output::json(&imported);
    }
    output::text(&format!(
        "{}: {} parameters, game {}, encoder {}\n",
        imported.path.display(),
        imported.parameters,
        imported.game,
        imported.encoder
    ))
}
