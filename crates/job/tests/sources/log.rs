//! Places in an event log of Spark: `Stage 3/JVM GC Time` is that metric of every successful task of the stage, and
//! `Stage 3/Sort[7]/spill size` a metric of a node of the plan.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;

use serde_json::Value as Json;

use crate::files::Readings;

pub(crate) struct Log {
    events: Vec<Json>,
    lines: Vec<String>,
}

impl Log {
    pub(crate) fn read(path: &Path) -> Log {
        let bytes = std::fs::read(path).expect("a log");
        let text = match bytes.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
            true => decompressed(&bytes),
            false => bytes,
        };
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        Log {
            events: lines
                .iter()
                .map(|l| serde_json::from_str(l).unwrap_or_default())
                .collect(),
            lines,
        }
    }

    pub(crate) fn readings(&self, locator: &str) -> Readings {
        if let Some((from, to)) = locator
            .split_once(" to ")
            .filter(|(from, _)| from.starts_with("line "))
        {
            let times = |line| self.readings(line).concat();
            return pairs(&times(from), &times(to));
        }
        if let Some(from) = locator.strip_suffix(" to SparkListenerExecutorAdded/Timestamp") {
            let added = self.events("SparkListenerExecutorAdded");
            let added: Vec<f64> = added.map(|e| number(&e["Timestamp"])).collect();
            return pairs(&self.readings(from).concat(), &added);
        }
        if let Some(key) = locator.strip_prefix("Spark Properties/") {
            let mut updates = self.events("SparkListenerEnvironmentUpdate");
            let value = updates.find_map(|e| e["Spark Properties"][key].as_str()?.parse().ok());
            return vec![value.into_iter().collect()];
        }
        if locator == "RDD Info/Memory Size" {
            return vec![self.cached()];
        }
        if let Some((event, _)) = locator
            .split_once('/')
            .filter(|(event, _)| event.starts_with("SparkListener"))
        {
            let suffix = format!(".{event}");
            let is_it = |e: &&Json| {
                e["Event"]
                    .as_str()
                    .is_some_and(|n| n == event || n.ends_with(&suffix))
            };
            return vec![self.events.iter().filter(is_it).map(|_| 1.0).collect()];
        }
        if let Some(line) = locator.strip_prefix("line ") {
            let line = line
                .parse::<usize>()
                .ok()
                .and_then(|n| self.lines.get(n - 1));
            return line.map(|l| vec![numbers(l)]).unwrap_or_default();
        }
        if locator == "Executor Info/Total Cores" {
            let added = self.events("SparkListenerExecutorAdded");
            return vec![
                added
                    .map(|e| number(&e["Executor Info"]["Total Cores"]))
                    .collect(),
            ];
        }
        let mut parts = locator.splitn(3, '/');
        let stage = parts.next().unwrap_or_default();
        match (parts.next(), parts.next()) {
            (Some(node), Some(metric)) if node.contains('[') => self.of_node(stage, node, metric),
            (Some(field), None) => vec![self.of_tasks(stage, field)],
            (Some(first), Some(rest)) => vec![self.of_tasks(stage, &format!("{first}/{rest}"))],
            _ => Vec::new(),
        }
    }

    /// The largest memory of each cached RDD, as the ends of stages state it.
    fn cached(&self) -> Vec<f64> {
        let mut most: BTreeMap<i64, f64> = BTreeMap::new();
        let ends = self.events("SparkListenerStageCompleted");
        for rdd in ends.flat_map(|e| e["Stage Info"]["RDD Info"].as_array().into_iter().flatten()) {
            let size = most
                .entry(rdd["RDD ID"].as_i64().unwrap_or(-1))
                .or_default();
            *size = size.max(number(&rdd["Memory Size"]));
        }
        most.into_values().collect()
    }

    fn events<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Json> {
        self.events.iter().filter(move |e| e["Event"] == name)
    }

    /// Ends of tasks of a stage, by the number in its name.
    fn tasks<'a>(&'a self, stage: &str) -> Vec<&'a Json> {
        let digits = stage.strip_prefix("Stage ").unwrap_or_default();
        let id = digits.split(|c: char| !c.is_ascii_digit()).next();
        let id = id.and_then(|id| id.parse::<u64>().ok());
        let ends = self.events("SparkListenerTaskEnd");
        let mut ends: Vec<&Json> = ends
            .filter(|e| stage == "*" || e["Stage ID"].as_u64() == id)
            .collect();
        ends.sort_by_key(|e| e["Task Info"]["Launch Time"].as_i64());
        ends
    }

    fn of_tasks(&self, stage: &str, field: &str) -> Vec<f64> {
        if field == "Number of Tasks" {
            return self.number_of_tasks(stage);
        }
        let ends = self.tasks(stage);
        let is_good = |e: &&&Json| e["Task End Reason"]["Reason"] == "Success";
        let mut ended: HashMap<i64, f64> = HashMap::new();
        let submitted = self.submitted(stage).unwrap_or(0.0);
        let mut created = Vec::new();
        for end in &ends {
            let info = &end["Task Info"];
            let (launch, index) = (
                number(&info["Launch Time"]),
                info["Index"].as_i64().unwrap_or(-1),
            );
            let before = ended.insert(index, number(&info["Finish Time"]));
            created.push(before.unwrap_or(submitted).max(submitted).min(launch));
        }
        let good = ends.iter().zip(&created).filter(|(e, _)| is_good(e));
        let values =
            |of: &dyn Fn(&Json, f64) -> f64| good.clone().map(|(e, c)| of(e, *c)).collect();
        match field {
            "created to started" => values(&|e, c| number(&e["Task Info"]["Launch Time"]) - c),
            "started to running" => values(&|e, _| duration(e) - held(e)),
            "running to ended" | "Task Info" => values(&|e, _| held(e)),
            "created to ended" => {
                let ends = ends.iter().zip(&created);
                ends.flat_map(|(e, c)| [*c, number(&e["Task Info"]["Finish Time"])])
                    .collect()
            }
            "completed" => values(&|_, _| 1.0),
            "operators that spill" => self.spilling(stage),
            "failed" | "revoked" | "abandoned" | "running to ended, lost" => {
                let lost = ends.iter().filter(|e| !is_good(e));
                lost.map(|e| held(e)).collect()
            }
            "Bytes Read" => values(&|e, _| {
                let metrics = &e["Task Metrics"];
                let read = &metrics["Shuffle Read Metrics"];
                number(&metrics["Input Metrics"]["Bytes Read"])
                    + number(&read["Remote Bytes Read"])
                    + number(&read["Local Bytes Read"])
            }),
            "Bytes Written" => values(&|e, _| {
                let metrics = &e["Task Metrics"];
                number(&metrics["Output Metrics"]["Bytes Written"])
                    + number(&metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"])
            }),
            "Records Read" => values(&|e, _| {
                let metrics = &e["Task Metrics"];
                number(&metrics["Input Metrics"]["Records Read"])
                    + number(&metrics["Shuffle Read Metrics"]["Total Records Read"])
            }),
            "Executor CPU Time" => {
                values(&|e, _| (number(&e["Task Metrics"][field]) / 1e6).floor())
            }
            field => values(&|e, _| found(&e["Task Metrics"], field).unwrap_or(0.0)),
        }
    }

    fn stage_info<'a>(&'a self, stage: &'a str) -> impl Iterator<Item = &'a Json> {
        let completed = self.events("SparkListenerStageCompleted");
        let all = completed.chain(self.events("SparkListenerStageSubmitted"));
        let infos = all.map(|e| &e["Stage Info"]);
        infos.filter(move |i| format!("Stage {}", i["Stage ID"]) == stage)
    }

    fn number_of_tasks(&self, stage: &str) -> Vec<f64> {
        self.stage_info(stage)
            .map(|i| number(&i["Number of Tasks"]))
            .collect()
    }

    fn submitted(&self, stage: &str) -> Option<f64> {
        let mut times = self
            .stage_info(stage)
            .map(|i| number(&i["Submission Time"]));
        times.find(|t| *t > 0.0)
    }

    /// Updates of a metric of the nodes of a name, by node. Nanoseconds are read as milliseconds as well.
    fn of_node(&self, stage: &str, node: &str, metric: &str) -> Readings {
        let name = node.split('[').next().unwrap_or_default();
        let mut nodes: Vec<&Json> = Vec::new();
        for event in &self.events {
            collect(&event["sparkPlanInfo"], name, &mut nodes);
        }
        let mut readings = Readings::new();
        for node in nodes {
            let mut sums: Vec<f64> = Vec::new();
            for metric in metric.split(" + ") {
                let metrics = node["metrics"].as_array().into_iter().flatten();
                let id = metrics
                    .filter(|m| m["name"] == metric)
                    .find_map(|m| m["accumulatorId"].as_i64());
                sums.extend(id.map(|id| self.updates(stage, id)).unwrap_or_default());
            }
            let in_ms = sums.iter().map(|n| n * 1e-6).collect();
            readings.extend([sums, in_ms]);
        }
        readings
    }

    /// Nodes that spilled in a stage.
    fn spilling(&self, stage: &str) -> Vec<f64> {
        let mut nodes: Vec<&Json> = Vec::new();
        for event in &self.events {
            collect(&event["sparkPlanInfo"], "", &mut nodes);
        }
        let metrics = nodes
            .iter()
            .flat_map(|n| n["metrics"].as_array().into_iter().flatten());
        let spills = metrics.filter(|m| m["name"] == "spill size");
        let mut ids: Vec<i64> = spills.filter_map(|m| m["accumulatorId"].as_i64()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|id| self.updates(stage, *id).iter().sum::<f64>() > 0.0);
        ids.iter().map(|_| 1.0).collect()
    }

    fn updates(&self, stage: &str, id: i64) -> Vec<f64> {
        let mut by_task: BTreeMap<usize, f64> = BTreeMap::new();
        for (at, end) in self.tasks(stage).iter().enumerate() {
            let updates = end["Task Info"]["Accumulables"]
                .as_array()
                .into_iter()
                .flatten();
            for update in updates.filter(|u| u["ID"].as_i64() == Some(id)) {
                *by_task.entry(at).or_default() += number(&update["Update"]);
            }
        }
        let name = "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates";
        let driver = self
            .events(name)
            .flat_map(|e| e["accumUpdates"].as_array().into_iter().flatten());
        let driver = driver
            .filter(|u| u[0].as_i64() == Some(id))
            .map(|u| number(&u[1]));
        by_task.into_values().chain(driver).collect()
    }
}

fn collect<'a>(node: &'a Json, name: &str, to: &mut Vec<&'a Json>) {
    let is_it = |n: &str| name.is_empty() || n.trim() == name;
    if node["nodeName"].as_str().is_some_and(is_it) {
        to.push(node);
    }
    for child in node["children"].as_array().into_iter().flatten() {
        collect(child, name, to);
    }
}

/// Every begin with every end.
fn pairs(from: &[f64], to: &[f64]) -> Readings {
    let pairs = from
        .iter()
        .flat_map(|a| to.iter().map(move |b| vec![*a, *b]));
    pairs.collect()
}

fn duration(end: &Json) -> f64 {
    number(&end["Task Info"]["Finish Time"]) - number(&end["Task Info"]["Launch Time"])
}

/// Milliseconds from running to end.
fn held(end: &Json) -> f64 {
    let metrics = &end["Task Metrics"];
    let [run, deserialize, serialize] = [
        "Executor Run Time",
        "Executor Deserialize Time",
        "Result Serialization Time",
    ]
    .map(|field| number(&metrics[field]));
    let getting = number(&end["Task Info"]["Getting Result Time"]);
    let finish = number(&end["Task Info"]["Finish Time"]);
    let fetched = if getting > 0.0 { finish - getting } else { 0.0 };
    let known = deserialize + run + serialize + fetched;
    let delay = (duration(end) - known).max(0.0);
    (duration(end) - deserialize - delay).max(0.0)
}

fn number(value: &Json) -> f64 {
    let text = || value.as_str().and_then(|text| text.trim().parse().ok());
    value.as_f64().or_else(text).unwrap_or(0.0)
}

/// The field of that name, at any depth.
fn found(value: &Json, field: &str) -> Option<f64> {
    let fields = value.as_object()?;
    let own = fields.get(field).map(number);
    own.or_else(|| fields.values().find_map(|inner| found(inner, field)))
}

fn numbers(line: &str) -> Vec<f64> {
    let words = line.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.filter_map(|word| word.parse().ok()).collect()
}

/// All frames of a file.
fn decompressed(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let mut decoder = ruzstd::decoding::StreamingDecoder::new(&mut bytes).expect("a frame");
        decoder.read_to_end(&mut out).expect("a whole frame");
    }
    out
}
