//! What differs between two texts, in the form that `diff -u` has.

/// Lines that are shown around a change.
const AROUND: usize = 3;

/// Above this many pairs of lines, what differs is shown as one change: the table of the longest
/// common subsequence would be too big.
const MOST_PAIRS: usize = 4_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step<'a> {
    Both(&'a str),
    Old(&'a str),
    New(&'a str),
}

/// The hunks that make the new text of the old one. Empty when no line differs.
pub(crate) fn unified(old: &str, new: &str) -> Vec<String> {
    let steps = steps(
        &old.lines().collect::<Vec<_>>(),
        &new.lines().collect::<Vec<_>>(),
    );
    let changed: Vec<usize> = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| !matches!(step, Step::Both(_)))
        .map(|(at, _)| at)
        .collect();
    let mut lines = Vec::new();
    let mut rest = changed.as_slice();
    while let Some(first) = rest.first() {
        let near = |pair: &[usize]| pair.get(1).zip(pair.first()).map_or(0, |(b, a)| b - a);
        let last = rest
            .windows(2)
            .position(|pair| near(pair) > 2 * AROUND + 1)
            .unwrap_or(rest.len() - 1);
        let end = rest.get(last).unwrap_or(first) + AROUND + 1;
        hunk(
            &steps,
            first.saturating_sub(AROUND),
            end.min(steps.len()),
            &mut lines,
        );
        rest = rest.get(last + 1..).unwrap_or(&[]);
    }
    lines
}

fn hunk(steps: &[Step<'_>], start: usize, end: usize, lines: &mut Vec<String>) {
    let count = |steps: &[Step<'_>]| {
        let old = steps
            .iter()
            .filter(|step| !matches!(step, Step::New(_)))
            .count();
        let new = steps
            .iter()
            .filter(|step| !matches!(step, Step::Old(_)))
            .count();
        (old, new)
    };
    let before = count(steps.get(..start).unwrap_or(&[]));
    let shown = steps.get(start..end).unwrap_or(&[]);
    let (old, new) = count(shown);
    // An empty side is said to stand behind the line before it, as `diff -u` does.
    let from = |before: usize, count: usize| if count == 0 { before } else { before + 1 };
    lines.push(format!(
        "@@ -{},{old} +{},{new} @@",
        from(before.0, old),
        from(before.1, new)
    ));
    lines.extend(shown.iter().map(|step| match step {
        Step::Both(line) => format!(" {line}"),
        Step::Old(line) => format!("-{line}"),
        Step::New(line) => format!("+{line}"),
    }));
}

fn steps<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Step<'a>> {
    let head = old
        .iter()
        .zip(new)
        .take_while(|(old, new)| old == new)
        .count();
    let (old_rest, new_rest) = (
        old.get(head..).unwrap_or(&[]),
        new.get(head..).unwrap_or(&[]),
    );
    let same_at_end = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = same_at_end.take_while(|(old, new)| old == new).count();
    let old_middle = old_rest.get(..old_rest.len() - tail).unwrap_or(&[]);
    let new_middle = new_rest.get(..new_rest.len() - tail).unwrap_or(&[]);
    let mut steps: Vec<Step<'a>> = old.iter().take(head).map(|line| Step::Both(line)).collect();
    steps.extend(middle(old_middle, new_middle));
    steps.extend(
        old.iter()
            .skip(old.len() - tail)
            .map(|line| Step::Both(line)),
    );
    steps
}

fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Step<'a>> {
    let all_old = old.iter().map(|line| Step::Old(line));
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        return all_old
            .chain(new.iter().map(|line| Step::New(line)))
            .collect();
    }
    // common[i][j]: how many lines the rests of both, from i and from j, have in common.
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut steps = Vec::with_capacity(old.len() + new.len());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            steps.push(Step::Both(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || common[i + 1][j] >= common[i][j + 1]) {
            steps.push(Step::Old(old[i]));
            i += 1;
        } else {
            steps.push(Step::New(new[j]));
            j += 1;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::unified;

    fn numbers(upto: u32) -> Vec<String> {
        (1..=upto).map(|number| number.to_string()).collect()
    }

    #[test]
    fn equal_texts_do_not_differ() {
        assert!(unified("", "").is_empty());
        assert!(unified("a\nb\n", "a\nb\n").is_empty());
    }

    #[test]
    fn a_change_is_shown_with_three_lines_around_it() {
        let old = numbers(20);
        let mut new = old.clone();
        new[9] = "ten".to_owned();
        assert_eq!(
            unified(&old.join("\n"), &new.join("\n")),
            [
                "@@ -7,7 +7,7 @@",
                " 7",
                " 8",
                " 9",
                "-10",
                "+ten",
                " 11",
                " 12",
                " 13"
            ]
        );
    }

    #[test]
    fn two_far_changes_are_two_hunks_and_two_near_ones_are_one() {
        let old = numbers(40);
        let mut new = old.clone();
        new[4] = "five".to_owned();
        new[7] = "eight".to_owned();
        new[30] = "far".to_owned();
        let lines = unified(&old.join("\n"), &new.join("\n"));
        let heads: Vec<&String> = lines.iter().filter(|line| line.starts_with("@@")).collect();
        assert_eq!(heads, ["@@ -2,10 +2,10 @@", "@@ -28,7 +28,7 @@"]);
    }

    #[test]
    fn what_is_new_or_gone_altogether_is_shown() {
        assert_eq!(unified("", "a\nb\n"), ["@@ -0,0 +1,2 @@", "+a", "+b"]);
        assert_eq!(unified("a\n", ""), ["@@ -1,1 +0,0 @@", "-a"]);
        assert_eq!(
            unified("a\nc\n", "a\nb\nc\n"),
            ["@@ -1,2 +1,3 @@", " a", "+b", " c"]
        );
    }
}
