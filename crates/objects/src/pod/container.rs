//! Containers of a pod.

use manifest::tree::{Node, items_of};
use values::placeholder::{Placeholder, has_placeholder};

/// View of a container.
#[derive(Clone, Copy, Debug)]
pub struct Container<'d>(Node<'d>);

impl<'d> Container<'d> {
    pub(super) fn new(item: Node<'d>) -> Self {
        Self(item)
    }

    /// The item.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `name`, where it is a string.
    pub fn name(self) -> Option<&'d str> {
        self.0.get("name")?.as_str()
    }

    /// `image`.
    pub fn image(self) -> Option<Node<'d>> {
        self.0.get("image")
    }

    /// The last part of the image's name, without tag and digest.
    pub fn image_name(self) -> Option<&'d str> {
        let name = self.image()?.as_str()?.rsplit('/').next()?;
        name.split([':', '@']).next()
    }

    /// The items of `env`.
    pub fn env(self) -> impl Iterator<Item = EnvVar<'d>> {
        items_of(self.0.get("env")).map(EnvVar)
    }

    /// The items of `env` that set a variable, in order: the last item counts.
    pub fn variables(self, name: &'static str) -> impl Iterator<Item = EnvVar<'d>> {
        self.env().filter(move |variable| variable.name() == Some(name))
    }

    /// `envFrom`.
    pub fn env_from(self) -> Option<Node<'d>> {
        self.0.get("envFrom")
    }

    /// The request of a resource, as written.
    pub fn request(self, resource: &str) -> Option<Node<'d>> {
        self.0.at_path(&["resources", "requests", resource])
    }

    /// The limit of a resource.
    pub fn limit(self, resource: &str) -> Option<Node<'d>> {
        self.0.at_path(&["resources", "limits", resource])
    }

    /// `command`, which replaces the program of the image.
    pub fn command(self) -> Option<Node<'d>> {
        self.0.get("command")
    }

    /// The items of `args`.
    pub fn args(self) -> impl Iterator<Item = Node<'d>> {
        items_of(self.0.get("args"))
    }

    /// The items of `command`, then of `args`.
    pub fn arguments(self) -> impl Iterator<Item = Node<'d>> {
        // A placeholder in place of the whole list counts as an argument.
        let words =
            |list: Option<Node<'d>>| items_of(list).chain(list.filter(|list| list.as_str().is_some()));
        words(self.0.get("command")).chain(words(self.0.get("args")))
    }

    /// Whether a placeholder hides an argument, the name of a variable, or several of them.
    pub fn hides_settings(self) -> bool {
        let is_open = |node: Node<'d>| node.as_str().is_some_and(has_placeholder);
        let env = self.0.get("env");
        let is_whole = |node: Node<'d>| node.as_str().is_some_and(Placeholder::is_whole);
        env.is_some_and(is_open)
            || items_of(env).any(|item| is_open(item) || item.get("name").is_some_and(is_open))
            || self.arguments().any(is_whole)
    }
}

/// View of an item of `env`.
#[derive(Clone, Copy, Debug)]
pub struct EnvVar<'d>(Node<'d>);

impl<'d> EnvVar<'d> {
    /// The item.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `name`, where it is a string.
    pub fn name(self) -> Option<&'d str> {
        self.0.get("name")?.as_str()
    }

    /// `value`.
    pub fn value(self) -> Option<Node<'d>> {
        self.0.get("value")
    }

    /// `valueFrom`.
    pub fn value_from(self) -> Option<Node<'d>> {
        self.0.get("valueFrom")
    }
}
