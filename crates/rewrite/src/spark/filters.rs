//! Filters rows before a step that does not need them all.

use job::code::{Call, Place, Program};

use super::{Rewrite, call};

/// Moves a filter from behind a Python function of rows or groups, or behind `dropDuplicates`, before it. Whether the function
/// passes the columns of the filter on, only its code tells.
pub fn before_step(program: &Program, place: &Place) -> Option<Rewrite> {
    let filter = call(program, place)?;
    let is_filter = matches!(filter.name.as_str(), "where" | "filter");
    let [condition] = filter.arguments.as_slice() else {
        return None;
    };
    let at = filter.receiver.filter(|_| is_filter)?;
    let step = program.call_of(program.bound(at, filter.statement))?;
    let is_alone = step.node == at || program.uses(program.text_of(at), 0) == 2;
    let start = match step.name.as_str() {
        "applyInPandas" | "applyInArrow" => grouping(program, step)?.span.start,
        "mapInPandas" | "mapInArrow" | "dropDuplicates" => step.span.start,
        _ => return None,
    };
    if !is_alone {
        return None;
    }
    let mut rewrite = Rewrite {
        reorders: true,
        ..Rewrite::default()
    };
    let text = program.text_of(condition.node);
    let moved = format!(".{}({text})", filter.name);
    rewrite.replace(step.statement, start..start, moved);
    rewrite.replace(filter.statement, filter.span.clone(), "");
    Some(rewrite)
}

/// The `groupBy` of a function of groups.
fn grouping<'p>(program: &'p Program, step: &Call) -> Option<&'p Call> {
    let grouping = program.call_of(step.receiver?)?;
    matches!(grouping.name.as_str(), "groupBy" | "groupby").then_some(grouping)
}

#[cfg(test)]
mod tests {
    use job::code::{Part, Program};

    use super::before_step;

    fn changed(text: &str) -> Option<String> {
        let program = Program::parse("a.py", &format!("import x\n{text}"));
        let place = program.find(Part::Filter, &["k".to_owned()], None)?;
        let changed = before_step(&program, &place)?.apply(&program.text)?;
        Some(changed.trim_start_matches("import x\n").to_owned())
    }

    #[test]
    fn a_filter_moves_before_the_step_that_does_not_need_it() {
        for (before, after) in [
            (
                "r = d.groupBy(\"k\").applyInPandas(f, \"k int, v int\").where(F.col(\"k\") > 3)\n",
                "r = d.where(F.col(\"k\") > 3).groupBy(\"k\").applyInPandas(f, \"k int, v int\")\n",
            ),
            (
                "a = d.mapInPandas(f, schema=s)\nr = a.filter(\"k > 3\").count()\n",
                "a = d.filter(\"k > 3\").mapInPandas(f, schema=s)\nr = a.count()\n",
            ),
            (
                "r = (d.dropDuplicates([\"k\"])\n     .where(F.col(\"k\") > 3))\n",
                "r = (d.where(F.col(\"k\") > 3).dropDuplicates([\"k\"])\n     )\n",
            ),
        ] {
            assert_eq!(changed(before).as_deref(), Some(after));
        }
    }

    #[test]
    fn other_filters_stay() {
        for text in [
            "r = d.select(\"k\").where(F.col(\"k\") > 3)\n",
            // the rows are used elsewhere too
            "a = d.mapInPandas(f, s)\nr = a.where(F.col(\"k\") > 3)\na.show()\n",
        ] {
            assert_eq!(changed(text), None, "{text}");
        }
    }
}
