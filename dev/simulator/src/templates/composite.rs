//! Shapes that only held-out mechanisms use: several joins, unions, renamed keys, several levels of grouping.

use super::*;

impl Builder {
    /// Events of this job, cleaned by the usual condition and `more`; returns the SELECT and the rows of the events.
    fn cleaned(&mut self, names: &[&str], rows: (f64, f64), more: Vec<Filter>) -> (NodeId, f64) {
        let rows = self.rows(rows.0, rows.1);
        let events = self.events(self.domain.events, rows);
        let read = self.read("Source", events);
        let filters = std::iter::once(self.native_filter()).chain(more).collect();
        (self.clean(read, names, filters), rows)
    }

    /// Joins a rowset with another one and emits columns of both sides.
    fn join_with(
        &mut self,
        name: &str,
        sides: (NodeId, NodeId),
        key: &str,
        kind: JoinKind,
        columns: (&[&str], &[&str]),
    ) -> NodeId {
        let side = |right: bool| move |n: &&str| (right, (*n).to_owned());
        let left = columns.0.iter().map(side(false));
        let items = left.chain(columns.1.iter().map(side(true))).collect();
        let op = Op::Join {
            left: sides.0,
            right: sides.1,
            keys: (key.into(), key.into()),
            kind,
            items,
            fan_out: 1.0,
            matched: 1.0,
        };
        self.node(name, op)
    }

    /// A table with few rows, and the SELECT that reads it.
    fn small_table(&mut self, table: &str, key: Column, column: &str) -> NodeId {
        let rows = key.distinct;
        let name = key.name.clone();
        let columns = vec![
            key,
            Column::new(column, Ty::Text, 18.0, rows),
            Column::new("Notes", Ty::Text, 60.0, rows),
        ];
        let table = self.table(table, rows, columns);
        let read = self.read(&format!("All{column}"), table);
        self.pass(&format!("Some{column}"), read, &[&name, column])
    }

    /// The large dimension of the entity, and the SELECT that reads it.
    fn members(&mut self, rows: f64, names: &[&str]) -> NodeId {
        let table = self.dimension(rows.round());
        let read = self.read("AllMembers", table);
        self.pass("Members", read, names)
    }

    fn entities(&self) -> f64 {
        let events = &self.spec.tables[self.slots.fact];
        events
            .column(self.domain.entity)
            .map_or(1e7, |c| c.distinct)
    }

    /// A small dimension, then a large one on another key.
    pub(super) fn chain(&mut self) {
        let d = self.domain;
        let selective = self.selective_filter();
        let names = [
            d.entity,
            d.small_key,
            d.attributes[0],
            d.measure,
            "EventTime",
        ];
        let (clean, _) = self.cleaned(&names, (1.8e8, 3.6e8), vec![selective]);
        let small_rows = self.rng.whole(2_000, 400_000) as f64;
        self.small_key(small_rows);
        let right = self.small_table(
            d.small,
            Column::new(d.small_key, Ty::Long, 8.0, small_rows),
            "Title",
        );
        let kept = [d.entity, d.attributes[0], d.measure];
        let small = self.join_with(
            "WithTitle",
            (clean, right),
            d.small_key,
            JoinKind::Inner,
            (&kept, &["Title"]),
        );
        let members = self.members(self.entities() * 1.1, &[d.entity, "HomeCountry", "Segment"]);
        let join = self.join_with(
            "WithMember",
            (small, members),
            d.entity,
            JoinKind::Inner,
            (
                &[d.attributes[0], d.measure, "Title"],
                &["HomeCountry", "Segment"],
            ),
        );
        let after = self.pass(
            "Relevant",
            join,
            &[d.attributes[0], d.measure, "HomeCountry", "Segment"],
        );
        let stats = self.group(
            "Stats",
            after,
            &["HomeCountry", "Segment", d.attributes[0]],
            d.measure,
        );
        self.output(stats, "Stats", Some("HomeCountry"));
        self.slots.small_join = Some(small);
        self.slots.join = Some(join);
        self.slots.right = Some(right);
        self.slots.after_join = Some(after);
    }

    /// Two small dimensions on different keys.
    pub(super) fn snowflake(&mut self) {
        let d = self.domain;
        let names = [
            d.entity,
            d.small_key,
            d.attributes[2],
            d.attributes[1],
            d.measure,
        ];
        let (clean, _) = self.cleaned(&names, (2.0e8, 4.0e8), Vec::new());
        let small_rows = self.rng.whole(5_000, 500_000) as f64;
        self.small_key(small_rows);
        let right = self.small_table(
            d.small,
            Column::new(d.small_key, Ty::Long, 8.0, small_rows),
            "Title",
        );
        let first = self.join_with(
            "WithTitle",
            (clean, right),
            d.small_key,
            JoinKind::Inner,
            (
                &[d.entity, d.attributes[2], d.attributes[1], d.measure],
                &["Title"],
            ),
        );
        let key = Column::new(d.attributes[2], Ty::Text, 6.0, 40.0).with_head(MARKETS, 0.025, 1.0);
        let other = self.small_table("MarketNames", key, "Zone");
        let second = self.join_with(
            "WithZone",
            (first, other),
            d.attributes[2],
            JoinKind::Inner,
            (&[d.entity, d.attributes[1], d.measure, "Title"], &["Zone"]),
        );
        let each = self.group("ByEntity", second, &[d.entity], d.measure);
        let large = self.output(each, "ByEntity", Some(d.entity));
        let stats = self.group("ByZone", second, &["Zone", d.attributes[1]], d.measure);
        self.output(stats, "ByZone", None);
        self.slots.small_join = Some(first);
        self.slots.right = Some(right);
        self.slots.large_output = Some(large);
        self.slots.order_key = "RowsSeen".to_owned();
    }

    fn small_key(&mut self, distinct: f64) {
        let key = self.domain.small_key;
        if let Some(c) = self.spec.tables[self.slots.fact].column_mut(key) {
            c.distinct = distinct;
        }
    }

    /// Two streams of events, reduced together.
    pub(super) fn union(&mut self) {
        let d = self.domain;
        let names = [d.entity, "EventTime", d.attributes[0], d.measure];
        let mut branches = Vec::new();
        for side in ["Web", "App"] {
            let rows = self.rows(1.0e8, 2.0e8);
            let events = self.events(&format!("{side}{}", d.events), rows);
            let read = self.read(&format!("{side}Rows"), events);
            let filters = vec![self.native_filter()];
            branches.push(self.clean(read, &names, filters));
            if let Some(node) = self.spec.nodes.last_mut() {
                node.name = format!("{side}Kept");
            }
        }
        self.slots.clean = branches[0];
        let union = self.node("Everything", Op::Union { inputs: branches });
        let reduce = self.reduce("Folded", union, 0.12);
        let stats = self.group("ByAttribute", reduce, &[d.attributes[0]], "Steps");
        let large = self.output(reduce, "Folded", Some(d.entity));
        self.output(stats, "ByAttribute", None);
        self.slots.by_key = Some(reduce);
        self.slots.udo = Some(reduce);
        self.slots.large_output = Some(large);
        self.slots.order_key = "Steps".to_owned();
    }

    fn reduce(&mut self, name: &str, input: NodeId, ratio: f64) -> NodeId {
        let d = self.domain;
        let produce = self.session_columns();
        let cpu = self.rng.range(0.6, 1.2);
        let udo = self.udo(&format!("{}Folder", d.job), &[], cpu);
        let op = Op::Reduce {
            input,
            key: d.entity.into(),
            presort: "EventTime".into(),
            produce,
            ratio,
            udo,
        };
        self.node(name, op)
    }

    /// Texts split into words by user code, and the words counted by entity.
    pub(super) fn tokens(&mut self) {
        let d = self.domain;
        let names = [d.entity, d.attributes[0], d.measure, d.wide[0]];
        let (clean, rows) = self.cleaned(&names, (1.2e7, 2.4e7), Vec::new());
        let ty = if d.entity.ends_with("Key") {
            Ty::Text
        } else {
            Ty::Long
        };
        let ratio = self.rng.range(10.0, 16.0);
        let produce = vec![
            Column::new(d.entity, ty, 18.0, self.entities()),
            Column::new(d.attributes[0], Ty::Text, 7.0, 30.0),
            Column::new("Word", Ty::Text, 12.0, (rows / 3.0).round()),
        ];
        let cpu = self.rng.range(1.0, 2.2);
        let mut udo = self.udo(&format!("{}Words", d.job), &[], cpu);
        udo.splits = true;
        let process = self.node(
            "Words",
            Op::Process {
                input: clean,
                produce,
                ratio,
                believed: ratio,
                udo,
            },
        );
        let aggs = vec![
            ("COUNTD", d.entity.to_owned(), "Entities".to_owned()),
            ("COUNT", String::new(), "RowsSeen".to_owned()),
        ];
        let group = self.node(
            "PerWord",
            Op::Group {
                input: process,
                keys: vec!["Word".into()],
                aggs,
            },
        );
        let large = self.output(group, "PerWord", Some("Word"));
        self.slots.udo = Some(process);
        self.slots.by_key = Some(group);
        self.slots.large_output = Some(large);
        self.slots.order_key = "RowsSeen".to_owned();
    }

    /// Totals of each entity, then totals of these totals.
    pub(super) fn totals(&mut self) {
        let d = self.domain;
        let ty = if d.entity.ends_with("Key") {
            Ty::Text
        } else {
            Ty::Long
        };
        let mut selective = self.selective_filter();
        if let Some((class, method, of, _)) = self.spec.helpers.last_mut() {
            *of = ty;
            selective.text = format!("{class}.{method}({})", d.entity);
            selective.uses = vec![d.entity.to_owned()];
        }
        let names = [d.entity, d.attributes[0], d.attributes[1], d.measure];
        let (clean, _) = self.cleaned(&names, (2.0e8, 4.0e8), vec![selective]);
        let total = format!("Total{}", d.measure);
        let each = self.group(
            "Totals",
            clean,
            &[d.entity, d.attributes[0], d.attributes[1]],
            d.measure,
        );
        let after = self.pass(
            "Wanted",
            each,
            &[d.entity, d.attributes[0], d.attributes[1], &total],
        );
        self.output(after, "Wanted", None);
        let stats = self.group("Overview", after, &[d.attributes[0]], &total);
        self.output(stats, "Overview", None);
        self.slots.after_join = Some(after);
    }

    /// Distinct counts for each pair of a key and an attribute.
    pub(super) fn pairs(&mut self) {
        let d = self.domain;
        let names = [d.entity, d.small_key, d.attributes[1], d.measure];
        let (clean, _) = self.cleaned(&names, (2.4e8, 4.6e8), Vec::new());
        self.small_key(40_000.0);
        let aggs = vec![
            (
                "COUNTD",
                d.entity.to_owned(),
                format!("Distinct{}", d.entity),
            ),
            ("SUM", d.measure.to_owned(), format!("Total{}", d.measure)),
        ];
        let keys = vec![d.small_key.to_owned(), d.attributes[1].to_owned()];
        let group = self.node(
            "PerPair",
            Op::Group {
                input: clean,
                keys,
                aggs,
            },
        );
        self.output(group, "PerPair", Some(d.small_key));
        self.slots.by_key = Some(group);
        self.slots.key = d.small_key.to_owned();
    }

    /// A join and, after its key got another name, a REDUCE on it.
    pub(super) fn renamed(&mut self) {
        let d = self.domain;
        let join = self.activity_join();
        let mut items: Vec<Item> = [d.attributes[0], "EventTime", d.measure, "HomeCountry"]
            .iter()
            .map(|n| Item {
                name: (*n).to_owned(),
                expr: None,
            })
            .collect();
        let column = self.spec.columns(join).into_iter().next();
        items.extend(column.map(|column| Item {
            name: "OwnerId".into(),
            expr: Some(Expr {
                text: d.entity.to_owned(),
                uses: vec![d.entity.to_owned()],
                column,
                managed: false,
            }),
        }));
        let named = self.node(
            "Owned",
            Op::Select {
                input: join,
                items,
                filters: Vec::new(),
            },
        );
        let reduce = self.reduce("Paths", named, 0.08);
        if let Op::Reduce { key, produce, .. } = &mut self.spec.nodes[reduce].op {
            *key = "OwnerId".into();
            produce[0].name = "OwnerId".into();
        }
        self.output(reduce, "Paths", Some("OwnerId"));
        self.slots.again = Some(reduce);
        self.slots.udo = Some(reduce);
    }

    /// A join on a key, and distinct counts for parts of each key.
    pub(super) fn two_levels(&mut self) {
        let d = self.domain;
        let join = self.activity_join();
        let aggs = vec![
            ("COUNTD", d.measure.to_owned(), "Kinds".to_owned()),
            ("COUNT", String::new(), "RowsSeen".to_owned()),
        ];
        let keys = vec![d.entity.to_owned(), d.attributes[0].to_owned()];
        let group = self.node(
            "PerPart",
            Op::Group {
                input: join,
                keys,
                aggs,
            },
        );
        let large = self.output(group, "PerPart", Some(d.entity));
        self.slots.again = Some(group);
        self.slots.large_output = Some(large);
        self.slots.order_key = "RowsSeen".to_owned();
    }

    fn activity_join(&mut self) -> NodeId {
        let d = self.domain;
        let names = [d.entity, d.attributes[0], "EventTime", d.measure];
        let (clean, _) = self.cleaned(&names, (1.8e8, 3.6e8), Vec::new());
        let right = self.members(self.entities() * 1.1, &[d.entity, "HomeCountry"]);
        let join = self.join_with(
            "Joined",
            (clean, right),
            d.entity,
            JoinKind::Inner,
            (&names, &["HomeCountry"]),
        );
        self.slots.join = Some(join);
        self.slots.right = Some(right);
        join
    }

    /// An outer join, and distinct counts by a column of the side that may be absent.
    pub(super) fn accounts(&mut self) {
        let d = self.domain;
        let names = [d.entity, d.attributes[0], d.measure];
        let (clean, _) = self.cleaned(&names, (1.6e8, 3.2e8), Vec::new());
        let right = self.members(self.entities() * 1.1, &[d.entity, "AccountId"]);
        let accounts = (self.entities() / 4.0).round();
        if let Some(table) = self.spec.tables.last_mut() {
            let mut column = Column::new("AccountId", Ty::Long, 8.0, accounts);
            column.nullable = true;
            table.columns.push(column);
        }
        let join = self.join_with(
            "WithAccount",
            (clean, right),
            d.entity,
            JoinKind::LeftOuter,
            (&names, &["AccountId"]),
        );
        let aggs = vec![
            ("COUNTD", d.entity.to_owned(), "Members".to_owned()),
            ("SUM", d.measure.to_owned(), format!("Total{}", d.measure)),
        ];
        let group = self.node(
            "PerAccount",
            Op::Group {
                input: join,
                keys: vec!["AccountId".into()],
                aggs,
            },
        );
        let large = self.output(group, "PerAccount", Some("AccountId"));
        self.slots.join = Some(join);
        self.slots.right = Some(right);
        self.slots.by_key = Some(group);
        self.slots.large_output = Some(large);
        self.slots.order_key = "Members".to_owned();
    }

    /// Totals of each entity, and how many entities there are.
    pub(super) fn uniques(&mut self) {
        let d = self.domain;
        let names = [d.entity, d.attributes[0], d.measure];
        let (clean, _) = self.cleaned(&names, (2.0e8, 4.0e8), Vec::new());
        let each = self.group("PerEntity", clean, &[d.entity], d.measure);
        let large = self.output(each, "PerEntity", Some(d.entity));
        let all = self.group("Overall", each, &[], "RowsSeen");
        self.output(all, "Overall", None);
        self.slots.by_key = Some(all);
        self.slots.large_output = Some(large);
        self.slots.order_key = "RowsSeen".to_owned();
    }
}
