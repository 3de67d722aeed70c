//! Two versions in turn. The speed of a machine may change by a third from minute to minute; what two
//! versions take in the same two seconds can be compared.

use std::{path::Path, sync::Arc, time::Duration};

use bench::{
    products::Products,
    report::Figure,
    service::{Installation, Service},
};

use crate::phases::{Bench, Encoder, Queries, SATURATION, milliseconds, ready};

/// What is measured in one turn of one version, in milliseconds.
type Turn = [f64; VALUES.len()];
const VALUES: [&str; 3] = ["p50", "p99", "processor time"];

impl Bench {
    /// Compares searches of the binary with those of another one: one connection, then as many as saturate
    /// the machine, `turns` times as long as a measurement takes, the versions in turn.
    pub(crate) async fn run_in_turn(
        &self,
        other: &Path,
        turns: usize,
    ) -> anyhow::Result<Vec<Figure>> {
        let products = self.products()?;
        let texts = self.texts(&products)?;
        let mut figures = Vec::new();
        for encoder in &self.encoders {
            let this = self.filled(&self.binary, "this", *encoder, &products).await?;
            let other = self.filled(other, "other", *encoder, &products).await?;
            for connections in [1, SATURATION] {
                // Both get the same queries in the same order.
                let versions = [&this, &other].map(|service| (service, Queries::new(&texts)));
                let turns = self.take_turns(&versions, connections, turns).await?;
                let name = format!("{}, {connections} connections", encoder.name());
                figures.extend(compared(&self.named(&name), &turns));
            }
            this.stop()?;
            other.stop()?;
        }
        Ok(figures)
    }

    /// A version that serves the catalog.
    async fn filled(
        &self,
        binary: &Path,
        name: &str,
        encoder: Encoder,
        products: &Arc<Products>,
    ) -> anyhow::Result<Service> {
        let name = format!("{name}-{}-{}", self.count, encoder.name());
        let mut installation = Installation::new(binary, &self.folder, &name, Duration::ZERO)?;
        installation.configure(&self.settings(encoder));
        self.fill(&installation, products).await?;
        let service = installation.start()?;
        ready(&service.target).await?;
        self.one_search(&service.target, products).await?;
        Ok(service)
    }

    /// What each version took in each turn. The version that begins alternates; a first turn of each warms up.
    async fn take_turns(
        &self,
        versions: &[(&Service, Queries); 2],
        connections: usize,
        turns: usize,
    ) -> anyhow::Result<Vec<[Turn; 2]>> {
        let mut taken = Vec::with_capacity(turns);
        for turn in 0..=turns {
            let mut both = [Turn::default(); 2];
            for at in [turn % 2, 1 - turn % 2] {
                let (service, queries) = &versions[at];
                let before = service.cpu()?;
                let measured = self.drive(&service.target, connections, queries).await?;
                let cpu = service.cpu()?.saturating_sub(before);
                let [p50, p99] = [0.5, 0.99].map(|share| milliseconds(measured.percentile(share)));
                both[at] = [p50, p99, milliseconds(cpu) / measured.requests.max(1) as f64];
            }
            taken.push(both);
        }
        Ok(taken.split_off(1))
    }
}

/// The medians of both versions, and the median of their ratios within a turn.
fn compared(name: &str, turns: &[[Turn; 2]]) -> Vec<Figure> {
    let of_value = |(at, value): (usize, &&str)| {
        let of = |version: usize| median(turns.iter().map(|turn| turn[version][at]).collect());
        let ratio = median(turns.iter().map(|turn| turn[0][at] / turn[1][at]).collect());
        let how = format!("the median of {} turns", turns.len());
        let named = |what: &str| format!("{name}: {value}, {what}");
        [
            Figure::new(named("this version"), of(0), "ms", how.clone()),
            Figure::new(named("the other"), of(1), "ms", how.clone()),
            Figure::new(named("this : the other"), ratio, "x", how),
        ]
    };
    VALUES.iter().enumerate().flat_map(of_value).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_within_a_turn() {
        // The machine is half as fast in the second and third turn.
        let turns =
            [[1.0, 2.0], [2.0, 4.0], [2.0, 4.0]].map(|[this, other]| [[this; 3], [other; 3]]);
        let figures = compared("100 products", &turns);
        assert_eq!(figures.len(), 3 * VALUES.len());
        let of = |what: &str| {
            let name = format!("100 products: p50, {what}");
            figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
        };
        let values = ["this version", "the other", "this : the other"].map(of);
        assert_eq!(values, [2.0, 4.0, 0.5].map(Some));
    }
}
