//! The optimizer's plan.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

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
    #[doc(hidden)]
    pub index: PlanIndex,
}

/// First node of each group and of each hash, built on first use.
#[derive(Debug, Clone, Default)]
pub struct PlanIndex(OnceLock<[HashMap<String, usize>; 2]>);

/// The index follows from the nodes, so all indexes are equal.
impl PartialEq for PlanIndex {
    fn eq(&self, _: &PlanIndex) -> bool {
        true
    }
}

impl Plan {
    /// First physical node of a group (`6.1`).
    pub fn by_group(&self, group: &str) -> Option<&PlanNode> {
        self.nodes.get(*self.index()[0].get(group)?)
    }

    /// First physical node with that signature hash.
    pub fn by_hts(&self, hts: &str) -> Option<&PlanNode> {
        self.nodes.get(*self.index()[1].get(hts)?)
    }

    fn index(&self) -> &[HashMap<String, usize>; 2] {
        self.index.0.get_or_init(|| {
            let mut found: [HashMap<String, usize>; 2] = Default::default();
            for (at, node) in self.nodes.iter().enumerate() {
                for (found, name) in found.iter_mut().zip([&node.group, &node.hts]) {
                    if let Some(name) = name {
                        found.entry(name.clone()).or_insert(at);
                    }
                }
            }
            found
        })
    }
}
