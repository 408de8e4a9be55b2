//! Suggestions for misspelt names.

/// The known name closest in spelling, if one is close enough. Of equals, the one with the same first letter, which is rarely
/// wrong.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let other = |k: &str| k.chars().next() != name.chars().next();
    let near = known.iter().map(|k| (strsim::damerau_levenshtein(name, k), other(k), *k)).min()?;
    match near {
        (distance, _, k) if distance <= 1 + k.len() / 3 => Some(k),
        // Catches `learning_rate` for `rate`: far in spelling, close in meaning.
        _ => known.iter().find(|k| k.len() > 3 && name.contains(**k)).copied(),
    }
}

/// `: did you mean …?`, or the list of known names.
pub fn suggest(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!(": did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None => format!("; there is {}", known.join(", ")),
    }
}
