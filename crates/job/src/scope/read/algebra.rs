//! `Algebra.xml` / `__script__.abr`: processes, the channels between them, input streams. A local
//! run's also contains the script.

use std::collections::HashMap;

use super::tables::name_of;
use super::{Input, StageIndex, count, truth};
use crate::bounds::{CHANNELS_PER_OPERATOR, Quota};
use crate::model::Job;
use crate::xml::{self, Tag, Token};

/// Reads either form (`ScriptAndGraph`, `CsJobAlgebra`).
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let mut walk = Walk {
        index: StageIndex::of(job, input.name),
        file: input.name,
        open: Vec::new(),
        stage: None,
        input: None,
        datasets: HashMap::new(),
        dataset: None,
        script: String::new(),
    };
    let fault = xml::walk(input.text, |token| match token {
        Token::Open(tag) => walk.open(&tag, job),
        Token::Close => walk.close(),
        Token::Text(text) if walk.open.last().is_some_and(|n| n == "Scopescript") => {
            walk.script.push_str(&text);
        }
        Token::Text(_) | Token::End => {}
    });
    walk.finish(job);
    if !walk.script.trim().is_empty() {
        job.embedded_script = Some((input.name.to_owned(), walk.script));
    }
    job.fault(input.name, fault);
}

struct Walk<'a> {
    index: StageIndex,
    file: &'a str,
    open: Vec<String>,
    stage: Option<usize>,
    input: Option<String>,
    /// Channels that a dataset joins, by the dataset's name.
    datasets: HashMap<String, Vec<String>>,
    dataset: Option<String>,
    script: String,
}

impl Walk<'_> {
    fn open(&mut self, tag: &Tag<'_>, job: &mut Job) {
        let name = tag.name();
        match name {
            "process" => self.process(tag, job),
            "dataset" => self.dataset = tag.get("id"),
            "element" => {
                if let (Some(dataset), Some(id)) = (self.dataset.clone(), tag.get("id"))
                    && job.keeps(Quota::Channels, 1, self.file)
                {
                    self.datasets.entry(dataset).or_default().push(channel(&id));
                }
            }
            "input" => self.input(tag, job),
            "output" => {
                if let (Some(at), Some(id)) = (self.stage, tag.get("id"))
                    && job.keeps(Quota::Channels, 1, self.file)
                {
                    add(&mut job.stages[at].writes, channel(&id));
                }
            }
            "cosmosStream" | "stream" => self.stream(tag, job),
            _ => {}
        }
        self.open.push(name.to_owned());
    }

    fn close(&mut self) {
        match self.open.pop().as_deref() {
            Some("process") => self.stage = None,
            Some("dataset") => self.dataset = None,
            Some("input") => self.input = None,
            _ => {}
        }
    }

    fn process(&mut self, tag: &Tag<'_>, job: &mut Job) {
        self.stage = tag.get("id").and_then(|id| self.index.at(job, &id));
        let Some(stage) = self.stage.and_then(|at| job.stages.get_mut(at)) else {
            return;
        };
        if stage.native_only.is_none() {
            stage.native_only = tag.get("nativeOnly").map(|v| truth(&v));
        }
        stage.reads.clear();
        stage.writes.clear();
    }

    fn input(&mut self, tag: &Tag<'_>, job: &mut Job) {
        let (Some(at), Some(id)) = (self.stage, tag.get("id")) else {
            return;
        };
        let id = channel(&id);
        if job.keeps(Quota::Channels, 1, self.file) {
            add(&mut job.stages[at].reads, id.clone());
        }
        self.input = Some(id.clone());
        let path = tag.get_any(&["structuredStream", "cosmosStream"]);
        let size = tag.get("streamSize").and_then(|v| count(&v));
        if let Some(path) = path {
            let usql = tag.get("usqlTableName");
            stream(job, self.file, (Some(&id), &path), usql, size);
        }
    }

    fn stream(&mut self, tag: &Tag<'_>, job: &mut Job) {
        let is_output = |name: &String| name == "output" || name == "outputStreamList";
        let below_output = self.open.iter().any(is_output);
        if let Some(path) = tag.get("cosmosPath").filter(|_| !below_output) {
            let size = tag.get("streamSize").and_then(|v| count(&v));
            stream(job, self.file, (self.input.as_deref(), &path), None, size);
        }
    }

    /// Replaces a dataset among a stage's reads by its members.
    fn finish(&mut self, job: &mut Job) {
        for at in 0..job.stages.len() {
            let read = std::mem::take(&mut job.stages[at].reads);
            let mut reads = Vec::with_capacity(read.len());
            for id in read {
                match self.datasets.get(&id) {
                    // several stages may read the same dataset
                    Some(members) if job.keeps(Quota::Channels, members.len(), self.file) => {
                        reads.extend(members.iter().cloned());
                    }
                    Some(_) => {}
                    None => reads.push(id),
                }
            }
            job.stages[at].reads = reads;
        }
    }
}

/// A channel's name without its pieces: `GetSStream_0[ALL,ALL,ALL]`.
fn channel(id: &str) -> String {
    id.split('[').next().unwrap_or(id).to_owned()
}

fn add(list: &mut Vec<String>, name: String) {
    if list.len() < CHANNELS_PER_OPERATOR && !list.contains(&name) {
        list.push(name);
    }
}

/// Adds an input stream as a table; metadata files take precedence.
fn stream(
    job: &mut Job,
    file: &str,
    (id, path): (Option<&str>, &str),
    usql: Option<String>,
    size: Option<u64>,
) {
    let short = usql.and_then(|name| name.rsplit('.').next().map(str::to_owned));
    let name = short.clone().unwrap_or_else(|| name_of(path));
    let id = id.filter(|id| id.contains('_'));
    let Some(table) = job.table_mut(Some(path), id, &name, file) else {
        return;
    };
    table.name = short.unwrap_or(std::mem::take(&mut table.name));
    table.path.get_or_insert_with(|| path.to_owned());
    if table.stream_id.is_none() {
        table.stream_id = id.map(str::to_owned);
    }
    table.bytes = table.bytes.or(size.filter(|bytes| *bytes > 0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms() {
        let text = "<ScriptAndGraph><Vertices><Vertex index='1' command='-scopeVertex SV1 -i x'/></Vertices>\
            <graph><process id='SV1' nativeOnly='true'>\
            <input id='GetSStream_0[ALL,ALL,ALL]' usqlTableName='a.b.c.T' structuredStream='C:\\x\\y.ss' streamSize='9'/>\
            <output id='SV1_out0'/></process><dataset id='d'><element id='SV1_out0[0]'/></dataset>\
            <process id='SV2'><input id='d'/></process></graph><Scopescript>A = SELECT &lt;x&gt;;</Scopescript></ScriptAndGraph>";
        let mut job = Job::default();
        read(&Input::new("a.abr", text), &mut job);
        assert_eq!(job.stages[1].reads, ["SV1_out0"]);
        assert_eq!(job.tables[0].name, "T");
        assert_eq!(job.tables[0].bytes, Some(9));
        assert_eq!(job.tables[0].stream_id.as_deref(), Some("GetSStream_0"));
        let script = ("a.abr".to_owned(), "A = SELECT <x>;".to_owned());
        assert_eq!(job.embedded_script, Some(script));
    }
}
