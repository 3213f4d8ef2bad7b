//! The optimizer's plan.

use std::collections::BTreeMap;

use report::Source;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanNode {
    /// Name without `PhyOp_`: `MergeJoin`, `Exchange`.
    pub name: String,
    /// `group.alternative`.
    pub group: Option<String>,
    /// Estimated rows.
    pub card: Option<f64>,
    /// Estimated bytes per row.
    pub row_bytes: Option<f64>,
    /// Largest partition divided by the mean one, as estimated.
    pub skew_factor: Option<f64>,
    /// Name as written (`PhyOp_MergeJoin`), for locators.
    pub element_id: String,
    /// Hash that equals the first number of the operator's signature.
    pub hts: Option<String>,
    /// `TotalCosts@TotalCosts`.
    pub cost: Option<f64>,
    /// Every attribute of the node and of its properties and costs, as written.
    pub attributes: BTreeMap<String, String>,
    /// Indices of the children in [`Plan::nodes`].
    pub children: Vec<usize>,
}

/// The optimizer's plan and the compiler's counters.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    pub file: String,
    /// Physical nodes in pre-order.
    pub nodes: Vec<PlanNode>,
    pub roots: Vec<usize>,
    /// Logical nodes (the plan before optimization) in pre-order; children point into this list.
    pub logical: Vec<PlanNode>,
    /// Features of the query (`Join`, `UDReducer`, …) and how often they occur.
    pub features: BTreeMap<String, u64>,
    /// Operator id to plan group, from `__ScopeDiagnosisInfo__.xml`.
    pub group_of_operator: BTreeMap<String, String>,
    /// `Costs` of the whole plan by name (`ExtractCardinality`, `InputSize`, …).
    pub totals: BTreeMap<String, f64>,
    /// Compiler counters by name: value and unit.
    pub counters: BTreeMap<String, (f64, String)>,
    /// File that maps operators to groups.
    pub map_file: Option<String>,
}

impl Plan {
    /// First physical node of a group (`6.1`).
    pub fn by_group(&self, group: &str) -> Option<&PlanNode> {
        self.nodes
            .iter()
            .find(|n| n.group.as_deref() == Some(group))
    }

    /// First physical node with that signature hash.
    pub fn by_hts(&self, hts: &str) -> Option<&PlanNode> {
        self.nodes.iter().find(|n| n.hts.as_deref() == Some(hts))
    }

    /// Source of an attribute of a node (`Card`, `PrtnSkewFactor`, `Partitions`, …).
    pub fn source(&self, node: &PlanNode, attribute: &str) -> Source {
        const OF_COSTS: [&str; 3] = ["TotalCosts", "BubbleCost", "BubblePartitions"];
        const OF_GROUP: [&str; 7] = [
            "Grp",
            "Remotable",
            "Card",
            "AvgRowLength",
            "PrtnSkewFactor",
            "HT",
            "HTS",
        ];
        let id = &node.element_id;
        let place = match node.group.as_deref() {
            Some(group) if OF_GROUP.contains(&attribute) => {
                format!("{id}/OpInfo/TableGroupProperties[@Grp={group}]/@{attribute}")
            }
            _ if OF_COSTS.contains(&attribute) => format!("{id}/OpInfo/Costs/@{attribute}"),
            _ => format!("{id}/@{attribute}"),
        };
        Source {
            file: self.file.clone(),
            locator: Some(place),
        }
    }
}
