//! Columns of a table: the header and the cells below it.

/// Start positions and names of the columns of a table.
#[derive(Debug, Default)]
pub(super) struct Columns(Vec<(usize, &'static str)>);

impl Columns {
    /// Reads a header that consists only of these names, which may have several words.
    pub(super) fn read(text: &str, names: &[&'static str]) -> Option<Self> {
        let mut columns = Vec::new();
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let space = rest.len() - rest.trim_start().len();
            let rest = rest.trim_start();
            let is_name = |name: &&&'static str| {
                rest.strip_prefix(**name).is_some_and(|after| after.is_empty() || after.starts_with(' '))
            };
            let name = names.iter().filter(is_name).max_by_key(|name| name.len())?;
            columns.push((at + space, *name));
            at += space + name.len();
        }
        Some(Self(columns))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the table has a column of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(_, other)| *other == name)
    }

    /// Returns the cells of a row, which start below the header and after a space.
    pub(super) fn cells<'t>(&self, text: &'t str) -> Option<Vec<(&'static str, &'t str)>> {
        let starts = || self.0.iter().map(|(start, _)| *start);
        let ends = starts().skip(1).map(|end| end.min(text.len())).chain([text.len()]);
        let is_between = |at: usize| at == 0 || text.as_bytes().get(at - 1).is_none_or(|byte| *byte == b' ');
        let cells = self.0.iter().zip(ends).map(|((start, name), end)| {
            let cell = text.get((*start).min(text.len())..end).filter(|_| is_between(*start))?;
            Some((*name, cell.trim()))
        });
        cells.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Columns;

    const NAMES: [&str; 3] = ["NAME", "LAST SEEN", "NODE"];

    #[test]
    fn finds_cells_by_their_position() {
        let columns = Columns::read("NAME   LAST SEEN   NODE", &NAMES).unwrap();
        assert_eq!(
            columns.cells("a-1    5m          ip-1").unwrap(),
            [("NAME", "a-1"), ("LAST SEEN", "5m"), ("NODE", "ip-1")]
        );
        assert_eq!(columns.cells("a-1                ip-1").unwrap()[1], ("LAST SEEN", ""));
        assert_eq!(columns.cells("a-1    5m").unwrap()[2], ("NODE", ""));
        assert_eq!(columns.cells("a-1-which-is-long  ip-1"), None);
        assert!(columns.has("NODE") && !columns.has("AGE"));
        assert!(Columns::read("NAME   LAST   NODE", &NAMES).is_none());
        assert!(Columns::read("NAMES", &NAMES).is_none());
    }
}
