//! Which known name did the writer of an unknown one most likely mean?

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
        .map(|name| (edits(&folded, &fold(name)), name))
        .filter(|(edits, name)| *edits <= worth_suggesting(name))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
        .or_else(|| known.into_iter().find(|name| name.rsplit('.').next() == Some(&last_part)))
}

/// How many edits away a name may be: a third of its letters.
fn worth_suggesting(name: &str) -> usize {
    (name.len() / 3).max(1)
}

/// Case and the choice of dash or underscore are no difference.
fn fold(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_name_meant_and_a_stranger_none() {
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
