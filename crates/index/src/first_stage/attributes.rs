//! How far products agree with the attributes that a query asks for.

use catalog::{
    inference::attributes::{QueryAttribute, QueryAttributes, agreement, twins},
    product::inferred::{Attribute, ProductAttributes},
    ranking::reranking::AttributeEvidence,
};

use crate::segment::{DocId, Postings, Segment};

/// A product for pets or children where the query names no audience.
const FOR_PETS: f32 = -1.0;
const FOR_CHILDREN: f32 = -0.6;
const FOR_PETS_BY_DESCRIPTION: f32 = -0.4;

/// The attributes of a query, prepared for one segment.
pub(crate) struct AttributeMatcher<'a> {
    segment: &'a Segment,
    /// Attributes that the same words ask for: a product needs to agree with one of them.
    groups: Vec<Vec<Asked<'a>>>,
    names_audience: bool,
}

struct Asked<'a> {
    attribute: &'a QueryAttribute,
    /// The postings of the special word and its twins.
    special: Vec<Postings<'a>>,
}

/// What was found about one product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreement {
    pub(crate) evidence: AttributeEvidence,
    /// The least agreement with anything asked for; 0 if nothing is.
    pub(crate) least: f32,
}

impl<'a> AttributeMatcher<'a> {
    pub(crate) fn new(query: &'a QueryAttributes, segment: &'a Segment) -> Self {
        let mut groups: Vec<Vec<Asked<'a>>> = Vec::new();
        for attribute in query {
            let special = attribute.special.map_or_else(Vec::new, |word| {
                let words = if twins(word).is_empty() { vec![word] } else { twins(word).to_vec() };
                words.iter().filter_map(|word| segment.postings_of(word)).collect()
            });
            let asked = Asked { attribute, special };
            match groups.last_mut() {
                Some(group) if group[0].attribute.words == attribute.words => group.push(asked),
                _ => groups.push(vec![asked]),
            }
        }
        let names_audience = query.iter().any(|one| one.attribute == Attribute::Audience);
        Self { segment, groups, names_audience }
    }

    /// How far a product agrees.
    pub(crate) fn of(&self, doc: DocId) -> Agreement {
        let product = self.segment.inferred.attributes(usize::from(doc));
        let mut evidence = AttributeEvidence::default();
        let mut least: Option<f32> = None;
        for group in &self.groups {
            let each = group
                .iter()
                .map(|asked| (asked.attribute.attribute, asked.agreement(&product, doc)));
            let best = each.max_by(|(_, one), (_, other)| one.total_cmp(other));
            if let Some((attribute, agreement)) = best {
                let sum = evidence.get_mut(attribute);
                *sum = (*sum + agreement).clamp(-1.0, 1.0);
                least = Some(least.map_or(agreement, |least| least.min(agreement)));
            }
        }
        if !self.names_audience {
            evidence.unasked_audience = unasked_audience(&product);
        }
        Agreement { evidence, least: least.unwrap_or(0.0) }
    }
}

impl Asked<'_> {
    fn agreement(&self, product: &ProductAttributes, doc: DocId) -> f32 {
        let says = |postings: &Postings<'_>| postings.docs.binary_search(&doc).is_ok();
        agreement(self.attribute, product, self.special.iter().any(says))
    }
}

/// Negative for a product for pets or children.
fn unasked_audience(product: &ProductAttributes) -> f32 {
    let bits = |values: &[&str]| {
        values
            .iter()
            .filter_map(|value| Attribute::Audience.bit(value))
            .fold(0, |one, bit| one | bit)
    };
    let stated = product.values.get(Attribute::Audience);
    let is_prominent = product.is_prominent(Attribute::Audience);
    let grown_up = bits(&["women", "men"]);
    if stated == 0 || stated & grown_up != 0 {
        0.0
    } else if stated & bits(&["dog", "cat"]) != 0 {
        if is_prominent { FOR_PETS } else { FOR_PETS_BY_DESCRIPTION }
    } else if is_prominent {
        FOR_CHILDREN
    } else {
        0.0
    }
}
