//! A list of objects that the host returned, parsed only as far as a request needs it.

use std::sync::Arc;

use karpwarden::karpenter::kind::Kind;
use karpwarden::karpenter::operator::Operator;
use karpwarden::manifest::json::{self, Cursor, Unexpected};
use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::source::{Source, Span};
use karpwarden::manifest::tree::{Node, Tree, items_of};
use karpwarden::objects::object::Object;
use karpwarden::objects::pod::Pod;
use karpwarden::scheduling::shortlist::{ListedPool, Relevance, Shortlist};
use karpwarden::scheduling::taints::PoolTaint;

use crate::claims::cut_down;

/// A list of the host: the JSON of a Kubernetes list, whose items may lack their kind.
#[derive(Debug)]
pub(crate) struct List {
    kind: Kind,
    trees: Trees,
    /// The number of NodePools that were read but are not parsed.
    omitted_pools: usize,
}

#[derive(Debug)]
enum Trees {
    /// The whole list.
    Whole(Box<Tree>),
    /// Some of the items.
    Items(Vec<Tree>),
}

impl List {
    /// Parses the host's answer about a kind. `object` is the object of the request: if it has pods, only the NodePools that
    /// decide what is reported about them are parsed, and of the NodeClaims only [what rules read](cut_down).
    pub(crate) fn parse(kind: Kind, text: &str, object: Object<'_>) -> Result<Self, String> {
        let (trees, omitted_pools) = if kind == Kind::NODE_CLAIM {
            let claims = cut_down(text, object).map_err(|_| NOT_A_LIST.to_owned())?;
            (Trees::Whole(Box::new(whole(&claims)?)), 0)
        } else if let Some((items, omitted)) = decisive_pools(kind, text, object) {
            let trees: Result<_, _> = items.into_iter().map(parse).collect();
            (Trees::Items(trees?), omitted)
        } else {
            (Trees::Whole(Box::new(whole(text)?)), 0)
        };
        Ok(Self { kind, trees, omitted_pools })
    }

    /// The kind of the objects.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The objects that are parsed.
    pub(crate) fn objects(&self) -> Vec<Object<'_>> {
        let object = |item| Object::of_kind(item, self.kind);
        match &self.trees {
            Trees::Whole(tree) => items_of(tree.root().get("items")).map(object).collect(),
            Trees::Items(trees) => trees.iter().map(|tree| object(tree.root())).collect(),
        }
    }

    /// The number of NodePools that were read but are not parsed.
    pub(crate) fn omitted_pools(&self) -> usize {
        self.omitted_pools
    }
}

const NOT_A_LIST: &str = "the answer is not a list";

fn whole(text: &str) -> Result<Tree, String> {
    let tree = parse(text)?;
    let is_list = tree.root().get("items").is_some_and(Node::is_sequence);
    is_list.then_some(tree).ok_or_else(|| NOT_A_LIST.to_owned())
}

fn parse(text: &str) -> Result<Tree, String> {
    let source = Arc::new(Source::new("list", text));
    let read = json::read(&source, Span::whole(text), &Limits::DEFAULT);
    let read = read.map_err(|error| error.problem.to_string())?;
    read.map(|(tree, _)| tree).ok_or_else(|| "the answer is empty".to_owned())
}

/// The texts of the NodePools that decide what is reported about the pods of an object, and the number of the others. `None` if
/// the list has to be parsed whole.
fn decisive_pools<'t>(kind: Kind, text: &'t str, object: Object<'_>) -> Option<(Vec<&'t str>, usize)> {
    let mut pods = Pod::all(object);
    // An error of the stored object is compared with the same NodePools.
    pods.extend(object.stored().into_iter().flat_map(Pod::all));
    let mut shortlist = Shortlist::new(&pods).filter(|_| kind == Kind::NODE_POOL)?;
    let mut pools = Vec::new();
    read_list(text, &mut shortlist, &mut pools).ok()?;
    let count = pools.len();
    let is_decided = shortlist.is_decided();
    pools.retain(|(_, relevance)| match relevance {
        Relevance::Needed => true,
        Relevance::Example => !is_decided,
        Relevance::Irrelevant => false,
    });
    let omitted = count - pools.len();
    Some((pools.into_iter().map(|(text, _)| text).collect(), omitted))
}

/// Reads the texts of the items of a list, up to the item that settles everything. An error if the text is not a list.
fn read_list<'t>(
    text: &'t str,
    shortlist: &mut Shortlist<'_>,
    pools: &mut Vec<(&'t str, Relevance)>,
) -> Result<(), Unexpected> {
    each_item(text, |list| {
        let start = list.position();
        let mut pool = read_pool(list, shortlist)?;
        pools.push((list.text_from(start), shortlist.relevance(&mut pool)));
        Ok(!shortlist.is_settled())
    })
}

/// Calls a function at each item of a list, until it returns `false`. An error if the text is not a list.
pub(crate) fn each_item<'t>(
    text: &'t str,
    mut read: impl FnMut(&mut Cursor<'t>) -> Result<bool, Unexpected>,
) -> Result<(), Unexpected> {
    let mut list = Cursor::new(text);
    let mut is_list = false;
    list.enter_object()?;
    while let Some(key) = list.next_key()? {
        if key != "items" {
            list.skip()?;
            continue;
        }
        is_list = true;
        list.enter_list()?;
        while list.next_item() {
            if !read(&mut list)? {
                return Ok(());
            }
        }
    }
    is_list.then_some(()).ok_or(Unexpected)
}

/// Reads the name, the group of the node class, the taints, and the labels that a pod mentions.
fn read_pool<'t>(pool: &mut Cursor<'t>, shortlist: &Shortlist<'_>) -> Result<ListedPool<'t>, Unexpected> {
    let mut listed = ListedPool::default();
    pool.enter_object()?;
    while let Some(key) = pool.next_key()? {
        match key {
            "metadata" => listed.name = read_member(pool, "name")?,
            "spec" => {
                pool.enter_object()?;
                while let Some(key) = pool.next_key()? {
                    match key {
                        "template" => read_template(pool, shortlist, &mut listed)?,
                        _ => pool.skip().map(drop)?,
                    }
                }
            }
            _ => pool.skip().map(drop)?,
        }
    }
    Ok(listed)
}

/// Reads a member of an object that is a string.
fn read_member<'t>(object: &mut Cursor<'t>, name: &str) -> Result<&'t str, Unexpected> {
    let mut value = "";
    object.enter_object()?;
    while let Some(key) = object.next_key()? {
        if key == name {
            value = object.string()?;
        } else {
            object.skip()?;
        }
    }
    Ok(value)
}

fn read_template<'t>(
    template: &mut Cursor<'t>,
    shortlist: &Shortlist<'_>,
    listed: &mut ListedPool<'t>,
) -> Result<(), Unexpected> {
    template.enter_object()?;
    while let Some(key) = template.next_key()? {
        match key {
            "metadata" => read_metadata(template, shortlist, listed)?,
            "spec" => read_spec(template, shortlist, listed)?,
            _ => template.skip().map(drop)?,
        }
    }
    Ok(())
}

fn read_metadata<'t>(
    metadata: &mut Cursor<'t>,
    shortlist: &Shortlist<'_>,
    listed: &mut ListedPool<'t>,
) -> Result<(), Unexpected> {
    metadata.enter_object()?;
    while let Some(key) = metadata.next_key()? {
        if key != "labels" {
            metadata.skip()?;
            continue;
        }
        metadata.enter_object()?;
        while let Some(label) = metadata.next_key()? {
            let value = metadata.string()?;
            if shortlist.asks(label) {
                listed.template.label(label, value);
            }
        }
    }
    Ok(())
}

fn read_spec<'t>(
    spec: &mut Cursor<'t>,
    shortlist: &Shortlist<'_>,
    listed: &mut ListedPool<'t>,
) -> Result<(), Unexpected> {
    spec.enter_object()?;
    while let Some(key) = spec.next_key()? {
        match key {
            "nodeClassRef" => listed.node_class_group = read_member(spec, "group")?,
            "requirements" => {
                spec.enter_list()?;
                while spec.next_item() {
                    read_requirement(spec, shortlist, listed)?;
                }
            }
            "taints" => {
                spec.enter_list()?;
                while spec.next_item() {
                    listed.template.taints.push(read_taint(spec)?);
                }
            }
            _ => spec.skip().map(drop)?,
        }
    }
    Ok(())
}

fn read_requirement<'t>(
    requirement: &mut Cursor<'t>,
    shortlist: &Shortlist<'_>,
    listed: &mut ListedPool<'t>,
) -> Result<(), Unexpected> {
    let (mut label, mut operator, mut values) = ("", "", None);
    requirement.enter_object()?;
    while let Some(key) = requirement.next_key()? {
        match key {
            "key" => label = requirement.string()?,
            "operator" => operator = requirement.string()?,
            "values" => values = Some(requirement.skip()?),
            _ => requirement.skip().map(drop)?,
        }
    }
    if shortlist.asks(label) {
        let values = values.map_or(Ok(Vec::new()), read_strings)?;
        listed.template.require(label, Operator::parse(operator), values, None);
    }
    Ok(())
}

fn read_strings(text: &str) -> Result<Vec<&str>, Unexpected> {
    let mut list = Cursor::new(text);
    let mut strings = Vec::new();
    list.enter_list()?;
    while list.next_item() {
        strings.push(list.string()?);
    }
    Ok(strings)
}

fn read_taint<'t>(taint: &mut Cursor<'t>) -> Result<PoolTaint<'t>, Unexpected> {
    let mut read = PoolTaint { key: "", value: "", effect: "" };
    taint.enter_object()?;
    while let Some(key) = taint.next_key()? {
        match key {
            "key" => read.key = taint.string()?,
            "value" => read.value = taint.string()?,
            "effect" => read.effect = taint.string()?,
            _ => taint.skip().map(drop)?,
        }
    }
    Ok(read)
}
