//! Config settings as values: parsed from the command line, formatted, compared.

use serde::Serialize;
use serde_json::Value;

/// A setting that differs between two configs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Dotted key.
    pub key: String,
    /// Value in the first config; `None` if absent.
    pub a: Option<Value>,
    /// Value in the second config.
    pub b: Option<Value>,
}

impl Difference {
    /// Key and both values as text.
    pub fn cells(&self) -> [String; 3] {
        [self.key.clone(), show(self.a.as_ref()), show(self.b.as_ref())]
    }
}

/// The value of a text on the command line: TOML, or else the text itself.
pub fn value_of(text: &str) -> Value {
    let parsed = toml::from_str::<toml::Table>(&format!("value = {text}")).ok();
    let value = parsed.filter(|t| t.len() == 1).and_then(|mut t| t.remove("value"));
    value.and_then(|v| serde_json::to_value(v).ok()).unwrap_or_else(|| text.into())
}

/// Formats a value as in a config, but text without quotes; `–` for no value.
pub fn show(value: Option<&Value>) -> String {
    match value {
        None => "–".into(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) if number.is_f64() => number.as_f64().map_or_else(String::new, float),
        Some(value) => {
            let value = tidy(value);
            toml::Value::try_from(&value).map_or_else(|_| value.to_string(), |value| value.to_string())
        }
    }
}

/// The value with all its numbers as they were written.
fn tidy(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map_or(Value::Null, |x| written(x).into())
        }
        Value::Array(all) => all.iter().map(tidy).collect(),
        Value::Object(all) => all.iter().map(|(key, value)| (key.clone(), tidy(value))).collect(),
        other => other.clone(),
    }
}

/// A fraction as it was written: what was saved from an f32 such as .2 has digits that nobody wrote.
fn written(x: f64) -> f64 {
    let single = x as f32;
    let is_single = f64::from(single) == x && x.fract() != 0.0;
    if is_single { single.to_string().parse().unwrap_or(x) } else { x }
}

/// Formats a float without redundant zeros.
fn float(x: f64) -> String {
    let x = written(x);
    if x == 0.0 || (1e-5..1e7).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}

/// The differences key by key, in the order of the first config, then of the second.
pub fn differences(a: &Value, b: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", Some(a), Some(b), &mut found);
    found
}

fn compare(path: &str, a: Option<&Value>, b: Option<&Value>, found: &mut Vec<Difference>) {
    if let (Some(Value::Object(left)), Some(Value::Object(right))) = (a, b) {
        let only_right = right.keys().filter(|k| !left.contains_key(*k));
        for key in left.keys().chain(only_right) {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            compare(&path, left.get(key), right.get(key), found);
        }
    } else if a != b {
        found.push(Difference { key: path.into(), a: a.cloned(), b: b.cloned() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_shown_as_they_were_written() {
        let single = json!(f64::from(0.2f32));
        assert_eq!(show(Some(&single)), "0.2");
        assert_eq!(show(Some(&json!({ "rates": [single] }))), "{ rates = [0.2] }");
        assert_eq!(show(Some(&json!(123_456_792.0))), "1.23456792e8");
        assert_eq!(show(Some(&json!(0.1234567891))), "0.1234567891");
    }

    #[test]
    fn texts_become_values_and_values_texts() {
        for (text, value, shown) in [
            ("0.01", json!(0.01), "0.01"),
            ("1e9", json!(1e9), "1e9"),
            ("1.0", json!(1.0), "1"),
            ("1_000", json!(1000), "1000"),
            ("[40, 20]", json!([40, 20]), "[40, 20]"),
            ("{from=0.02,to=0.001}", json!({ "from": 0.02, "to": 0.001 }), "{ from = 0.02, to = 0.001 }"),
            ("\"ttt\"", json!("ttt"), "ttt"),
            ("ttt", json!("ttt"), "ttt"),
            ("1\nother = 2", json!("1\nother = 2"), "1\nother = 2"),
        ] {
            assert_eq!((value_of(text), show(Some(&value))), (value, shown.to_string()));
        }
    }

    #[test]
    fn only_what_differs_is_named_by_its_dotted_key() {
        let a = json!({ "name": "x", "learn": { "rate": 0.1, "batch": 1 }, "net": { "mlp": [20] } });
        let b = json!({ "name": "x", "learn": { "rate": { "from": 1 }, "batch": 1 }, "net": { "hme": 2 } });
        let found = differences(&a, &b);
        let keys: Vec<&str> = found.iter().map(|d| d.key.as_str()).collect();
        assert_eq!(keys, ["learn.rate", "net.mlp", "net.hme"]);
        assert_eq!((show(found[1].a.as_ref()), show(found[1].b.as_ref())), ("[20]".into(), "–".into()));
        assert!(differences(&a, &a).is_empty());
    }
}
