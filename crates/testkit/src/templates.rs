//! Script templates: healthy jobs of several shapes, with the places where a cause can be put in.

use crate::data::{Clustering, Column, Table, TableKind, Ty};
use crate::plan::{Dialect, Env, Expr, Filter, Item, JoinKind, Node, NodeId, Op, Spec, Udo};
use crate::rng::Rng;
use crate::words::{COUNTRIES, DEVICES, DOMAINS, Domain, MARKETS, REALMS};

/// Shape of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Template {
    /// Events joined with a large dimension, then grouped.
    EnrichJoin,
    /// Events reduced to sessions by user code.
    Sessions,
    /// Two large streams that are stored on the join key.
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
}

/// All templates.
pub const TEMPLATES: [Template; 8] = [
    Template::EnrichJoin,
    Template::Sessions,
    Template::Paired,
    Template::Features,
    Template::Star,
    Template::DailyFiles,
    Template::SameKey,
    Template::Distinct,
];

impl Template {
    /// Name in the truth.
    pub fn name(self) -> &'static str {
        match self {
            Self::EnrichJoin => "enrich_join",
            Self::Sessions => "event_sessions",
            Self::Paired => "paired_streams",
            Self::Features => "row_features",
            Self::Star => "small_dimension",
            Self::DailyFiles => "daily_files",
            Self::SameKey => "same_key",
            Self::Distinct => "distinct_counts",
        }
    }
}

/// Places of a job where a cause can be put in.
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
    /// Second table that is stored on the join key.
    pub(crate) second: Option<usize>,
}

/// Size of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Tens of vertices: cases that are kept with the project.
    Small,
    /// Some hundred vertices.
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
        jitter: rng.range(0.03, 0.07),
        queue_s: rng.range(1.0, 25.0),
        broadcast_bytes: if scale == Scale::Small { 1.2e7 } else { 9.6e7 },
        gather_bytes: if scale == Scale::Small { 1.2e7 } else { 4.8e7 },
        max_partitions: match scale {
            Scale::Small => 24,
            Scale::Usual => 120,
            Scale::Huge => 2000,
        },
    }
}

impl Builder {
    fn rows(&mut self, low: f64, high: f64) -> f64 {
        let factor = match self.scale {
            Scale::Small => 0.2,
            Scale::Usual => 1.0,
            Scale::Huge => 72.0,
        };
        (self.rng.range(low, high) * factor).round()
    }

    fn node(&mut self, name: &str, op: Op) -> NodeId {
        self.spec.nodes.push(Node {
            name: name.to_owned(),
            op,
            hints: Vec::new(),
            comment: None,
        });
        self.spec.nodes.len() - 1
    }

    fn stored(&self) -> TableKind {
        if self.spec.dialect == Dialect::Scope {
            TableKind::SStream
        } else {
            TableKind::Catalog
        }
    }

    /// Key column: mostly many values that are about equally frequent.
    fn key_column(&mut self, rows: f64) -> Column {
        let text = self.domain.entity.ends_with("Key");
        let ty = if text { Ty::Text } else { Ty::Long };
        let distinct = (rows / self.rng.range(6.0, 30.0)).round();
        let mut c = Column::new(self.domain.entity, ty, 18.0, distinct);
        c.nullable = !text;
        // A mild head, as every real key has one: far below a partition's share.
        let first = self.rng.range(0.0004, 0.0015);
        let labels: Vec<String> = (0..6).map(|_| self.key_value(ty)).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        c.with_head(&labels, first, 0.8)
    }

    /// A plausible value of a key.
    pub(crate) fn key_value(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Text => format!("{:08x}-{}", self.rng.next() >> 32, self.rng.whole(10, 99)),
            _ => self.rng.whole(1_000_000_000, 9_999_999_999).to_string(),
        }
    }

    fn events(&mut self, name: &str, rows: f64) -> Table {
        let d = self.domain;
        let key = self.key_column(rows);
        let mut columns = vec![
            Column::new("RecordId", Ty::Guid, 16.0, rows),
            key,
            Column::new("EventTime", Ty::Date, 8.0, 86_400.0),
            Column::new(d.attributes[0], Ty::Text, 7.0, 30.0).with_head(COUNTRIES, 0.24, 0.75),
            Column::new(d.attributes[1], Ty::Text, 9.0, 12.0).with_head(DEVICES, 0.45, 0.5),
            Column::new(d.attributes[2], Ty::Text, 6.0, 40.0).with_head(MARKETS, 0.3, 0.7),
            Column::new(d.measure, Ty::Int, 4.0, 20_000.0),
            Column::new(d.flag, Ty::Int, 4.0, 6.0).with_head(&["0", "1", "2"], 0.7, 0.3),
            Column::new(d.small_key, Ty::Long, 8.0, 900.0),
        ];
        for wide in d.wide {
            let width = self.rng.range(70.0, 160.0).round();
            let distinct = (rows * 0.6).round();
            columns.push(Column::new(wide, Ty::Text, width, distinct));
        }
        self.table(name, rows, columns)
    }

    fn table(&mut self, name: &str, rows: f64, columns: Vec<Column>) -> Table {
        let kind = self.stored();
        Table {
            name: name.to_owned(),
            path: format!("/shares/{}/{name}.ss", self.spec.realm),
            kind,
            rows,
            columns,
            clustering: Clustering::none(),
            files: 1,
            gzip: false,
            believed: self.rng.range(0.92, 1.06),
            previous: None,
        }
    }

    fn add_table(&mut self, table: Table) -> usize {
        self.spec.tables.push(table);
        self.spec.tables.len() - 1
    }

    fn read(&mut self, rowset: &str, table: Table) -> NodeId {
        let table = self.add_table(table);
        self.node(rowset, Op::Read { table })
    }

    fn native_filter(&mut self) -> Filter {
        let flag = self.domain.flag;
        let keeps = self.rng.range(0.78, 0.95);
        let believed = keeps * self.rng.range(0.92, 1.08);
        Filter {
            text: format!("{flag} != {}", self.rng.whole(3, 5)),
            uses: vec![flag.to_owned()],
            keeps,
            believed: believed.min(1.0),
            drops_hot: None,
            managed: false,
        }
    }

    /// A selective condition in C#, which the optimiser does not move over an exchange.
    fn selective_filter(&mut self) -> Filter {
        let class = "RowRules";
        let method = self.rng.pick(&["IsWanted", "Accept", "IsUseful"]);
        let measure = self.domain.measure;
        let keeps = self.rng.range(0.16, 0.3);
        self.spec
            .helpers
            .push((class.to_owned(), method.to_owned(), Ty::Int, Ty::Int));
        Filter {
            text: format!("{class}.{method}({measure})"),
            uses: vec![measure.to_owned()],
            keeps,
            believed: keeps * self.rng.range(0.9, 1.1),
            drops_hot: None,
            managed: true,
        }
    }

    fn clean(&mut self, input: NodeId, names: &[&str], filters: Vec<Filter>) -> NodeId {
        let items = names
            .iter()
            .map(|n| Item {
                name: (*n).to_owned(),
                expr: None,
            })
            .collect();
        let name = self
            .rng
            .pick(&["Clean", "Valid", "Usable", "Kept"])
            .to_owned()
            + "Rows";
        let id = self.node(
            &name,
            Op::Select {
                input,
                items,
                filters,
            },
        );
        self.slots.clean = id;
        id
    }

    fn pass(&mut self, name: &str, input: NodeId, names: &[&str]) -> NodeId {
        let items = names
            .iter()
            .map(|n| Item {
                name: (*n).to_owned(),
                expr: None,
            })
            .collect();
        self.node(
            name,
            Op::Select {
                input,
                items,
                filters: Vec::new(),
            },
        )
    }

    fn group(&mut self, name: &str, input: NodeId, keys: &[&str], measure: &str) -> NodeId {
        let keys = keys.iter().map(|k| (*k).to_owned()).collect();
        let aggs = vec![
            ("COUNT", String::new(), "RowsSeen".to_owned()),
            ("SUM", measure.to_owned(), format!("Total{measure}")),
        ];
        self.node(name, Op::Group { input, keys, aggs })
    }

    fn output(&mut self, input: NodeId, file: &str, clustered: Option<&str>) -> NodeId {
        let scope = self.spec.dialect == Dialect::Scope;
        let file = match (scope, clustered) {
            (true, Some(_)) => format!("{file}.ss"),
            (true, None) if self.rng.chance(0.6) => format!("{file}.ss"),
            _ => format!("{file}.tsv"),
        };
        let clustered = if file.ends_with(".ss") {
            clustered.map(str::to_owned)
        } else {
            None
        };
        self.node(
            "",
            Op::Output {
                input,
                file,
                clustered,
                order: None,
            },
        )
    }

    fn udo(&mut self, class: &str, reads: &[&str], cpu: f64) -> Udo {
        Udo {
            class: class.to_owned(),
            reads: reads.iter().map(|r| (*r).to_owned()).collect(),
            cpu_us: cpu,
            gc: self.rng.range(0.02, 0.05),
            heap: self.rng.range(1.2e8, 3.5e8),
            scary: false,
            busy: false,
            hoards: false,
        }
    }

    fn dimension(&mut self, rows: f64) -> Table {
        let d = self.domain;
        let text = d.entity.ends_with("Key");
        let key = Column::new(d.entity, if text { Ty::Text } else { Ty::Long }, 18.0, rows);
        let columns = vec![
            key,
            Column::new("HomeCountry", Ty::Text, 4.0, 30.0).with_head(COUNTRIES, 0.22, 0.8),
            Column::new("Segment", Ty::Text, 10.0, 60.0),
            Column::new("CreatedOn", Ty::Date, 8.0, 4000.0),
            Column::new("Profile", Ty::Text, 70.0, rows),
        ];
        self.table(d.dimension, rows, columns)
    }

    fn enrich_join(&mut self) {
        let d = self.domain;
        let rows = self.rows(2.2e8, 4.5e8);
        let events = self.events(d.events, rows);
        let distinct = events.column(d.entity).map_or(1e7, |c| c.distinct);
        let read = self.read("Events", events);
        let filters = vec![self.native_filter(), self.selective_filter()];
        let extra = self.rng.chance(0.5).then_some("EventTime");
        let mut names = vec![
            d.entity,
            d.attributes[0],
            d.attributes[1],
            d.measure,
            d.flag,
        ];
        names.extend(extra);
        let clean = self.clean(read, &names, filters);
        let dimension = self.dimension((distinct * 1.2).round());
        let dim = self.read("AllMembers", dimension);
        let right = self.pass("Members", dim, &[d.entity, "HomeCountry", "Segment"]);
        let kind = if self.rng.chance(0.5) {
            JoinKind::Inner
        } else {
            JoinKind::LeftOuter
        };
        let mut items: Vec<(bool, String)> =
            [d.entity, d.attributes[0], d.attributes[1], d.measure]
                .iter()
                .map(|n| (false, (*n).to_owned()))
                .collect();
        items.extend([
            (true, "HomeCountry".to_owned()),
            (true, "Segment".to_owned()),
        ]);
        let join = self.node(
            "Enriched",
            Op::Join {
                left: clean,
                right,
                keys: (d.entity.into(), d.entity.into()),
                kind,
                items,
                fan_out: 1.0,
            },
        );
        let after = self.pass(
            "Relevant",
            join,
            &[
                d.attributes[0],
                d.attributes[1],
                d.measure,
                "HomeCountry",
                "Segment",
            ],
        );
        let stats = self.group(
            "Stats",
            after,
            &["HomeCountry", "Segment", d.attributes[0]],
            d.measure,
        );
        self.output(stats, "Stats", Some("HomeCountry"));
        self.slots.join = Some(join);
        self.slots.right = Some(right);
        self.slots.after_join = Some(after);
    }

    fn sessions(&mut self) {
        let d = self.domain;
        let rows = self.rows(2.0e8, 4.2e8);
        let events = self.events(d.events, rows);
        let read = self.read("Raw", events);
        let filters = vec![self.native_filter()];
        let clean = self.clean(
            read,
            &[
                d.entity,
                "EventTime",
                d.attributes[0],
                d.attributes[1],
                d.measure,
            ],
            filters,
        );
        let produce = self.session_columns();
        let cpu = self.rng.range(0.9, 1.6);
        let udo = self.udo(
            &format!("{}Folder", d.job),
            &[d.entity, "EventTime", d.attributes[0], d.measure],
            cpu,
        );
        let ratio = self.rng.range(0.1, 0.2);
        let reduce = self.node(
            "Folded",
            Op::Reduce {
                input: clean,
                key: d.entity.into(),
                presort: "EventTime".into(),
                produce,
                ratio,
                udo,
            },
        );
        let stats = self.group("ByAttribute", reduce, &[d.attributes[0]], "Steps");
        let large = self.output(reduce, "Folded", Some(d.entity));
        self.output(stats, "ByAttribute", None);
        self.slots.by_key = Some(reduce);
        self.slots.udo = Some(reduce);
        self.slots.large_output = Some(large);
        self.slots.order_key = "Steps".to_owned();
    }

    fn session_columns(&mut self) -> Vec<Column> {
        let d = self.domain;
        let key = if d.entity.ends_with("Key") {
            Ty::Text
        } else {
            Ty::Long
        };
        vec![
            Column::new(d.entity, key, 18.0, 1e7),
            Column::new("FirstSeen", Ty::Date, 8.0, 86_400.0),
            Column::new("Steps", Ty::Int, 4.0, 900.0),
            Column::new(d.attributes[0], Ty::Text, 7.0, 30.0),
            Column::new("Score", Ty::Double, 8.0, 1e6),
        ]
    }

    fn paired(&mut self) {
        let d = self.domain;
        let rows = self.rows(2.4e8, 4.4e8);
        let mut events = self.events(d.events, rows);
        let parts = ((events.bytes() / self.spec.env.split_bytes).ceil() as u32).max(4);
        events.clustering = Clustering::hash(d.entity, parts);
        let distinct = events.column(d.entity).map_or(1e7, |c| c.distinct);
        let read = self.read("Left", events);
        let filters = vec![self.native_filter()];
        let clean = self.clean(
            read,
            &[d.entity, d.attributes[0], d.attributes[2], d.measure],
            filters,
        );
        let mut second = self.dimension(distinct.round());
        second.name = d.second.to_owned();
        second.path = format!("/shares/{}/{}.ss", self.spec.realm, d.second);
        second.clustering = Clustering::hash(d.entity, parts);
        let other = self.read("Right", second);
        let right = self.pass("RightCols", other, &[d.entity, "Segment", "HomeCountry"]);
        let items = vec![
            (false, d.attributes[0].to_owned()),
            (false, d.attributes[2].to_owned()),
            (false, d.measure.to_owned()),
            (true, "Segment".to_owned()),
            (true, "HomeCountry".to_owned()),
        ];
        let join = self.node(
            "Matched",
            Op::Join {
                left: clean,
                right,
                keys: (d.entity.into(), d.entity.into()),
                kind: JoinKind::Inner,
                items,
                fan_out: 1.0,
            },
        );
        let after = self.pass(
            "MatchedCols",
            join,
            &[
                d.attributes[0],
                d.attributes[2],
                d.measure,
                "Segment",
                "HomeCountry",
            ],
        );
        let stats = self.group(
            "PairStats",
            after,
            &[d.attributes[0], d.attributes[2], "Segment"],
            d.measure,
        );
        self.output(stats, "PairStats", Some("Segment"));
        self.slots.join = Some(join);
        self.slots.right = Some(right);
        self.slots.after_join = Some(after);
        self.slots.second = Some(1);
    }

    fn features(&mut self) {
        let d = self.domain;
        let rows = self.rows(1.2e8, 2.4e8);
        let events = self.events(d.events, rows);
        let read = self.read("Rows", events);
        let filters = vec![self.native_filter()];
        let clean = self.clean(
            read,
            &[d.entity, d.attributes[0], d.measure, d.wide[0]],
            filters,
        );
        let key = if d.entity.ends_with("Key") {
            Ty::Text
        } else {
            Ty::Long
        };
        let produce = vec![
            Column::new(d.entity, key, 18.0, (rows / 12.0).round()),
            Column::new(d.attributes[0], Ty::Text, 7.0, 30.0),
            Column::new("TextLen", Ty::Int, 4.0, 2000.0),
            Column::new("Score", Ty::Double, 8.0, 1e6),
        ];
        let cpu = self.rng.range(1.0, 2.2);
        let udo = self.udo(
            &format!("{}Scorer", d.job),
            &[d.entity, d.attributes[0], d.measure, d.wide[0]],
            cpu,
        );
        let process = self.node(
            "Scored",
            Op::Process {
                input: clean,
                produce,
                udo,
            },
        );
        let stats = self.group("PerEntity", process, &[d.entity], "TextLen");
        let large = self.output(stats, "PerEntity", Some(d.entity));
        self.slots.udo = Some(process);
        self.slots.large_output = Some(large);
        self.slots.order_key = "RowsSeen".to_owned();
    }

    fn star(&mut self) {
        let d = self.domain;
        let rows = self.rows(2.0e8, 4.0e8);
        let mut events = self.events(d.events, rows);
        let small_rows = self.rng.whole(600, 40_000) as f64;
        if let Some(c) = events.column_mut(d.small_key) {
            c.distinct = small_rows;
        }
        let read = self.read("Facts", events);
        let filters = vec![self.native_filter()];
        let clean = self.clean(
            read,
            &[
                d.entity,
                d.small_key,
                d.attributes[0],
                d.attributes[1],
                d.measure,
            ],
            filters,
        );
        let columns = vec![
            Column::new(d.small_key, Ty::Long, 8.0, small_rows),
            Column::new("Title", Ty::Text, 20.0, small_rows),
            Column::new("Family", Ty::Text, 9.0, 40.0),
            Column::new("Notes", Ty::Text, 60.0, small_rows),
        ];
        let table = self.table(d.small, small_rows, columns);
        let small = self.read("AllSmall", table);
        let right = self.pass("Small", small, &[d.small_key, "Title", "Family"]);
        let items = vec![
            (false, d.entity.to_owned()),
            (false, d.attributes[0].to_owned()),
            (false, d.measure.to_owned()),
            (true, "Title".to_owned()),
            (true, "Family".to_owned()),
        ];
        let join = self.node(
            "WithSmall",
            Op::Join {
                left: clean,
                right,
                keys: (d.small_key.into(), d.small_key.into()),
                kind: JoinKind::Inner,
                items,
                fan_out: 1.0,
            },
        );
        let after = self.pass(
            "WithSmallCols",
            join,
            &[d.entity, d.attributes[0], d.measure, "Title", "Family"],
        );
        let stats = self.group("ByFamily", after, &["Family", d.attributes[0]], d.measure);
        self.output(stats, "ByFamily", None);
        let each = self.group("ByEntity", after, &[d.entity], d.measure);
        let large = self.output(each, "ByEntity", Some(d.entity));
        self.slots.small_join = Some(join);
        self.slots.right = Some(right);
        self.slots.large_output = Some(large);
        self.slots.order_key = "RowsSeen".to_owned();
    }

    fn daily_files(&mut self) {
        let d = self.domain;
        let mut branches = Vec::new();
        let days = self.rng.whole(2, 3) as usize;
        for day in 0..days {
            let rows = self.rows(0.7e8, 1.2e8);
            let name = format!("{}_D{}", d.events, day + 1);
            let mut table = self.events(&name, rows);
            table.kind = TableKind::Text;
            table.path = format!("/shares/{}/{name}/part_{{*}}.tsv", self.spec.realm);
            table.files = ((table.bytes() / self.spec.env.split_bytes).ceil() as u32).max(2);
            let node = self.read(&format!("Day{}", day + 1), table);
            branches.push(node);
        }
        self.slots.files = Some((self.rng.index(days), 0));
        if let Some((table, node)) = &mut self.slots.files {
            *node = branches[*table];
        }
        let union = self.node("AllDays", Op::Union { inputs: branches });
        let filters = vec![self.native_filter()];
        let clean = self.clean(
            union,
            &[d.entity, d.attributes[0], d.attributes[1], d.measure],
            filters,
        );
        let each = self.group("PerEntity", clean, &[d.entity], d.measure);
        let large = self.output(each, "PerEntity", Some(d.entity));
        let stats = self.group(
            "PerAttribute",
            clean,
            &[d.attributes[0], d.attributes[1]],
            d.measure,
        );
        self.output(stats, "PerAttribute", None);
        self.slots.large_output = Some(large);
        self.slots.order_key = "RowsSeen".to_owned();
    }

    fn same_key(&mut self) {
        let d = self.domain;
        let rows = self.rows(1.8e8, 3.6e8);
        let events = self.events(d.events, rows);
        let distinct = events.column(d.entity).map_or(1e7, |c| c.distinct);
        let read = self.read("Activity", events);
        let filters = vec![self.native_filter()];
        let clean = self.clean(
            read,
            &[
                d.entity,
                d.attributes[0],
                d.attributes[1],
                "EventTime",
                d.measure,
            ],
            filters,
        );
        let dimension = self.dimension((distinct * 1.1).round());
        let dim = self.read("AllMembers", dimension);
        let right = self.pass("Members", dim, &[d.entity, "HomeCountry", "Segment"]);
        let mut items: Vec<(bool, String)> = [
            d.entity,
            d.attributes[0],
            d.attributes[1],
            "EventTime",
            d.measure,
        ]
        .iter()
        .map(|n| (false, (*n).to_owned()))
        .collect();
        items.push((true, "HomeCountry".to_owned()));
        let join = self.node(
            "Joined",
            Op::Join {
                left: clean,
                right,
                keys: (d.entity.into(), d.entity.into()),
                kind: JoinKind::Inner,
                items,
                fan_out: 1.0,
            },
        );
        let produce = self.session_columns();
        let cpu = self.rng.range(0.5, 0.9);
        let udo = self.udo(
            &format!("{}Path", d.job),
            &[
                d.entity,
                "EventTime",
                d.attributes[0],
                d.measure,
                "HomeCountry",
            ],
            cpu,
        );
        let reduce = self.node(
            "Paths",
            Op::Reduce {
                input: join,
                key: d.entity.into(),
                presort: "EventTime".into(),
                produce,
                ratio: 0.08,
                udo,
            },
        );
        let large = self.output(reduce, "Paths", Some(d.entity));
        self.slots.join = Some(join);
        self.slots.right = Some(right);
        self.slots.again = Some(reduce);
        self.slots.udo = Some(reduce);
        self.slots.large_output = Some(large);
        self.slots.order_key = "Steps".to_owned();
    }

    fn distinct(&mut self) {
        let d = self.domain;
        let rows = self.rows(2.4e8, 4.6e8);
        let mut events = self.events(d.events, rows);
        if let Some(c) = events.column_mut(d.small_key) {
            c.distinct = 60_000.0;
        }
        let read = self.read("Source", events);
        let filters = vec![self.native_filter()];
        let clean = self.clean(
            read,
            &[d.entity, d.small_key, d.attributes[0], d.measure],
            filters,
        );
        let aggs = vec![
            (
                "COUNTD",
                d.entity.to_owned(),
                format!("Distinct{}", d.entity),
            ),
            ("SUM", d.measure.to_owned(), format!("Total{}", d.measure)),
        ];
        let group = self.node(
            "DistinctPerKey",
            Op::Group {
                input: clean,
                keys: vec![d.small_key.into()],
                aggs,
            },
        );
        self.output(group, "DistinctPerKey", Some(d.small_key));
        let stats = self.group("PerAttribute", clean, &[d.attributes[0]], d.measure);
        self.output(stats, "PerAttribute", None);
        self.slots.by_key = Some(group);
        self.slots.key = d.small_key.to_owned();
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
