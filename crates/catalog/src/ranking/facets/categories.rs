//! Counts the categories of the products of a result.

use super::{CategoryCount, CategoryFacet, Facet};
use crate::{inference::category::Taxonomy, product::inferred::CategoryIndex};

/// The categories of the products of a result.
#[derive(Clone, Debug)]
pub struct CategoryCounts<'a> {
    taxonomy: &'a Taxonomy,
    /// The category whose children are shown, if a filter names one.
    required: Option<CategoryIndex>,
    /// By number of the category.
    products: Vec<usize>,
    missing: usize,
}

impl<'a> CategoryCounts<'a> {
    /// No products yet. `required` is the category whose children are shown; `None` for the deepest
    /// that all products have in common.
    pub fn new(taxonomy: &'a Taxonomy, required: Option<CategoryIndex>) -> Self {
        Self { taxonomy, required, products: vec![0; taxonomy.len()], missing: 0 }
    }

    /// Adds products of a category; `None` for products without one.
    pub fn add(&mut self, category: Option<CategoryIndex>, products: usize) {
        match category.and_then(|category| self.products.get_mut(usize::from(category.0))) {
            Some(count) => *count += products,
            None => self.missing += products,
        }
    }

    /// The facet, with at most `limit` values.
    pub fn finish(self, limit: usize) -> Facet {
        let parent = self.required.or_else(|| self.common());
        let count = |category: CategoryIndex| {
            let below = self.taxonomy.below(category);
            let products = &self.products[usize::from(below.start)..usize::from(below.end)];
            CategoryCount { category, count: products.iter().sum() }
        };
        let mut values: Vec<CategoryCount> = match parent {
            Some(parent) => self.taxonomy.children(parent).map(count).collect(),
            None => self.taxonomy.roots().iter().copied().map(count).collect(),
        };
        values.retain(|value| value.count > 0);
        let id = |value: &CategoryCount| self.taxonomy.id(value.category);
        values
            .sort_by(|one, other| other.count.cmp(&one.count).then_with(|| id(one).cmp(id(other))));
        values.truncate(limit);
        Facet::Category(CategoryFacet { parent, values, missing: self.missing })
    }

    /// The deepest category that all products have in common. Numbers are depth first, so the first
    /// and the last of the categories decide.
    fn common(&self) -> Option<CategoryIndex> {
        let first = self.products.iter().position(|count| *count > 0)?;
        let last = self.products.iter().rposition(|count| *count > 0)?;
        let index = |at: usize| CategoryIndex(at as u16);
        self.taxonomy.common_ancestor(index(first), index(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAXONOMY: &[u8] = b"a\tA\na-1\tB\na-1-1\tC\na-1-2\tD\na-1-10\tE\na-2\tF\nb\tG\nb-1\tH\n";

    fn shown(products: &[(&str, usize)], required: Option<&str>, limit: usize) -> String {
        let taxonomy = Taxonomy::new(TAXONOMY.into()).unwrap();
        let required = required.map(|id| taxonomy.with_id(id).unwrap());
        let mut counts = CategoryCounts::new(&taxonomy, required);
        for (id, products) in products {
            counts.add(taxonomy.with_id(id), *products);
        }
        let Facet::Category(facet) = counts.finish(limit) else { panic!("not of categories") };
        let values = facet.values.iter();
        let values = values.map(|one| format!(" {}:{}", taxonomy.id(one.category), one.count));
        let parent = facet.parent.map_or("", |parent| taxonomy.id(parent));
        format!("{parent}{}, {} without", values.collect::<String>(), facet.missing)
    }

    #[test]
    fn children_of_the_deepest_common_category_are_counted() {
        let both = [("a-1-1", 2), ("a-1-2", 3), ("", 4)];
        assert_eq!(shown(&both, None, 9), "a-1 a-1-2:3 a-1-1:2, 4 without");
        assert_eq!(shown(&both, None, 1), "a-1 a-1-2:3, 4 without");
        assert_eq!(shown(&[("a-1-1", 2), ("a-2", 2)], None, 9), "a a-1:2 a-2:2, 0 without");
        assert_eq!(shown(&[("a-1", 1), ("a-1-2", 2)], None, 9), "a-1 a-1-2:2, 0 without");
        assert_eq!(shown(&[("a-1", 1), ("b-1", 2)], None, 9), " b:2 a:1, 0 without");
        // By id, as a string.
        assert_eq!(
            shown(&[("a-1-2", 1), ("a-1-10", 1)], None, 9),
            "a-1 a-1-10:1 a-1-2:1, 0 without"
        );
        assert_eq!(shown(&[("b-1", 5)], None, 9), "b-1, 0 without");
        assert_eq!(shown(&[("", 5)], None, 9), ", 5 without");
    }

    #[test]
    fn children_of_the_required_category_are_counted() {
        let all = [("a-1-1", 2), ("a-1", 1), ("a-2", 3), ("b-1", 4), ("", 5)];
        assert_eq!(shown(&all, Some("a"), 9), "a a-1:3 a-2:3, 5 without");
        assert_eq!(shown(&all, Some("b-1"), 9), "b-1, 5 without");
    }
}
