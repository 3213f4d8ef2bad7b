//! Sentences as models write them about three of the jobs, without any template.

pub(super) const TRUE_EN: &[(&str, &[&str])] = &[
    (
        "join-hot-key-skew",
        &[
            "The main issue is data skew in the join of SV3_Combine_Reduce on TripId [F1].",
            "A single vertex processes 22 % of the rows, which is 3.6 times the average [F1].",
            "The slowest vertex ran 43 s while the median is only 13 s [E6].",
            "One value, `5880333575`, accounts for 9.6 % of the rows of TripPoints [E4].",
            "That value occurs in 3.8 million rows [E4].",
            "The largest vertex reads 7.5 M rows [E1] out of 33.4 M rows in total [E2].",
            "Applying S1 should save up to about 17 s, or 13 % of the run.",
            "S2 saves about as much as S1, so one of them is enough.",
            "Start with S1: it is one line and keeps the result the same.",
            "S1 only asks the optimizer, so compare the largest vertex with the mean after the next run; below 2 it works.",
            "The statement `Joined` on lines 31–40 joins on TripId and runs in SV3_Combine_Reduce.",
            "SV3_Combine_Reduce waits for its largest vertex, so the hot key determines when the stage ends.",
            "Spilling and garbage collection are not the problem here.",
            "There is no sign of a slow machine or of vertex retries.",
            "If the hot value is a test account, filtering it out is better than a hint.",
            "The job ran for 2 min 12 s with 25 vertices in 3 stages.",
            "The confidence is 87 %, so check the evidence first.",
            "With skew like this, adding more vertices does not help, because all rows of one key go to one vertex.",
            "The rows with TripId 5880333575 are joined by a single vertex.",
            "Fixing F1 saves roughly 17 s of the 2 min 12 s run.",
            "The skew costs about 17 s.",
        ],
    ),
    (
        "excessive-shuffle",
        &[
            "The rows are already partitioned on TripId, so SV4_Reduce repartitions 2.0 GiB for nothing [F1].",
            "The exchange between SV3_Combine_Split and SV4_Reduce moves 2.0 GiB [E1] and 51.4 M rows [E2].",
            "Removing the hint saves up to about 54 s, a fifth of the run time.",
            "Partition_8 asks for 15 partitions, while Partition_2 already made 20 [E3][E4].",
            "S1 removes one full move of the data and keeps the result.",
            "The step then has as many partitions as the one before it.",
            "No skew was found: the vertices get about equal amounts of data.",
            "The class is excessive shuffle, with shuffle.redundant_repartition as its cause [F1].",
            "Lines 41–49 of the script define `Paths`, which SV4_Reduce computes.",
            "The run took 4 min 34 s.",
        ],
    ),
    (
        "spark-join-hot-key",
        &[
            "Stage 4 joins on user_id, and one task receives 84 % of the rows [F1].",
            "The biggest task reads 218,740 records [E1] of 260,000 [E2], 13.5 times the mean [E3].",
            "The slowest task took 29 s, the median only 915 ms [E4].",
            "Enable adaptive execution so that Spark splits the skewed partition (S1); it saves up to about 12 s.",
            "Set spark.sql.adaptive.enabled to true and lower spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes to 16MB.",
            "S2 works with every version, but the small side grows 16 times.",
        ],
    ),
];

pub(super) const TRUE_ZH: &[(&str, &[&str])] = &[
    (
        "join-hot-key-skew",
        &[
            "主要问题是 SV3_Combine_Reduce 中按 TripId 的连接出现数据倾斜 [F1]。",
            "单个顶点处理了 22 % 的行，是平均值的 3.6 倍 [F1]。",
            "最慢的顶点运行了 43 秒，而中位数只有 13 秒 [E6]。",
            "取值 `5880333575` 占 TripPoints 行数的 9.6 % [E4]。",
            "这个值出现在 382 万行中 [E4]。",
            "最大的顶点读取 746 万行 [E1]，总行数为 3337 万行 [E2]。",
            "先实施 S1：只加一行提示，最多可节省约 17 秒（占运行时间的 13 %）。",
            "S2 的节省与 S1 相同，二者取一即可，但热点值写在脚本里。",
            "落盘和垃圾回收都不是原因。",
            "没有发现机器过慢，也没有顶点反复重试。",
            "脚本第 31–40 行的 `Joined` 在阶段 SV3_Combine_Reduce 中运行。",
            "如果热点值是测试账号，过滤掉它比加提示更好。",
            "作业运行了 2 分 12 秒，共 3 个阶段、25 个顶点。",
            "增加顶点数没有用，因为同一个键的行总是进入同一个顶点。",
        ],
    ),
    (
        "excessive-shuffle",
        &[
            "数据已经按 TripId 分区，SV4_Reduce 又重新分区了 2.0 GiB，属于多余的重新分区 [F1]。",
            "SV3_Combine_Split 到 SV4_Reduce 的 Shuffle 传输 2.0 GiB [E1]，共 5141 万行 [E2]。",
            "去掉提示最多约可节省 54 秒（占运行时间的 20 %）。",
            "没有数据倾斜，各顶点的数据量相近。",
            "作业运行 4 分 34 秒。",
        ],
    ),
    (
        "spark-join-hot-key",
        &[
            "Stage 4 按 user_id 连接，单个 Task 得到 84 % 的行 [F1]。",
            "最大的 Task 读取 21.9 万行 [E1]，总共 26.0 万行 [E2]，是均值的 13.5 倍 [E3]。",
            "最慢的 Task 用了 29 秒，中位数只有 915 毫秒 [E4]。",
            "先让 AQE 切分倾斜的分区（S1），最多约可节省 12 秒。",
        ],
    ),
];

pub(super) const FALSE_EN: &[(&str, &[&str])] = &[
    (
        "join-hot-key-skew",
        &[
            "SV1_Extract_Split is the bottleneck, because its join is skewed on TripId.",
            "Most of the time is lost to garbage collection, which is the main problem.",
            "A single vertex processes half of the rows.",
            "The hot key makes up 22 % of the rows of TripPoints [E4].",
            "The slowest vertex ran 43 minutes.",
            "The median vertex ran 43 s [E6].",
            "Compiling is the problem: it takes 25 s.",
            "S2 saves about 25 s (19 % of the run).",
            "S1 fixes F2.",
            "The join is not skewed; the vertices get equal amounts of data.",
            "The skew comes from the column GpsState [F1].",
            "Fixing this would double the run time and cost 25 s.",
            "The job is slow because data is spilled to disk.",
            "The largest vertex reads 33.4 M rows [E1].",
            "Applying the hint will save 38 % of the run.",
            "Together the suggestions save 43 s (33 % of the run).",
            "F1 is a false alarm.",
            "The value 5880333575 is in 9.6 % of the rows of Drivers.",
        ],
    ),
    (
        "excessive-shuffle",
        &[
            "The exchange moves 2.0 TiB.",
            "The exchange from SV1_Extract_Split to SV2_Extract_Split moves 2.0 GiB.",
            "Data skew in SV4_Reduce is the main problem.",
            "Removing the hint saves 1 min 45 s.",
            "The repartition on Region is redundant.",
            "Partition_8 asks for 20 partitions [E3].",
        ],
    ),
    (
        "spark-join-hot-key",
        &[
            "Stage 2 is skewed on user_id.",
            "The Python function takes 84 % of the stage.",
            "The slowest task took 915 ms [E4].",
            "Fixing F2 saves 19 s (46 % of the run).",
            "S3 saves up to about 19 s.",
            "Lost executors slow the application down.",
        ],
    ),
];

pub(super) const FALSE_ZH: &[(&str, &[&str])] = &[
    (
        "join-hot-key-skew",
        &[
            "SV1_Extract_Split 的连接按 TripId 倾斜，是瓶颈。",
            "主要问题是垃圾回收开销过高。",
            "单个顶点处理了一半的行。",
            "热点键占 TripPoints 行数的 22 % [E4]。",
            "最慢的顶点运行了 43 分钟。",
            "S2 可节省 25 秒（占运行时间的 19 %）。",
            "连接没有倾斜，各顶点的数据量相近。",
            "修复后会多用 25 秒。",
            "作业慢是因为数据溢出到磁盘。",
            "最大的顶点读取 3337 万行 [E1]。",
            "加提示可节省 38 % 的运行时间。",
            "F1 是误报。",
        ],
    ),
    (
        "excessive-shuffle",
        &[
            "Shuffle 传输了 2.0 TiB。",
            "主要问题是 SV4_Reduce 的数据倾斜。",
            "去掉提示可节省 1 分 45 秒。",
        ],
    ),
    (
        "spark-join-hot-key",
        &[
            "Stage 2 按 user_id 连接时数据倾斜。",
            "最慢的 Task 只用了 915 毫秒 [E4]。",
            "修复 F2 约可节省 19 秒（占运行时间的 46 %）。",
            "Executor 丢失拖慢了应用。",
        ],
    ),
];
