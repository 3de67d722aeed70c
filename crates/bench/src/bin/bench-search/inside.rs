//! Search times inside the server, in total and per stage, from the differences of its histograms.

use bench::report::Figure;

/// The stages of a search, as named in the metrics.
const STAGES: [&str; 4] = ["understand", "encode", "score", "fetch"];

/// The histograms of searches at one moment, or between two.
pub(crate) struct Inside {
    all: Histogram,
    stages: [Histogram; STAGES.len()],
}

impl Inside {
    /// Parses the metrics page.
    pub(crate) fn read(page: &str) -> Self {
        let stage = |stage| format!("stage=\"{stage}\"");
        Self {
            all: Histogram::read(page, "shopkeeper_search_seconds", ""),
            stages: STAGES
                .map(|name| Histogram::read(page, "shopkeeper_search_stage_seconds", &stage(name))),
        }
    }

    /// The difference since an earlier reading.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            all: self.all.since(&before.all),
            stages: std::array::from_fn(|at| self.stages[at].since(&before.stages[at])),
        }
    }

    /// The median of the whole search.
    pub(crate) fn all(&self, name: String) -> Figure {
        self.all.figure(name, "shopkeeper_search_seconds")
    }

    /// The medians of the stages.
    pub(crate) fn stages(&self, name: impl Fn(&str) -> String) -> Vec<Figure> {
        let figure = |(stage, histogram): (&&str, &Histogram)| {
            histogram.figure(name(&format!("stage {stage}")), "shopkeeper_search_stage_seconds")
        };
        STAGES.iter().zip(&self.stages).map(figure).collect()
    }
}

/// A histogram of the metrics page.
#[derive(Clone, Debug, Default, PartialEq)]
struct Histogram {
    /// The upper bound of each bucket in seconds, with its cumulative count.
    up_to: Vec<(f64, f64)>,
    sum: f64,
    count: f64,
}

impl Histogram {
    /// The histogram with a name and a label; empty if it was never recorded.
    fn read(page: &str, name: &str, label: &str) -> Self {
        let value = |line: &str| line.rsplit(' ').next().and_then(|value| value.parse().ok());
        let mut read = Self::default();
        for line in page.lines() {
            let Some(rest) = line.strip_prefix(name).filter(|_| line.contains(label)) else {
                continue;
            };
            let Some(value) = value(line) else { continue };
            if rest.starts_with("_sum") {
                read.sum = value;
            } else if rest.starts_with("_count") {
                read.count = value;
            } else if let Some(end) = upper_end(rest) {
                read.up_to.push((end, value));
            }
        }
        read
    }

    fn since(&self, before: &Self) -> Self {
        let earlier = |at: usize| before.up_to.get(at).map_or(0.0, |(_, count)| *count);
        let buckets = self.up_to.iter().enumerate();
        Self {
            up_to: buckets.map(|(at, (end, count))| (*end, count - earlier(at))).collect(),
            sum: self.sum - before.sum,
            count: self.count - before.count,
        }
    }

    /// The quantile `share` in seconds, interpolated linearly within its bucket.
    fn percentile(&self, share: f64) -> f64 {
        let wanted = self.count * share;
        let mut before = (0.0, 0.0);
        for bucket in &self.up_to {
            if bucket.1 >= wanted && bucket.1 > before.1 {
                let part = (wanted - before.1) / (bucket.1 - before.1);
                return if bucket.0.is_finite() {
                    before.0 + part * (bucket.0 - before.0)
                } else {
                    before.0
                };
            }
            before = *bucket;
        }
        before.0
    }

    fn figure(&self, name: String, source: &str) -> Figure {
        let milliseconds = |seconds: f64| seconds * 1000.0;
        let median = milliseconds(self.percentile(0.5));
        let mean = milliseconds(self.sum / self.count.max(1.0));
        let mut figure =
            Figure::new(name, median, "ms p50", format!("mean {mean:.3} ms, {source}"));
        figure.p50_ms = Some(median);
        figure.p99_ms = Some(milliseconds(self.percentile(0.99)));
        figure
    }
}

/// The upper bound of the bucket of a line.
fn upper_end(line: &str) -> Option<f64> {
    let (_, end) = line.strip_prefix("_bucket{")?.split_once("le=\"")?;
    // The last bucket is `+Inf`, which parses as a number.
    end.split_once('"')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(first: u32, second: u32, all: u32) -> String {
        format!(
            "# TYPE took_seconds histogram\n\
             took_seconds_bucket{{stage=\"a\",le=\"0.1\"}} {first}\n\
             took_seconds_bucket{{stage=\"a\",le=\"0.2\"}} {second}\n\
             took_seconds_bucket{{stage=\"a\",le=\"+Inf\"}} {all}\n\
             took_seconds_bucket{{stage=\"b\",le=\"0.1\"}} 77\n\
             took_seconds_sum{{stage=\"a\"}} 12.5\n\
             took_seconds_count{{stage=\"a\"}} {all}\n"
        )
    }

    #[test]
    fn percentiles_lie_within_their_buckets() {
        let read = |page: &str| Histogram::read(page, "took_seconds", "stage=\"a\"");
        let took = read(&page(15, 40, 41)).since(&read(&page(5, 10, 11)));
        assert_eq!(took.count, 30.0);
        assert_eq!(took.percentile(0.5), 0.125);
        assert_eq!(took.percentile(0.99), 0.1 + 0.1 * (29.7 - 10.0) / 20.0);
        assert_eq!(Histogram::default().percentile(0.5), 0.0);
    }

    #[test]
    fn what_is_beyond_the_last_end_is_there() {
        let took = Histogram::read(&page(1, 1, 9), "took_seconds", "stage=\"a\"");
        assert_eq!(took.percentile(0.5), 0.2);
    }
}
