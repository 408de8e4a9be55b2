//! The nearest of a few names.

/// `: did you mean …?`, or the list of what there is.
pub fn suggest(name: &str, known: &[&str]) -> String {
    let near = known.iter().map(|k| (strsim::damerau_levenshtein(name, k), *k)).min();
    match near {
        Some((distance, k)) if distance <= 1 + k.len() / 3 => format!(": did you mean `{k}`?"),
        // `learning_rate` for `rate`: too far in letters, near in meaning.
        Some(_) if let Some(part) = known.iter().find(|k| k.len() > 3 && name.contains(**k)) => {
            format!(": did you mean `{part}`?")
        }
        Some(_) => format!("; there is {}", known.join(", ")),
        None => String::new(),
    }
}
