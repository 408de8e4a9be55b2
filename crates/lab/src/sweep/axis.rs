//! One `--set` of a sweep: a key and its values.

use super::SweepError;

/// A key and the values to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// Dotted key.
    pub(super) key: String,
    /// The values as text; at least one.
    pub(super) values: Vec<String>,
}

impl Axis {
    /// Reads `KEY=V1,V2,…`.
    pub(super) fn read(setting: &str) -> Result<Self, SweepError> {
        let Some((key, list)) = setting.split_once('=').filter(|(key, _)| !key.trim().is_empty()) else {
            let message = format!("`{setting}`: write KEY=V1,V2,…, such as learn.rate=0.01,0.02");
            return Err(SweepError::Grid(message));
        };
        let values = split(list);
        if values.contains(&"") {
            return Err(SweepError::Grid(format!("`{setting}`: a value is missing next to a comma")));
        }
        Ok(Self { key: key.trim().into(), values: values.into_iter().map(String::from).collect() })
    }
}

/// Splits at commas outside brackets, braces and quotes, and trims the parts. An unclosed part extends to the
/// end; the parser of values will report it.
fn split(list: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0_usize);
    let (mut quote, mut escaped) = (None, false);
    for (i, c) in list.char_indices() {
        match (quote, c) {
            // Only double quotes have escapes.
            (Some('"'), _) if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(list[begin..i].trim());
                begin = i + 1;
            }
            _ => {}
        }
    }
    parts.push(list[begin..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_split_at_the_commas_of_the_top_level() {
        let cases: [(&str, &[&str]); 9] = [
            ("0.01", &["0.01"]),
            ("0.01, 0.02", &["0.01", "0.02"]),
            ("[20],[40,20]", &["[20]", "[40,20]"]),
            ("{from=0.02,to=0.001},0.01", &["{from=0.02,to=0.001}", "0.01"]),
            ("{a=[1,{b=2,c=3}],d=4},x", &["{a=[1,{b=2,c=3}],d=4}", "x"]),
            (r#""a,b",'c,"d',e"#, &[r#""a,b""#, r#"'c,"d'"#, "e"]),
            (r#""a\",b",c"#, &[r#""a\",b""#, "c"]),
            (r#"'a\',b"#, &[r#"'a\'"#, "b"]),
            ("[1,2", &["[1,2"]),
        ];
        for (list, parts) in cases {
            assert_eq!(split(list), parts, "{list}");
        }
    }

    #[test]
    fn settings_without_key_or_value_are_refused() {
        assert_eq!(Axis::read(" learn.rate = 1 ,2").unwrap().key, "learn.rate");
        for (setting, part) in [("learn.rate", "write KEY=V1"), ("=1", "write KEY=V1")] {
            assert!(Axis::read(setting).unwrap_err().to_string().contains(part), "{setting}");
        }
        for setting in ["a=", "a=1,", "a=,1", "a=1,,2"] {
            assert!(Axis::read(setting).unwrap_err().to_string().contains("value is missing"), "{setting}");
        }
    }
}
