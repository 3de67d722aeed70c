//! Whether products belong to the categories that a query may mean.

use catalog::{
    inference::category::{CategoryIndex, Taxonomy},
    reranking::CategoryEvidence,
};

/// How a product's category relates to those that the query may mean, each with its weight.
pub(super) fn category_evidence(
    taxonomy: &Taxonomy,
    asked: &[(CategoryIndex, f32)],
    product: CategoryIndex,
) -> CategoryEvidence {
    let share = |relates: &dyn Fn(CategoryIndex) -> bool| {
        asked.iter().filter(|(category, _)| relates(*category)).map(|(_, weight)| weight).sum()
    };
    let level_two = taxonomy.level_two(product);
    CategoryEvidence {
        within: share(&|asked| taxonomy.is_ancestor(asked, product)),
        above: share(&|asked| asked != product && taxonomy.is_ancestor(product, asked)),
        level_two: share(&|asked| taxonomy.level_two(asked) == level_two),
        asked: asked.iter().map(|(_, weight)| weight).sum(),
    }
}
