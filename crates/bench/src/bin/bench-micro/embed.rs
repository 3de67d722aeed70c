//! The time to embed a text, on one core: both encoders, a query and a product; and to look a query
//! up in the phrase index, and to infer what a write infers.

use std::{
    hint::black_box,
    path::PathBuf,
    time::{Duration, Instant},
};

use catalog::product::attributes::Attributes;
use clap::Args;
use embed::{BuiltIn, Embedder, ModelFiles, Priority, Text};

/// Eight tokens with the two that frame every text.
const QUERY: &str = "something to keep my neck warm";
/// The same in German, which another table encodes.
const GERMAN_QUERY: &str = "etwas, das meinen Hals warm hält";
/// 122 tokens, title and description together.
const TITLE: &str = "Vintage Sunburst Acoustic Guitar";
const DESCRIPTION: &str = "A warm-toned dreadnought with a spruce top, mahogany \
     back and sides, rosewood fingerboard and chrome tuners. Comes with a padded gig bag, a strap, picks \
     and a clip-on tuner, so that a beginner can start the same evening. The slim neck is easy on small \
     hands; the bracing is light, the sound carries across a room without an amplifier. Finished by hand \
     in a satin sunburst that shows the grain. Two-year guarantee, spare strings included, thirty days \
     to change your mind. Weight 2.1";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder with the files of another model [default: the model inside this program]
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Times each text is embedded.
    #[arg(long, default_value_t = 300)]
    rounds: usize,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let started = Instant::now();
    let weights = match arguments.folder {
        Some(folder) => ModelFiles::in_folder(&folder)?,
        None => ModelFiles::embedded(),
    };
    let model = BuiltIn::new(weights, 1)?;
    let loaded = started.elapsed();
    println!("model {}, {} dimensions, ready in {loaded:.0?}", model.model(), model.dims());
    println!("{:<28} {:>10} {:>10} {:>10}", "", "least", "p50", "p95");
    let product = Text::Product { title: TITLE, description: DESCRIPTION };
    for (name, text) in [
        ("query, 8 tokens", Text::Query(QUERY)),
        ("query in German", Text::Query(GERMAN_QUERY)),
        ("product, 122 tokens", product),
    ] {
        // A hundred texts at a time: one is too fast for the clock.
        report(&format!("instant {name}"), arguments.rounds, || {
            time(100, || model.instant(black_box(text)))
        });
        report(&format!("deep {name}"), arguments.rounds, || {
            time(1, || model.deep(&[black_box(text)], Priority::Search))
        });
    }
    let query = model.deep(&[Text::Query(QUERY)], Priority::Search)?.remove(0);
    // After a deep query, as in a search: that leaves little in the caches.
    report("phrase index", arguments.rounds, || {
        black_box(model.deep(&[Text::Query(QUERY)], Priority::Search).ok());
        time(1, || model.phrase_match(black_box(&query)))
    });
    report("attributes and category", arguments.rounds, || {
        time(1, || embed::inference::infer(black_box(TITLE), DESCRIPTION, Attributes::none()))
    });
    Ok(())
}

/// The mean time of some repetitions.
fn time<R>(repeats: u32, mut work: impl FnMut() -> R) -> Duration {
    let started = Instant::now();
    for _ in 0..repeats {
        black_box(work());
    }
    started.elapsed() / repeats
}

fn report(name: &str, rounds: usize, mut round: impl FnMut() -> Duration) {
    let mut times: Vec<Duration> = (0..rounds.max(1)).map(|_| round()).collect();
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{name:<28} {:>10.1?} {:>10.1?} {:>10.1?}", at(0.0), at(0.5), at(0.95));
}
