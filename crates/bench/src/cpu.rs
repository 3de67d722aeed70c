//! Processor time per process, as counted by the kernel.

use std::{fs, time::Duration};

use anyhow::Context;

/// Ticks per second of the kernel's counters, on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// The processor time of one process, threads included.
pub fn of_process(id: u32) -> anyhow::Result<Duration> {
    let counted = fs::read_to_string(format!("/proc/{id}/stat"))
        .ok()
        .and_then(|line| Counted::read(&line))
        .with_context(|| format!("the kernel does not count process {id}"))?;
    Ok(counted.own)
}

/// The processor time of a process and its children, including ended ones.
pub fn of_family(id: u32) -> anyhow::Result<Duration> {
    let time_of = |counted: &Counted| match counted.id == id {
        true => counted.own + counted.ended_children,
        false => counted.own,
    };
    Ok(counted_family(id)?.iter().map(time_of).sum())
}

fn counted_family(id: u32) -> anyhow::Result<Vec<Counted>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let path = entry?.path().join("stat");
        // Most entries are no processes, and some processes end meanwhile.
        let counted = fs::read_to_string(path).ok().and_then(|line| Counted::read(&line));
        found.extend(counted.filter(|counted| counted.id == id || counted.parent == id));
    }
    Ok(found)
}

struct Counted {
    id: u32,
    parent: u32,
    own: Duration,
    ended_children: Duration,
}

impl Counted {
    /// A line of `/proc/…/stat`. The name in brackets may hold anything, brackets included.
    fn read(line: &str) -> Option<Self> {
        let (id, rest) = line.split_once(" (")?;
        let (_, rest) = rest.rsplit_once(") ")?;
        let fields: Vec<_> = rest.split(' ').collect();
        let ticks = |at: usize| Some(TICK * fields.get(at)?.parse::<u32>().ok()?);
        Some(Self {
            id: id.parse().ok()?,
            parent: fields.get(1)?.parse().ok()?,
            own: ticks(11)? + ticks(12)?,
            ended_children: ticks(13)? + ticks(14)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read_whatever_the_name() {
        let line = "7 (a) b (c) S 3 7 7 0 -1 4194560 1 2 3 4 150 25 300 50 20 0 1 0 9 1 1";
        let counted = Counted::read(line).unwrap();
        assert_eq!((counted.id, counted.parent), (7, 3));
        assert_eq!(counted.own, Duration::from_millis(1750));
        assert_eq!(counted.ended_children, Duration::from_millis(3500));
    }

    #[test]
    fn this_process_is_part_of_its_parents_family() {
        let me = std::process::id();
        let parent = std::os::unix::process::parent_id();
        assert!(of_process(me).unwrap() <= of_family(parent).unwrap());
    }
}
