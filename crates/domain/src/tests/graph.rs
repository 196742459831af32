//! The graphs that brokers are linked in: pairs of brokers, each connected.

use super::random::Random;

const WAXMAN_REACH: f64 = 0.5;
const WAXMAN_DENSITY: f64 = 0.7;

/// Pairs of brokers that have a link.
pub fn links(brokers: usize, random: &mut Random) -> Vec<(usize, usize)> {
    let chain = (1..brokers).map(|at| (at - 1, at));
    match random.below(7) {
        0 => pairs(brokers).collect(),
        1 => chain.collect(),
        2 | 3 if brokers > 2 => chain.chain([(0, brokers - 1)]).collect(),
        4 => (1..brokers).map(|at| (0, at)).collect(),
        _ => waxman(brokers, random),
    }
}

fn pairs(brokers: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..brokers).flat_map(move |a| (a + 1..brokers).map(move |b| (a, b)))
}

/// Brokers in a square, linked the more probably the nearer they are; what is left apart is linked to the one before.
fn waxman(brokers: usize, random: &mut Random) -> Vec<(usize, usize)> {
    let unit = |random: &mut Random| f64::from(random.below(1_000) as u32) / 1_000.0;
    let places: Vec<(f64, f64)> = (0..brokers).map(|_| (unit(random), unit(random))).collect();
    let is_linked = |(a, b): &(usize, usize)| {
        let (dx, dy) = (places[*a].0 - places[*b].0, places[*a].1 - places[*b].1);
        unit(random) < WAXMAN_DENSITY * (-dx.hypot(dy) / WAXMAN_REACH).exp()
    };
    let mut links: Vec<_> = pairs(brokers).filter(is_linked).collect();
    for at in 1..brokers {
        if !links.iter().any(|(a, b)| *b == at && a < b) {
            links.push((at - 1, at));
        }
    }
    links
}
