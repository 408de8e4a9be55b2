//! The nearest of a few names.

/// The name that is spelt nearly so, if any is.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let near = known.iter().map(|k| (strsim::damerau_levenshtein(name, k), *k)).min()?;
    match near {
        (distance, k) if distance <= 1 + k.len() / 3 => Some(k),
        // `learning_rate` for `rate`: too far in letters, near in meaning.
        _ => known.iter().find(|k| k.len() > 3 && name.contains(**k)).copied(),
    }
}

/// `: did you mean …?`, or the list of what there is.
pub fn suggest(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!(": did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None => format!("; there is {}", known.join(", ")),
    }
}
