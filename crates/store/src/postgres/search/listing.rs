//! Searches without terms inside PostgreSQL: all products that satisfy the conditions, with their
//! number, a page of them in the requested order, and facets. Exact, unless the texts of very many
//! products would have to be read or their attributes be counted.

use std::collections::HashMap;

use catalog::{
    product::ProductId,
    query::{filter::ProductFilter, parser::ParsedQuery, sort::Direction},
    ranking::facets::{Facet, FacetField, Facets},
};
use embed::inference::taxonomy;
use index::Plan;

use super::{
    candidates::check_time,
    facet_counts,
    limits::CandidateLimits,
    order,
    row_filter::RowFilter,
    snapshot::{SearchSnapshot, bigint},
    text_query::{maybe_allowed, surely_allowed},
};
use crate::StoreError;

/// The result of a search without terms.
#[derive(Debug)]
pub struct Listed {
    /// The products of the page, in order.
    pub ids: Vec<ProductId>,
    /// How many products there are.
    pub total: usize,
    /// The facets that were asked for.
    pub facets: Facets,
    /// Whether `total` and `facets` are exact.
    pub is_exact: bool,
}

/// Lists the products that satisfy the conditions of a query.
pub struct Listing<'a, 'session> {
    /// The state of the shop.
    pub snapshot: &'a SearchSnapshot<'session>,
    /// How many products are counted.
    pub limits: &'a CandidateLimits,
    /// The query.
    pub parsed: &'a ParsedQuery,
    /// The number of visible products.
    pub products: usize,
}

impl Listing<'_, '_> {
    /// The page of a plan without terms.
    pub fn list(&self, plan: &Plan<'_>) -> Result<Listed, StoreError> {
        let (filter, mut is_exact) = self.filter(plan, plan.filter)?;
        let total = self.count(&filter)?;
        let (with, without): (Vec<_>, Vec<_>) =
            plan.facets.iter().partition(|facet| plan.filter.has_conditions_on(facet.name()));
        let mut facets = HashMap::new();
        facets.extend(self.facets(&filter, total, &without, plan, &mut is_exact)?);
        for facet in with {
            check_time(plan)?;
            let others = plan.filter.without(facet.name());
            let (filter, is_filter_exact) = self.filter(plan, &others)?;
            is_exact &= is_filter_exact;
            let counted = self.count(&filter)?;
            facets.extend(self.facets(&filter, counted, &[facet], plan, &mut is_exact)?);
        }
        let requested = plan.facets.iter();
        let facets =
            requested.filter_map(|field| Some((field.clone(), facets.get(field)?.clone())));
        Ok(Listed {
            ids: order::page(self.snapshot, &filter, &plan.order, plan.offset, plan.limit)?,
            total,
            facets: Facets(facets.collect()),
            is_exact,
        })
    }

    /// How many products pass a filter.
    fn count(&self, filter: &RowFilter) -> Result<usize, StoreError> {
        match filter.admits_all() {
            true => Ok(self.products),
            false => self.snapshot.count_filtered(filter),
        }
    }

    /// Facets of the products that pass a filter, `counted` in number. Of very many, the newest are
    /// counted, which is not exact.
    fn facets<'f>(
        &self,
        filter: &RowFilter,
        counted: usize,
        fields: &[&'f FacetField],
        plan: &Plan<'_>,
        is_exact: &mut bool,
    ) -> Result<Vec<(&'f FacetField, Facet)>, StoreError> {
        let most = self.limits.max_counted;
        *is_exact &= fields.is_empty() || counted <= most;
        let category = plan.filter.category(taxonomy());
        let (limit, most) = (plan.facet_limit, bigint(most));
        let facets = facet_counts::count(self.snapshot, filter, fields, category, limit, most)?;
        Ok(fields.iter().copied().zip(facets).collect())
    }

    /// The products that satisfy all conditions, and whether these are all.
    ///
    /// The exclusions of most products are decided by their words alone. The texts of the others are
    /// read, the newest first.
    fn filter(
        &self,
        plan: &Plan<'_>,
        conditions: &ProductFilter,
    ) -> Result<(RowFilter, bool), StoreError> {
        let mut filter = RowFilter::of(plan.visibility, &self.parsed.constraints, conditions);
        let Some(allowed) = surely_allowed(plan.exclusions) else { return Ok((filter, true)) };
        let in_doubt = match maybe_allowed(plan.exclusions) {
            Some(maybe) => format!("{maybe} & !({allowed})"),
            None => format!("!({allowed})"),
        };
        let most = self.limits.rank_all_up_to.max(self.limits.deep_candidates);
        let (in_doubt, page) = (filter.matching(in_doubt), (bigint(most + 1), 0));
        let mut in_doubt = self.snapshot.by_id(&in_doubt, Direction::Descending, page)?;
        let is_exact = in_doubt.len() <= most;
        in_doubt.truncate(most);
        let rows = self.snapshot.candidates(&in_doubt, None)?;
        filter.allowed = Some(allowed);
        let allowed_rows = rows.iter().filter(|row| row.is_allowed_by(self.parsed));
        filter.also_allow(allowed_rows.map(|row| row.id));
        Ok((filter, is_exact))
    }
}
