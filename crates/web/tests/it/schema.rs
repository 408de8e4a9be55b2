//! Validates JSON against an OpenAPI document, without unknown keys.

use serde_json::Value;

/// Faults in `found` as an answer to this request with this status.
pub(crate) fn faults(
    document: &Value,
    (method, path, status): (&str, &str, u16),
    found: &Value,
) -> Vec<String> {
    let responses = &document["paths"][path][method]["responses"];
    let told = match &responses[status.to_string()] {
        Value::Null => &responses["default"],
        told => told,
    };
    let schema = &told["content"]["application/json"]["schema"];
    let mut faults = Vec::new();
    check(document, schema, found, path, &mut faults);
    faults
}

fn check(document: &Value, schema: &Value, found: &Value, at: &str, faults: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = document.pointer(&name[1..]).unwrap_or(&Value::Null);
        return check(document, schema, found, at, faults);
    }
    if let Some(choices) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        let of_each: Vec<Vec<String>> = choices
            .iter()
            .map(|choice| {
                let mut faults = Vec::new();
                check(document, choice, found, at, &mut faults);
                faults
            })
            .collect();
        if of_each.iter().all(|faults| !faults.is_empty()) {
            faults.extend(of_each.into_iter().flatten());
        }
        return;
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return faults.push(format!("{at}: nothing says what it is: {schema}")),
    };
    let fits = |kind: &&str| match *kind {
        "null" => found.is_null(),
        "string" => found.is_string(),
        "boolean" => found.is_boolean(),
        "integer" => found.is_u64() || found.is_i64(),
        "number" => found.is_number(),
        "array" => found.is_array(),
        "object" => found.is_object(),
        _ => false,
    };
    if !kinds.iter().any(fits) {
        return faults.push(format!("{at}: {found} is not {kinds:?}"));
    }
    let bound = |name: &str| schema[name].as_f64().zip(found.as_f64());
    if bound("minimum").is_some_and(|(least, found)| found < least)
        || bound("maximum").is_some_and(|(most, found)| found > most)
    {
        faults.push(format!("{at}: {found} is out of range"));
    }
    for (i, item) in found.as_array().into_iter().flatten().enumerate() {
        check(document, &schema["items"], item, &format!("{at}[{i}]"), faults);
    }
    let Some(fields) = found.as_object() else { return };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            faults.push(format!("{at}: {name} is missing"));
        }
    }
    for (name, field) in fields {
        let of_all = &schema["additionalProperties"];
        match (&schema["properties"][name], of_all.is_object()) {
            (Value::Null, false) => faults.push(format!("{at}: {name} is not in the document")),
            (Value::Null, true) => check(document, of_all, field, &format!("{at}.{name}"), faults),
            (schema, _) => check(document, schema, field, &format!("{at}.{name}"), faults),
        }
    }
}

/// Keys that occur twice in an object, anywhere in a JSON text.
pub(crate) fn doubled(text: &str) -> Vec<String> {
    struct Keys<'a>(&'a mut Vec<String>);

    impl<'de> serde::de::DeserializeSeed<'de> for Keys<'_> {
        type Value = ();

        fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_any(self)
        }
    }

    impl<'de> serde::de::Visitor<'de> for Keys<'_> {
        type Value = ();

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("JSON")
        }

        fn visit_bool<E>(self, _: bool) -> Result<(), E> {
            Ok(())
        }

        fn visit_i64<E>(self, _: i64) -> Result<(), E> {
            Ok(())
        }

        fn visit_u64<E>(self, _: u64) -> Result<(), E> {
            Ok(())
        }

        fn visit_f64<E>(self, _: f64) -> Result<(), E> {
            Ok(())
        }

        fn visit_str<E>(self, _: &str) -> Result<(), E> {
            Ok(())
        }

        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
            while all.next_element_seed(Keys(self.0))?.is_some() {}
            Ok(())
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
            let mut seen = Vec::new();
            while let Some(key) = all.next_key::<String>()? {
                if seen.contains(&key) {
                    self.0.push(key.clone());
                }
                seen.push(key);
                all.next_value_seed(Keys(self.0))?;
            }
            Ok(())
        }
    }

    let mut found = Vec::new();
    let read = serde::de::DeserializeSeed::deserialize(
        Keys(&mut found),
        &mut serde_json::Deserializer::from_str(text),
    );
    read.unwrap_or_else(|e| panic!("{e}: {text}"));
    found
}
