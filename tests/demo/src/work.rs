//! What each caller is to do: decided by the seed, before anything runs.

use faults::Chance;
use riff_api::{ItemId, Thread};

/// The chance of the work, apart from that of the faults.
const WORK: u64 = 0x77;
/// Of each ten commands, how many are about items that all callers want.
const CONTESTED_OF_TEN: u64 = 3;

/// One thing that a caller does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Posts a text that nobody else posts: one command.
    Post(Post),
    /// Claims an item that all others claim too, and gives it back when it got it; else it posts.
    /// Two commands.
    Contest(ItemId, Post),
}

/// A message with a text of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Post {
    pub(crate) thread: Thread,
    pub(crate) text: String,
}

/// The names that the demo uses, all of them valid.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    /// The thread that is read along.
    pub(crate) tailed: Thread,
    /// A thread that is not.
    pub(crate) other: Thread,
}

impl Names {
    pub(crate) fn new() -> Result<Self, String> {
        let name = |text: &str| text.parse().map_err(|_| format!("{text:?} is no thread"));
        Ok(Self {
            tailed: name("general")?,
            other: name("other")?,
        })
    }
}

/// The name of a caller, from 0.
pub(crate) fn caller(number: u64) -> String {
    format!("caller-{}", number + 1)
}

/// Deals exactly so many commands to so many callers.
pub(crate) fn deal(
    seed: u64,
    commands: u64,
    callers: u64,
    names: &Names,
) -> Result<Vec<Vec<Step>>, String> {
    let callers = callers.max(1);
    let items = commands * CONTESTED_OF_TEN / 10 / (2 * callers);
    let posts = commands - items * 2 * callers;
    (0..callers)
        .map(|number| {
            let mut chance = Chance::row(seed, WORK, number);
            let mut post = |index: u64| {
                let thread = if chance.hit(0.25) {
                    &names.other
                } else {
                    &names.tailed
                };
                Post {
                    thread: thread.clone(),
                    text: format!("{} says {index}", caller(number)),
                }
            };
            let mine = posts / callers + u64::from(number < posts % callers);
            let steps = mine + items;
            let mut dealt = Vec::new();
            let mut contested = 0;
            for index in 0..steps {
                // Spread alike for all callers, so that they come to an item at about the same time.
                if contested < items && (index + 1) * items >= (contested + 1) * steps {
                    contested += 1;
                    let item = format!("item-{contested}");
                    let item = item.parse().map_err(|_| format!("{item:?} is no item"))?;
                    dealt.push(Step::Contest(item, post(index)));
                } else {
                    dealt.push(Step::Post(post(index)));
                }
            }
            Ok(dealt)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn all_commands_are_dealt_and_each_text_is_there_once() {
        for (commands, callers) in [(1, 4), (7, 1), (400, 4), (401, 3), (1000, 64)] {
            let dealt = deal(5, commands, callers, &Names::new().unwrap()).unwrap();
            let (mut count, mut texts) = (0, HashSet::new());
            for step in dealt.iter().flatten() {
                count += if matches!(step, Step::Contest(..)) {
                    2
                } else {
                    1
                };
                let (Step::Post(post) | Step::Contest(_, post)) = step;
                assert!(texts.insert(&post.text), "{}", post.text);
            }
            assert_eq!(count, commands, "{callers} callers");
        }
    }

    #[test]
    fn all_callers_want_the_same_items() {
        let dealt = deal(5, 400, 4, &Names::new().unwrap()).unwrap();
        let items = |steps: &[Step]| -> Vec<ItemId> {
            let item = |step: &Step| match step {
                Step::Contest(item, _) => Some(item.clone()),
                Step::Post(_) => None,
            };
            steps.iter().filter_map(item).collect()
        };
        assert_eq!(items(&dealt[0]).len(), 15);
        assert!(dealt.iter().all(|steps| items(steps) == items(&dealt[0])));
    }
}
