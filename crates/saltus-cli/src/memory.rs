//! Refuses models and numbers of chains that cannot fit in memory, before they are built.

use crate::failure::Failure;
use std::path::Path;

/// What a model and its chains are going to hold.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// Number of sites.
    pub sites: usize,
    /// Values per site.
    pub values: usize,
    /// Numbers among the model's parameters.
    pub parameters: usize,
    /// Number of chains.
    pub chains: usize,
}

/// Bytes that a sampler keeps per value of a site and chain, about: the state and its differences
/// and transition rows, here and at the proposal.
const PER_VALUE_AND_CHAIN: f64 = 24.0;
/// Bytes per parameter of a model, about: they are read, rearranged and kept.
const PER_PARAMETER: f64 = 16.0;

impl Demand {
    fn bytes(self) -> f64 {
        let planes = if self.values == 2 { 1 } else { self.values };
        let per_chain = PER_VALUE_AND_CHAIN * planes as f64 * self.sites as f64;
        per_chain * self.chains as f64 + PER_PARAMETER * self.parameters as f64
    }

    /// Fails if this is more than the machine has to offer.
    pub fn check(self) -> Result<(), Failure> {
        self.check_against(available().unwrap_or(UNKNOWN))
    }

    fn check_against(self, available: f64) -> Result<(), Failure> {
        let needed = self.bytes();
        if needed <= available {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "{} chains of {} sites with {} values need about {} of memory, but there are {}: \
             try fewer chains or a smaller model",
            self.chains,
            self.sites,
            self.values,
            gibibytes(needed),
            gibibytes(available)
        )))
    }
}

/// Fails if so many bytes of something are more than the machine has to offer.
pub fn check_bytes(what: &str, needed: f64) -> Result<(), Failure> {
    check_bytes_against(what, needed, available().unwrap_or(UNKNOWN))
}

fn check_bytes_against(what: &str, needed: f64, available: f64) -> Result<(), Failure> {
    if needed <= available {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{what} need about {} of memory, but there are {}",
        gibibytes(needed),
        gibibytes(available)
    )))
}

/// Taken as available where the system does not say.
const UNKNOWN: f64 = 64.0 * 1024.0 * 1024.0 * 1024.0;

fn gibibytes(bytes: f64) -> String {
    format!("{:.1} GiB", bytes / 1024f64.powi(3))
}

/// Bytes that can be had without swapping and within the limits of this process and its group, if
/// Linux says so.
fn available() -> Option<f64> {
    available_below(Path::new("/"))
}

/// The same as the files below a folder have it.
fn available_below(root: &Path) -> Option<f64> {
    let limits = [of_machine(root), of_process(root), of_groups(root)];
    limits.into_iter().flatten().reduce(f64::min)
}

/// What the machine has left.
fn of_machine(root: &Path) -> Option<f64> {
    kibibytes(&root.join("proc/meminfo"), "MemAvailable:")
}

/// What `ulimit -v` leaves of the address space.
fn of_process(root: &Path) -> Option<f64> {
    let limits = std::fs::read_to_string(root.join("proc/self/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: f64 = line.split_whitespace().next()?.parse().ok()?;
    let taken = kibibytes(&root.join("proc/self/status"), "VmSize:").unwrap_or(0.0);
    Some((limit - taken).max(0.0))
}

/// What the control groups of this process leave, the tightest of them, of either version.
fn of_groups(root: &Path) -> Option<f64> {
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let of_line = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, group) = rest.split_once(':')?;
        let version_1 = controllers.split(',').any(|controller| controller == "memory");
        let mount = root.join(if version_1 { "sys/fs/cgroup/memory" } else { "sys/fs/cgroup" });
        // In a container the group's own name may not be there, but the mount is its group.
        let own = mount.join(group.trim_start_matches('/'));
        let all = own.ancestors().take_while(|folder| folder.starts_with(&mount));
        (version_1 || controllers.is_empty())
            .then(|| all.filter_map(of_group).reduce(f64::min))
            .flatten()
    };
    groups.lines().filter_map(of_line).reduce(f64::min)
}

/// What the group in a folder leaves; its files in memory can be had back.
fn of_group(folder: &Path) -> Option<f64> {
    let number = |names: [&str; 2]| {
        let texts = names.map(|name| std::fs::read_to_string(folder.join(name)).ok());
        texts.into_iter().flatten().find_map(|text| text.trim().parse::<f64>().ok())
    };
    let limit = number(["memory.max", "memory.limit_in_bytes"])?;
    let taken = number(["memory.current", "memory.usage_in_bytes"]).unwrap_or(0.0);
    let shares = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let files = shares.lines().find_map(|line| {
        let number = line.strip_prefix("file ").or(line.strip_prefix("total_cache "))?;
        number.trim().parse::<f64>().ok()
    });
    Some((limit - (taken - files.unwrap_or(0.0)).max(0.0)).max(0.0))
}

/// A number of kibibytes behind a word in a file, in bytes.
fn kibibytes(path: &Path, word: &str) -> Option<f64> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    let number: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(number * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_impossible_is_refused_and_the_rest_is_not() {
        let demand = |sites, chains| Demand { sites, values: 2, parameters: sites, chains };
        assert_eq!(demand(2500, 100).check(), Ok(()));
        assert!(demand(2500, 100).check_against(1000.0).is_err());
        assert!(demand(usize::MAX, usize::MAX).check().is_err());
        let gibibyte = 1024f64.powi(3);
        assert_eq!(check_bytes_against("weights", gibibyte, gibibyte), Ok(()));
        assert_eq!(
            check_bytes_against("weights", 3.0 * gibibyte, gibibyte),
            Err(Failure::Usage(
                "weights need about 3.0 GiB of memory, but there are 1.0 GiB".into()
            ))
        );
    }

    /// A machine with these files.
    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        root
    }

    const MACHINE: (&str, &str) = ("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable: 8000 kB\n");

    #[test]
    fn the_tightest_limit_counts() {
        let kibibytes =
            |files: &[(&str, &str)]| available_below(machine(files).path()).map(|n| n / 1024.0);
        assert_eq!(kibibytes(&[]), None);
        assert_eq!(kibibytes(&[MACHINE]), Some(8000.0));
        let limits = "Limit Soft Hard Units\nMax address space 4096000 unlimited bytes\n";
        let ulimit =
            [MACHINE, ("proc/self/limits", limits), ("proc/self/status", "VmSize: 1000 kB\n")];
        assert_eq!(kibibytes(&ulimit), Some(3000.0));
        let unlimited = limits.replace("4096000", "unlimited");
        assert_eq!(kibibytes(&[MACHINE, ("proc/self/limits", &unlimited)]), Some(8000.0));
    }

    #[test]
    fn control_groups_of_both_versions_count() {
        let kibibytes =
            |files: &[(&str, &str)]| available_below(machine(files).path()).map(|n| n / 1024.0);
        let second = [
            MACHINE,
            ("proc/self/cgroup", "0::/user/run\n"),
            ("sys/fs/cgroup/user/memory.max", "2048000\n"),
            ("sys/fs/cgroup/user/memory.current", "1024000\n"),
            ("sys/fs/cgroup/user/memory.stat", "anon 512000\nfile 512000\n"),
            ("sys/fs/cgroup/user/run/memory.max", "max\n"),
        ];
        assert_eq!(kibibytes(&second), Some(1500.0));
        let first = [
            MACHINE,
            ("proc/self/cgroup", "5:cpu:/\n4:memory:/not/seen/here\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "3072000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1024000\n"),
            ("sys/fs/cgroup/memory/memory.stat", "cache 1\ntotal_cache 0\n"),
        ];
        assert_eq!(kibibytes(&first), Some(2000.0));
    }
}
