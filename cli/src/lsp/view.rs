//! A folder as the language server asks for it: files with their addresses, releases, and the settings of simulations.

use std::path::absolute;

use karpwarden::karpenter::release::Release;
use karpwarden::objects::object::Object;
use karpwarden::scheduling::simulation::SimulationSettings;
use karpwarden::simulate::{Choices, DeducedSettings};
use language_server::protocol::Uri;
use language_server::{FolderView, OpenDocument, from_path, release_of_file};
use manifest::File;

use super::folder::{Contents, Folder};
use super::folders::path_of_document;

impl FolderView for Folder {
    fn files(&self) -> &[File] {
        self.contents.as_ref().map_or(&[], |contents| &contents.cluster.files)
    }

    fn is_about_karpenter(&self) -> bool {
        self.contents.as_ref().is_none_or(Contents::is_about_karpenter)
    }

    fn file_of(&self, document: &OpenDocument) -> Option<&File> {
        let contents = self.contents.as_ref()?;
        let id = contents.by_path.get(&path_of_document(document))?;
        contents.cluster.files.get(ids::Id::position(*id))
    }

    fn uri_of(&self, file: &File) -> Option<Uri> {
        let contents = self.contents.as_ref()?;
        let mut files = contents.members.iter().zip(&contents.cluster.files);
        let (member, _) = files.find(|(_, own)| std::ptr::eq(*own, file))?;
        from_path(&absolute(member.input.path()?).ok()?)
    }

    fn environments(&self) -> Vec<&str> {
        self.checked.as_ref().map_or_else(Vec::new, |checked| checked.environments())
    }

    fn release_for(&self, file: Option<&File>) -> Release {
        let Some(contents) = &self.contents else { return Release::NEWEST };
        let name = file.map_or("", |file| file.source.name());
        release_of_file(&contents.settings, self.checked.as_ref().map(|checked| &checked.report), name)
    }

    fn simulation_settings(&self, objects: &[Object<'_>]) -> SimulationSettings {
        let Some(contents) = &self.contents else { return SimulationSettings::new(Release::NEWEST) };
        let deduced =
            DeducedSettings::new(&Choices::default(), &contents.settings, self.files(), objects).ok();
        deduced.map_or_else(|| SimulationSettings::new(Release::NEWEST), |deduced| deduced.settings)
    }
}
