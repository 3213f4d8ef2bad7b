//! Shapes of jobs.

use super::*;

impl Builder {
    pub(super) fn enrich_join(&mut self) {
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
                matched: 1.0,
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

    pub(super) fn sessions(&mut self) {
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

    pub(super) fn paired(&mut self) {
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
                matched: 1.0,
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

    pub(super) fn features(&mut self) {
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
                ratio: 1.0,
                believed: 1.0,
                udo,
            },
        );
        let stats = self.group("PerEntity", process, &[d.entity], "TextLen");
        let large = self.output(stats, "PerEntity", Some(d.entity));
        self.slots.udo = Some(process);
        self.slots.large_output = Some(large);
        self.slots.order_key = "RowsSeen".to_owned();
    }

    pub(super) fn star(&mut self) {
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
                matched: 1.0,
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

    pub(super) fn daily_files(&mut self) {
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

    pub(super) fn same_key(&mut self) {
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
                matched: 1.0,
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

    pub(super) fn distinct(&mut self) {
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
