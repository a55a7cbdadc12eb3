//! Names that become names of Rust: what is snake case, what is a keyword, what would fit.

/// Every word that Rust keeps for itself, up to the edition of 2024.
const KEYWORDS: [&str; 53] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "Self", "static", "struct", "super", "trait", "true", "try", "type",
    "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "_",
];

/// Whether a name is snake case: lower-case ASCII letters and digits in words with one `_`
/// between them, and a letter first.
pub(crate) fn is_snake(name: &str) -> bool {
    let words_are_whole = name.split('_').all(|word| !word.is_empty());
    let letters = name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    words_are_whole && letters && name.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Whether a name is a word of Rust.
pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// The name in snake case: `claimNext`, `ClaimNext` and `claim-next` are `claim_next`. None when
/// that is no name, or a keyword, or when letters would be lost.
pub(crate) fn snake(name: &str) -> Option<String> {
    let mut snake = String::new();
    let mut after_small = false;
    if !name.is_ascii() {
        return None;
    }
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() {
            if letter.is_ascii_uppercase() && after_small {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
        } else if !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        after_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
    }
    let snake = snake.trim_end_matches('_');
    (is_snake(snake) && !is_keyword(snake)).then(|| snake.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snake_case_is_told_from_the_rest() {
        for good in ["a", "claim_next", "v2", "a_1"] {
            assert!(is_snake(good), "{good}");
        }
        for bad in [
            "",
            "_",
            "_a",
            "a_",
            "a__b",
            "1a",
            "claimNext",
            "claim-next",
            "größe",
            "a b",
        ] {
            assert!(!is_snake(bad), "{bad}");
        }
    }

    #[test]
    fn a_name_that_fits_is_offered() {
        for given in [
            "claimNext",
            "ClaimNext",
            "claim-next",
            "claim next",
            "_claim__next_",
        ] {
            assert_eq!(snake(given).as_deref(), Some("claim_next"), "{given}");
        }
        for none in ["", "__", "9", "Type", "é", "größe"] {
            assert_eq!(snake(none), None, "{none}");
        }
    }

    #[test]
    fn a_keyword_is_one_for_the_parser_too() {
        for word in KEYWORDS {
            assert!(
                syn::parse_str::<syn::Ident>(word).is_err() || word == "gen",
                "{word}"
            );
        }
    }
}
