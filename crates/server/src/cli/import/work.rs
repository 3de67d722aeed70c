//! Counts steps of reading a record, in tests only: what a hostile record costs must grow with its
//! size and not with the square of it.

use std::hash::{Hash, Hasher};

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// One step: a byte that is looked at, or a name or value that is compared.
#[inline]
pub(super) fn step() {
    steps(1);
}

/// As many steps.
#[inline]
pub(super) fn steps(count: usize) {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + count));
    #[cfg(not(test))]
    let _ = count;
}

/// A name whose comparisons are steps.
#[derive(Clone, Copy, Debug, Eq)]
pub(super) struct Name<'a>(pub(super) &'a str);

impl Hash for Name<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl PartialEq for Name<'_> {
    fn eq(&self, other: &Self) -> bool {
        step();
        self.0 == other.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::STEPS;
    use crate::cli::import::{
        cells::{Cut, pictures},
        feed::Feed,
        fields::Mapped,
        fields::Shape,
        html,
        mapping::Mapping,
        record::Object,
    };

    fn steps_of(run: impl FnOnce()) -> usize {
        STEPS.set(0);
        run();
        STEPS.get()
    }

    /// A record that is 100 times as large may cost 100 times the steps, and a little more: the first
    /// elements, up to a limit of the product, may cost fewer.
    fn check(what: &str, read: impl Fn(usize)) {
        check_sizes([80, 8_000], what, read);
    }

    fn check_sizes(sizes: [usize; 2], what: &str, read: impl Fn(usize)) {
        let [small, large] = sizes.map(|size| steps_of(|| read(size)));
        assert!(small > 0, "{what}: nothing is counted");
        let most = small * (sizes[1] / sizes[0]) * 11 / 10;
        assert!(large <= most, "{what}: {small} steps, then {large}");
    }

    fn read_as(shape: Shape, mapped: &[&str], names: Option<&[String]>, record: Object) {
        let mut mapping = Mapping {
            mapped: mapped.iter().map(|part| part.parse::<Mapped>().unwrap()).collect(),
            ..Mapping::new(shape)
        };
        mapping.columns = names.map(|names| mapping.choose(names.iter().map(String::as_str)));
        let _ = mapping.apply(&record);
    }

    fn object(names: impl Iterator<Item = String>) -> Object {
        names.map(|name| (name, json!("x"))).collect()
    }

    #[test]
    fn broken_tags_are_read_in_linear_time() {
        for piece in [
            "<a",
            "<a\"",
            "<a'\"",
            "<a\"<a'",
            "<!--",
            "</",
            "<script>",
            "<p a='>",
            "<!-- -->",
            "<script></script>",
            "<script></s",
            "<a b>",
        ] {
            check(piece, |size| drop(html::text(&piece.repeat(size))));
        }
    }

    #[test]
    fn items_of_many_elements_are_read_in_linear_time() {
        check("elements", |size| {
            let elements: String = (0..size).map(|n| format!("<x{n}/>")).collect();
            Feed::new(format!("<rss><item>{elements}</item></rss>").as_bytes()).for_each(drop);
        });
        // Below the limit of elements.
        for prefix in ["", "g:"] {
            check_sizes([100, 1_000], &format!("{prefix}elements"), |size| {
                let name = |n: usize| format!("<{prefix}x{n}>x</{prefix}x{n}><g:y{n}/>");
                let elements: String = (0..size / 2).map(name).collect();
                Feed::new(format!("<rss><item>{elements}</item></rss>").as_bytes()).for_each(drop);
            });
        }
    }

    #[test]
    fn cells_with_many_pictures_are_read_in_linear_time() {
        for scheme in ["http", "https"] {
            let cell = |size: usize| json!(format!(",{scheme}://a").repeat(size));
            check(scheme, |size| drop(pictures(&cell(size), Cut::AtCommas)));
        }
        check("distinct pictures", |size| {
            let urls: Vec<_> = (0..size).map(|n| format!("https://a/{n}")).collect();
            let record = Object::from_iter([("image_link".to_owned(), json!(urls))]);
            read_as(Shape::Merchant, &[], None, record);
        });
    }

    #[test]
    fn records_of_many_names_are_read_in_linear_time() {
        let alike = |size: usize| {
            (0..size).map(|n| format!("image{n:b}").replace('0', "-").replace('1', "_"))
        };
        check("alike", |size| read_as(Shape::Json, &[], None, object(alike(size))));
        for prefix in ["attributes.a", "unknown"] {
            let names = |size: usize| (0..size).map(move |n| format!("{prefix}{n}"));
            for mapped in [&[][..], &["title=unknown3"], &["attributes.a7=nothing"]] {
                check(&format!("{prefix} {mapped:?}"), |size| {
                    read_as(Shape::Json, mapped, None, object(names(size)));
                });
            }
        }
    }

    #[test]
    fn tables_of_many_columns_are_read_in_linear_time() {
        for name in ["Tags", "Image Src", "Option1 Value", "attributes.a"] {
            check(name, |size| {
                let cells: Vec<Value> = (0..size).map(|n| json!(n.to_string())).collect();
                let record = Object::from_iter([(name.to_owned(), Value::Array(cells))]);
                let names = vec![name.to_owned(); size];
                read_as(Shape::Shopify, &[], Some(&names), record);
            });
        }
        check("options", |size| {
            let names: Vec<_> = (0..size).map(|n| format!("Option{n} Value")).collect();
            read_as(Shape::Shopify, &[], Some(&names), object(names.iter().cloned()));
        });
    }

    #[test]
    fn warnings_of_many_values_are_collected_in_linear_time() {
        check("warnings", |size| {
            let cells: Vec<_> = (0..size).map(|n| json!(format!("wide {n}"))).collect();
            let record = Object::from_iter([("Width".to_owned(), json!(cells))]);
            read_as(Shape::Table, &["attributes.width:number=Width"], None, record);
        });
    }
}
