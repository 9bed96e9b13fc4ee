//! The parts of a Terraform configuration to which a reference leads. In a module that another one calls, a variable is an argument of the call.
//!
//! Sources: "Calling a Child Module" in language/modules/syntax and "Assigning Values to Root Module Variables" in language/values/variables of
//! the documentation of Terraform: files of variables are for root modules alone.

use cluster::folders::joined;

use super::blocks::Reference;
use super::terraform::{FedPart, TerraformFeeds, is_local, near_of};

/// The start of the addresses of variables.
const VARIABLE: &str = "var.";

/// A part to which a reference leads.
pub(super) struct ReferencedPart<'f, 'p> {
    pub(super) address: &'f str,
    pub(super) part: &'f FedPart<'p>,
    /// The attribute of the part; `None` if all of it is meant.
    attribute: Option<String>,
    /// The argument of the call of a module that gives the value.
    argument: Option<String>,
}

impl ReferencedPart<'_, '_> {
    pub(super) fn is_changed(&self) -> bool {
        match &self.argument {
            Some(name) => self.part.differs(self.part.giving(name)),
            None => self.part.is_changed(self.attribute.as_deref()),
        }
    }

    pub(super) fn text(&self) -> String {
        match &self.argument {
            Some(name) => self.part.text_of(self.part.giving(name)),
            None => self.part.text(self.attribute.as_deref()),
        }
    }

    /// A key that is different for each part.
    pub(super) fn key(&self) -> (String, String, Option<String>, Option<String>) {
        let (address, place) = (self.address.to_owned(), self.part.place.to_owned());
        (address, place, self.attribute.clone(), self.argument.clone())
    }
}

impl<'p> TerraformFeeds<'p> {
    /// The parts to which a reference in a folder leads: the ones of the folder, else all.
    pub(super) fn referenced(&self, reference: &Reference, folder: &str) -> Vec<ReferencedPart<'_, 'p>> {
        let known = self.parts.get_key_value(&reference.address);
        let of_part = |address, part| ReferencedPart {
            address,
            part,
            attribute: reference.attribute.clone(),
            argument: None,
        };
        let Some(name) = reference.address.strip_prefix(VARIABLE) else {
            let near = known.into_iter().flat_map(|(address, all)| {
                near_of(all.iter().collect(), folder).into_iter().map(move |part| (address.as_str(), part))
            });
            return near.map(|(address, part)| of_part(address, part)).collect();
        };
        let calls = self.calls_of(folder);
        let gives =
            |(_, part): &(&str, &FedPart<'p>)| part.sides_with(|given| given.name == name).contains(&true);
        let of_call = |(address, part)| ReferencedPart {
            address,
            part,
            attribute: None,
            argument: Some(name.to_owned()),
        };
        let mut found: Vec<ReferencedPart<'_, 'p>> =
            calls.iter().copied().filter(gives).map(of_call).collect();
        let is_given = !calls.is_empty() && found.len() == calls.len();
        if let Some((address, all)) = known {
            let (files, declared): (Vec<&FedPart<'p>>, Vec<&FedPart<'p>>) =
                all.iter().partition(|part| part.is_of_variables());
            let is_set = files.iter().any(|part| part.is_read_always(folder));
            let declared = declared.into_iter().filter(|part| part.place == folder && !is_given && !is_set);
            found.extend(declared.map(|part| of_part(address.as_str(), part)));
            let mut files = near_of(files, folder);
            files.retain(|part| calls.is_empty() || is_within(part.place, folder));
            found.extend(files.into_iter().map(|part| of_part(address.as_str(), part)));
        }
        found
    }

    /// The calls of the module in a folder. Calls in folders below are examples.
    fn calls_of(&self, folder: &str) -> Vec<(&str, &FedPart<'p>)> {
        let calls = self.calls.get(folder).into_iter().flatten();
        let part = |(address, place): &'_ (String, &'p str)| {
            let (address, all) = self.parts.get_key_value(address)?;
            Some((address.as_str(), all.iter().find(|part| part.place == *place)?))
        };
        calls.filter(|(_, place)| !is_within(place, folder)).filter_map(part).collect()
    }

    /// Finds the folders of the local modules that are called.
    pub(super) fn find_calls(&mut self) {
        for (address, part) in
            self.parts.iter().flat_map(|(address, all)| all.iter().map(move |part| (address, part)))
        {
            for source in part.sources().into_iter().filter(|source| is_local(source)) {
                let folder = joined(part.place, source.trim_end_matches('/'));
                self.calls.entry(folder).or_default().push((address.clone(), part.place));
            }
        }
    }
}

/// Whether a place is a folder or within it.
pub(super) fn is_within(place: &str, folder: &str) -> bool {
    let rest = place.strip_prefix(folder);
    rest.is_some_and(|rest| folder.is_empty() || rest.is_empty() || rest.starts_with('/'))
}
