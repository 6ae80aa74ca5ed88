//! Several classifiers that decide together.

use formulanet_train::eval::{Prediction, Predictions};

/// Weight of the mean log-odds of networks next to a count model: networks that learned pairs by heart are too sure.
const NETWORKS_WEIGHT: f32 = 0.5;
/// Weight of a count model's log-odds next to networks.
const COUNTS_WEIGHT: f32 = 0.3;

/// Combines predictions of the same pairs: the mean of the networks' log-odds, step by step where all have as many steps;
/// with count models, the weighted sum of that and of their mean log-odds.
pub fn ensemble(mut networks: Vec<Predictions>, mut counts: Vec<Predictions>) -> Predictions {
    if networks.is_empty() {
        networks = std::mem::take(&mut counts);
    }
    if networks.len() == 1 && counts.is_empty() {
        return networks.remove(0);
    }
    let Some(first) = networks.first() else { return Predictions::default() };
    let counted = |pair: usize| mean(counts.iter().map(|one| one.last[pair].score));
    let counted: Vec<Option<f32>> = (0..first.last.len()).map(counted).collect();
    let blend = |pair: usize, scores: &mut dyn Iterator<Item = f32>| {
        let odds = mean(scores).unwrap_or(0.0);
        let odds = counted[pair].map_or(odds, |counts| NETWORKS_WEIGHT * odds + COUNTS_WEIGHT * counts);
        1.0 / (1.0 + (-odds).exp())
    };
    let is_alike = networks.iter().all(|other| other.steps.len() == first.steps.len());
    let classifiers = first.steps.len() / first.last.len().max(1);
    let steps = if is_alike { first.steps.len() } else { 0 };
    let step = |i: usize| blend(i / classifiers, &mut networks.iter().map(|one| one.steps[i]));
    let steps = (0..steps).map(step).collect();
    let score = |i: usize| blend(i, &mut networks.iter().map(|one| one.last[i].score));
    let last = first.last.iter().enumerate().map(|(i, one)| Prediction { score: score(i), ..*one });
    Predictions { last: last.collect(), steps }
}

/// The mean log-odds of probabilities, if there are any.
fn mean(probabilities: impl Iterator<Item = f32>) -> Option<f32> {
    let (mut sum, mut number) = (0.0, 0u32);
    for probability in probabilities {
        (sum, number) = (sum + log_odds(probability), number + 1);
    }
    (number > 0).then(|| sum / number as f32)
}

fn log_odds(probability: f32) -> f32 {
    let probability = probability.clamp(1e-7, 1.0 - 1e-7);
    (probability / (1.0 - probability)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_decide_by_the_mean_of_their_log_odds() {
        let said = |scores: [f32; 2], steps: &[f32]| Predictions {
            last: scores.map(|score| Prediction { conjecture: 0, score, is_useful: true }).to_vec(),
            steps: steps.to_vec(),
        };
        let alone = said([0.3, 0.6], &[0.5, 0.3, 0.5, 0.6]);
        assert_eq!(ensemble(vec![alone.clone()], vec![]), alone);
        let other = said([0.9, 0.4], &[0.5, 0.9, 0.5, 0.4]);
        let joined = ensemble(vec![alone.clone(), other.clone()], vec![]);
        let scores: Vec<f32> = joined.last.iter().map(|one| one.score).collect();
        // Odds of 3/7 and 9, whose root of the product is 1.96; odds of 3/2 and 2/3.
        assert!((scores[0] - 0.6626).abs() < 1e-3 && (scores[1] - 0.5).abs() < 1e-6, "{scores:?}");
        assert_eq!(joined.steps.len(), 4);
        // With another number of steps there is nothing to compare.
        let fewer = vec![alone.clone(), said([0.9, 0.4], &[0.9, 0.4])];
        assert_eq!(ensemble(fewer, vec![]).steps, Vec::<f32>::new());
        assert_eq!(ensemble(vec![], vec![]), Predictions::default());
        // A tally alone, and beside networks that are undecided: it decides.
        let tally = said([0.9, 0.1], &[]);
        assert_eq!(ensemble(vec![], vec![tally.clone()]), tally);
        let joined = ensemble(vec![said([0.5, 0.5], &[0.5; 4])], vec![tally.clone()]);
        let scores: Vec<f32> = joined.last.iter().map(|one| one.score).collect();
        assert!(scores[0] > 0.6 && scores[1] < 0.4, "{scores:?}");
        assert_eq!(joined.steps, [scores[0], scores[0], scores[1], scores[1]]);
    }
}
