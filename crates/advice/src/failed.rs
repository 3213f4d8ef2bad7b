//! Settings for limits that an application hit, with values from the message of the failure.

use report::format::{Bytes, Number, TASK};
use report::{Text, text};

use crate::case::Case;
use crate::setting::{MEMORY, MIB, OVERHEAD, Wanted, memory, size_above};

/// Room above a size in a message.
const HEADROOM: f64 = 1.2;

/// Overhead of a container as a share of the heap, and at least, unless it is set.
const OVERHEAD_SHARE: f64 = 0.1;
const LEAST_OVERHEAD: f64 = 384.0 * MIB;

/// Largest buffer of Kryo.
const MOST_BUFFER: f64 = 2047.0 * MIB;

/// Twice the memory that the application had: the message does not say how much it needs.
pub(crate) fn twice(case: &Case<'_>, key: &'static str) -> Option<Wanted> {
    let now = case.number(key)?;
    let reason = text!(
        "{now} 不够；所需的量没有记录，先加倍",
        "{now} is too little; the need is not recorded, so double it first",
        now = Bytes(now),
    );
    case.set(key, memory(now * 2.0), reason)
}

/// Whether the cluster manager bounds the memory of executors: YARN and Kubernetes do, a standalone cluster does not.
pub(crate) fn has_containers(case: &Case<'_>) -> bool {
    let app = case.job.spark.as_deref();
    let master = app.and_then(|app| app.setting(None, "spark.master"));
    master.is_none_or(|master| !(master.starts_with("spark://") || master.starts_with("local")))
}

/// More memory of the container outside of the heap: for the excess that the message names, at least twice as much.
pub(crate) fn overhead(case: &Case<'_>) -> Option<Wanted> {
    let heap = case.number(MEMORY)?;
    let usual = (heap * OVERHEAD_SHARE).max(LEAST_OVERHEAD);
    let now = case.number(OVERHEAD).unwrap_or(usual);
    let sizes = sizes(&message(case));
    let excess = match sizes.as_slice() {
        [used, limit, ..] if used > limit => used - limit,
        _ => 0.0,
    };
    let wanted = (now + excess * HEADROOM).max(now * 2.0);
    let (now_size, heap_size) = (Bytes(now), Bytes(heap));
    let reason = match excess > 0.0 {
        true => text!(
            "堆 {heap} 之外现在有 {now}，不够用",
            "it has {now} next to a heap of {heap}, which is too little",
            now = now_size,
            heap = heap_size,
        ),
        false => text!(
            "堆 {heap} 之外现在有 {now}；日志没有说明需要多少",
            "it has {now} next to a heap of {heap}; the log does not say how much it needs",
            now = now_size,
            heap = heap_size,
        ),
    };
    let default = || {
        let (_, source) = case.current("spark.memory.fraction")?;
        (source != "log").then(|| (size_above(usual), source))
    };
    let current = case.current(OVERHEAD).or_else(default);
    case.set_from(OVERHEAD, current, memory(wanted), reason)
}

/// Room for the results of all tasks, by the results of the tasks that had ended.
pub(crate) fn result_size(case: &Case<'_>) -> Option<Wanted> {
    let message = message(case);
    let (_, rest) = message.split_once("results of ")?;
    let ended: f64 = rest.split_whitespace().next()?.parse().ok()?;
    let size = *sizes(rest).first()?;
    let tasks = case
        .stage
        .and_then(|stage| case.view.vertices(stage))
        .unwrap_or(0) as f64;
    let all = size / ended.max(1.0) * tasks.max(ended);
    let of_all = match tasks > ended {
        true => text!(
            "；全部 {tasks} 个约 {all}",
            "; those of all {tasks} about {all}",
            tasks = Number(tasks),
            all = Bytes(all),
        ),
        false => Text::default(),
    };
    let reason = text!(
        "{ended}的结果有 {size}{of_all}",
        "the results of {ended} have {size}{of_all}",
        ended = TASK.count(ended),
        size = Bytes(size),
        of_all = of_all,
    );
    let key = "spark.driver.maxResultSize";
    case.set(key, size_above(all * HEADROOM), reason)
}

/// A buffer for the object that the message names, as a power of two.
pub(crate) fn buffer(case: &Case<'_>) -> Option<Wanted> {
    let key = "spark.kryoserializer.buffer.max";
    let now = case.number(key)?;
    let message = message(case);
    let required = message.split_once("required: ").and_then(|(_, rest)| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<f64>().ok()
    });
    let need = now + required.unwrap_or(now);
    let wanted = (need * HEADROOM / MIB).log2().ceil().exp2() * MIB;
    let reason = text!(
        "对象至少有 {need}；上限 2047m，应用启动时才能设置",
        "the object has {need} at least; the limit is 2047m, and it is set when the application starts",
        need = Bytes(need),
    );
    case.set(key, size_above(wanted.min(MOST_BUFFER)), reason)
}

/// Room for the task that the message names.
pub(crate) fn message_size(case: &Case<'_>) -> Option<Wanted> {
    let message = message(case);
    let (before, _) = message.split_once(" bytes, which exceeds")?;
    let bytes: f64 = before.rsplit(' ').next()?.parse().ok()?;
    let reason = text!("Task 有 {size}", "the task has {size}", size = Bytes(bytes));
    case.set(
        "spark.rpc.message.maxSize",
        (bytes * HEADROOM / MIB).ceil(),
        reason,
    )
}

/// Moves data off an executor before its node is taken away.
pub(crate) fn decommission(case: &Case<'_>) -> Vec<Wanted> {
    const KEYS: [&str; 3] = [
        "spark.decommission.enabled",
        "spark.storage.decommission.enabled",
        "spark.storage.decommission.shuffleBlocks.enabled",
    ];
    let reason =
        || -> Text { text!("节点收回前移走数据", "data moves before a node is removed") };
    KEYS.into_iter()
        .filter_map(|key| case.set(key, "true", reason()))
        .collect()
}

fn message(case: &Case<'_>) -> String {
    let error = case.view.failure().and_then(|failure| failure.error);
    error.map_or_else(String::new, |error| {
        let parts = [Some(&error.message), error.details.as_ref()];
        parts
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n")
    })
}

/// Sizes in a message: `5.5 GB`, `1024.0 MiB`.
fn sizes(message: &str) -> Vec<f64> {
    let words: Vec<&str> = message
        .split(|c: char| c.is_whitespace() || "()".contains(c))
        .collect();
    let size = |pair: &[&str]| {
        let number: f64 = pair[0].parse().ok()?;
        let power = match pair[1].trim_end_matches(['.', ',', ';']) {
            "KB" | "KiB" => 1,
            "MB" | "MiB" => 2,
            "GB" | "GiB" => 3,
            "TB" | "TiB" => 4,
            _ => return None,
        };
        Some(number * 1024_f64.powi(power))
    };
    words.windows(2).filter_map(size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_messages_are_read() {
        let message = "Total size of serialized results of 92 tasks (1025.5 MiB) is bigger than the limit (1024.0 MiB)";
        assert_eq!(sizes(message), [1025.5 * MIB, 1024.0 * MIB]);
        assert_eq!(
            sizes("5.5 GB of 5.5 GB physical memory used"),
            [5.5 * 1024.0 * MIB; 2]
        );
    }
}
