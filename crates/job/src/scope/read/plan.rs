//! `__ScopeInternalInfo__.xml` / `__SystemInternalInfo__.xml`: the optimizer's trees with its
//! estimates, and the compiler's counters. `__ScopeDiagnosisInfo__.xml`: operator to plan group.

use super::{Input, number};
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
        Token::Open(tag) => walk.open(&tag),
        Token::Close => drop(walk.open.pop()),
        Token::Text(text) => walk.text(&text),
        Token::End => {}
    });
    job.plan = Some(walk.plan);
    job.fault(input.name, fault);
}

/// What an open element is.
#[derive(Clone, Copy)]
enum Open {
    Physical(usize),
    Logical(usize),
    /// Child of the plan's `Costs`: its text is a number.
    Total,
    Other,
}

#[derive(Default)]
struct Walk {
    plan: Plan,
    open: Vec<(Open, String)>,
}

impl Walk {
    fn open(&mut self, tag: &Tag<'_>) {
        let name = tag.name();
        let parent = self.open.last().map(|(_, name)| name.as_str());
        let kind = match name {
            "PhyOp" => Open::Physical(self.node(tag, true)),
            "LogOp" => Open::Logical(self.node(tag, false)),
            "TableGroupProperties" | "Costs" => {
                self.properties(tag);
                Open::Other
            }
            "Counter" => {
                self.counter(tag);
                Open::Other
            }
            _ if parent == Some("Costs") => Open::Total,
            _ => {
                if let Some(times) = tag.get("occurrence").and_then(|v| v.parse().ok()) {
                    self.plan.features.insert(name.to_owned(), times);
                }
                Open::Other
            }
        };
        self.open.push((kind, name.to_owned()));
    }

    fn text(&mut self, text: &str) {
        if let (Some((Open::Total, name)), Some(value)) = (self.open.last(), number(text.trim())) {
            self.plan.totals.insert(name.clone(), value);
        }
    }

    /// Adds a node under the nearest open node of its kind.
    fn node(&mut self, tag: &Tag<'_>, physical: bool) -> usize {
        let id = tag.get("Id").unwrap_or_default();
        let name = id
            .strip_prefix("PhyOp_")
            .or_else(|| id.strip_prefix("LogOp_"));
        let node = PlanNode {
            name: name.unwrap_or(&id).to_owned(),
            element_id: id.clone(),
            attributes: tag
                .attributes()
                .filter(|(name, _)| *name != "Id")
                .map(|(name, value)| (name.to_owned(), value.into_owned()))
                .collect(),
            ..PlanNode::default()
        };
        let parent = self.open.iter().rev().find_map(|(open, _)| match open {
            Open::Physical(at) if physical => Some(*at),
            Open::Logical(at) if !physical => Some(*at),
            _ => None,
        });
        let nodes = if physical {
            &mut self.plan.nodes
        } else {
            &mut self.plan.logical
        };
        let at = nodes.len();
        nodes.push(node);
        match parent {
            Some(parent) => nodes[parent].children.push(at),
            None if physical => self.plan.roots.push(at),
            None => {}
        }
        at
    }

    /// `OpInfo/TableGroupProperties` and `OpInfo/Costs` belong to the node two levels up.
    fn properties(&mut self, tag: &Tag<'_>) {
        let owner = self.open.iter().rev().nth(1).map(|(open, _)| *open);
        let in_info = self.open.last().is_some_and(|(_, name)| name == "OpInfo");
        let node = match owner.filter(|_| in_info) {
            Some(Open::Physical(at)) => &mut self.plan.nodes[at],
            Some(Open::Logical(at)) => &mut self.plan.logical[at],
            _ => return,
        };
        for (name, value) in tag.attributes() {
            match name {
                "Grp" => node.group = Some(value.clone().into_owned()),
                "Card" => node.card = number(&value),
                "AvgRowLength" => node.row_bytes = number(&value),
                "PrtnSkewFactor" => node.skew_factor = number(&value),
                "HTS" => node.hts = Some(value.clone().into_owned()),
                "TotalCosts" => node.cost = number(&value),
                _ => {}
            }
            node.attributes.insert(name.to_owned(), value.into_owned());
        }
    }

    fn counter(&mut self, tag: &Tag<'_>) {
        let value = tag.get("Value").and_then(|v| number(&v));
        if let (Some(name), Some(value)) = (tag.get("Name"), value) {
            let unit = tag.get("Unit").unwrap_or_default();
            self.plan.counters.insert(name, (value, unit));
        }
    }
}

pub(crate) fn read_map(input: &Input<'_>, job: &mut Job) {
    let plan = job.plan.get_or_insert_default();
    let fault = xml::each_tag(input.text, |tag| {
        if tag.name() == "Mapping" {
            let entry = tag.get("OperatorId").zip(tag.get("PhyPlanGroupNo"));
            plan.group_of_operator.extend(entry);
        }
    });
    plan.map_file = Some(input.name.to_owned());
    job.fault(input.name, fault);
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "<CSSRelatedInfo><OptimizerPlanInfo><Join present='True' occurrence='2'/>\
        <Costs><InputSize>50</InputSize><Latency>-1</Latency></Costs><OptimizerTrees>\
        <InputTree><LogOp Id='LogOp_Get'><OpInfo><TableGroupProperties Grp='5.0' Card='7'/></OpInfo></LogOp></InputTree>\
        <OutputTree><PhyOp Id='PhyOp_MergeJoin' LeftKey='A ASC'><OpInfo><TableGroupProperties Grp='6.1' \
        Card='1.04702e+06' AvgRowLength='7' PrtnSkewFactor='1' HTS='137'/><Costs TotalCosts='18.9'/></OpInfo>\
        <AncOp><PhyOp Id='PhyOp_Sort'/></AncOp></PhyOp></OutputTree></OptimizerTrees></OptimizerPlanInfo>\
        <ScopeCounters><Counter Name='Overall' Value='3.5' Unit='second'/></ScopeCounters></CSSRelatedInfo>";

    #[test]
    fn estimates_stand_at_their_nodes() {
        let mut job = Job::default();
        let map = "<M><Mapping OperatorId='Join_5' PhyPlanGroupNo='6.1'/></M>";
        read_map(&Input::new("m.xml", map), &mut job);
        read(&Input::new("p.xml", PLAN), &mut job);
        let plan = job.plan.expect("plan");
        let join = plan
            .by_group(&plan.group_of_operator["Join_5"])
            .expect("join");
        assert_eq!(join.name, "MergeJoin");
        assert_eq!(join.card, Some(1_047_020.0));
        assert_eq!(join.cost, Some(18.9));
        assert_eq!(join.children, [1]);
        assert_eq!(join.attributes["LeftKey"], "A ASC");
        assert_eq!(plan.totals["InputSize"], 50.0);
        assert_eq!(plan.features["Join"], 2);
        assert_eq!(plan.counters["Overall"], (3.5, "second".to_owned()));
        assert_eq!(plan.logical[0].card, Some(7.0));
        assert_eq!(
            plan.source(join, "Card").locator.as_deref(),
            Some("PhyOp_MergeJoin/OpInfo/TableGroupProperties[@Grp=6.1]/@Card")
        );
    }
}
