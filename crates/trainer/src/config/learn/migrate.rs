//! Reads the old form of `[learn]`: `method = "td"` with all settings side by side, before each method got its
//! own section. Also expands short keys of the command line, such as `learn.games`, for the method of the file.

use adept_model::names;
use serde_json::{Map, Value};
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike};

const METHODS: [&str; 4] = ["td", "expectation", "supervised", "regrets"];
const SHARED: [&str; 5] = ["rate", "batch", "optimiser", "engine", "device"];

/// Settings that stood in `[learn]` itself, and the methods that have them.
const OF_METHODS: [(&str, &[&str]); 19] = [
    ("games", &["td"]),
    ("samples", &["expectation", "supervised"]),
    ("iterations", &["regrets"]),
    ("against", &["td"]),
    ("field", &["td"]),
    ("distribution", &["td", "expectation", "supervised"]),
    ("examples", &["td", "supervised"]),
    ("examples_per_game", &["td"]),
    ("self_play", &["expectation"]),
    ("lambda", &["td"]),
    ("discount", &["td"]),
    ("rewards", &["td"]),
    ("gap_discount", &["td"]),
    ("next", &["td"]),
    ("explore", &["td", "expectation"]),
    ("temperature", &["td"]),
    ("traces", &["td"]),
    ("workers", &["td"]),
    ("overlap", &["td"]),
];

/// Where a setting of the old form goes.
enum Place {
    Stays,
    /// Into the section of the method.
    Moves,
    /// Nowhere: it has no meaning for this method.
    Ends,
}

/// Where a setting goes for this method; `value` is its text.
fn place(key: &str, value: &str, method: &str) -> Place {
    let meant_nothing = match key {
        "lambda" => method != "td",
        "explore" => method == "supervised" || method == "regrets",
        // The defaults, which saved configs contain.
        "against" | "traces" | "workers" | "overlap" => {
            method != "td" && ["\"self\"", "\"backward\"", "1", "false"].contains(&value.trim())
        }
        _ => key == "method",
    };
    match key {
        _ if meant_nothing => Place::Ends,
        // An unknown setting stays where the error message helps most.
        _ if methods_with(key).is_empty() => Place::Stays,
        _ => Place::Moves,
    }
}

/// The method of a section with these keys, if it can be determined: the one named in the old form, or the one
/// with a section.
fn method(named: Option<&str>, keys: &[String]) -> Option<String> {
    let sections: Vec<&String> = keys.iter().filter(|key| METHODS.contains(&key.as_str())).collect();
    match (named, &sections[..]) {
        (Some(name), []) if METHODS.contains(&name) => Some(name.into()),
        // In the old form, too, the settings of regrets had a section.
        (Some("regrets"), [section]) if *section == "regrets" => Some("regrets".into()),
        (Some(_), _) => None,
        // Without a method, as in all files that named none, it was `td`.
        (None, []) if keys.iter().any(|key| methods_with(key).contains(&"td")) => Some("td".into()),
        (None, []) => None,
        (None, [section]) => Some((*section).clone()),
        (None, _) => None,
    }
}

/// The text of a value without comments and with one kind of quotes.
fn plain(item: &Item) -> String {
    match item.as_value() {
        Some(toml_edit::Value::String(text)) => format!("{:?}", text.value()),
        Some(value) => value.clone().decorated("", "").to_string(),
        None => item.to_string(),
    }
}

/// Converts a file to the current form. Returns whether anything changed.
pub(in crate::config) fn document(document: &mut DocumentMut) -> bool {
    let old = file(document);
    if old && let Some(architecture) = document.as_table_mut().get_mut("architecture") {
        keep_random_gates(architecture);
    }
    old
}

/// Writes `clusters = 0` where a gate had random weights by default.
fn keep_random_gates(item: &mut Item) {
    if let Some(list) = item.as_array_mut() {
        for value in list.iter_mut() {
            let mut inner = Item::Value(value.clone());
            keep_random_gates(&mut inner);
            if let Ok(changed) = inner.into_value() {
                *value = changed;
            }
        }
        return;
    }
    if let Some(tables) = item.as_array_of_tables_mut() {
        for table in tables.iter_mut() {
            let mut inner = Item::Table(std::mem::take(table));
            keep_random_gates(&mut inner);
            if let Ok(changed) = inner.into_table() {
                *table = changed;
            }
        }
        return;
    }
    let Some(table) = item.as_table_like_mut() else { return };
    for (key, inner) in table.iter_mut() {
        if matches!(key.get(), "hme" | "meta_pi")
            && let Some(mixture) = inner.as_table_like_mut()
        {
            let gate = mixture.entry("gate").or_insert(Item::Value(InlineTable::new().into()));
            let linear = |gate: &dyn TableLike| {
                let hidden = gate.get("hidden").and_then(Item::as_array).is_some_and(|h| !h.is_empty());
                !hidden && !gate.contains_key("by") && !gate.contains_key("clusters")
            };
            if let Some(gate) = gate.as_table_like_mut().filter(|gate| linear(*gate)) {
                gate.insert("clusters", toml_edit::value(0));
            }
        }
        keep_random_gates(inner);
    }
}

/// Converts the section `[learn]` of a file to the current form. Comments stay, except those on settings that meant
/// nothing. Returns whether anything changed.
fn file(document: &mut DocumentMut) -> bool {
    let Some(item) = document.as_table_mut().get_mut("learn") else { return false };
    let inline = match item {
        Item::Table(table) => table.is_dotted(),
        _ => true,
    };
    let Some(learn) = item.as_table_like_mut() else { return false };
    let keys: Vec<String> = learn.iter().map(|(key, _)| key.to_string()).collect();
    let named = learn.get("method").and_then(Item::as_str).map(String::from);
    if keys.iter().any(|key| key == "method") && named.is_none() {
        return false;
    }
    let Some(method) = method(named.as_deref(), &keys) else { return false };
    if named.is_none() && learn.contains_key(&method) {
        return false;
    }
    let text = |key: &String| learn.get(key).map(plain).unwrap_or_default();
    let places: Vec<Place> = keys.iter().map(|key| place(key, &text(key), &method)).collect();
    if learn.get(&method).is_none() {
        let section = match inline {
            true => Item::Value(InlineTable::new().into()),
            false => Item::Table(Table::new()),
        };
        learn.insert(&method, section);
    }
    if !inline && learn.get(&method).is_some_and(Item::is_inline_table) {
        // `regrets = { … }` becomes a section after the others.
        if let Some(Ok(table)) = learn.remove(&method).map(Item::into_table) {
            learn.insert(&method, Item::Table(table));
        }
    }
    for (key, place) in keys.iter().zip(places) {
        if matches!(place, Place::Stays) {
            continue;
        }
        let formatted = learn.key(key).cloned();
        let Some(value) = learn.remove(key) else { continue };
        if key == "method"
            && let Some(section) = learn.get_mut(&method).and_then(Item::as_table_mut)
        {
            // What was said of the method is said of its section.
            let above = formatted.as_ref().and_then(|key| key.leaf_decor().prefix()?.as_str());
            let beside = value.as_value().and_then(|value| value.decor().suffix()?.as_str());
            section.decor_mut().set_prefix(format!("\n{}", above.unwrap_or_default()));
            section.decor_mut().set_suffix(beside.unwrap_or_default());
        }
        let section = learn.get_mut(&method).and_then(Item::as_table_like_mut);
        if let (Place::Moves, Some(section)) = (place, section) {
            match formatted {
                Some(key) if !inline => {
                    *section.entry_format(&key).or_insert(Item::None) = value;
                }
                _ => drop(section.insert(key, value)),
            }
        }
    }
    true
}

/// Expands a short key from the command line for this file, such as `learn.games` to `learn.td.games`.
pub(in crate::config) fn whole_key(key: &str, document: &DocumentMut) -> String {
    let learn = document.get("learn").and_then(Item::as_table_like);
    let section = learn.and_then(|learn| METHODS.into_iter().find(|method| learn.contains_key(method)));
    match (key.strip_prefix("learn."), section) {
        (Some(rest), Some(section))
            if methods_with(rest.split('.').next().unwrap_or(rest)).contains(&section) =>
        {
            format!("learn.{section}.{rest}")
        }
        _ => key.into(),
    }
}

/// Converts the section `[learn]` of a config saved as JSON to the current form.
pub(in crate::config) fn saved(learn: &mut Map<String, Value>) {
    let keys: Vec<String> = learn.keys().cloned().collect();
    let named = learn.get("method").and_then(Value::as_str);
    let Some(method) = method(named, &keys) else { return };
    let mut section = match learn.remove(&method) {
        Some(Value::Object(section)) => section,
        _ => Map::new(),
    };
    for key in keys {
        let text = learn.get(&key).map(Value::to_string).unwrap_or_default();
        match place(&key, &text, &method) {
            Place::Stays => {}
            Place::Moves => drop(learn.remove(&key).map(|value| section.insert(key, value))),
            Place::Ends => drop(learn.remove(&key)),
        }
    }
    learn.insert(method, Value::Object(section));
}

/// The message for an unknown key in a learning section, if another of these sections has this key or one spelt
/// almost the same.
pub(in crate::config) fn elsewhere(key: &str, known: &[&str]) -> Option<String> {
    if SHARED.contains(&key) {
        return Some(format!("`{key}` belongs to the section [learn]"));
    }
    if key == "method" {
        let sections = METHODS.map(|method| format!("[learn.{method}]")).join(", ");
        return Some(format!("the method is the name of its section, one of {sections}"));
    }
    let near = names::nearest(key, known);
    let other = names::nearest(key, &OF_METHODS.map(|(name, _)| name))
        .filter(|_| near.is_none() || !methods_with(key).is_empty())?;
    let sections: Vec<String> =
        methods_with(other).iter().map(|method| format!("[learn.{method}]")).collect();
    let sections = sections.join(" or ");
    Some(match key == other {
        true => format!("`{key}` belongs to the section {sections}"),
        false => format!("unknown key `{key}`: did you mean `{other}` in the section {sections}?"),
    })
}

/// The methods that have a setting.
fn methods_with(key: &str) -> &'static [&'static str] {
    OF_METHODS.iter().find(|(name, _)| *name == key).map_or(&[], |(_, methods)| methods)
}
