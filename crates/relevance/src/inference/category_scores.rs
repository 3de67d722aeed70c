//! Coverage and accuracy of inferred categories.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    io::{self, Write},
};

use super::{
    labels::{CategoryLabels, LabelledCategory},
    products::{Placement, Products, Texts, share},
};

/// The counts by split and catalog. `all` stands for all splits, and for all catalogs.
pub(super) struct CategoryScores {
    counts: BTreeMap<(String, String), Counts>,
    errors: Vec<WrongCategory>,
}

/// How many products were placed, and how many of those rightly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    products: usize,
    placed: usize,
    /// In the same category of level two as a label.
    right_at_level_two: usize,
    /// In or below the parent of a label.
    right_at_parent: usize,
    /// Wrong at level two although the placement is certain.
    confident_errors: usize,
}

/// A product in a wrong category of level two.
struct WrongCategory {
    labelled: String,
    placement: Placement,
    title: String,
}

impl CategoryScores {
    /// Places each labelled product that the catalogs contain.
    pub(super) fn measure(
        labels: &CategoryLabels,
        products: &Products,
        place: impl Fn(&Texts) -> Option<Placement>,
    ) -> Self {
        let mut scores = Self { counts: BTreeMap::new(), errors: Vec::new() };
        for labelled in &labels.0 {
            let LabelledCategory { catalog, product, split, acceptable } = labelled;
            let Some(texts) = products.get(&(catalog.clone(), product.clone())) else { continue };
            let placement = place(texts);
            let counted = Counts::of(placement.as_ref(), acceptable);
            for split in [split.as_str(), "all"] {
                for catalog in [catalog.as_str(), "all"] {
                    let group = scores.counts.entry((split.to_owned(), catalog.to_owned()));
                    group.or_default().add(counted);
                }
            }
            if let Some(placement) = placement.filter(|_| counted.right_at_level_two == 0) {
                let labelled = format!("{catalog} {product} {}", acceptable.join("|"));
                scores.errors.push(WrongCategory {
                    labelled,
                    placement,
                    title: texts.title.clone(),
                });
            }
        }
        // Confident errors first: they are what a shop would show.
        scores.errors.sort_by_key(|error| !error.placement.is_confident);
        scores
    }

    /// Prints the first wrong categories.
    pub(super) fn write_errors(&self, out: &mut impl Write, most: usize) -> io::Result<()> {
        for WrongCategory { labelled, placement, title } in self.errors.iter().take(most) {
            let Placement { category, is_confident } = placement;
            let kind = if *is_confident { "confident" } else { "wrong" };
            writeln!(out, "{kind}: {category}  {labelled}  {title}")?;
        }
        Ok(())
    }
}

impl Counts {
    /// The counts of one product.
    fn of(placement: Option<&Placement>, acceptable: &[String]) -> Self {
        let Some(Placement { category, is_confident }) = placement else {
            return Self { products: 1, ..Self::default() };
        };
        let is_right = |level: fn(&str) -> usize| {
            acceptable.iter().any(|label| is_below(category, label, level(label)))
        };
        let at_level_two = is_right(|_| 2);
        // A placement in a whole department claims nothing about level two.
        let claimed = levels(category).min(2);
        let is_error = !acceptable.iter().any(|label| is_below(category, label, claimed));
        Self {
            products: 1,
            placed: 1,
            right_at_level_two: at_level_two.into(),
            // The parent of a category of level two is a whole department; that is too coarse.
            right_at_parent: is_right(|label| levels(label).saturating_sub(1).max(2)).into(),
            confident_errors: (is_error && *is_confident).into(),
        }
    }

    fn add(&mut self, other: Self) {
        self.products += other.products;
        self.placed += other.placed;
        self.right_at_level_two += other.right_at_level_two;
        self.right_at_parent += other.right_at_parent;
        self.confident_errors += other.confident_errors;
    }
}

fn levels(category: &str) -> usize {
    category.split('-').count()
}

/// Whether the first `level` levels of both identifiers are the same; all of the label if it has
/// fewer.
fn is_below(category: &str, label: &str, level: usize) -> bool {
    let level = level.min(levels(label));
    levels(category) >= level && category.split('-').take(level).eq(label.split('-').take(level))
}

impl Display for CategoryScores {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| split | catalog | products | placed | right at level two | right at the parent of the leaf | confident errors |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        for ((split, catalog), counts) in &self.counts {
            let Counts { products, placed, .. } = *counts;
            let of_all = |part| share(part, products);
            let of_both = |part| match placed {
                0 => of_all(part),
                _ => format!("{} ({} of placed)", of_all(part), share(part, placed)),
            };
            writeln!(
                f,
                "| {split} | {catalog} | {products} | {} | {} | {} | {} |",
                of_all(placed),
                of_both(counts.right_at_level_two),
                of_both(counts.right_at_parent),
                of_all(counts.confident_errors),
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares placed, right at level two, right at the parent and confident errors.
    fn check(placed: Option<(&str, bool)>, acceptable: &[&str], expected: [usize; 4]) {
        let placement = placed.map(|(category, is_confident)| Placement {
            category: category.to_owned(),
            is_confident,
        });
        let acceptable: Vec<String> = acceptable.iter().map(|id| (*id).to_owned()).collect();
        let Counts { placed, right_at_level_two, right_at_parent, confident_errors, .. } =
            Counts::of(placement.as_ref(), &acceptable);
        let found = [placed, right_at_level_two, right_at_parent, confident_errors];
        assert_eq!(found, expected, "{placement:?} {acceptable:?}");
    }

    #[test]
    fn a_placement_is_compared_at_level_two_and_at_the_parent() {
        check(None, &["hg-12-3-1"], [0, 0, 0, 0]);
        check(Some(("hg-12-3-1", true)), &["hg-12-3-1"], [1, 1, 1, 0]);
        check(Some(("hg-12-3-7-1", true)), &["hg-12-3-1"], [1, 1, 1, 0]);
        check(Some(("hg-12", true)), &["hg-12-3-1"], [1, 1, 0, 0]);
        check(Some(("hg-1-2", true)), &["hg-12-3-1"], [1, 0, 0, 1]);
        check(Some(("hg-1-2", false)), &["hg-12-3-1", "hg-1-2-4"], [1, 1, 1, 0]);
        check(Some(("hg", false)), &["hg-12-3-1"], [1, 0, 0, 0]);
        check(Some(("hg", true)), &["hg-12-3-1"], [1, 0, 0, 0]);
        check(Some(("fr", true)), &["hg-12-3-1"], [1, 0, 0, 1]);
        check(Some(("fr-3", true)), &["fr-14"], [1, 0, 0, 1]);
        check(Some(("fr-14-2", true)), &["fr-14"], [1, 1, 1, 0]);
    }

    #[test]
    fn counts_are_shown_by_split_and_catalog() {
        let label = |product: &str, split: &str| LabelledCategory {
            catalog: "shop".into(),
            product: product.into(),
            split: split.into(),
            acceptable: vec!["hg-12-3".into()],
        };
        let labels =
            CategoryLabels(vec![label("1", "dev"), label("2", "test"), label("3", "test")]);
        let texts = |title: &str| Texts { title: title.into(), ..Texts::default() };
        let products = Products::from([
            (("shop".into(), "1".into()), texts("saw")),
            (("shop".into(), "2".into()), texts("bag")),
        ]);
        let place = |texts: &Texts| {
            let category = if texts.title == "saw" { "hg-12" } else { "aa-5" };
            Some(Placement { category: category.into(), is_confident: true })
        };
        let scores = CategoryScores::measure(&labels, &products, place);
        let report = scores.to_string();
        let row = "| all | shop | 2 | 100.0% | 50.0% (50.0% of placed) | 50.0% (50.0% of placed) | 50.0% |";
        assert!(report.contains(row), "{report}");
        assert!(report.contains("| test | all | 1 | 100.0% | 0.0% "), "{report}");
        let mut errors = Vec::new();
        scores.write_errors(&mut errors, 5).unwrap();
        assert_eq!(String::from_utf8(errors).unwrap(), "confident: aa-5  shop 2 hg-12-3  bag\n");
    }
}
