//! The optimizer's plan.

use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanNode {
    /// Name without `PhyOp_`: `MergeJoin`, `Exchange`.
    pub name: String,
    /// `group.alternative`.
    pub group: Option<String>,
    /// Estimated rows.
    pub card: Option<f64>,
    /// Name as written (`PhyOp_MergeJoin`), for locators.
    pub element_id: String,
    /// Hash that equals the first number of the operator's signature.
    pub hts: Option<String>,
    /// Every attribute of the node and of its properties and costs, as written.
    pub attributes: BTreeMap<String, String>,
    /// Indices of the children in [`Plan::nodes`].
    pub children: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    pub file: String,
    /// Physical nodes in pre-order.
    pub nodes: Vec<PlanNode>,
    /// Operator id to plan group, from `__ScopeDiagnosisInfo__.xml`.
    pub group_of_operator: BTreeMap<String, String>,
    /// File that maps operators to groups.
    pub map_file: Option<String>,
}

impl Plan {
    /// First physical node of a group (`6.1`).
    pub fn by_group(&self, group: &str) -> Option<&PlanNode> {
        let mut nodes = self.nodes.iter();
        nodes.find(|n| n.group.as_deref() == Some(group))
    }

    /// First physical node with that signature hash.
    pub fn by_hts(&self, hts: &str) -> Option<&PlanNode> {
        self.nodes.iter().find(|n| n.hts.as_deref() == Some(hts))
    }
}
