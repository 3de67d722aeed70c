//! The taxonomy: a tree of categories, numbered depth first, so that a category and everything
//! below it are one range of numbers.

use std::{borrow::Cow, ops::Range};

use crate::product::inferred::CategoryIndex;

/// Why a file is not a taxonomy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenTaxonomy {
    /// Not UTF-8.
    #[error("is not UTF-8")]
    Encoding,
    /// A line is not an id, a tab and a name.
    #[error("has no id and name in line {0}")]
    Line(usize),
    /// A category does not follow its parent or a relative below its parent.
    #[error("has no parent for the category in line {0}")]
    Parent(usize),
    /// More categories than numbers.
    #[error("has too many categories")]
    Size,
}

/// The categories with their ids and English names.
#[derive(Debug)]
pub struct Taxonomy {
    text: Cow<'static, str>,
    nodes: Vec<Node>,
    /// The categories in the order of their ids as strings.
    by_id: Vec<u16>,
    roots: Vec<CategoryIndex>,
}

/// The places of id and name in the text, and of the relatives in the tree.
#[derive(Debug)]
struct Node {
    line: u32,
    id_end: u32,
    line_end: u32,
    parent: Option<u16>,
    /// One more than the last category below this one.
    end: u16,
    depth: u8,
}

impl Taxonomy {
    /// Reads lines of an id, a tab and a name, parents before their children.
    pub fn new(bytes: Cow<'static, [u8]>) -> Result<Self, BrokenTaxonomy> {
        let text = match bytes {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).ok(),
            Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).ok(),
        };
        let text = text.ok_or(BrokenTaxonomy::Encoding)?;
        let mut nodes = Vec::new();
        let mut roots = Vec::new();
        let mut open: Vec<u16> = Vec::new();
        let mut at = 0;
        for (number, line) in text.lines().enumerate() {
            let index = u16::try_from(number).map_err(|_| BrokenTaxonomy::Size)?;
            let (id, _) = line.split_once('\t').ok_or(BrokenTaxonomy::Line(number + 1))?;
            let above = id.rsplit_once('-').map(|(above, _)| above);
            close_until(&mut open, &mut nodes, index, |node: &Node| above == Some(node.id(&text)));
            if above.is_some() && open.is_empty() {
                return Err(BrokenTaxonomy::Parent(number + 1));
            }
            if above.is_none() {
                roots.push(CategoryIndex(index));
            }
            nodes.push(Node {
                line: at,
                id_end: at + id.len() as u32,
                line_end: at + line.len() as u32,
                parent: open.last().copied(),
                end: index + 1,
                depth: open.len() as u8 + 1,
            });
            open.push(index);
            at += line.len() as u32 + 1;
        }
        let end = u16::try_from(nodes.len()).map_err(|_| BrokenTaxonomy::Size)?;
        close_until(&mut open, &mut nodes, end, |_| false);
        let mut by_id: Vec<u16> = (0..end).collect();
        by_id.sort_unstable_by_key(|index| nodes[usize::from(*index)].id(&text));
        Ok(Self { text, nodes, by_id, roots })
    }

    /// The number of categories.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All categories, parents before their children.
    pub fn all(&self) -> impl Iterator<Item = CategoryIndex> {
        (0..self.nodes.len() as u16).map(CategoryIndex)
    }

    /// The categories without a parent.
    pub fn roots(&self) -> &[CategoryIndex] {
        &self.roots
    }

    /// The id, such as `aa-1-4`.
    pub fn id(&self, category: CategoryIndex) -> &str {
        self.node(category).id(&self.text)
    }

    /// The English name without those of its ancestors.
    pub fn name(&self, category: CategoryIndex) -> &str {
        let node = self.node(category);
        &self.text[node.id_end as usize + 1..node.line_end as usize]
    }

    /// The names from the root down to the category.
    pub fn path(&self, category: CategoryIndex) -> Vec<&str> {
        let mut names: Vec<_> = self.ancestors(category).map(|above| self.name(above)).collect();
        names.reverse();
        names
    }

    /// The category with this id.
    pub fn with_id(&self, id: &str) -> Option<CategoryIndex> {
        let id_of = |index: &u16| self.id(CategoryIndex(*index));
        let at = self.by_id.binary_search_by(|index| id_of(index).cmp(id)).ok()?;
        Some(CategoryIndex(self.by_id[at]))
    }

    /// The category of an id or of a whole path, such as `Furniture > Chairs`; letter case does not
    /// matter.
    pub fn parse(&self, text: &str) -> Option<CategoryIndex> {
        let text = text.trim();
        self.with_id(&text.to_ascii_lowercase()).or_else(|| {
            let (found, complete) = self.follow(text)?;
            complete.then_some(found)
        })
    }

    /// The deepest category on a path of names separated by `>`, and whether that is all of it.
    pub fn follow(&self, path: &str) -> Option<(CategoryIndex, bool)> {
        let mut found = None;
        for name in path.split('>').map(str::trim) {
            let named = |child: &CategoryIndex| self.name(*child).eq_ignore_ascii_case(name);
            let next = match found {
                None => self.roots.iter().copied().find(named),
                Some(parent) => self.children(parent).find(named),
            };
            match (next, found) {
                (Some(next), _) => found = Some(next),
                (None, found) => return found.map(|found| (found, false)),
            }
        }
        found.map(|found| (found, true))
    }

    /// The category above; a root has none.
    pub fn parent(&self, category: CategoryIndex) -> Option<CategoryIndex> {
        self.node(category).parent.map(CategoryIndex)
    }

    /// The category itself, its parent, and so on up to the root.
    pub fn ancestors(&self, category: CategoryIndex) -> impl Iterator<Item = CategoryIndex> {
        std::iter::successors(Some(category), |below| self.parent(*below))
    }

    /// The ancestor (or the category itself) of level two; a root is its own.
    pub fn level_two(&self, category: CategoryIndex) -> CategoryIndex {
        self.ancestor_at(category, 2)
    }

    /// The ancestor (or the category itself) of a level; a category above that level is its own.
    pub fn ancestor_at(&self, category: CategoryIndex, level: u8) -> CategoryIndex {
        self.ancestors(category).find(|above| self.depth(*above) <= level).unwrap_or(category)
    }

    /// The level: 1 for a root.
    pub fn depth(&self, category: CategoryIndex) -> u8 {
        self.node(category).depth
    }

    /// The categories directly below.
    pub fn children(&self, category: CategoryIndex) -> impl Iterator<Item = CategoryIndex> {
        let end = self.node(category).end;
        let first = Some(category.0 + 1).filter(|first| *first < end);
        std::iter::successors(first, move |child| {
            Some(self.nodes[usize::from(*child)].end).filter(|next| *next < end)
        })
        .map(CategoryIndex)
    }

    /// Whether the second category is the first one or below it.
    pub fn is_ancestor(&self, ancestor: CategoryIndex, category: CategoryIndex) -> bool {
        self.below(ancestor).contains(&category.0)
    }

    /// The deepest category that both are or are below; `None` if their roots differ.
    pub fn common_ancestor(
        &self,
        one: CategoryIndex,
        other: CategoryIndex,
    ) -> Option<CategoryIndex> {
        self.ancestors(one).find(|above| self.is_ancestor(*above, other))
    }

    /// The numbers of the category and of everything below it.
    pub fn below(&self, category: CategoryIndex) -> Range<u16> {
        category.0..self.node(category).end
    }

    fn node(&self, category: CategoryIndex) -> &Node {
        &self.nodes[category.at()]
    }
}

impl Node {
    fn id<'a>(&self, text: &'a str) -> &'a str {
        &text[self.line as usize..self.id_end as usize]
    }
}

/// Closes open categories, the deepest first, until one of them is the parent of the next.
fn close_until(
    open: &mut Vec<u16>,
    nodes: &mut [Node],
    next: u16,
    is_parent: impl Fn(&Node) -> bool,
) {
    while let Some(last) = open.last() {
        let node = &mut nodes[usize::from(*last)];
        if is_parent(node) {
            return;
        }
        node.end = next;
        open.pop();
    }
}
