//! No import cycles: inside a crate, no file imports from one that imports from it, directly or
//! through others. The folders of a crate have an order, in which each uses only those before it.
//!
//! An import is a `use` of the same crate or a path in the code, and is from the file that defines
//! the item: `pub use` is followed. A `pub use` of a file's own children is no import, because it
//! only says what the module consists of. Tests may import anything.
#![allow(clippy::unwrap_used)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, iter,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use regex::{Captures, Regex};

const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The folders of crates in their order. `lib.rs` and `main.rs` come after them; any other file comes
/// after the folders that it uses, directly or through others.
const FOLDERS: [(&str, &str); 5] = [
    ("catalog", "text product inference query ranking"),
    ("index", "dense segment filter lexical first_stage second_stage scoring writer file"),
    ("store", "sqlite postgres"),
    ("engine", "read_pool replication search writes writer embedding engine"),
    ("server", "config telemetry demo http serving cli"),
];

macro_rules! regexes {
    ($($name:ident = $pattern:literal;)+) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($pattern).unwrap());)+
    };
}

regexes! {
    TEST_FILE = r"(^|/)tests(/|\.rs)|_tests(/|\.rs)|(^|/)testing|conformance";
    COMMENT = r"//.*";
    VISIBILITY = r"\bpub\([^)]*\)";
    TESTS = r"#\[cfg\(test\)\]\s*(pub )?(mod tests \{(?s:.*)|use [^;]+;)";
    INLINE_MODULE = r"(?ms)^(pub )?mod \w+ \{$.*?^\}";
    SUPER = r"\bsuper::((super::)*)";
    USE = r"(?m)^\s*(pub )?use ([^;]+);";
    PATH = r"(?:^|[^\w:$])(\w+(?:::\w+)+)";
}

/// For each file the files it imports from, with the paths of the items.
type Imports = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// A path in a module.
struct Import {
    module: String,
    /// From the root of the crate: `crate::index::segment::Segment`.
    path: String,
    /// The path of the name it gets, if it is a `pub use`.
    reexport: Option<String>,
}

/// The modules of a crate, named by their paths: `crate::index::segment`.
#[derive(Default)]
struct Modules {
    files: BTreeMap<String, String>,
    reexports: BTreeMap<String, String>,
}

impl Modules {
    fn imports(&self, module: &str, code: &str) -> Vec<Import> {
        let mut found = Vec::new();
        for statement in USE.captures_iter(code) {
            let public = statement.get(1).is_some();
            let paths = flatten("", &statement[2]);
            found.extend(paths.iter().filter_map(|path| self.import(module, path, public)));
        }
        for path in PATH.captures_iter(&USE.replace_all(code, "")) {
            found.extend(self.import(module, &path[1], false));
        }
        found
    }

    /// `None` for a path that leads to another crate or to what the file itself defines.
    fn import(&self, module: &str, path: &str, public: bool) -> Option<Import> {
        let (path, alias) = path.split_once(" as ").unwrap_or((path, ""));
        let first = path.split("::").next()?;
        let is_child = self.files.contains_key(&format!("{module}::{first}"));
        if !is_child && !["crate", "self", "super"].contains(&first) {
            return None;
        }
        let mut segments: Vec<&str> = module.split("::").collect();
        for segment in path.split("::") {
            match segment {
                "crate" => segments.truncate(1),
                "self" => {}
                "super" => drop(segments.pop()),
                name => segments.push(name),
            }
        }
        let name = if alias.is_empty() { segments.last()? } else { alias };
        let reexport = public.then(|| format!("{module}::{name}"));
        Some(Import { module: module.to_owned(), path: segments.join("::"), reexport })
    }

    /// The module that defines what a path leads to.
    fn defining(&self, path: &str) -> Option<&str> {
        for prefix in prefixes(path) {
            if let Some((module, _)) = self.files.get_key_value(prefix) {
                return Some(module);
            }
            if let Some(target) = self.reexports.get(prefix) {
                return self.defining(&path.replacen(prefix, target, 1));
            }
        }
        None
    }
}

/// The paths of a `use` tree: `a::{b, c::d}` has `a::b` and `a::c::d`.
fn flatten(parent: &str, tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((head, list)) = tree.strip_suffix('}').and_then(|tree| tree.split_once('{')) else {
        return vec![format!("{parent}{tree}")];
    };
    let mut depth = 0;
    let parts = list.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    let parts = parts.filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| flatten(&format!("{parent}{head}"), part)).collect()
}

/// The path, its parent, and so on: `a::b::c`, `a::b`, `a`.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    iter::successors(Some(path), |path| Some(path.rsplit_once("::")?.0))
}

fn is_in(path: &str, module: &str) -> bool {
    prefixes(path).any(|prefix| prefix == module)
}

/// The path of the module in a file: `crate::index` for `index.rs` and `index/mod.rs`.
fn module_of(file: &str) -> String {
    let path = format!("crate/{}", file.trim_end_matches(".rs"));
    let folder = ["/lib", "/main", "/mod"].iter().find_map(|name| path.strip_suffix(name));
    folder.unwrap_or(&path).replace('/', "::")
}

/// The code without comments, visibilities and tests. The `super` of an inline module is the file.
fn code(text: &str) -> String {
    let text = COMMENT.replace_all(text, "");
    let text = VISIBILITY.replace_all(&text, "pub");
    let text = TESTS.replace_all(&text, "");
    let in_file = |inline: &Captures| SUPER.replace_all(&inline[0], "self::$1").into_owned();
    INLINE_MODULE.replace_all(&text, in_file).into_owned()
}

/// The imports of a crate, of which each file is given by its name and its text.
fn imports(files: &BTreeMap<String, String>) -> Imports {
    let mut modules = Modules::default();
    // In reverse order, so that of `lib.rs` and `main.rs` the former is the root.
    modules.files.extend(files.keys().rev().map(|file| (module_of(file), file.clone())));
    let in_file = |(module, file): (&String, &String)| modules.imports(module, &code(&files[file]));
    let found: Vec<Import> = modules.files.iter().flat_map(in_file).collect();
    let named = |import: &Import| Some((import.reexport.clone()?, import.path.clone()));
    let reexports = found.iter().filter_map(named).filter(|(name, path)| !is_in(path, name));
    modules.reexports = reexports.collect();
    let mut imports = Imports::new();
    for Import { module, path, reexport } in found {
        let Some(target) = modules.defining(&path) else { continue };
        if target != module && !(reexport.is_some() && is_in(target, &module)) {
            let from = imports.entry(modules.files[&module].clone()).or_default();
            from.entry(modules.files[target].clone()).or_default().insert(path);
        }
    }
    imports
}

/// Adds the files that a file imports from, directly or through others.
fn reach<'a>(imports: &'a Imports, file: &str, reached: &mut BTreeSet<&'a str>) {
    for next in imports.get(file).into_iter().flat_map(BTreeMap::keys) {
        if reached.insert(next) {
            reach(imports, next, reached);
        }
    }
}

/// The strongly connected components of more than one file.
fn cycles(imports: &Imports) -> BTreeSet<BTreeSet<&str>> {
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in imports.keys() {
        reach(imports, file, reached.entry(file).or_default());
    }
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|files| files.contains(to));
    // A file that reaches itself is in a cycle: with those it reaches that reach it.
    let in_cycle = reached.iter().filter(|(file, files)| files.contains(*file));
    in_cycle
        .map(|(file, files)| files.iter().copied().filter(|other| reaches(other, file)).collect())
        .collect()
}

/// The imports that are chosen by their files, one on a line.
fn list(imports: &Imports, is_chosen: impl Fn(&str, &str) -> bool) -> String {
    let mut lines = String::new();
    for (from, targets) in imports {
        for (to, paths) in targets.iter().filter(|(to, _)| is_chosen(from, to)) {
            let paths: Vec<String> = paths.iter().cloned().collect();
            lines += &format!("    {from} -> {to}: {}\n", paths.join(", "));
        }
    }
    lines
}

/// The imports by which a folder uses one after it, one on a line.
fn list_back(imports: &Imports, folders: &[&str]) -> String {
    let place = |file: &str| match file.split(['/', '.']).next() {
        Some("lib" | "main") => Some(folders.len()),
        name => folders.iter().position(|folder| Some(*folder) == name),
    };
    // Of a file outside the folders: the last one that it uses.
    let last = |file: &str| {
        let mut reached = BTreeSet::new();
        reach(imports, file, &mut reached);
        reached.into_iter().filter_map(place).max()
    };
    list(imports, |from, to| {
        place(from).is_some_and(|at| place(to).or_else(|| last(to)) > Some(at))
    })
}

/// What is in a folder, if there is such a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

/// Adds the source files of a crate. Those in `bin` are other crates.
fn read(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for path in entries(folder) {
        let name = path.strip_prefix(root).unwrap().to_str().unwrap();
        if path.is_dir() && name != "bin" {
            read(root, &path, files);
        } else if name.ends_with(".rs") && !TEST_FILE.is_match(name) {
            files.insert(name.to_owned(), fs::read_to_string(&path).unwrap());
        }
    }
}

fn imports_of_crate(root: &Path) -> Imports {
    let mut files = BTreeMap::new();
    read(root, root, &mut files);
    assert!(!files.is_empty(), "no source files in {}", root.display());
    imports(&files)
}

#[test]
fn no_crate_has_an_import_cycle() {
    let libraries = entries(Path::new(CRATES)).into_iter().map(|folder| folder.join("src"));
    let roots: BTreeSet<PathBuf> =
        libraries.flat_map(|root| [entries(&root.join("bin")), vec![root]].concat()).collect();
    let mut found = String::new();
    for root in roots.iter().filter(|root| root.is_dir()) {
        let imports = imports_of_crate(root);
        for cycle in cycles(&imports) {
            let name = root.strip_prefix(CRATES).unwrap().display();
            found += &format!("{name}: a cycle of {} files\n", cycle.len());
            found += &list(&imports, |from, to| cycle.contains(from) && cycle.contains(to));
        }
    }
    assert!(found.is_empty(), "import cycles:\n{found}");
}

#[test]
fn folders_use_only_those_before() {
    let mut found = String::new();
    for (name, folders) in FOLDERS {
        let imports = imports_of_crate(&Path::new(CRATES).join(name).join("src"));
        let back = list_back(&imports, &folders.split(' ').collect::<Vec<_>>());
        if !back.is_empty() {
            found += &format!("{name}:\n{back}");
        }
    }
    assert!(found.is_empty(), "imports against the order of the folders:\n{found}");
}

#[test]
fn every_folder_has_a_place_in_the_order() {
    for (name, folders) in FOLDERS {
        let paths = entries(&Path::new(CRATES).join(name).join("src"));
        let found = paths.iter().filter(|path| path.is_dir());
        let found = found.map(|path| path.file_name().unwrap().to_str().unwrap());
        let found: BTreeSet<&str> =
            found.filter(|folder| !TEST_FILE.is_match(&format!("{folder}/"))).collect();
        assert_eq!(found, folders.split(' ').collect(), "{name}");
    }
}

#[test]
fn a_cycle_through_a_reexport_is_found() {
    let files = [
        ("lib.rs", "mod index; mod other; mod store;"),
        ("index/mod.rs", "mod segment;\npub use self::segment::{Doc, Id as DocId};"),
        ("index/segment.rs", "use crate::{other, store::{self, Store}};"),
        ("other.rs", "// crate::index\n#[cfg(test)]\nmod tests {\n    use crate::index::Doc;\n}"),
        ("store.rs", "fn first(id: super::index::DocId) {}"),
    ];
    let imports = imports(&files.map(|(file, text)| (file.to_owned(), text.to_owned())).into());
    let cycle = BTreeSet::from(["index/segment.rs", "store.rs"]);
    assert_eq!(cycles(&imports), BTreeSet::from([cycle]));
    let back = list(&imports, |from, _| from == "store.rs");
    assert_eq!(back, "    store.rs -> index/segment.rs: crate::index::DocId\n");
}

#[test]
fn an_import_against_the_order_is_found_through_another_file() {
    let files = [
        ("lib.rs", "mod first; mod last; mod plan;"),
        ("first/mod.rs", "use crate::plan::Plan;"),
        ("plan.rs", "use crate::last::Best;"),
        ("last.rs", ""),
    ];
    let imports = imports(&files.map(|(file, text)| (file.to_owned(), text.to_owned())).into());
    let through_plan = "    first/mod.rs -> plan.rs: crate::plan::Plan\n";
    assert_eq!(list_back(&imports, &["first", "last"]), through_plan);
    assert_eq!(list_back(&imports, &["last", "first"]), "");
}
