//! Precision and recall of inferred attributes.

use std::{
    fmt::{self, Display, Formatter},
    io::{self, Write},
};

use super::{
    labels::{ATTRIBUTES, AttributeLabels, Label},
    products::{InferredAttribute, Products, Texts, share},
};

/// The counts of all attributes: from title and description, and from the title alone.
pub(super) struct AttributeScores {
    products: usize,
    from_texts: [Counts; ATTRIBUTES.len()],
    from_titles: [Counts; ATTRIBUTES.len()],
    errors: Vec<WrongValue>,
}

/// How many values of an attribute were right, wrong and missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    right: usize,
    wrong: usize,
    missed: usize,
}

/// A value that the product does not have.
struct WrongValue {
    catalog: String,
    product: String,
    attribute: &'static str,
    value: String,
    title: String,
}

impl AttributeScores {
    /// Infers the attributes of each labelled product that the catalogs contain.
    pub(super) fn measure(
        labels: &AttributeLabels,
        products: &Products,
        infer: impl Fn(&Texts) -> Vec<InferredAttribute>,
    ) -> Self {
        let mut scores = Self {
            products: 0,
            from_texts: Default::default(),
            from_titles: Default::default(),
            errors: Vec::new(),
        };
        for labelled in &labels.0 {
            let named = (labelled.catalog.clone(), labelled.product.clone());
            let Some(texts) = products.get(&named) else { continue };
            scores.products += 1;
            let found = [infer(texts), infer(&texts.without_description())];
            for (at, attribute) in ATTRIBUTES.into_iter().enumerate() {
                let [from_texts, from_title] = found.each_ref().map(|found| {
                    let values = found.iter().filter(|(name, _)| name == attribute);
                    values.map(|(_, value)| value.as_str()).collect::<Vec<_>>()
                });
                let labels = &labelled.values[at];
                let wrong = scores.from_texts[at].count(&from_texts, labels, |_| true);
                scores.from_titles[at].count(&from_title, labels, |label| !label.is_in_description);
                scores.errors.extend(wrong.into_iter().map(|value| WrongValue {
                    catalog: labelled.catalog.clone(),
                    product: labelled.product.clone(),
                    attribute,
                    value: value.to_owned(),
                    title: texts.title.clone(),
                }));
            }
        }
        scores
    }

    /// Prints the first wrong values.
    pub(super) fn write_errors(&self, out: &mut impl Write, most: usize) -> io::Result<()> {
        for WrongValue { catalog, product, attribute, value, title } in
            self.errors.iter().take(most)
        {
            writeln!(out, "wrong: {attribute}={value}  {catalog} {product}  {title}")?;
        }
        Ok(())
    }
}

impl Counts {
    /// Compares inferred values with labels and returns the wrong values. `is_expected` tells which
    /// labels should be found; the others may be found without being wrong, as debatable ones may.
    fn count<'a>(
        &mut self,
        found: &[&'a str],
        labels: &[Label],
        is_expected: impl Fn(&Label) -> bool,
    ) -> Vec<&'a str> {
        let expected = |label: &&Label| !label.is_debatable && is_expected(label);
        let has = |label: &&Label| found.contains(&label.value.as_str());
        let right = labels.iter().filter(expected).filter(has).count();
        self.right += right;
        self.missed += labels.iter().filter(expected).count() - right;
        let is_labelled = |value: &&&str| labels.iter().any(|label| label.value == **value);
        let wrong: Vec<&str> = found.iter().filter(|value| !is_labelled(value)).copied().collect();
        self.wrong += wrong.len();
        wrong
    }

    fn precision(self) -> String {
        share(self.right, self.right + self.wrong)
    }

    fn recall(self) -> String {
        share(self.right, self.right + self.missed)
    }

    fn sum(all: &[Self]) -> Self {
        all.iter().fold(Self::default(), |sum, one| Self {
            right: sum.right + one.right,
            wrong: sum.wrong + one.wrong,
            missed: sum.missed + one.missed,
        })
    }
}

impl Display for AttributeScores {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| attribute ({} products) | precision | recall | right, wrong, missed | precision, titles alone | recall, titles alone | right, wrong, missed |",
            self.products
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        let rows = ATTRIBUTES.into_iter().zip(self.from_texts).zip(self.from_titles);
        let all = (("all", Counts::sum(&self.from_texts)), Counts::sum(&self.from_titles));
        for ((name, texts), titles) in rows.chain([all]) {
            write!(f, "| {name}")?;
            for counts in [texts, titles] {
                let Counts { right, wrong, missed } = counts;
                write!(f, " | {} | {}", counts.precision(), counts.recall())?;
                write!(f, " | {right}, {wrong}, {missed}")?;
            }
            writeln!(f, " |")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::labels::{LabelledAttributes, parse_labels},
        *,
    };

    fn counts(right: usize, wrong: usize, missed: usize) -> Counts {
        Counts { right, wrong, missed }
    }

    #[test]
    fn debatable_values_count_neither_way() {
        let mut found = Counts::default();
        let labels = parse_labels("gold|brown?|red@d");
        let wrong = found.count(&["gold", "brown", "blue"], &labels, |_| true);
        assert_eq!((found, wrong), (counts(1, 1, 1), vec!["blue"]));
        assert_eq!((found.precision(), found.recall()), ("50.0%".into(), "50.0%".into()));
    }

    #[test]
    fn titles_alone_need_not_tell_what_the_description_states() {
        let labelled = LabelledAttributes {
            catalog: "shop".into(),
            product: "1".into(),
            values: ["gold|red@d", "", "", "", ""].map(parse_labels),
        };
        let labels = AttributeLabels(vec![labelled]);
        let texts = Texts { title: "Gold lamp".into(), description: "A red one.".into() };
        let products = Products::from([(("shop".into(), "1".into()), texts)]);
        let infer = |texts: &Texts| {
            let text = format!("{} {}", texts.title, texts.description).to_lowercase();
            let values = ["gold", "red", "lamp"].into_iter().filter(|value| text.contains(value));
            values.map(|value| ("color".to_owned(), value.to_owned())).collect()
        };
        let scores = AttributeScores::measure(&labels, &products, infer);
        assert_eq!(scores.from_texts[0], counts(2, 1, 0));
        assert_eq!(scores.from_titles[0], counts(1, 1, 0));
        assert!(scores.to_string().contains("| color | 66.7% | 100.0% | 2, 1, 0 | 50.0% "));
        let mut errors = Vec::new();
        scores.write_errors(&mut errors, 5).unwrap();
        assert_eq!(String::from_utf8(errors).unwrap(), "wrong: color=lamp  shop 1  Gold lamp\n");
    }
}
