//! Modules: the values of their variables, locals and outputs.

use core::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use hcl_edit::expr::{Expression, TraversalOperator};
use hcl_edit::structure::Structure;
use manifest::source::Span;

use crate::configuration::CommandVariables;
use crate::constraint::VariableType;
use crate::eval::{Evaluation, NameScope, References, TraversalSteps};
use crate::functions::{decode_json, whole_file};
use crate::input::ConfigurationInput;
use crate::instance::{BlockInstance, InstanceKey, instances};
use crate::paths;
use crate::place::TextPlace;
use crate::session::EvaluationSession;
use crate::syntax::{Declaration, Located, ModuleSyntax, SyntaxProblem, parse};
use crate::types::Type;
use crate::value::{EvaluatedMember, EvaluatedMembers, EvaluatedValue};

/// End of the name of a file of variables in JSON.
const JSON: &str = ".json";
/// Calls of modules within modules.
const MAX_MODULES: usize = 12;
/// Steps that making an instance of a module costs: modules that call each other with `count` are exponentially many.
const STEPS_PER_MODULE: usize = 50;

/// A module with its arguments.
pub(crate) struct Module<'s> {
    pub(crate) session: &'s EvaluationSession<'s>,
    pub(crate) syntax: Rc<ModuleSyntax>,
    /// The folder, a path from the root of the input.
    pub(crate) folder: String,
    /// Prefix of the addresses of its resources: empty, or `module.name.` for each call.
    pub(crate) prefix: String,
    arguments: Arguments<'s>,
    depth: usize,
    /// The condition on which the module exists, if only Terraform knows it.
    existence: Option<Arc<str>>,
    variables: Memo,
    locals: Memo,
    /// Modules that this one calls, by name.
    children: RefCell<BTreeMap<String, ModuleInstances<'s>>>,
    /// The outputs of this module.
    outputs: Memo,
}

/// Instances of a module that another one calls, with the keys of the instances.
pub(crate) type ModuleInstances<'s> = Rc<Vec<(BlockInstance, Rc<Module<'s>>)>>;

/// Values by name. A name without a value is being evaluated.
type Memo = RefCell<BTreeMap<String, Option<EvaluatedValue>>>;

enum Arguments<'s> {
    /// Values of files of variables.
    Root(RootValues),
    /// The call, and the module and the instance that it is evaluated in.
    Call { caller: Weak<Module<'s>>, name: String, instance: BlockInstance },
}

/// Values for the variables of a root module.
#[derive(Default)]
struct RootValues {
    known: BTreeMap<String, EvaluatedValue>,
    /// Values that a command may give instead; none if they are not known.
    possible: BTreeMap<String, Vec<EvaluatedValue>>,
}

impl<'s> Module<'s> {
    /// The root module of a folder with the values of its `terraform.tfvars`, its `.auto.tfvars` and of a command.
    pub(crate) fn root(
        session: &'s EvaluationSession<'s>,
        command: CommandVariables<'_>,
        problems: &mut Vec<SyntaxProblem>,
    ) -> Rc<Self> {
        let folder = session.root.to_owned();
        let syntax = session.module(&folder);
        let paths = session.input.files.paths_in(&folder);
        let name = |path: &String| path.rsplit('/').next().unwrap_or_default().to_owned();
        let default = paths
            .iter()
            .filter(|path| name(path) == "terraform.tfvars" || name(path) == "terraform.tfvars.json");
        let auto = paths
            .iter()
            .filter(|path| [".auto.tfvars", ".auto.tfvars.json"].iter().any(|end| name(path).ends_with(end)));
        let mut values = RootValues::default();
        for path in default.chain(auto).chain(command.files) {
            values.known.extend(variables_of(session, path, problems));
        }
        let named: BTreeSet<String> =
            command.files.iter().flat_map(|path| names_of_variables(session.input, path)).collect();
        for path in command.possible {
            for (name, value) in variables_of(session, path, problems) {
                if !named.contains(&name) {
                    values.possible.entry(name).or_default().push(value);
                }
            }
        }
        // A value of a file that Terraform reads anyway counts more than a default.
        let is_open = |name: &&String| named.contains(*name) || !values.known.contains_key(*name);
        for name in command.open.iter().filter(is_open).cloned().collect::<Vec<_>>() {
            values.possible.entry(name).or_default();
        }
        Rc::new(Self::new(session, syntax, folder, String::new(), Arguments::Root(values), 0))
    }

    fn new(
        session: &'s EvaluationSession<'s>,
        syntax: Rc<ModuleSyntax>,
        folder: String,
        prefix: String,
        arguments: Arguments<'s>,
        depth: usize,
    ) -> Self {
        Self {
            session,
            syntax,
            folder,
            prefix,
            arguments,
            depth,
            existence: None,
            variables: Memo::default(),
            locals: Memo::default(),
            children: RefCell::default(),
            outputs: Memo::default(),
        }
    }

    /// Evaluates something in a part of the module.
    pub(crate) fn evaluate<N, T>(
        self: &Rc<Self>,
        located: &Located<N>,
        instance: &BlockInstance,
        run: impl FnOnce(&Evaluation<'_>, &N) -> T,
    ) -> T {
        let references = InModule(Rc::clone(self));
        let names = instance.names();
        let scope = NameScope::within(&NameScope::ROOT, &names);
        let evaluation = Evaluation {
            session: self.session,
            scope: &scope,
            references: Some(&references),
            folder: &self.folder,
            text: located.text,
            source: &located.source,
        };
        run(&evaluation, &located.node)
    }

    /// The value of an expression of the module.
    pub(crate) fn value_of(self: &Rc<Self>, expression: &Located<Expression>) -> EvaluatedValue {
        self.evaluate(expression, &BlockInstance::single(), |evaluation: &Evaluation<'_>, expression| {
            evaluation.value(expression)
        })
    }

    /// The value of an attribute of a block.
    pub(crate) fn attribute(
        self: &Rc<Self>,
        block: &Declaration,
        instance: &BlockInstance,
        name: &str,
    ) -> Option<EvaluatedValue> {
        let (part, expression) = block.attribute(name)?;
        Some(self.evaluate(part, instance, |evaluation, _| evaluation.value(expression)))
    }

    /// The value of a name, evaluated once. None within its own evaluation.
    fn memoized(memo: &Memo, name: &str, run: impl FnOnce() -> EvaluatedValue) -> Option<EvaluatedValue> {
        if let Some(known) = memo.borrow().get(name) {
            return known.clone();
        }
        memo.borrow_mut().insert(name.to_owned(), None);
        let value = run();
        memo.borrow_mut().insert(name.to_owned(), Some(value.clone()));
        Some(value)
    }

    fn variable_value(self: &Rc<Self>, name: &str, declaration: &Declaration) -> EvaluatedValue {
        let of = declaration.attribute("type").and_then(|(part, of)| {
            self.evaluate(part, &BlockInstance::single(), |evaluation, _| {
                VariableType::parse(of, &|expression: &Expression| evaluation.value(expression))
            })
        });
        let of = of.unwrap_or_else(VariableType::any);
        let shown = format!("var.{name}");
        let unknown = |name: &str| EvaluatedValue::unknown(of.plain(), name, declaration.header);
        let is_compared = self.session.input.names_show_contents();
        if declaration.is_hidden() && !is_compared {
            return unknown(&shown);
        }
        let is_nullable = declaration.flag("nullable") != Some(false);
        let given = self.argument(name).filter(|given| !given.is_null() || is_nullable);
        let default = || self.attribute(declaration, &BlockInstance::single(), "default");
        let given = given.or_else(default);
        if let Some(possible) = self.possible(name) {
            let all = given.into_iter().chain(possible.iter().cloned());
            let all = EvaluatedValue::tuple(all, declaration.header);
            let is_compared = is_compared && self.session.spend_values([&all]);
            return unknown(&all.hidden_name(&shown, is_compared));
        }
        let Some(value) = given else { return unknown(&shown) };
        if declaration.is_hidden() {
            return unknown(&value.hidden_name(&shown, is_compared));
        }
        of.apply(&value).unwrap_or_else(|message| {
            EvaluatedValue::failed(value.place, format!("Variable \"{name}\": {message}"))
        })
    }

    /// The value that the caller or a file of variables gives.
    fn argument(&self, name: &str) -> Option<EvaluatedValue> {
        match &self.arguments {
            Arguments::Root(values) => values.known.get(name).cloned(),
            Arguments::Call { caller, name: call, instance } => {
                let caller = caller.upgrade()?;
                let call = caller.syntax.modules.get(call)?;
                caller.attribute(call, instance, name)
            }
        }
    }

    /// The values that a command may give to a variable.
    fn possible(&self, name: &str) -> Option<&[EvaluatedValue]> {
        match &self.arguments {
            Arguments::Root(values) => values.possible.get(name).map(Vec::as_slice),
            Arguments::Call { .. } => None,
        }
    }

    /// The folder and the declarations of a local module that this one calls.
    pub(crate) fn local_module(&self, call: &Declaration) -> Option<(String, Rc<ModuleSyntax>)> {
        let folder = local_folder(&self.folder, call).filter(|_| self.depth < MAX_MODULES)?;
        let syntax = self.session.module(&folder);
        (!syntax.is_empty()).then_some((folder, syntax))
    }

    /// The value of an output, evaluated once.
    fn output(self: &Rc<Self>, name: &str, output: &Declaration) -> EvaluatedValue {
        let shown = format!("{}{name}", self.prefix);
        let named = |name: &str| EvaluatedValue::unknown(Type::Dynamic, name, output.header);
        let unknown = || named(&shown);
        let is_compared = self.session.input.names_show_contents();
        if output.is_hidden() && !is_compared {
            return unknown();
        }
        let value = || {
            let value = self.attribute(output, &BlockInstance::single(), "value").unwrap_or_else(unknown);
            if output.is_hidden() { named(&value.hidden_name(&shown, is_compared)) } else { value }
        };
        // An output that needs itself is an error of Terraform's that other parts of the cycle have.
        Self::memoized(&self.outputs, name, value).unwrap_or_else(unknown)
    }

    /// The condition on which an instance of a block exists, if only Terraform knows it.
    pub(crate) fn existence_of(&self, instance: &BlockInstance) -> Option<Arc<str>> {
        match (&self.existence, &instance.existence) {
            (Some(module), Some(own)) => Some(Arc::from(format!("{module}, {own}"))),
            (module, own) => module.clone().or_else(|| own.clone()),
        }
    }

    /// The instances of a local module that this one calls; none if its source is elsewhere.
    pub(crate) fn called(self: &Rc<Self>, name: &str) -> Option<ModuleInstances<'s>> {
        if let Some(known) = self.children.borrow().get(name) {
            return Some(Rc::clone(known));
        }
        let call = self.syntax.modules.get(name)?;
        let (folder, syntax) = self.local_module(call)?;
        let instances = instances(self, call).instances;
        if !self.session.spend(instances.len().saturating_mul(STEPS_PER_MODULE)) {
            return None;
        }
        let child = |instance: BlockInstance| {
            let prefix = format!("{}module.{name}{}.", self.prefix, instance.suffix());
            let caller = Rc::downgrade(self);
            let arguments = Arguments::Call { caller, name: name.to_owned(), instance: instance.clone() };
            let (syntax, folder) = (Rc::clone(&syntax), folder.clone());
            let existence = self.existence_of(&instance);
            let child = Self::new(self.session, syntax, folder, prefix, arguments, self.depth + 1);
            (instance, Rc::new(Self { existence, ..child }))
        };
        let children = Rc::new(instances.into_iter().map(child).collect::<Vec<_>>());
        self.children.borrow_mut().insert(name.to_owned(), Rc::clone(&children));
        Some(children)
    }
}

/// The folder of a local module that a module in a folder calls.
pub(crate) fn local_folder(folder: &str, call: &Declaration) -> Option<String> {
    let source = call.word("source")?;
    let is_local = source.starts_with("./") || source.starts_with("../");
    is_local.then(|| paths::join(folder, source)).flatten()
}

/// References in a module.
struct InModule<'s>(Rc<Module<'s>>);

impl References for InModule<'_> {
    fn variable(&self, name: &str) -> Option<EvaluatedValue> {
        let module = &self.0;
        let declaration = module.syntax.variables.get(name)?;
        let value = Module::memoized(&module.variables, name, || module.variable_value(name, declaration));
        // An argument that needs itself, through an output, is an error of Terraform's that other parts of the cycle have.
        let unknown = || EvaluatedValue::unknown(Type::Dynamic, &format!("var.{name}"), declaration.header);
        Some(value.unwrap_or_else(unknown))
    }

    fn local(&self, name: &str, place: TextPlace) -> Option<EvaluatedValue> {
        let module = &self.0;
        let local = module.syntax.locals.get(name)?;
        let value = Module::memoized(&module.locals, name, || module.value_of(local));
        Some(value.unwrap_or_else(|| {
            EvaluatedValue::failed(place, format!("The local value \"{name}\" needs itself."))
        }))
    }

    fn module(&self, name: &str, steps: TraversalSteps<'_>) -> Option<EvaluatedValue> {
        let module = &self.0;
        let call = module.syntax.modules.get(name)?;
        let place = call.header;
        let children = module.called(name)?;
        module.session.spend(children.len()).then(|| outputs(&children, steps, place))
    }
}

/// The name of the output that steps from the instances of a module lead to; none if they may lead to several.
fn output_name<'t>(steps: TraversalSteps<'t>, key: &InstanceKey) -> Option<&'t str> {
    use TraversalOperator::{AttrSplat, FullSplat, GetAttr, Index, LegacyIndex};
    let step = |index: usize| steps.get(index).map(hcl_edit::Decorated::value);
    let before = match (key, step(0)?) {
        (InstanceKey::Single, GetAttr(_)) => 0,
        (InstanceKey::Single, AttrSplat(_) | FullSplat(_))
        | (InstanceKey::Index(_), Index(_) | LegacyIndex(_) | AttrSplat(_) | FullSplat(_))
        | (InstanceKey::Name(_), Index(_) | GetAttr(_)) => 1,
        _ => return None,
    };
    match step(before)? {
        GetAttr(name) => Some(name.as_str()),
        _ => None,
    }
}

/// The outputs of the instances of a module: the one that steps lead to, or all.
fn outputs(children: &ModuleInstances<'_>, steps: TraversalSteps<'_>, place: TextPlace) -> EvaluatedValue {
    let only = children.first().and_then(|(instance, _)| output_name(steps, &instance.key));
    let all = |module: &Rc<Module<'_>>| {
        let output = |(name, output): (&String, &Declaration)| {
            let value = module.output(name, output);
            (Arc::from(name.as_str()), EvaluatedMember { key: place, value })
        };
        let wanted = module.syntax.outputs.iter();
        let wanted = wanted.filter(|(name, _)| only.is_none_or(|only| only == name.as_str()));
        EvaluatedValue::object(wanted.map(output), place)
    };
    match children.as_slice() {
        [(BlockInstance { key: InstanceKey::Single, .. }, module)] => all(module),
        instances if instances.iter().any(|(instance, _)| instance.existence.is_some()) => {
            let is_compared = instances.iter().any(|(_, module)| module.session.input.names_show_contents());
            let known = EvaluatedValue::tuple(
                instances.iter().filter(|_| is_compared).map(|(_, one)| all(one)),
                place,
            );
            let is_compared =
                is_compared && instances.iter().all(|(_, module)| module.session.spend_values([&known]));
            EvaluatedValue::unknown(Type::Dynamic, &known.hidden_name("module", is_compared), place)
        }
        [(BlockInstance { key: InstanceKey::Unknown, .. }, _)] => {
            EvaluatedValue::unknown(Type::Dynamic, "module", place)
        }
        instances => {
            let member = |(instance, module): &(BlockInstance, Rc<Module<'_>>)| match &instance.key {
                InstanceKey::Name(name) => {
                    Some((Arc::clone(name), EvaluatedMember { key: place, value: all(module) }))
                }
                _ => None,
            };
            let members: Option<Vec<_>> = instances.iter().map(member).collect();
            match members {
                Some(members) if !members.is_empty() => EvaluatedValue::object(members, place),
                _ => EvaluatedValue::tuple(instances.iter().map(|(_, module)| all(module)), place),
            }
        }
    }
}

/// The names of the variables that a file of variables sets. A file with mistakes sets none.
pub(crate) fn names_of_variables(input: &ConfigurationInput<'_>, path: &str) -> BTreeSet<String> {
    let Some((text, source)) = input.text(path) else { return BTreeSet::new() };
    if path.ends_with(JSON) {
        let place = TextPlace::new(text, Span::whole(source.text()));
        let values = decode_json(&whole_file(text, source.text()), place).ok().flatten();
        let members = values.as_ref().and_then(EvaluatedValue::members).map(EvaluatedMembers::as_map);
        return members.into_iter().flatten().map(|(name, _)| name.to_string()).collect();
    }
    let attributes = parse(&source, text).into_iter().flatten().filter_map(|structure| match structure {
        Structure::Attribute(attribute) => Some(attribute.key.as_str().to_owned()),
        Structure::Block(_) => None,
    });
    attributes.collect()
}

/// The values of a file of variables.
fn variables_of(
    session: &EvaluationSession<'_>,
    path: &str,
    problems: &mut Vec<SyntaxProblem>,
) -> Vec<(String, EvaluatedValue)> {
    let Some((text, source)) = session.text(path) else { return Vec::new() };
    if path.ends_with(JSON) {
        let whole = whole_file(text, source.text());
        let place = TextPlace::new(text, Span::whole(source.text()));
        return match decode_json(&whole, place) {
            Ok(values) => {
                let members = values.as_ref().and_then(EvaluatedValue::members).map(EvaluatedMembers::as_map);
                members
                    .into_iter()
                    .flatten()
                    .map(|(name, member)| (name.to_string(), member.value.clone()))
                    .collect()
            }
            Err(message) => {
                problems.push(SyntaxProblem { place, message });
                Vec::new()
            }
        };
    }
    let body = match parse(&source, text) {
        Ok(body) => body,
        Err(problem) => {
            problems.push(problem);
            return Vec::new();
        }
    };
    let evaluation = Evaluation {
        session,
        scope: &NameScope::ROOT,
        references: None,
        folder: session.root,
        text,
        source: &source,
    };
    let value = |structure: Structure| match structure {
        Structure::Attribute(attribute) => {
            Some((attribute.key.as_str().to_owned(), evaluation.value(&attribute.value)))
        }
        Structure::Block(_) => None,
    };
    body.into_iter().filter_map(value).collect()
}
