//! Attributes that people ask for and no run records.

use report::measure::book;
use report::{StaticText, text};

use crate::intent::Intent;
use crate::phrases::{Phrases, Quantity};
use crate::said::Said;
use crate::subject::Subject;
use crate::wording::Wording;
use crate::{Asked, DRIVER_MEMORY, setting};

/// The attribute and the words of questions about it.
#[rustfmt::skip]
const ATTRIBUTES: &[(StaticText, Phrases, Phrases)] = &[
    (StaticText { zh: "磁盘和网络的速度", en: "the speed of disks and the network" },
        "iops|磁盘吞吐|磁盘速度|网络带宽|带宽是|带宽有", "iops|disk throughput|disk speed|bandwidth|network speed|latency"),
    (StaticText { zh: "集群上的其他作业", en: "other jobs of the cluster" },
        "其他作业|别的作业|集群负载|邻居", "other jobs|another job|cluster load|load of the cluster|neighbor*|neighbour*"),
    (StaticText { zh: "机器的型号", en: "the models of the machines" },
        "机型|cpu 型号|什么型号|几代 cpu", "cpu model|machine type|instance type|vm size|hardware model"),
    (StaticText { zh: "以后的运行和很久以前的运行", en: "later runs or runs long before" },
        "下次|下一次|明天|下周|下个月|以后会|将来|上个月|上月|去年|历史上|往年|每天都|经常",
        "tomorrow|next run|next time|next week|next month|future|last month|last year|last quarter|every day|how often does this job"),
];

/// People and programs outside of the run.
#[rustfmt::skip]
const OUTSIDERS: (Phrases, Phrases) = (
    "谁写入|谁写的|是谁写|谁读取|谁读了|谁在用|谁会用|谁用了|谁生成|谁产生|谁导入|谁维护|谁负责",
    "who read|who reads|who wrote|who writes|who produced|who produces|who uses|who used|who consumes|who generated|who loads|who loaded|who maintains|\
     who created|who changed|who is reading|who else",
);

/// Says that no run records the asked attribute. Returns false if the question is about something else.
pub(crate) fn answer(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let wording = Wording::of(&intent.text);
    let is_part = |s: &Subject| matches!(s, Subject::Stage(_) | Subject::Lines(..));
    let outsiders = StaticText {
        zh: "作业之外谁读写它的数据",
        en: "who reads or writes its data outside of the job",
    };
    let is_outside = wording.has(OUTSIDERS.0, OUTSIDERS.1) && !intent.subjects.iter().any(is_part);
    let mut attributes = ATTRIBUTES.iter();
    let named = attributes.find(|(_, zh, en)| wording.has(zh, en));
    let named = named.filter(|_| !intent.asks_nothing() && !intent.asks(Quantity::Remedy));
    let attribute = match named {
        _ if is_outside => outsiders,
        Some((attribute, ..)) => *attribute,
        None => return of_driver(said, run, intent),
    };
    said.say(text!(
        "无法回答：运行的记录不包含{attribute}",
        "That can't be answered: the run does not record {attribute}",
        attribute = attribute
    ));
    true
}

/// Says that no file gives the memory of the driver: the stages have the memory of tasks.
fn of_driver(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let is_memory = intent.asks_for(&[&book::MEMORY_PEAK]);
    if !intent.names_driver || !is_memory {
        return false;
    }
    said.say(text!(
        "没有文件给出 Driver 的内存",
        "No file gives the memory of the driver"
    ));
    if run.summary.settings.contains_key(DRIVER_MEMORY) {
        setting::about(said, run, DRIVER_MEMORY, intent);
    }
    true
}
