//! All keys of a config as Markdown tables, generated from the JSON schema.

use schemars::Schema;
use serde_json::Value;
use std::collections::BTreeSet;

/// The keys of every section, each with its type, default and meaning, as Markdown with one heading a section.
pub fn markdown(schema: &Schema) -> String {
    let root = schema.as_value();
    let mut text = String::new();
    let (mut waiting, mut seen) = (vec![(String::new(), root)], BTreeSet::new());
    while let Some((path, node)) = waiting.pop() {
        let mut below = Vec::new();
        let mut rows = String::new();
        for (key, part) in node["properties"].as_object().into_iter().flatten() {
            let whole = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            for (at, table) in tables(root, &whole, part) {
                // A table in several places, such as an expert, is described once.
                if seen.insert(name_of(table)) {
                    below.push((at, table));
                }
            }
            let default = &part["default"];
            let required = node["required"].as_array().is_some_and(|all| all.iter().any(|k| k == key));
            let default = match (required, default) {
                (true, _) => "required".into(),
                (_, Value::Null) => String::new(),
                (_, Value::Object(_)) => String::new(),
                // Defaults are 32-bit floats; further digits are noise.
                (_, value) if value.is_f64() => format!("`{}`", value.as_f64().unwrap_or_default() as f32),
                (_, value) => format!("`{value}`"),
            };
            rows.push_str(&format!("| `{key}` | {} | {default} | {} |\n", kind(root, part), about(part)));
        }
        if !rows.is_empty() {
            let title = if path.is_empty() { "Top of the file".into() } else { format!("`[{path}]`") };
            text.push_str(&format!("## {title}\n\n"));
            if !about(node).is_empty() {
                text.push_str(&format!("{}\n\n", about(node)));
            }
            text.push_str(&format!("| key | type | default | meaning |\n|---|---|---|---|\n{rows}\n"));
        }
        waiting.extend(below.into_iter().rev());
    }
    text.trim_end().to_string() + "\n"
}

/// The definition that a node refers to, or the node itself.
fn resolved<'s>(root: &'s Value, node: &'s Value) -> &'s Value {
    let name = node["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
    name.map_or(node, |name| &root["$defs"][name])
}

/// The alternatives of a node, without `null`; the node itself if there are none.
fn alternatives<'s>(root: &'s Value, node: &'s Value) -> Vec<&'s Value> {
    let node = resolved(root, node);
    match node["oneOf"].as_array().or(node["anyOf"].as_array()) {
        Some(all) => all
            .iter()
            .filter(|one| one["type"] != "null")
            .flat_map(|one| if one["$ref"].is_string() { alternatives(root, one) } else { vec![one] })
            .collect(),
        None => vec![node],
    }
}

/// The tables that a key can hold, with their paths. A tagged variant adds its tag to the path.
fn tables<'s>(root: &'s Value, path: &str, node: &'s Value) -> Vec<(String, &'s Value)> {
    let mut found = Vec::new();
    for one in alternatives(root, node) {
        let Some(properties) = one["properties"].as_object() else { continue };
        let tagged = properties.len() == 1 && one["required"].as_array().is_some_and(|all| all.len() == 1);
        match properties.iter().next() {
            Some((tag, inner)) if tagged => {
                let inner = resolved(root, inner);
                if inner["properties"].is_object() {
                    found.push((format!("{path}.{tag}"), inner));
                }
            }
            _ => found.push((path.to_string(), one)),
        }
    }
    found
}

/// Identity of a table.
fn name_of(table: &Value) -> String {
    table["properties"].to_string()
}

/// The type of a node in a few words.
fn kind(root: &Value, node: &Value) -> String {
    let mut kinds: Vec<String> = Vec::new();
    let mut add = |kind: String| {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    };
    for one in alternatives(root, node) {
        let quoted = |v: &Value| format!("`{v}`");
        match (&one["const"], one["enum"].as_array(), &one["type"]) {
            (value @ Value::String(_), ..) => add(quoted(value)),
            (_, Some(all), _) => all.iter().filter(|v| !v.is_null()).for_each(|v| add(quoted(v))),
            (.., Value::String(name)) => match name.as_str() {
                "object" => match one["properties"].as_object().filter(|p| p.len() == 1) {
                    Some(tagged) => add(format!("`{}`", tagged.keys().next().map_or("", String::as_str))),
                    None => add("table".into()),
                },
                "array" => add(format!("list of {}", kind(root, &one["items"]))),
                "string" => add("text".into()),
                "boolean" => add("`true`, `false`".into()),
                name => add(name.into()),
            },
            (.., Value::Array(names)) => {
                for name in names.iter().filter_map(Value::as_str).filter(|name| *name != "null") {
                    match name {
                        "array" => add(format!("list of {}", kind(root, &one["items"]))),
                        "string" => add("text".into()),
                        name => add(name.into()),
                    }
                }
            }
            _ => {}
        }
    }
    kinds.join(", ")
}

/// The first paragraph of a description.
fn about(node: &Value) -> String {
    let text = node["description"].as_str().unwrap_or_default();
    let text = text.split("\n\n").next().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
