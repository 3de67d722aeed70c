//! What an import says before and after it runs.

use std::{
    collections::HashSet,
    fmt::Write as _,
    io::{self, Write},
    path::Path,
};

use serde_json::Value;

use super::{fields::Field, mapping::Mapping, run::Finished, sync::Removal};

/// The characters of a value that an example shows.
const MAX_SHOWN_CHARS: usize = 100;

/// The format, and which columns are read as what.
pub(super) fn describe(format: &str, mapping: &Mapping, names: Option<&[String]>) -> String {
    let mut said = format!("reading {format}");
    let (Some(columns), Some(names)) = (&mapping.columns, names) else { return said };
    for column in columns {
        let guessed = if column.guessed { " (guessed)" } else { "" };
        let _ = write!(said, "\n  {} ← {}{guessed}", column.field, column.name);
    }
    let id = mapping.id_column(names.iter().map(String::as_str));
    if let Some(id) = id {
        let _ = write!(said, "\n  id ← {id}");
    }
    let mut read: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    read.extend(columns.iter().filter_map(|column| match &column.field {
        Field::Option { named_by, .. } => Some(named_by.as_str()),
        _ => None,
    }));
    read.extend(id);
    let names = names.iter().map(String::as_str);
    let ignored: Vec<_> = names.filter(|name| !name.is_empty() && !read.contains(name)).collect();
    if !ignored.is_empty() {
        let _ = write!(said, "\n  not read: {}", ignored.join(", "));
    }
    said
}

/// Prints what was done, or what would be done in a dry run.
pub(super) fn print(
    finished: &Finished,
    removal: Option<&Removal>,
    dry_run: bool,
    errors: Option<&Path>,
) -> io::Result<()> {
    let counts = &finished.state.counts;
    let would = if dry_run { "would be " } else { "" };
    let mut out = io::stdout().lock();
    for (line, product) in &finished.examples {
        writeln!(out, "line {line} would become{}", example(product))?;
    }
    let unchanged = match finished.sync {
        Some(_) => format!("{} unchanged, ", counts.unchanged),
        None => String::new(),
    };
    let seconds = finished.elapsed.as_secs_f64();
    write!(
        out,
        "{} records in {seconds:.1} s: {} {would}created, {} {would}updated, {unchanged}{} refused",
        counts.records, counts.created, counts.updated, counts.refused
    )?;
    let removed_as = finished.sync.as_ref().and_then(|sync| sync.removed_as());
    if let (Some(Removal::Of(ids)), Some(removed_as)) = (removal, removed_as) {
        write!(out, ", {} {would}{removed_as}", ids.len())?;
    }
    writeln!(out)?;
    if let (Some(Removal::Withheld { missing, unreadable }), Some(removed_as)) =
        (removal, removed_as)
    {
        writeln!(
            out,
            "{missing} products are not in the feed, but {unreadable} records cannot be read and \
             may be theirs: none {} {removed_as}",
            if dry_run { "would be" } else { "was" }
        )?;
    }
    if counts.pictures_left_out > 0 {
        let kept = catalog::product::media::MAX_ITEMS;
        let count = counts.pictures_left_out;
        writeln!(
            out,
            "{count} products have more than {kept} pictures: the first {kept} are kept"
        )?;
    }
    if counts.cut > 0 {
        writeln!(out, "{} products have values that were cut or left out", counts.cut)?;
    }
    if counts.repaired > 0 {
        let count = counts.repaired;
        writeln!(out, "{count} products had characters of Windows-1252, which were repaired")?;
    }
    if let (Some(path), 1..) = (errors, counts.refused) {
        writeln!(out, "what was wrong is in {}", path.display())?;
    }
    Ok(())
}

/// The fields of a product, a line each.
fn example(product: &Value) -> String {
    let mut said = String::new();
    for (name, value) in product.as_object().into_iter().flatten() {
        let value = value.to_string();
        let shown: String = value.chars().take(MAX_SHOWN_CHARS).collect();
        let more = if shown.len() < value.len() { "…" } else { "" };
        let _ = write!(said, "\n  {name}: {shown}{more}");
    }
    said
}
