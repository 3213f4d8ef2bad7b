//! Script templates: healthy jobs of several forms, with places for injecting a cause.

mod composite;
mod parts;
mod shapes;

use crate::data::{Clustering, Column, Table, TableKind, Ty};
use crate::plan::{Dialect, Env, Expr, Filter, Item, JoinKind, Node, NodeId, Op, Spec, Udo};
use crate::rng::Rng;
use crate::words::{COUNTRIES, DEVICES, DOMAINS, Domain, MARKETS, REALMS};

/// Shape of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Template {
    /// Events joined with a large dimension, then grouped.
    EnrichJoin,
    /// Events reduced to sessions by user code.
    Sessions,
    /// Two large streams stored by the join key.
    Paired,
    /// Rows processed by user code, then grouped.
    Features,
    /// Events joined with a small dimension.
    Star,
    /// Text files of several days.
    DailyFiles,
    /// A join and a group on the same key.
    SameKey,
    /// Distinct counts.
    Distinct,
    /// A small dimension, then a large one.
    Chain,
    /// Two small dimensions.
    Snowflake,
    /// Two streams reduced together.
    Union,
    /// Rows multiplied by user code, then grouped.
    Tokens,
    /// Totals of totals.
    Totals,
    /// Distinct counts of pairs of columns.
    Pairs,
    /// A join; its key gets another name before the next operator on it.
    Renamed,
    /// A join, and groups within its key.
    TwoLevels,
    /// An outer join, and groups by a column of its right side.
    Accounts,
    /// Totals, and a total over all.
    Uniques,
}

/// All templates; the first [`USUAL`] belong to the tuned mechanisms.
pub(crate) const TEMPLATES: [Template; 18] = [
    Template::EnrichJoin,
    Template::Sessions,
    Template::Paired,
    Template::Features,
    Template::Star,
    Template::DailyFiles,
    Template::SameKey,
    Template::Distinct,
    Template::Chain,
    Template::Snowflake,
    Template::Union,
    Template::Tokens,
    Template::Totals,
    Template::Pairs,
    Template::Renamed,
    Template::TwoLevels,
    Template::Accounts,
    Template::Uniques,
];

/// How many of the templates the tuned mechanisms use.
pub(crate) const USUAL: usize = 8;

impl Template {
    /// Whether a dialect can express it: a U-SQL processor emits one row for each that it reads.
    pub(crate) fn fits(self, dialect: Dialect) -> bool {
        dialect == Dialect::Scope || self != Self::Tokens
    }

    /// Name in the truth.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::EnrichJoin => "enrich_join",
            Self::Sessions => "event_sessions",
            Self::Paired => "paired_streams",
            Self::Features => "row_features",
            Self::Star => "small_dimension",
            Self::DailyFiles => "daily_files",
            Self::SameKey => "same_key",
            Self::Distinct => "distinct_counts",
            Self::Chain => "small_then_large_dimension",
            Self::Snowflake => "two_small_dimensions",
            Self::Union => "united_streams",
            Self::Tokens => "words",
            Self::Totals => "totals_of_totals",
            Self::Pairs => "distinct_pairs",
            Self::Renamed => "renamed_key",
            Self::TwoLevels => "two_levels",
            Self::Accounts => "outer_join_accounts",
            Self::Uniques => "total_over_all",
        }
    }
}

/// Places of a job for injecting a cause.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slots {
    /// Table of the events.
    pub(crate) fact: usize,
    /// Key of joins, reducers and groups.
    pub(crate) key: String,
    /// SELECT that cleans the events.
    pub(crate) clean: NodeId,
    /// Join of two large sides.
    pub(crate) join: Option<NodeId>,
    /// Join with a small side.
    pub(crate) small_join: Option<NodeId>,
    /// SELECT on the right side of the join.
    pub(crate) right: Option<NodeId>,
    /// SELECT after the join.
    pub(crate) after_join: Option<NodeId>,
    /// REDUCE or a group that cannot be pre-aggregated.
    pub(crate) by_key: Option<NodeId>,
    /// Second operator on the key, which needs no exchange.
    pub(crate) again: Option<NodeId>,
    /// User code.
    pub(crate) udo: Option<NodeId>,
    /// Output of many rows.
    pub(crate) large_output: Option<NodeId>,
    /// Key of the large output.
    pub(crate) order_key: String,
    /// Table of text files.
    pub(crate) files: Option<(usize, NodeId)>,
    /// Second table stored by the join key.
    pub(crate) second: Option<usize>,
}

/// Size of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Tens of vertices, as in the cases.
    Small,
    /// Hundreds of vertices.
    Usual,
    /// Twenty thousand vertices.
    Huge,
}

pub(crate) struct Builder {
    pub(crate) spec: Spec,
    pub(crate) slots: Slots,
    pub(crate) rng: Rng,
    domain: Domain,
    scale: Scale,
}

/// Builds the healthy job.
pub(crate) fn build(
    template: Template,
    dialect: Dialect,
    scale: Scale,
    seed: u64,
) -> (Spec, Slots) {
    let mut rng = Rng::new(seed ^ 0x7e57);
    let domain = DOMAINS[rng.index(DOMAINS.len())];
    let suffix = rng
        .pick(&["Daily", "Hourly", "Backfill", "V3", "Prod", "Eu"])
        .to_owned();
    let env = environment(&mut rng, scale);
    let spec = Spec {
        seed,
        template: template.name(),
        job_name: format!("{}_{suffix}", domain.job),
        dialect,
        realm: rng.pick(REALMS).to_owned(),
        tables: Vec::new(),
        nodes: Vec::new(),
        env,
        helpers: Vec::new(),
    };
    let mut b = Builder {
        spec,
        slots: Slots {
            key: domain.entity.to_owned(),
            ..Slots::default()
        },
        rng,
        domain,
        scale,
    };
    match template {
        Template::EnrichJoin => b.enrich_join(),
        Template::Sessions => b.sessions(),
        Template::Paired => b.paired(),
        Template::Features => b.features(),
        Template::Star => b.star(),
        Template::DailyFiles => b.daily_files(),
        Template::SameKey => b.same_key(),
        Template::Distinct => b.distinct(),
        Template::Chain => b.chain(),
        Template::Snowflake => b.snowflake(),
        Template::Union => b.union(),
        Template::Tokens => b.tokens(),
        Template::Totals => b.totals(),
        Template::Pairs => b.pairs(),
        Template::Renamed => b.renamed(),
        Template::TwoLevels => b.two_levels(),
        Template::Accounts => b.accounts(),
        Template::Uniques => b.uniques(),
    }
    (b.spec, b.slots)
}

fn environment(rng: &mut Rng, scale: Scale) -> Env {
    let (tokens, split) = match scale {
        Scale::Small => (rng.whole(4, 8) as u32, rng.range(1.1e9, 1.6e9)),
        Scale::Usual => (rng.whole(3, 16) as u32 * 5, rng.range(5e8, 9e8)),
        Scale::Huge => (400, 4e8),
    };
    Env {
        tokens,
        disk_mbs: rng.range(20.0, 50.0),
        net_mbs: rng.range(14.0, 32.0),
        cpu: rng.range(0.85, 1.3),
        start_s: rng.range(0.9, 1.8),
        sort_memory: rng.range(1.4e9, 2.2e9),
        partition_bytes: if scale == Scale::Small {
            rng.range(1.1e8, 1.6e8)
        } else {
            rng.range(2.6e8, 4.4e8)
        },
        split_bytes: split,
        fail_rate: rng.range(0.0, 0.012),
        fails: None,
        memory_low: None,
        slow: None,
        grants: Vec::new(),
        shared_memory: false,
        jitter: rng.range(0.03, 0.07),
        luck: 0,
        queue_s: rng.range(1.0, 25.0),
        broadcast_bytes: if scale == Scale::Small { 4e7 } else { 9.6e7 },
        gather_bytes: if scale == Scale::Small { 1.2e7 } else { 4.8e7 },
        max_partitions: match scale {
            Scale::Small => 24,
            Scale::Usual => 120,
            Scale::Huge => 2000,
        },
    }
}

/// A column computed by a helper, for decoys.
pub(crate) fn helper_item(name: &str, class: &str, uses: &str) -> Item {
    let mut column = Column::new(name, Ty::Text, 12.0, 5000.0);
    column.nullable = false;
    Item {
        name: name.to_owned(),
        expr: Some(Expr {
            text: format!("{class}.Short({uses})"),
            uses: vec![uses.to_owned()],
            column,
            managed: true,
        }),
    }
}
