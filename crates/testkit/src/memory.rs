//! Resident memory of a process, and whether it stays flat.

use std::fs;

/// The resident memory of a running process, in bytes.
///
/// # Panics
///
/// If the process has ended.
pub fn resident_bytes(pid: u32) -> u64 {
    status_bytes(pid, "VmRSS:")
}

/// The largest resident memory that a running process has had, in bytes.
///
/// # Panics
///
/// If the process has ended.
pub fn peak_resident_bytes(pid: u32) -> u64 {
    status_bytes(pid, "VmHWM:")
}

fn status_bytes(pid: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let value = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = value.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    kibibytes.map(|kibibytes: u64| kibibytes * 1024).expect("the kernel reports it")
}

/// How much larger the mean of the last quarter of the samples is than that of the third: 0.02 is
/// a growth of 2 %. The first half is warm-up.
pub fn growth_over_second_half(samples: &[u64]) -> f64 {
    let mean = |samples: &[u64]| samples.iter().sum::<u64>() as f64 / samples.len() as f64;
    let half = &samples[samples.len() / 2..];
    let (third, last) = half.split_at(half.len() / 2);
    mean(last) / mean(third) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_up_does_not_count_as_growth() {
        assert!(growth_over_second_half(&[1, 50, 90, 99, 100, 100, 100, 100]).abs() < 1e-9);
        assert!((growth_over_second_half(&[1, 1, 1, 1, 100, 100, 103, 105]) - 0.04).abs() < 1e-9);
    }

    #[test]
    fn resident_memory_is_at_most_its_peak() {
        let pid = std::process::id();
        assert!(resident_bytes(pid) > 1 << 16 && resident_bytes(pid) <= peak_resident_bytes(pid));
    }
}
