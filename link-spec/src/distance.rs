//! The word that was meant, by edit distance. Apart, since a good guess is pure arithmetic.

/// Words longer than this are not guessed at: the work grows with the square.
const LONGEST: usize = 64;

/// The closest of the known words, if it is close enough to be meant.
///
/// Close is: one edit in a third of the letters, and at least one. An edit inserts, removes or
/// replaces a letter, or swaps two neighbours; upper and lower case are the same.
pub(crate) fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word
        .chars()
        .take(LONGEST + 1)
        .flat_map(char::to_lowercase)
        .collect();
    if word.len() > LONGEST {
        return None;
    }
    known
        .into_iter()
        .filter_map(|other| {
            let letters: Vec<char> = other.chars().flat_map(char::to_lowercase).collect();
            let most = (word.len().max(letters.len()) / 3).max(1);
            let edits = distance(&word, &letters);
            (edits <= most && edits < letters.len()).then_some((edits, other))
        })
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, other)| other)
}

/// The least number of edits, where no stretch is edited twice ("optimal string alignment").
fn distance(from: &[char], to: &[char]) -> usize {
    let mut two_above: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut this = Vec::with_capacity(to.len() + 1);
        this.push(row + 1);
        for (column, other) in to.iter().enumerate() {
            let replaced = above[column] + usize::from(letter != other);
            let mut fewest = replaced.min(above[column + 1] + 1).min(this[column] + 1);
            if row > 0 && column > 0 && from[row - 1] == *other && *letter == to[column - 1] {
                fewest = fewest.min(two_above[column - 1] + 1);
            }
            this.push(fewest);
        }
        two_above = std::mem::replace(&mut above, this);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        let kinds = ["query", "signal", "command", "stream"];
        for (slip, meant) in [
            ("comand", "command"),
            ("qurey", "query"),
            ("Stream", "stream"),
            ("streams", "stream"),
            ("singal", "signal"),
        ] {
            assert_eq!(closest(slip, kinds), Some(meant), "{slip}");
        }
    }

    #[test]
    fn another_word_is_not_guessed_at() {
        let kinds = ["query", "signal", "command", "stream"];
        for other in ["", "event", "subscription", "q", &"command".repeat(50)] {
            assert_eq!(closest(other, kinds), None, "{other}");
        }
        assert_eq!(closest("a", ["b"]), None, "every letter is another one");
    }

    #[test]
    fn the_closest_one_wins() {
        assert_eq!(
            closest("call_keep_mos", ["call_keep", "call_keep_most"]),
            Some("call_keep_most")
        );
    }
}
