//! Texts of failures as the engines and their services write them, with their class.

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
fn memory_is_told_apart_by_its_kind() {
    let cases = [
        (
            HeapFull,
            "java.lang.OutOfMemoryError: Java heap space\n\tat java.util.Arrays.copyOf(Arrays.java:3332)",
        ),
        (
            HeapFull,
            "java.lang.OutOfMemoryError: GC overhead limit exceeded",
        ),
        (
            HeapFull,
            "ExecutorLostFailure (executor 7 exited caused by one of the running tasks) Reason: Container from a bad node: container_e05_1 on host: ip-10-0-0-7. Exit status: 52. Diagnostics: Exception from container-launch.",
        ),
        (
            HeapFull,
            "The executor with id 4 exited with exit code 52(JVM OOM).",
        ),
        (
            MemoryDenied,
            "org.apache.spark.memory.SparkOutOfMemoryError: Unable to acquire 65536 bytes of memory, got 0",
        ),
        (
            MemoryDenied,
            "org.apache.spark.memory.SparkOutOfMemoryError: [UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 16384 bytes of memory, got 0.",
        ),
        (OffHeap, "java.lang.OutOfMemoryError: Direct buffer memory"),
        (
            OffHeap,
            "io.netty.util.internal.OutOfDirectMemoryError: failed to allocate 16777216 byte(s) of direct memory (used: 7637827871, max: 7640973312)",
        ),
        (OffHeap, "java.lang.OutOfMemoryError: Metaspace"),
        (
            Threads,
            "java.lang.OutOfMemoryError: unable to create new native thread",
        ),
        (
            Threads,
            "java.io.FileNotFoundException: /mnt/yarn/blockmgr-1/0c/temp_shuffle_7 (Too many open files)",
        ),
        (
            Physical,
            "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: Container killed by YARN for exceeding physical memory limits. 9.1 GB of 9 GB physical memory used. Consider boosting spark.executor.memoryOverhead.",
        ),
        (
            Physical,
            "Application application_1 failed 2 times due to AM Container for appattempt_1 exited with  exitCode: -104\nFailing this attempt.Diagnostics: Container [pid=17,containerID=c] is running beyond physical memory limits. Current usage: 1.5 GB of 1.5 GB physical memory used; 3.4 GB of 3.1 GB virtual memory used. Killing container.",
        ),
        (
            Virtual,
            "Container killed by YARN for exceeding virtual memory limits. 18.4 GB of 16.8 GB virtual memory used. Consider boosting spark.executor.memoryOverhead or boosting yarn.nodemanager.vmem-pmem-ratio or disabling yarn.nodemanager.vmem-check-enabled because of YARN-4714.",
        ),
        (
            Virtual,
            "Container [pid=28,containerID=c] is running beyond virtual memory limits. Current usage: 365.1 MB of 1 GB physical memory used; 3.2 GB of 2.1 GB virtual memory used. Killing container.",
        ),
        (
            Overhead,
            "ExecutorLostFailure (executor 2 exited caused by one of the running tasks) Reason: \nThe executor with id 2 exited with exit code 137(SIGKILL, possible container OOM).\nThe API gave the following container statuses:\n\t container name: spark-kubernetes-executor\n\t exit code: 137\n\t termination reason: OOMKilled",
        ),
        (
            Overhead,
            "Container from a bad node: container_1 on host: ip-1. Exit status: 137. Diagnostics: Container killed on request. Exit code is 137\nContainer exited with a non-zero exit code 137.\nKilled by external signal",
        ),
        (Overhead, "Command exited with code 137"),
        (Overhead, "OSError: [Errno 12] Cannot allocate memory"),
        (
            Native,
            "The executor with id 9 exited with exit code 134(unexpected).",
        ),
        (
            Native,
            "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Container marked as failed: container_3 on host: h. Exit status: 134. Diagnostics: Exception from container-launch.",
        ),
        (
            Native,
            "Container exited with a non-zero exit code 139. Error file: prelaunch.err.\n# A fatal error has been detected by the Java Runtime Environment:\n#  SIGSEGV (0xb) at pc=0x00007f, pid=1, tid=7",
        ),
        (
            Native,
            "OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory failed\n# There is insufficient memory for the Java Runtime Environment to continue.",
        ),
        (
            PythonMemory,
            "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File \"/app/job.py\", line 7, in f\n    x = bytearray(n)\nMemoryError",
        ),
        (
            PythonMemory,
            "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and data type float64",
        ),
        (
            PythonMemory,
            "pyarrow.lib.ArrowMemoryError: malloc of size 268435456 failed",
        ),
        (
            VertexMemory,
            "Unhandled exception from user code: \"Exception of type 'System.OutOfMemoryException' was thrown.\"",
        ),
        (
            VertexMemory,
            "E_RUNTIME_SYSTEM_RESOURCE_OUT_OF_MEMORY: the vertex ran out of memory",
        ),
    ];
    assert_eq!(wrong(&cases), Vec::<String>::new());
}

#[test]
fn limits_name_themselves() {
    let cases = [
        (
            ResultSize,
            "Job aborted due to stage failure: Total size of serialized results of 2045 tasks (4.0 GiB) is bigger than spark.driver.maxResultSize (4.0 GiB)",
        ),
        (
            ResultSize,
            "org.apache.spark.SparkException: Tasks result size has exceeded maxResultSize: total size of serialized results of 3 tasks (1.1 GiB)",
        ),
        (
            Kryo,
            "org.apache.spark.SparkException: Kryo serialization failed: Buffer overflow. Available: 0, required: 73400320. To avoid this, increase spark.kryoserializer.buffer.max value.",
        ),
        (
            Kryo,
            "com.esotericsoftware.kryo.KryoException: Buffer overflow. Available: 1, required: 4",
        ),
        (
            RpcMessage,
            "org.apache.spark.SparkException: Job aborted due to stage failure: Serialized task 12:0 was 214748364 bytes, which exceeds max allowed: spark.rpc.message.maxSize (134217728 bytes). Consider increasing spark.rpc.message.maxSize or using broadcast variables for large values.",
        ),
        (
            BroadcastTimeout,
            "org.apache.spark.SparkException: Could not execute broadcast in 300 secs. You can increase the timeout for broadcasts via spark.sql.broadcastTimeout or disable broadcast join by setting spark.sql.autoBroadcastJoinThreshold to -1\nCaused by: java.util.concurrent.TimeoutException: Futures timed out after [300 seconds]",
        ),
        (
            BroadcastSize,
            "org.apache.spark.SparkException: Cannot broadcast the table that is larger than 8.0 GiB: 11.3 GiB.",
        ),
        (
            BroadcastSize,
            "org.apache.spark.SparkException: Cannot broadcast the table over 512000000 rows: 611203944 rows",
        ),
        (
            BroadcastSize,
            "java.lang.OutOfMemoryError: Not enough memory to build and broadcast the table to all worker nodes. As a workaround, you can either disable broadcast by setting spark.sql.autoBroadcastJoinThreshold to -1 or increase the spark driver memory",
        ),
        (Disk, "java.io.IOException: No space left on device"),
        (
            Disk,
            "org.apache.spark.memory.SparkOutOfMemoryError: error while calling spill() on org.apache.spark.util.collection.unsafe.sort.UnsafeExternalSorter@1 : No space left on device",
        ),
        (
            Disk,
            "org.apache.hadoop.util.DiskChecker$DiskErrorException: Could not find any valid local directory for s3ablock-0001-",
        ),
        (
            Disk,
            "The node was low on resource: ephemeral-storage. Container spark-kubernetes-executor was using 48Gi, which exceeds its request of 0.",
        ),
        (
            Disk,
            "System.IO.IOException: There is not enough space on the disk.",
        ),
        (
            Quota,
            "org.apache.hadoop.hdfs.protocol.DSQuotaExceededException: The DiskSpace quota of /user/etl is exceeded: quota = 1099511627776 B = 1 TB but diskspace consumed = 1.02 TB",
        ),
        (Quota, "OSError: [Errno 122] Disk quota exceeded"),
        (
            Generated,
            "org.codehaus.janino.InternalCompilerException: Code of method \"processNext()V\" of class \"GeneratedIterator\" grows beyond 64 KB",
        ),
        (
            Generated,
            "java.lang.StackOverflowError\n\tat org.apache.spark.sql.catalyst.trees.TreeNode.transform(TreeNode.scala:300)",
        ),
        (
            OtherLimit,
            "java.lang.IllegalArgumentException: Size exceeds Integer.MAX_VALUE",
        ),
        (
            OtherLimit,
            "java.lang.IllegalArgumentException: Cannot grow BufferHolder by size 2147483640 because the size after growing exceeds size limitation 2147483632",
        ),
        (
            Time,
            "E_RUNTIME_SYSTEM_VERTEX_TIMEOUT: the vertex ran longer than the limit of 5 hours",
        ),
        (
            TempData,
            "E_USER_JM_AM_TempDataHeldBytesPerTokenLimitExceeded",
        ),
        (
            ValueSize,
            "E_RUNTIME_USER_ROWTOOBIG: The row exceeds the maximum allowed size of 4194304 bytes",
        ),
        (
            ValueSize,
            "E_RUNTIME_USER_STRINGTOOBIG: String size 143221 exceeds the maximum allowed size of 131072",
        ),
        (
            ValueSize,
            "E_RUNTIME_USER_EXTRACT_COLUMN_CONVERSION_TOO_LONG: Value too long failure when attempting to convert column data.",
        ),
    ];
    assert_eq!(wrong(&cases), Vec::<String>::new());
}

#[test]
fn inputs_are_missing_damaged_mismatching_or_forbidden() {
    let cases = [
        (
            InputMissing,
            "org.apache.spark.sql.AnalysisException: [PATH_NOT_FOUND] Path does not exist: s3a://lake/events/dt=2026-11-20.",
        ),
        (
            InputMissing,
            "org.apache.hadoop.mapred.InvalidInputException: Input path does not exist: hdfs://nn/data/20261120",
        ),
        (
            InputMissing,
            "java.io.FileNotFoundException: File does not exist: hdfs://nn/warehouse/t/part-0001.parquet\nIt is possible the underlying files have been updated.",
        ),
        (
            InputMissing,
            "org.apache.spark.SparkFileNotFoundException: File file:/data/part-3.parquet does not exist",
        ),
        (
            InputMissing,
            "com.amazonaws.services.s3.model.AmazonS3Exception: The specified key does not exist. (Service: Amazon S3; Status Code: 404; Error Code: NoSuchKey; Request ID: X)",
        ),
        (
            InputMissing,
            "Operation failed: \"The specified path does not exist.\", 404, HEAD, https://a.dfs.core.windows.net/c/p?upn=false",
        ),
        (
            InputMissing,
            "org.apache.spark.sql.AnalysisException: Unable to infer schema for Parquet. It must be specified manually.",
        ),
        (
            InputMissing,
            "io.delta.exceptions.DeltaFileNotFoundException: [DELTA_FILE_NOT_FOUND_DETAILED] File dbfs:/t/part-1 referenced in the transaction log cannot be found. This occurs when data has been manually deleted from the file system rather than using the table `DELETE` statement.",
        ),
        (
            InputMissing,
            "org.apache.spark.sql.AnalysisException: `s3://lake/t` is not a Delta table.",
        ),
        (
            InputMissing,
            "Traceback (most recent call last):\n  File \"/app/job.py\", line 3, in <module>\n    open(p)\nFileNotFoundError: [Errno 2] No such file or directory: 'rates.csv'",
        ),
        (
            InputMissing,
            "org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Offsets out of range with no configured reset policy for partitions: {t-0=12}",
        ),
        (
            InputMissing,
            "E_STORE_STREAM_NOT_FOUND: stream or directory not found",
        ),
        (
            InputMissing,
            "The stream cosmos://c/vc/shares/x/2026_11_20.ss does not exist or has expired",
        ),
        (
            InputUnreadable,
            "java.lang.RuntimeException: s3a://lake/x.parquet is not a Parquet file. Expected magic number at tail, but found [12, 0, 0, 1]",
        ),
        (
            InputUnreadable,
            "org.apache.spark.SparkException: [CANNOT_READ_FILE_FOOTER] Could not read footer for file: hdfs://nn/p.parquet.",
        ),
        (
            InputUnreadable,
            "org.apache.spark.SparkException: [MALFORMED_RECORD_IN_PARSING] Malformed records are detected in record parsing: [1,x]. Parse Mode: FAILFAST.",
        ),
        (
            InputUnreadable,
            "org.apache.hadoop.hdfs.BlockMissingException: Could not obtain block: BP-1:blk_107 file=/data/x",
        ),
        (
            InputUnreadable,
            "java.io.EOFException: Unexpected end of input stream\n\tat org.apache.hadoop.io.compress.DecompressorStream.decompress(DecompressorStream.java:165)",
        ),
        (
            InputUnreadable,
            "org.apache.hadoop.fs.ChecksumException: Checksum error: file:/data/x at 512 exp: 1 got: 2",
        ),
        (
            InputUnreadable,
            "E_RUNTIME_USER_EXTRACT_ENCODING_ERROR: Encoding error occurred after processing 12 record(s) in the vertex' input split.",
        ),
        (
            InputMismatch,
            "org.apache.spark.sql.execution.QueryExecutionException: Parquet column cannot be converted in file s3://l/p.parquet. Column: [amount], Expected: double, Found: BINARY",
        ),
        (
            InputMismatch,
            "org.apache.spark.sql.AnalysisException: A schema mismatch detected when writing to the Delta table (Table ID: 1).",
        ),
        (
            InputMismatch,
            "org.apache.spark.SparkException: [CANNOT_MERGE_SCHEMAS] Failed merging schemas: Initial schema: a INT. Schema that cannot be merged: a STRING",
        ),
        (
            InputMismatch,
            "java.lang.IllegalArgumentException: Number of column in CSV header is not equal to number of fields in the schema:\n Header length: 9, schema size: 8",
        ),
        (
            InputMismatch,
            "org.apache.avro.AvroTypeException: Found long, expecting union",
        ),
        (
            InputMismatch,
            "E_RUNTIME_USER_EXTRACT_ROW_DELIMITER_EXPECTED: Too many columns in input record.",
        ),
        (
            InputMismatch,
            "E_RUNTIME_USER_EXTRACT_UNEXPECTED_NUMBER_COLUMNS: Unexpected number of columns in input record at line 17.",
        ),
        (
            InputMismatch,
            "E_RUNTIME_USER_EXTRACT_COLUMN_CONVERSION_INVALID_ERROR: Invalid character when attempting to convert column data.",
        ),
        (
            InputForbidden,
            "java.nio.file.AccessDeniedException: s3a://lake/t: getFileStatus on s3a://lake/t: com.amazonaws.services.s3.model.AmazonS3Exception: Forbidden (Service: Amazon S3; Status Code: 403; Error Code: 403 Forbidden)",
        ),
        (
            InputForbidden,
            "org.apache.hadoop.security.AccessControlException: Permission denied: user=etl, access=WRITE, inode=\"/warehouse\":hive:hive:drwxr-xr-x",
        ),
        (
            InputForbidden,
            "Operation failed: \"This request is not authorized to perform this operation using this permission.\", 403, GET, https://a.dfs.core.windows.net/c, AuthorizationPermissionMismatch",
        ),
        (
            InputForbidden,
            "org.apache.hadoop.ipc.RemoteException(org.apache.hadoop.security.token.SecretManager$InvalidToken): token (token for etl: HDFS_DELEGATION_TOKEN owner=etl) can't be found in cache",
        ),
        (
            InputForbidden,
            "com.databricks.sql.managedcatalog.acl.UnauthorizedAccessException: PERMISSION_DENIED: User does not have USE SCHEMA on Schema 'main.x'.",
        ),
        (
            InputForbidden,
            "org.apache.spark.sql.AnalysisException: org.apache.hadoop.hive.ql.metadata.HiveException: MetaException(message:Got exception: org.apache.hadoop.security.AccessControlException Permission denied: user=a)",
        ),
        (
            InputForbidden,
            "PermissionError: [Errno 13] Permission denied: '/mnt/x'",
        ),
    ];
    assert_eq!(wrong(&cases), Vec::<String>::new());
}

#[test]
fn what_is_outside_the_job_is_not_its_fault() {
    let cases = [
        (
            Throttled,
            "org.apache.hadoop.fs.s3a.AWSServiceThrottledException: copyFile on s3a://b/x: com.amazonaws.services.s3.model.AmazonS3Exception: Please reduce your request rate. (Service: Amazon S3; Status Code: 503; Error Code: SlowDown)",
        ),
        (
            Throttled,
            "Operation failed: \"Operations per second is over the account limit.\", 503, PUT, https://a.dfs.core.windows.net/c",
        ),
        (
            Throttled,
            "com.amazon.ws.emr.hadoop.fs.shaded.com.amazonaws.services.s3.model.AmazonS3Exception: Slow Down (Service: Amazon S3; Status Code: 503; Error Code: 503 Slow Down)",
        ),
        (
            Throttled,
            "com.google.cloud.hadoop.repackaged.gcs.GoogleJsonResponseException: 429 Too Many Requests",
        ),
        (
            Throttled,
            "The server is busy. Please retry the request (ServerBusy)",
        ),
        (
            Service,
            "java.net.ConnectException: Call From a/10.0.0.1 to nn:8020 failed on connection exception: java.net.ConnectException: Connection refused; For more details see:  http://wiki.apache.org/hadoop/ConnectionRefused",
        ),
        (
            Service,
            "java.net.UnknownHostException: db.internal: Name or service not known",
        ),
        (
            Service,
            "org.apache.spark.sql.AnalysisException: java.lang.RuntimeException: Unable to instantiate org.apache.hadoop.hive.ql.metadata.SessionHiveMetaStoreClient",
        ),
        (
            Service,
            "MetaException(message:Could not connect to meta store using any of the URIs provided. Most recent failure: org.apache.thrift.transport.TTransportException: java.net.ConnectException)",
        ),
        (
            Service,
            "org.apache.hadoop.ipc.RemoteException(org.apache.hadoop.hdfs.server.namenode.SafeModeException): Cannot create file. Name node is in safe mode.",
        ),
        (
            Service,
            "com.amazonaws.SdkClientException: Unable to execute HTTP request: Timeout waiting for connection from pool",
        ),
        (
            Service,
            "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.example.com', port=443): Max retries exceeded with url: /v1",
        ),
        (
            Service,
            "org.postgresql.util.PSQLException: The connection attempt failed.",
        ),
        (
            Service,
            "com.amazonaws.services.s3.model.AmazonS3Exception: We encountered an internal error. Please try again. (Service: Amazon S3; Status Code: 500; Error Code: InternalError)",
        ),
        (
            Conflict,
            "io.delta.exceptions.ConcurrentAppendException: Files were added to partition [dt=2026-11-20] by a concurrent update. Please try the operation again.",
        ),
        (
            Conflict,
            "org.apache.iceberg.exceptions.ValidationException: Found conflicting files that can contain records matching ref(name=\"id\") == 1",
        ),
        (
            System,
            "E_RUNTIME_SYSTEM_INTERNALISSUE: An internal error has been reported 'Assertion failed: 'a < b' at ScopeEngine::DryadChannel::ValidateOffsets(2191)'",
        ),
        (
            System,
            "VertexFailedTooManyDueToSystemError_Runtime: Vertex failed too many times due to Runtime system error.",
        ),
        (
            System,
            "org.apache.spark.SparkException: [INTERNAL_ERROR] The Spark SQL phase optimization failed with an internal error. You hit a bug in Spark or the Spark plugins you use.",
        ),
        (System, "E_CSC_SYSTEM_INTERNAL: internal error!"),
        (Stopped, "Job cancelled because SparkContext was shut down"),
        (
            Stopped,
            "java.io.IOException: Filesystem closed\n\tat org.apache.hadoop.hdfs.DFSClient.checkOpen(DFSClient.java:795)",
        ),
        (
            Stopped,
            "org.apache.spark.SparkException: Job 12 cancelled part of cancelled job group 6f3",
        ),
        (
            Stopped,
            "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.",
        ),
        (
            Stopped,
            "Application application_1 was killed by user etl at 10.0.0.1",
        ),
        (
            Stopped,
            "java.lang.InterruptedException\n\tat java.lang.Object.wait(Native Method)",
        ),
    ];
    assert_eq!(wrong(&cases), Vec::<String>::new());
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
fn names_of_files_say_nothing_of_a_failure() {
    let text = "java.lang.NullPointerException: row of s3a://lake/throttled/corrupt/x.csv and /data/slowdown";
    assert_eq!(class(text), UserCode);
    assert!(Class::ALL.iter().all(|c| !c.topic().is_empty()));
}
