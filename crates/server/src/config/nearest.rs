//! Suggests a known name for an unknown one.

/// The known name closest to `unknown`, where one is close enough to be worth suggesting.
///
/// A name that only lacks its section (`body_bytes` for `limits.body_bytes`) is found too. Of equally close
/// names the first wins.
pub(super) fn nearest<'n>(
    unknown: &str,
    known: impl Iterator<Item = &'n str> + Clone,
) -> Option<&'n str> {
    let folded = fold(unknown);
    let last_part = folded.rsplit('.').next().unwrap_or(&folded).to_owned();
    known
        .clone()
        .map(|name| (strsim::osa_distance(&folded, &fold(name)), name))
        .filter(|(edits, name)| *edits <= worth_suggesting(name))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
        .or_else(|| known.into_iter().find(|name| name.rsplit('.').next() == Some(&last_part)))
}

/// The largest edit distance of a suggestion: a third of the name's length.
fn worth_suggesting(name: &str) -> usize {
    (name.len() / 3).max(1)
}

/// Ignores case, and treats dashes as underscores.
fn fold(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name_and_an_unrelated_word_none() {
        let known = [
            "data",
            "listen",
            "limits.body_bytes",
            "limits.header_bytes",
            "jwt.secret",
            "jwt.secret_file",
        ];
        let check = |unknown, expected| {
            assert_eq!(nearest(unknown, known.into_iter()), expected, "{unknown}")
        };
        check("lisetn", Some("listen"));
        check("limit.body_bytes", Some("limits.body_bytes"));
        check("limits.body-bytes", Some("limits.body_bytes"));
        check("Limits.Header_Bytes", Some("limits.header_bytes"));
        check("body_bytes", Some("limits.body_bytes"));
        check("server.listen", Some("listen"));
        check("jwt.secrets", Some("jwt.secret"));
        check("colour", None);
        check("", None);
    }
}
