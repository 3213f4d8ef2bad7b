//! Building blocks of templates: tables, filters, statements.

use super::*;

impl Builder {
    pub(super) fn rows(&mut self, low: f64, high: f64) -> f64 {
        let factor = match self.scale {
            Scale::Small => 0.2,
            Scale::Usual => 1.0,
            Scale::Huge => 72.0,
        };
        (self.rng.range(low, high) * factor).round()
    }

    pub(super) fn node(&mut self, name: &str, op: Op) -> NodeId {
        self.spec.nodes.push(Node {
            name: name.to_owned(),
            op,
            hints: Vec::new(),
            comment: None,
        });
        self.spec.nodes.len() - 1
    }

    pub(super) fn stored(&self) -> TableKind {
        if self.spec.dialect == Dialect::Scope {
            TableKind::SStream
        } else {
            TableKind::Catalog
        }
    }

    /// Key column: usually many values of about equal frequency.
    pub(super) fn key_column(&mut self, rows: f64) -> Column {
        let text = self.domain.entity.ends_with("Key");
        let ty = if text { Ty::Text } else { Ty::Long };
        let per_key = self.rng.range(6.0, 30.0);
        // A small job keeps a dimension that is too large to broadcast.
        let per_key = if self.scale == Scale::Small {
            per_key / 8.0
        } else {
            per_key
        };
        let distinct = (rows / per_key.max(1.2)).round();
        let mut c = Column::new(self.domain.entity, ty, 18.0, distinct);
        c.nullable = !text;
        // A mild head, as every real key has one: far below a partition's share.
        let first = self.rng.range(0.0004, 0.0015);
        let labels: Vec<String> = (0..6).map(|_| self.key_value(ty)).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        c.with_head(&labels, first, 0.8)
    }

    /// A plausible value of a key.
    pub(super) fn key_value(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Text => format!("{:08x}-{}", self.rng.next() >> 32, self.rng.whole(10, 99)),
            _ => self.rng.whole(1_000_000_000, 9_999_999_999).to_string(),
        }
    }

    pub(super) fn events(&mut self, name: &str, rows: f64) -> Table {
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

    pub(super) fn table(&mut self, name: &str, rows: f64, columns: Vec<Column>) -> Table {
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

    pub(super) fn add_table(&mut self, table: Table) -> usize {
        self.spec.tables.push(table);
        self.spec.tables.len() - 1
    }

    pub(super) fn read(&mut self, rowset: &str, table: Table) -> NodeId {
        let table = self.add_table(table);
        self.node(rowset, Op::Read { table })
    }

    pub(super) fn native_filter(&mut self) -> Filter {
        let flag = self.domain.flag;
        let keeps = self.rng.range(0.78, 0.95);
        let believed = keeps * self.rng.range(0.92, 1.08);
        Filter {
            text: format!("{flag} != {}", self.rng.whole(3, 5)),
            uses: vec![flag.to_owned()],
            keeps,
            believed: believed.min(1.0),
            managed: false,
            ..Filter::default()
        }
    }

    /// A selective condition in C#, which the optimizer does not move across an exchange.
    pub(super) fn selective_filter(&mut self) -> Filter {
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
            managed: true,
            ..Filter::default()
        }
    }

    pub(super) fn clean(&mut self, input: NodeId, names: &[&str], filters: Vec<Filter>) -> NodeId {
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

    pub(super) fn pass(&mut self, name: &str, input: NodeId, names: &[&str]) -> NodeId {
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

    pub(super) fn group(
        &mut self,
        name: &str,
        input: NodeId,
        keys: &[&str],
        measure: &str,
    ) -> NodeId {
        let keys = keys.iter().map(|k| (*k).to_owned()).collect();
        let aggs = vec![
            ("COUNT", String::new(), "RowsSeen".to_owned()),
            ("SUM", measure.to_owned(), format!("Total{measure}")),
        ];
        self.node(name, Op::Group { input, keys, aggs })
    }

    pub(super) fn output(&mut self, input: NodeId, file: &str, clustered: Option<&str>) -> NodeId {
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

    pub(super) fn udo(&mut self, class: &str, reads: &[&str], cpu: f64) -> Udo {
        Udo {
            class: class.to_owned(),
            reads: reads.iter().map(|r| (*r).to_owned()).collect(),
            cpu_us: cpu,
            gc: self.rng.range(0.02, 0.05),
            heap: self.rng.range(1.2e8, 3.5e8),
            scary: false,
            busy: false,
            hoards: false,
            churns: false,
            splits: false,
        }
    }

    pub(super) fn dimension(&mut self, rows: f64) -> Table {
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

    pub(super) fn session_columns(&mut self) -> Vec<Column> {
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
}
