//! Identifiers, numbers and comments, which both languages write in the same way.

use adept_rows::OutcomeClass;

/// Columns of a line.
const COLUMNS: usize = 100;

/// Words that C, C++ or Rust reserve, macros of C compilers and headers, those of Windows among them, and names that the files use themselves.
const RESERVED: &str = "\
    abstract alignas alignof and and_eq arm as asm assert async atomic_cancel atomic_commit atomic_noexcept \
    auto await become bitand bitor bool boolean box break case catch cdecl char char16_t char32_t char8_t \
    class co_await co_return co_yield compl complex concept const const_cast consteval constexpr constinit \
    continue crate decltype default delete do double dyn dynamic_cast else emit enum environ errno explicit \
    export extern false far final float fn for foreach friend gen goto hpux huge hyper i386 if imaginary \
    impl import in inline inputs int interface let linux long loop macro main major match max min minor mips \
    mod module move mut mutable namespace near new noexcept noreturn not not_eq null nullptr operator or \
    or_eq out override pascal priv private protected pub public ref reflexpr register reinterpret_cast \
    requires restrict return self short signals signed sizeof slots small sparc static static_assert \
    static_cast stderr stdin stdout struct sun super switch synchronized template this thread_local throw \
    trait transaction_safe transaction_unsafe true try type typedef typeid typename typeof typeof_unqual \
    union unix unsafe unsigned unsized use using vax virtual void volatile wchar_t where while xor xor_eq \
    yield";

/// A text as an identifier of C and Rust: lower-case ASCII letters, digits and `_`, beginning with a letter. What has
/// none of them is called `other`.
pub(super) fn identifier(text: &str, other: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let all: String = text.chars().map(plain).collect();
    let parts: Vec<&str> = all.split('_').filter(|part| !part.is_empty()).collect();
    let name = parts.join("_");
    match name.chars().next() {
        None => other.into(),
        Some(first) if first.is_ascii_digit() => format!("{other}_{name}"),
        Some(_) if RESERVED.split(' ').any(|word| word == name) => format!("{name}_"),
        Some(_) => name,
    }
}

/// A name that is not in `taken` yet, this one or this one with a number; it is then.
pub(super) fn unique(name: &str, taken: &mut std::collections::HashSet<String>) -> String {
    let found = (1usize..)
        .map(|n| if n == 1 { name.to_string() } else { format!("{name}_{n}") })
        .find(|name| !taken.contains(name))
        .unwrap_or_default();
    taken.insert(found.clone());
    found
}

/// A number so that it is read back as the same bits. With its point or exponent it is a floating-point literal.
pub(super) fn float(v: f32) -> String {
    format!("{v:?}")
}

/// Text of a comment, without what could end it, hide it or turn its direction.
pub(super) fn clean(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
    };
    let plain: String = text.chars().map(|c| if hidden(c) { ' ' } else { c }).collect();
    let mut parted = String::with_capacity(plain.len());
    for c in plain.chars() {
        // `*/` and `/*` are ends of C comments, `??/` is a backslash to old compilers.
        if matches!((parted.chars().last(), c), (Some('*'), '/') | (Some('/'), '*') | (Some('?'), '?')) {
            parted.push(' ');
        }
        parted.push(c);
    }
    parted.trim_end().to_string()
}

/// Lines of a comment, each with `mark` before it. A paragraph that begins with a blank is one line as it is.
pub(super) fn comment(paragraphs: &[String], mark: &str) -> String {
    let mut text = String::new();
    let mut line_of = |line: &str| {
        text.push_str(format!("{mark} {line}").trim_end());
        text.push('\n');
    };
    for paragraph in paragraphs.iter().flat_map(|p| p.lines().chain(p.is_empty().then_some(""))) {
        let paragraph = clean(paragraph);
        if paragraph.starts_with(' ') || paragraph.is_empty() {
            line_of(&paragraph);
            continue;
        }
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && mark.len() + line.chars().count() + word.chars().count() + 2 > COLUMNS {
                line_of(&line);
                line.clear();
            }
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
        line_of(&line);
    }
    text
}

/// Numbers, as many a line as fit, each line indented.
pub(super) fn numbers(all: impl Iterator<Item = String>) -> String {
    let (mut text, mut line) = (String::new(), String::from("   "));
    for number in all {
        if line.len() + number.len() + 2 > COLUMNS {
            text.push_str(&line);
            text.push('\n');
            line = "   ".into();
        }
        line.push(' ');
        line.push_str(&number);
        line.push(',');
    }
    text.push_str(&line);
    text.push('\n');
    text
}

/// What a function writes, for a comment.
pub(super) fn written(width: usize) -> String {
    if width == 1 { "a number".into() } else { format!("{width} numbers") }
}

/// The sum of what the classes add to the value, each by `term`; a class worth 0 adds nothing.
pub(super) fn worth(classes: &[OutcomeClass], term: impl Fn(&OutcomeClass) -> String) -> String {
    let terms: Vec<String> = classes.iter().filter(|class| class.utility != 0.0).map(term).collect();
    terms.join(" + ")
}

/// A shape for a comment: `[12, 16]`.
pub(super) fn shape(shape: &[usize]) -> String {
    format!("[{}]", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn any_text_becomes_an_identifier() {
        let of = |text| identifier(text, "network");
        assert_eq!(
            ["residual-10", "a b--c", "3-way", "größe", "int", "void", "yield", "export", "", "_X", "⚅"]
                .map(of),
            [
                "residual_10",
                "a_b_c",
                "network_3_way",
                "gr_e",
                "int_",
                "void_",
                "yield_",
                "export_",
                "network",
                "x",
                "network"
            ]
        );
        // Macros of headers, of Windows among them.
        assert_eq!(["small", "Near", "max", "interface"].map(of), ["small_", "near_", "max_", "interface_"]);
        assert_eq!(["smaller", "far side"].map(of), ["smaller", "far_side"]);
        let mut taken = HashSet::new();
        assert_eq!(["a", "a", "a_2", "a"].map(|name| unique(name, &mut taken)), ["a", "a_2", "a_2_2", "a_3"]);
    }

    #[test]
    fn comments_cannot_be_left() {
        let text = "end */ and /* and /*/ and ??/ and \u{202E}turned\u{7} and \r\nnext";
        let lines = comment(&[text.into()], " *");
        let inner = lines.replace(" * ", "");
        assert!(!inner.contains("*/") && !inner.contains("/*") && !inner.contains("??"), "{lines}");
        assert!(!lines.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202E}'), "{lines:?}");
        assert!(lines.lines().all(|line| line.starts_with(" *")), "{lines}");
    }

    #[test]
    fn comments_are_wrapped_and_tables_are_not() {
        let long = "word ".repeat(60);
        let lines = comment(&[long, String::new(), "  key   value".into()], "//");
        assert!(lines.lines().all(|line| line.len() <= COLUMNS), "{lines}");
        assert!(lines.ends_with("\n//\n//   key   value\n"), "{lines}");
    }

    #[test]
    fn numbers_are_read_back_as_they_were() {
        let bits =
            [0, 1, 0x8000_0000, 0x7F7F_FFFF, 0x0080_0000, 0x3DCC_CCCD, 0x3F80_0001, 0x4B80_0000, 0x5D5E_0B6B];
        for v in bits
            .map(f32::from_bits)
            .into_iter()
            .chain((0..2000u32).map(|i| f32::from_bits(i * 2_000_003 % 0x7F80_0000)))
        {
            let text = float(v);
            assert_eq!(text.parse::<f32>().map(f32::to_bits), Ok(v.to_bits()), "{text}");
            assert!(text.contains(['.', 'e']), "{text}");
        }
    }
}
