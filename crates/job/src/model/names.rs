//! Names that people chose.

use std::collections::BTreeSet;

use super::Job;

impl Job {
    /// Columns of the operators' channels.
    pub fn channel_columns(&self) -> impl Iterator<Item = &String> {
        let operators = self.stages.iter().flat_map(|s| &s.operators);
        let channels = operators.flat_map(|o| o.inputs.iter().chain(&o.outputs));
        let columns = channels.flat_map(|c| &c.schema);
        columns.map(|column| &column.name)
    }

    /// Names and values that the people of the job chose.
    pub fn private_names(&self) -> Vec<String> {
        let mut names: BTreeSet<&String> = self.channel_columns().collect();
        for table in &self.tables {
            names.insert(&table.name);
            names.extend(&table.path);
            for column in &table.columns {
                names.insert(&column.name);
                names.extend(column.top_values.iter().map(|v| &v.value));
            }
        }
        let classes = self.codegen.iter().flat_map(|c| &c.classes);
        names.extend(classes.filter(|c| c.user_code).map(|c| &c.name));
        names.into_iter().cloned().collect()
    }
}
