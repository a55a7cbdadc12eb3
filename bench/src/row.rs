//! One result, for people and as JSON.

use serde::Serialize;

/// One comparison.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    bench: &'static str,
    case: String,
    in_flight: usize,
    ours: f64,
    other: f64,
    unit: &'static str,
    /// Ours through the other, in time or in memory: smaller is better.
    ratio: f64,
    /// The largest ratio of a round less the smallest, through the median.
    spread: f64,
    goal: f64,
    holds: bool,
}

/// The rounds of one case, both sides of each beside each other.
#[derive(Debug, Clone)]
pub(crate) struct Rounds {
    pub(crate) case: String,
    pub(crate) in_flight: usize,
    pub(crate) unit: &'static str,
    /// Ours and the other's.
    pub(crate) rounds: Vec<(f64, f64)>,
    /// Whether more of the unit is better.
    pub(crate) more_is_better: bool,
    pub(crate) goal: f64,
}

impl Rounds {
    /// The medians and what they come to.
    pub(crate) fn row(&self) -> Row {
        let ratios = self.rounds.iter().map(|(ours, other)| {
            if self.more_is_better {
                other / ours
            } else {
                ours / other
            }
        });
        let ratios: Vec<f64> = ratios.collect();
        let ratio = median(ratios.clone());
        let most = ratios.iter().copied().fold(f64::MIN, f64::max);
        let least = ratios.iter().copied().fold(f64::MAX, f64::min);
        Row {
            bench: "server",
            case: self.case.clone(),
            in_flight: self.in_flight,
            ours: median(self.rounds.iter().map(|round| round.0).collect()),
            other: median(self.rounds.iter().map(|round| round.1).collect()),
            unit: self.unit,
            ratio,
            spread: (most - least) / ratio,
            goal: self.goal,
            holds: ratio <= self.goal,
        }
    }
}

impl Row {
    /// Says it: a line of a table, or an object.
    pub(crate) fn say(&self, json: bool) {
        if json {
            println!("{}", serde_json::to_string(self).unwrap_or_default());
            return;
        }
        let number = if self.in_flight == 0 {
            "-".to_owned()
        } else {
            self.in_flight.to_string()
        };
        println!(
            "| {} | {number} | {:.4} | {:.4} | {} | {:.2} | {:.0} % | {:.2} | {} |",
            self.case,
            self.ours,
            self.other,
            self.unit,
            self.ratio,
            self.spread * 100.0,
            self.goal,
            if self.holds { "holds" } else { "does not hold" }
        );
    }
}

/// The head of the table.
pub(crate) fn head() {
    println!("| case | in flight | ours | other | unit | ratio | spread | goal | |");
    println!("|---|---|---|---|---|---|---|---|---|");
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}
