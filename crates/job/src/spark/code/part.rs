//! The parts of a program, with the methods and the clauses that make them.

/// What a piece of a program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Join,
    Aggregate,
    Window,
    UserCode,
    /// Removes rows that repeat.
    Distinct,
    /// Changes the number of partitions or their keys.
    Partitioning,
    /// Brings all rows into one partition.
    Gather,
    Sort,
    Read,
    Write,
    Filter,
    /// Computes columns.
    Expression,
    /// Turns one row into several.
    Explode,
    Cache,
}

pub(super) const JOINS: &[&str] = &[
    "join",
    "crossJoin",
    "leftOuterJoin",
    "rightOuterJoin",
    "fullOuterJoin",
    "cogroup",
    "cartesian",
];
pub(super) const AGGREGATES: &[&str] = &[
    "groupBy",
    "groupby",
    "rollup",
    "cube",
    "distinct",
    "dropDuplicates",
    "drop_duplicates",
    "groupByKey",
    "reduceByKey",
    "aggregateByKey",
    "foldByKey",
    "combineByKey",
    "countByKey",
    "countByValue",
    "intersect",
    "subtract",
    "exceptAll",
    "intersectAll",
    "agg",
];
pub(super) const COLUMNS: &[&str] = &["withColumn", "withColumns", "select", "selectExpr", "agg"];
pub(super) const PANDAS: &[&str] = &[
    "applyInPandas",
    "applyInPandasWithState",
    "mapInPandas",
    "mapInArrow",
    "applyInArrow",
    "apply",
    "map",
    "flatMap",
    "mapPartitions",
    "mapPartitionsWithIndex",
    "foreach",
    "foreachPartition",
    "filter",
    "mapValues",
    "flatMapValues",
];
pub(super) const PARTITIONS: &[&str] = &[
    "repartition",
    "repartitionByRange",
    "coalesce",
    "partitionBy",
];
pub(super) const SORTS: &[&str] = &[
    "orderBy",
    "sort",
    "sortBy",
    "sortByKey",
    "sortWithinPartitions",
    "repartitionByRange",
    "takeOrdered",
    "top",
];
pub(super) const FILES: &[&str] = &[
    "parquet",
    "csv",
    "json",
    "orc",
    "text",
    "load",
    "table",
    "textFile",
    "wholeTextFiles",
    "parallelize",
    "createDataFrame",
    "range",
    "avro",
    "jdbc",
];
pub(super) const WRITES: &[&str] = &[
    "parquet",
    "csv",
    "json",
    "orc",
    "text",
    "save",
    "saveAsTable",
    "insertInto",
    "saveAsTextFile",
    "jdbc",
    "append",
    "overwritePartitions",
    "createOrReplace",
];
pub(super) const EXPLODES: &[&str] = &[
    "explode",
    "explode_outer",
    "posexplode",
    "posexplode_outer",
    "inline",
    "flatMap",
];

/// Methods that return rows of the same kind as their receiver, or read them.
pub(super) const ROWS: &[&str] = &[
    "select",
    "selectExpr",
    "where",
    "filter",
    "withColumn",
    "withColumns",
    "withColumnRenamed",
    "drop",
    "join",
    "agg",
    "distinct",
    "dropDuplicates",
    "union",
    "unionByName",
    "sql",
    "table",
    "parquet",
    "csv",
    "json",
    "orc",
    "load",
    "text",
    "map",
    "flatMap",
    "mapPartitions",
    "mapValues",
    "reduceByKey",
    "groupByKey",
    "orderBy",
    "sort",
    "repartition",
    "coalesce",
    "limit",
    "applyInPandas",
    "mapInPandas",
    "transform",
    "crossJoin",
    "textFile",
    "parallelize",
    "createDataFrame",
    "fillna",
    "dropna",
    "toDF",
    "leftOuterJoin",
    "aggregateByKey",
    "zipWithIndex",
];

impl Part {
    pub(super) fn methods(self) -> &'static [&'static str] {
        match self {
            Part::Join => JOINS,
            Part::Aggregate => AGGREGATES,
            Part::Window | Part::Expression => COLUMNS,
            Part::UserCode => PANDAS,
            Part::Distinct => &["distinct", "dropDuplicates", "drop_duplicates"],
            Part::Partitioning => PARTITIONS,
            Part::Gather => &[
                "coalesce",
                "repartition",
                "withColumn",
                "select",
                "withColumns",
                "limit",
            ],
            Part::Sort => SORTS,
            Part::Read => FILES,
            Part::Write => WRITES,
            Part::Filter => &["filter", "where"],
            Part::Explode => EXPLODES,
            Part::Cache => &["cache", "persist"],
        }
    }

    /// The word that begins such a clause of a query.
    pub(super) fn clause(self) -> Option<&'static str> {
        Some(match self {
            Part::Aggregate => "GROUP",
            Part::Window | Part::Gather => "OVER",
            Part::Sort => "ORDER",
            Part::Filter => "WHERE",
            Part::Distinct => "DISTINCT",
            Part::Partitioning => "DISTRIBUTE",
            Part::Write => "INSERT",
            Part::Explode => "LATERAL",
            Part::Expression => "SELECT",
            _ => return None,
        })
    }
}
