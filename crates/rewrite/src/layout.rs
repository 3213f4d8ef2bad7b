//! Stored layout of outputs.

use job::script::{Script, Statement};

use super::Rewrite;

/// Clusters a sorted structured stream by its sort keys, so that many vertices write it,
/// each a range of the keys, instead of one vertex that gathers and sorts all rows.
pub fn cluster_sorted_output(script: &Script, statement: &Statement) -> Option<Rewrite> {
    let output = statement.output.as_ref()?;
    let sorted = output.sstream && !output.sorted_by.is_empty();
    let layout = output.layout_span.clone()?;
    let plain = script.slice(&layout).starts_with("SORTED");
    if !sorted || !plain || !output.clustered_by.is_empty() || !output.partitioned_by.is_empty() {
        return None;
    }
    let keys: Option<Vec<&str>> = output
        .sorted_by
        .iter()
        .map(|key| {
            key.expression
                .as_column()
                .map(|column| column.name.as_str())
        })
        .collect();
    let indent = super::indentation(&script.text, layout.start);
    let mut rewrite = Rewrite {
        reorders: true,
        ..Rewrite::default()
    };
    let text = format!("CLUSTERED BY {}\n{indent}", keys?.join(", "));
    rewrite.replace(statement.index, layout.start..layout.start, text);
    Some(rewrite)
}
