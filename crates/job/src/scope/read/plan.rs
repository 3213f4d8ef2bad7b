//! `__ScopeInternalInfo__.xml` / `__SystemInternalInfo__.xml`: the physical plan with the optimizer's
//! estimates. `__ScopeDiagnosisInfo__.xml`: operator to plan group.

use super::{Input, number};
use crate::bounds::Quota;
use crate::model::{Job, Plan, PlanNode};
use crate::xml::{self, Tag, Token};

/// Reads the plan; the map of operators, if read before, is kept.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let old = job.plan.take().unwrap_or_default();
    let mut walk = Walk {
        plan: Plan {
            file: input.name.to_owned(),
            group_of_operator: old.group_of_operator,
            map_file: old.map_file,
            ..Plan::default()
        },
        ..Walk::default()
    };
    let fault = xml::walk(input.text, |token| match token {
        Token::Open(tag) => walk.open(&tag, input.name, job),
        Token::Close => drop(walk.open.pop()),
        Token::Text(_) | Token::End => {}
    });
    job.plan = Some(walk.plan);
    job.fault(input.name, fault);
}

/// Attributes kept of one element; real ones have a few dozen.
const MAX_ATTRIBUTES: usize = 1_000;

#[derive(Default)]
struct Walk {
    plan: Plan,
    /// Node index of each open element, if it is a node.
    open: Vec<Option<usize>>,
}

impl Walk {
    fn open(&mut self, tag: &Tag<'_>, file: &str, job: &mut Job) {
        let mut fits = |kind| {
            let attributes = tag.attributes().take(MAX_ATTRIBUTES).count();
            job.keeps(kind, 1, file) && job.keeps(Quota::Values, attributes, file)
        };
        let node = match tag.name() {
            "PhyOp" if fits(Quota::PlanNodes) => Some(self.node(tag)),
            "TableGroupProperties" | "Costs" if fits(Quota::Values) => {
                self.properties(tag);
                None
            }
            _ => None,
        };
        self.open.push(node);
    }

    /// Adds a node under the nearest open one.
    fn node(&mut self, tag: &Tag<'_>) -> usize {
        let id = tag.get("Id").unwrap_or_default();
        let at = self.plan.nodes.len();
        let attributes = tag.attributes().take(MAX_ATTRIBUTES);
        let attributes = attributes.filter(|(name, _)| *name != "Id");
        let owned = attributes.map(|(name, value)| (name.to_owned(), value.into_owned()));
        self.plan.nodes.push(PlanNode {
            name: id.strip_prefix("PhyOp_").unwrap_or(&id).to_owned(),
            attributes: owned.collect(),
            element_id: id,
            ..PlanNode::default()
        });
        if let Some(parent) = self.open.iter().rev().find_map(|node| *node) {
            self.plan.nodes[parent].children.push(at);
        }
        at
    }

    /// `OpInfo/TableGroupProperties` and `OpInfo/Costs` belong to the node two levels up.
    fn properties(&mut self, tag: &Tag<'_>) {
        let Some(Some(owner)) = self.open.iter().rev().nth(1) else {
            return;
        };
        let node = &mut self.plan.nodes[*owner];
        for (name, value) in tag.attributes().take(MAX_ATTRIBUTES) {
            match name {
                "Grp" => node.group = Some(value.clone().into_owned()),
                "Card" => node.card = number(&value),
                "HTS" => node.hts = Some(value.clone().into_owned()),
                _ => {}
            }
            node.attributes.insert(name.to_owned(), value.into_owned());
        }
    }
}

pub(crate) fn read_map(input: &Input<'_>, job: &mut Job) {
    let mut plan = job.plan.take().unwrap_or_default();
    let fault = xml::each_tag(input.text, |tag| {
        if tag.name() == "Mapping" && job.keeps(Quota::Values, 1, input.name) {
            let entry = tag.get("OperatorId").zip(tag.get("PhyPlanGroupNo"));
            plan.group_of_operator.extend(entry);
        }
    });
    plan.map_file = Some(input.name.to_owned());
    job.plan = Some(plan);
    job.fault(input.name, fault);
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "<CSSRelatedInfo><OptimizerPlanInfo><OptimizerTrees>\
        <InputTree><LogOp Id='LogOp_Get'><OpInfo><TableGroupProperties Grp='6.1' Card='7'/></OpInfo></LogOp></InputTree>\
        <OutputTree><PhyOp Id='PhyOp_MergeJoin' LeftKey='A ASC'><OpInfo><TableGroupProperties Grp='6.1' \
        Card='1.04702e+06' PrtnSkewFactor='1' HTS='137'/><Costs TotalCosts='18.9'/></OpInfo>\
        <AncOp><PhyOp Id='PhyOp_Sort'/></AncOp></PhyOp></OutputTree></OptimizerTrees></OptimizerPlanInfo></CSSRelatedInfo>";

    #[test]
    fn estimates_stand_at_their_nodes() {
        let mut job = Job::default();
        let map = "<M><Mapping OperatorId='Join_5' PhyPlanGroupNo='6.1'/></M>";
        read_map(&Input::new("m.xml", map), &mut job);
        read(&Input::new("p.xml", PLAN), &mut job);
        let plan = job.plan.expect("plan");
        let group = &plan.group_of_operator["Join_5"];
        let join = plan.by_group(group).expect("join");
        assert_eq!(join.name, "MergeJoin");
        assert_eq!(join.card, Some(1_047_020.0));
        assert_eq!((plan.nodes.len(), &*join.children), (2, &[1][..]));
        assert_eq!(join.attributes["LeftKey"], "A ASC");
    }
}
