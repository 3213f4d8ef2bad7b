//! Texts of failures as the engines and their services write them, with their class.

mod codes;
mod inputs;
mod limits;

use job::model::JobError;

use super::class::Class::{self, *};
use super::recognize;

/// The class of a text that a log has as the error of a job, a task or an executor.
fn class(text: &str) -> Class {
    let error = JobError {
        message: text.lines().next().unwrap_or_default().to_owned(),
        details: Some(text.to_owned()),
        vertex: Some("stage 1[0] attempt 0".to_owned()),
        ..JobError::default()
    };
    recognize(&error).map_or(Unknown, |r| r.class)
}

fn wrong(cases: &[(Class, &str)]) -> Vec<String> {
    let found = cases.iter().map(|(right, text)| (right, class(text), text));
    let wrong = found.filter(|(right, found, _)| *right != found);
    let line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    wrong
        .map(|(right, found, text)| format!("{found:?} for {right:?}: {}", line(text)))
        .collect()
}

#[test]
fn executors_and_shuffles() {
    let cases = [
        (
            FetchFailed,
            "org.apache.spark.shuffle.MetadataFetchFailedException: Missing an output location for shuffle 3 partition 7",
        ),
        (
            FetchFailed,
            "org.apache.spark.shuffle.FetchFailedException: Failed to connect to host/10.0.0.3:7337\nCaused by: java.net.ConnectException: Connection refused",
        ),
        (
            FetchFailed,
            "ResultStage 4 (collect at a.py:3) has failed the maximum allowable number of times: 4. Most recent failure reason: org.apache.spark.shuffle.FetchFailedException: Connection reset by peer",
        ),
        (
            FetchFailed,
            "java.io.FileNotFoundException: /mnt/blockmgr-5d/0e/shuffle_12_7_0.index (No such file or directory)",
        ),
        (
            Lost,
            "ExecutorLostFailure (executor 4 exited caused by one of the running tasks) Reason: Executor heartbeat timed out after 128937 ms",
        ),
        (
            Lost,
            "ExecutorLostFailure (executor 9 exited unrelated to the running tasks) Reason: Remote RPC client disassociated. Likely due to containers exceeding thresholds, or network issues.",
        ),
        (Lost, "Max number of executor failures (20) reached"),
        (
            Lost,
            "Container marked as failed: container_9 on host: h. Exit status: 143. Diagnostics: Container killed on request. Exit code is 143\nKilled by external signal",
        ),
        (Preempted, "Container container_7 on host h was preempted."),
        (Preempted, "Container released on a *lost* node"),
        (Preempted, "Executor decommission: spark scale down"),
        (
            PythonWorker,
            "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)\n\tat a.b\nCaused by: java.io.EOFException",
        ),
        (
            PythonWorker,
            "org.apache.spark.SparkException: Python worker failed to connect back.",
        ),
    ];
    assert_eq!(wrong(&cases), Vec::<String>::new());
}

#[test]
fn code_and_queries_of_the_user() {
    let cases = [
        (
            Compile,
            "org.apache.spark.sql.AnalysisException: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name `custmer_id` cannot be resolved. Did you mean one of the following? [`customer_id`].",
        ),
        (
            Compile,
            "org.apache.spark.sql.AnalysisException: Table or view not found: sales.orders; line 1 pos 14",
        ),
        (
            Compile,
            "org.apache.spark.sql.catalyst.parser.ParseException: [PARSE_SYNTAX_ERROR] Syntax error at or near 'FORM'.(line 1, pos 9)",
        ),
        (
            Compile,
            "pyspark.errors.exceptions.captured.AnalysisException: [DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES] Cannot resolve \"(a + b)\" due to data type mismatch",
        ),
        (
            Compile,
            "E_CSC_USER_SYNTAXERROR: syntax error. Expected one of: '.' ALTER ANALYZE ASSEMBLY",
        ),
        (
            Compile,
            "error CS0246: The type or namespace name 'Newtonsoft' could not be found",
        ),
        (
            BadValue,
            "org.apache.spark.SparkNumberFormatException: [CAST_INVALID_INPUT] The value 'abc' of the type \"STRING\" cannot be cast to \"INT\" because it is malformed.",
        ),
        (
            BadValue,
            "org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead.",
        ),
        (
            Dependency,
            "java.lang.ClassNotFoundException: com.example.Parser",
        ),
        (
            Dependency,
            "java.lang.NoSuchMethodError: com.google.common.base.Preconditions.checkArgument(ZLjava/lang/String;)V",
        ),
        (
            Dependency,
            "ModuleNotFoundError: No module named 'geopandas'",
        ),
        (
            Dependency,
            "java.io.IOException: Cannot run program \"python3.9\": error=2, No such file or directory",
        ),
        (
            Dependency,
            "org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme \"s3\"",
        ),
        (
            Dependency,
            "System.IO.FileNotFoundException: Could not load file or assembly 'Newtonsoft.Json, Version=9.0.0.0' or one of its dependencies.",
        ),
        (
            OutputExists,
            "org.apache.hadoop.mapred.FileAlreadyExistsException: Output directory hdfs://nn/out already exists",
        ),
        (
            UserCode,
            "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File \"/app/job.py\", line 39, in parse\n    return float(text)\nValueError: could not convert string to float: 'n/a'",
        ),
        (
            UserCode,
            "org.apache.spark.SparkException: [FAILED_EXECUTE_UDF] Failed to execute user defined function (App$$Lambda: (string) => int).\nCaused by: java.lang.NullPointerException",
        ),
        (
            UserCode,
            "java.lang.AssertionError: assertion failed: negative price",
        ),
        (
            UserCode,
            "E_RUNTIME_USER_EXPRESSIONEVALUATION: Error while evaluating expression int.Parse(x)",
        ),
        (
            UserCode,
            "Unhandled exception from user code: \"Output column 'Par' is missing from the data frame\"",
        ),
        (
            Unknown,
            "com.vendor.WeirdFailure: the flux capacitor is empty",
        ),
    ];
    assert_eq!(wrong(&cases), Vec::<String>::new());
}

#[test]
fn clusters_databases_and_clouds() {
    let cases = [
        (
            OtherLimit,
            "java.lang.IllegalArgumentException: Required executor memory (16384 MB), overhead (1638 MB) is above the max threshold (12288 MB) of this cluster!",
        ),
        (
            OtherLimit,
            "org.apache.hadoop.hive.ql.metadata.HiveException: Number of dynamic partitions created is 1001, which is more than 1000. To solve this try to set hive.exec.max.dynamic.partitions to at least 1001.",
        ),
        (
            InputMissing,
            "java.lang.IllegalStateException: Cannot find earliest offsets of Set(t-0). Some data may have been missed.",
        ),
        (
            Conflict,
            "java.lang.IllegalStateException: Concurrent update to the log. Multiple streaming jobs detected for 12",
        ),
        (
            InputForbidden,
            "java.sql.SQLException: ORA-01017: invalid username/password; logon denied",
        ),
        (
            InputForbidden,
            "Invalid configuration value detected for fs.azure.account.key",
        ),
        (
            Lost,
            "The spark driver has stopped unexpectedly and is restarting. Your notebook will be automatically reattached.",
        ),
        (
            Compile,
            "org.postgresql.util.PSQLException: ERROR: relation \"sales\" does not exist",
        ),
        (
            InputMismatch,
            "java.lang.UnsupportedOperationException: org.apache.parquet.column.values.dictionary.PlainValuesDictionary$PlainIntegerDictionary",
        ),
        (
            Dependency,
            "java.lang.ClassCastException: cannot assign instance of java.lang.invoke.SerializedLambda to field org.apache.spark.rdd.MapPartitionsRDD.f",
        ),
        (
            Constraint,
            "org.apache.spark.sql.delta.DeltaUnsupportedOperationException: Cannot perform Merge as multiple source rows matched and attempted to modify the same target row",
        ),
        (
            Service,
            "com.microsoft.sqlserver.jdbc.SQLServerException: The TCP/IP connection to the host db, port 1433 has failed.",
        ),
        (InputUnreadable, "java.io.IOException: Input/output error"),
        (
            Quota,
            "pods \"a-exec-3\" is forbidden: exceeded quota: team, requested: limits.memory=8Gi",
        ),
        (
            Stopped,
            "java.lang.IllegalStateException: Spark context stopped while waiting for backend",
        ),
        (
            BroadcastSize,
            "org.apache.spark.sql.execution.OutOfMemorySparkException: Size of broadcasted table far exceeds estimates and exceeds limit of spark.driver.maxResultSize=4294967296",
        ),
        (
            FetchFailed,
            "org.apache.spark.SparkException: Unable to register with external shuffle server due to : Failed to connect to h/10.0.0.1:7337",
        ),
        (
            Time,
            "Vertex SV3_Aggregate[7] failed: the vertex was running longer than 5 hours",
        ),
    ];
    assert_eq!(wrong(&cases), Vec::<String>::new());
}

#[test]
fn names_of_files_say_nothing_of_a_failure() {
    let text = "java.lang.NullPointerException: row of s3a://lake/throttled/corrupt/x.csv and /data/slowdown";
    assert_eq!(class(text), UserCode);
    assert!(Class::ALL.iter().all(|c| !c.topic().is_empty()));
}
