//! Named groups of bodies: which of them may touch.

use super::error::suggestion;
use super::numbers::Reader;
use carom_collision::Groups;
use toml::Spanned;

/// The group of bodies that name none.
const DEFAULT: &str = "default";
/// Groups are bits.
const MAX_GROUPS: usize = 32;

type Names = Spanned<Vec<Spanned<String>>>;

/// The groups of a model by name.
pub(super) struct GroupNames(Vec<String>);

impl GroupNames {
    /// All names that `groups` of the bodies give, in the order of the file.
    pub fn collect<'a>(reader: &mut Reader<'_>, lists: impl Iterator<Item = Option<&'a Names>>) -> Self {
        let mut names = GroupNames(vec![DEFAULT.to_owned()]);
        let mut told = false;
        for name in lists.flatten().flat_map(|list| list.get_ref()) {
            if names.0.contains(name.get_ref()) {
                continue;
            }
            if names.0.len() == MAX_GROUPS && !told {
                told = true;
                let message = format!("there are more than {MAX_GROUPS} groups with \"{}\" and \"{DEFAULT}\"", name.get_ref());
                reader.wrong(name.span(), message, "use fewer: bodies that meet the same others can share one");
            } else if !told {
                names.0.push(name.get_ref().clone());
            }
        }
        names
    }

    /// What a body's `groups` and `collides_with` mean: it belongs to "default" and meets all groups unless they say otherwise.
    pub fn read(&self, reader: &mut Reader<'_>, groups: Option<&Names>, collides_with: Option<&Names>) -> Option<Groups> {
        if let Some(empty) = groups.filter(|list| list.get_ref().is_empty()) {
            reader.wrong(empty.span(), "`groups` is empty", "name a group, or leave it out; collides_with = [] makes a body touch nothing");
            return None;
        }
        let membership = groups.map_or(Some(1), |list| self.bits(reader, list))?;
        let filter = collides_with.map_or(Some(u32::MAX), |list| self.bits(reader, list))?;
        Some(Groups { membership, filter })
    }

    fn bits(&self, reader: &mut Reader<'_>, list: &Names) -> Option<u32> {
        let mut bits = 0;
        for name in list.get_ref() {
            match self.0.iter().position(|known| known == name.get_ref()) {
                Some(bit) => bits |= 1 << bit,
                None => {
                    let known: Vec<&str> = self.0.iter().map(String::as_str).collect();
                    let message = format!("there is no group \"{}\": no body's `groups` has it", name.get_ref());
                    reader.wrong(name.span(), message, suggestion(name.get_ref(), &known));
                    return None;
                }
            }
        }
        Some(bits)
    }
}
