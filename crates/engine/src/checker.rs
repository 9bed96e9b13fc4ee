//! Checks the objects of an input, each with the settings of its file and among the objects around it.

use cluster::input::Input;
use cluster::input_object::InputObject;
use rule::Rule;
use rule::registry::Registry;

use crate::check_one::{Outcome, check_one};
use crate::pins::Pins;
use crate::surroundings::Surroundings;

/// What checks of the same input have in common.
#[derive(Clone, Copy)]
pub(crate) struct Checker<'c> {
    pub(crate) registry: &'c Registry,
    pub(crate) input: Input<'c>,
    pub(crate) pins: &'c Pins<'c>,
}

impl Checker<'_> {
    /// Runs rules on an object among others. `None` if the object is not covered.
    pub(crate) fn check<'d>(
        &self,
        one: &InputObject<'d>,
        rules: &[&'static Rule],
        surroundings: &Surroundings<'d>,
    ) -> Option<Outcome<'d>> {
        let file = one.document.file;
        let name = self.input.file(file).map_or("", |file| file.source.name());
        let settings = self.pins.settings_of(file, name);
        let before_v1 = self.pins.version_of(file, name).before_v1;
        let context = surroundings.context(one, &settings)?.before_v1(before_v1);
        check_one(self.registry, rules, one.object, &context, |stored| {
            let one = InputObject { object: stored, ..*one };
            let context = surroundings.before()?.context(&one, &settings)?.before_v1(before_v1);
            check_one(self.registry, &self.registry.rules_on(stored), stored, &context, |_| None)
        })
    }
}
