//! Instances of a resource or a module: `count` and `for_each`.

use std::rc::Rc;
use std::sync::Arc;

use crate::convert::convert;
use crate::module::Module;
use crate::place::TextPlace;
use crate::session::EvaluationSession;
use crate::syntax::Declaration;
use crate::types::Type;
use crate::value::{Data, EvaluatedMember, EvaluatedValue};

/// Instances that one block may have.
const MAX_INSTANCES: usize = 1_000;

/// Key of an instance of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstanceKey {
    /// The block has neither `count` nor `for_each`.
    Single,
    /// The index of an instance with `count`.
    Index(usize),
    /// The key of an instance with `for_each`.
    Name(Arc<str>),
    /// The number of instances is not known. The block counts as one, with placeholders for its index or key.
    Unknown,
}

/// Instance of a block with the names that it defines.
#[derive(Clone, Debug)]
pub(crate) struct BlockInstance {
    pub(crate) key: InstanceKey,
    /// The value of `count` or `each`.
    name: Option<(&'static str, EvaluatedValue)>,
    /// What decides whether the instance exists, if only Terraform knows that.
    pub(crate) existence: Option<Arc<str>>,
}

impl BlockInstance {
    pub(crate) fn single() -> Self {
        Self { key: InstanceKey::Single, name: None, existence: None }
    }

    /// Names that expressions in the block may use.
    pub(crate) fn names(&self) -> Vec<(&'static str, EvaluatedValue)> {
        self.name.iter().cloned().collect()
    }

    /// The end of an address.
    pub(crate) fn suffix(&self) -> String {
        match &self.key {
            InstanceKey::Single | InstanceKey::Unknown => String::new(),
            InstanceKey::Index(index) => format!("[{index}]"),
            InstanceKey::Name(name) => format!("[{}]", quoted(name)),
        }
    }
}

/// A string as Terraform writes it in an address.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted.replace("${", "$${").replace("%{", "%%{")
}

/// The instances of a block.
pub(crate) struct BlockInstances {
    pub(crate) instances: Vec<BlockInstance>,
    /// `count` or `for_each` with its value, which all instances share.
    pub(crate) repetition: Option<(&'static str, EvaluatedValue)>,
}

/// The instances of a block. A block whose `count` or `for_each` is not known has one with an unknown key, or one for each element that
/// `for_each` may have.
pub(crate) fn instances(module: &Rc<Module<'_>>, block: &Declaration) -> BlockInstances {
    let single = BlockInstance::single();
    let value = |name| Some((name, module.attribute(block, &single, name)?));
    let repetition = value("count").or_else(|| value("for_each"));
    let known = match &repetition {
        Some(("count", count)) => counted(count),
        Some((_, collection)) => {
            each(module.session, collection).or_else(|| possible(module.session, collection))
        }
        None => Some(vec![single]),
    };
    let unknown = || vec![unknown(repetition.as_ref(), module.session.input.names_show_contents())];
    let instances = known.unwrap_or_else(unknown);
    BlockInstances { instances, repetition }
}

/// The instance that represents all of a block whose `count` or `for_each` is not known. A comparison needs names for its key and its value that
/// say what the collection is made of.
fn unknown(repetition: Option<&(&'static str, EvaluatedValue)>, is_compared: bool) -> BlockInstance {
    let decides = |value: &EvaluatedValue| {
        let text: String = value.as_unknown()?.text.as_str().split_whitespace().collect();
        Some(Arc::from(text))
    };
    let name = match repetition {
        Some(("for_each", collection)) if is_compared => {
            let place = collection.place;
            let key = EvaluatedValue::unknown(Type::String, "each.key", place);
            let value_name = collection.hidden_name("each.value", is_compared);
            let value = EvaluatedValue::unknown(Type::Dynamic, &value_name, place);
            Some(("each", object([("key", key), ("value", value)], place)))
        }
        _ => None,
    };
    let existence = repetition.and_then(|(_, value)| decides(value));
    BlockInstance { key: InstanceKey::Unknown, name, existence }
}

/// The instances of the elements that `for_each` may have.
fn possible(session: &EvaluationSession<'_>, collection: &EvaluatedValue) -> Option<Vec<BlockInstance>> {
    let elements = collection.as_unknown()?.possible.as_deref()?;
    // Rules about several objects must not see objects that exclude each other. A comparison has them on both sides.
    if elements.is_exclusive && !session.input.names_show_contents() {
        return None;
    }
    let set = convert(&elements.all, &Type::set(Type::String)).ok();
    let mut instances = each(session, set.as_ref().unwrap_or(&elements.all))?;
    for instance in &mut instances {
        if let InstanceKey::Name(name) = &instance.key {
            instance.existence = elements.decided.get(name).cloned();
        }
    }
    Some(instances)
}

fn counted(count: &EvaluatedValue) -> Option<Vec<BlockInstance>> {
    let number = convert(count, &Type::Number).ok()?;
    let count =
        usize::try_from(number.as_number()?.as_int()?).ok().filter(|count| *count <= MAX_INSTANCES)?;
    let instance = |index| {
        let value = object([("index", EvaluatedValue::count(index, number.place))], number.place);
        BlockInstance { key: InstanceKey::Index(index), name: Some(("count", value)), existence: None }
    };
    Some((0..count).map(instance).collect())
}

fn each(session: &EvaluationSession<'_>, collection: &EvaluatedValue) -> Option<Vec<BlockInstance>> {
    let place = collection.place;
    let pairs: Vec<(Arc<str>, EvaluatedValue, EvaluatedValue)> = match &collection.data {
        Data::Map(_, members) | Data::Object(members) => members
            .as_map()
            .iter()
            .map(|(name, member)| {
                (Arc::clone(name), EvaluatedValue::string(Arc::clone(name), member.key), member.value.clone())
            })
            .collect(),
        Data::Set(Type::String, items) => {
            let items = items
                .as_slice()
                .iter()
                .map(|item| Some((item.as_text()?.shared(), item.clone(), item.clone())));
            items.collect::<Option<_>>()?
        }
        _ => return None,
    };
    let is_bounded = pairs.len() <= MAX_INSTANCES && session.spend(pairs.len());
    let instance = |(name, key, value): (Arc<str>, EvaluatedValue, EvaluatedValue)| {
        let each = object([("key", key), ("value", value)], place);
        BlockInstance { key: InstanceKey::Name(name), name: Some(("each", each)), existence: None }
    };
    is_bounded.then(|| pairs.into_iter().map(instance).collect())
}

/// An object that a block defines, such as `each`.
pub(crate) fn object<const N: usize>(
    members: [(&str, EvaluatedValue); N],
    place: TextPlace,
) -> EvaluatedValue {
    EvaluatedValue::object(
        members.map(|(name, value)| (Arc::from(name), EvaluatedMember { key: place, value })),
        place,
    )
}
