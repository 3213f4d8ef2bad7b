//! Texts of failures as engines, services and libraries write them, condensed, with their cause and with words that advice must not have.

/// Cause, words of harmful advice (separated by `|`), text.
pub(crate) const SPARK: &[(&str, &str, &str)] = &[
    // containers and executors
    (
        "failure.limit",
        "null",
        "ExecutorLostFailure (executor 1 exited) Reason: Container marked as failed: container_1 on host: h. Exit status: 137. Diagnostics: Container killed on request. Exit code is 137",
    ),
    (
        "failure.limit",
        "null",
        "ExecutorLostFailure (executor 1 exited) Reason: Container from a bad node: container_1 on host: h. Exit status: 52. Diagnostics: Exception from container-launch.",
    ),
    (
        "failure.limit",
        "spark.executor.memory is",
        "ExecutorLostFailure (executor 1 exited) Reason: Container from a bad node: container_1 on host: h. Exit status: 139. Diagnostics: Segmentation fault (core dumped)",
    ),
    (
        "failure.limit",
        "null",
        "ExecutorLostFailure (executor 1 exited) Reason: Container killed by YARN for exceeding memory limits. 4.2 GB of 4.2 GB virtual memory used.",
    ),
    (
        "executor.lost",
        "null|spark.executor.memory is",
        "ExecutorLostFailure (executor 1 exited) Reason: Container marked as failed: container_1 on host: h. Exit status: -100. Diagnostics: Container released on a *lost* node.",
    ),
    (
        "executor.lost",
        "null",
        "ExecutorLostFailure (executor 1 exited) Reason: Command exited with code 50",
    ),
    (
        "executor.lost",
        "null",
        "ExecutorLostFailure (executor 1 exited) Reason: worker lost: Not receiving heartbeat for 60 seconds",
    ),
    // memory and other limits
    (
        "failure.limit",
        "null",
        "java.lang.OutOfMemoryError: GC overhead limit exceeded\n\tat java.util.Arrays.copyOf(Arrays.java:2367)",
    ),
    (
        "failure.limit",
        "null|spark.executor.memory is",
        "java.lang.OutOfMemoryError: Metaspace\n\tat java.lang.ClassLoader.defineClass1(Native Method)",
    ),
    (
        "failure.limit",
        "kryoserializer",
        "com.esotericsoftware.kryo.KryoException: java.io.IOException: No space left on device\nCaused by: java.io.IOException: No space left on device",
    ),
    (
        "failure.limit",
        "spark.local.dir",
        "org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows to hdfs://nn/out. SQLSTATE: 58030\nCaused by: org.apache.hadoop.hdfs.protocol.DSQuotaExceededException: The DiskSpace quota of /user/etl is exceeded: quota = 10 TB",
    ),
    (
        "failure.limit",
        "null",
        "org.apache.spark.SparkException: Writing job aborted\nCaused by: org.apache.kafka.common.errors.RecordTooLargeException: The message is 1850342 bytes when serialized which is larger than 1048576",
    ),
    (
        "failure.limit",
        "null",
        "org.codehaus.janino.InternalCompilerException: Constant pool for class GeneratedClass$SpecificUnsafeProjection has grown past JVM limit of 0xFFFF",
    ),
    (
        "failure.limit",
        "null",
        "org.apache.spark.memory.SparkOutOfMemoryError: [UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 262144 bytes of memory, got 220032. SQLSTATE: 53200",
    ),
    (
        "broadcast.too_large",
        "null",
        "org.apache.spark.SparkException: Cannot broadcast the table over 341000000 rows: 700000000 rows",
    ),
    (
        "broadcast.too_large",
        "null",
        "org.apache.spark.sql.catalyst.errors.package$TreeNodeException: execute, tree:\nCaused by: java.util.concurrent.TimeoutException: Futures timed out after [300 seconds]\n\tat org.apache.spark.sql.execution.exchange.BroadcastExchangeExec.doExecuteBroadcast(BroadcastExchangeExec.scala:136)",
    ),
    // storage, services, other writers, stops
    (
        "failure.external",
        "null|maxFailures",
        "java.io.IOException: Error inserting: bucket: out, object: part-1.parquet\nCaused by: com.google.api.client.googleapis.json.GoogleJsonResponseException: 429 Too Many Requests",
    ),
    (
        "failure.external",
        "null",
        "com.amazonaws.services.dynamodbv2.model.ProvisionedThroughputExceededException: The level of configured provisioned throughput for the table was exceeded. (Status Code: 400)",
    ),
    (
        "failure.external",
        "null",
        "org.elasticsearch.hadoop.rest.EsHadoopNoNodesLeftException: Connection error (check network and/or proxy settings)- all nodes failed; tried [[es:9200]]\n\tat org.elasticsearch.hadoop.rest.NetworkClient.execute(NetworkClient.java:150)",
    ),
    (
        "failure.external",
        "null",
        "com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure\nCaused by: java.io.EOFException: Can not read response from server",
    ),
    (
        "failure.external",
        "null",
        "org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException: Failed 112 actions: RegionTooBusyException: 112 times, servers with issues: rs3",
    ),
    (
        "failure.external",
        "null",
        "org.apache.iceberg.exceptions.CommitFailedException: Cannot commit db.t: metadata location s3://w/a.json has changed from s3://w/b.json",
    ),
    (
        "failure.external",
        "null",
        "org.apache.hudi.exception.HoodieWriteConflictException: java.util.ConcurrentModificationException: Cannot resolve conflicts for overlapping writes",
    ),
    (
        "failure.external",
        "null",
        "java.sql.BatchUpdateException: Batch entry 80 INSERT INTO t was aborted: ERROR: deadlock detected",
    ),
    (
        "failure.external",
        "null",
        "java.lang.NullPointerException\n\tat org.apache.spark.sql.execution.adaptive.CustomShuffleReaderExec.metrics(CustomShuffleReaderExec.scala:120)",
    ),
    (
        "failure.external",
        "null",
        "org.apache.spark.SparkException: [INTERNAL_ERROR] The Spark SQL phase optimization failed with an internal error. SQLSTATE: XX000",
    ),
    (
        "failure.external",
        "null",
        "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.",
    ),
    // inputs
    (
        "failure.input",
        "null",
        "java.nio.file.AccessDeniedException: s3a://b/k: getFileStatus on s3a://b/k: com.amazonaws.services.s3.model.AmazonS3Exception: Forbidden (Service: Amazon S3; Status Code: 403; Error Code: 403 Forbidden)",
    ),
    (
        "failure.input",
        "null",
        "org.apache.spark.SparkException: Task failed while writing rows.\nCaused by: org.apache.hadoop.security.AccessControlException: Permission denied: user=spark, access=WRITE, inode=\"/out\":root:supergroup:drwxr-xr-x",
    ),
    (
        "failure.input",
        "null",
        "org.apache.hadoop.ipc.RemoteException(org.apache.hadoop.security.token.SecretManager$InvalidToken): token (token for etl: HDFS_DELEGATION_TOKEN) is expired",
    ),
    (
        "failure.input",
        "null",
        "org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [payments]",
    ),
    (
        "failure.input",
        "null",
        "java.io.FileNotFoundException: File does not exist: hdfs://nn/w/sales/part-00012.snappy.parquet\nIt is possible the underlying files have been updated.",
    ),
    (
        "failure.input",
        "null",
        "java.lang.IllegalStateException: Cannot fetch offset 13 (TopicPartition: t-1). Some data may have been lost because they are not available in Kafka any more",
    ),
    (
        "failure.input",
        "null",
        "org.apache.spark.sql.execution.QueryExecutionException: Parquet column cannot be converted in file p.parquet. Column: [time], Expected: string, Found: INT64",
    ),
    (
        "failure.input",
        "null",
        "org.apache.avro.AvroTypeException: Found com.acme.Order, expecting com.acme.OrderV2, missing required field channel",
    ),
    (
        "failure.input",
        "null",
        "org.apache.orc.FileFormatException: Malformed ORC file hdfs://nn/w/t/000000_0. Invalid postscript.",
    ),
    (
        "failure.input",
        "null",
        "java.io.EOFException: Unexpected end of input stream\n\tat org.apache.hadoop.io.compress.DecompressorStream.decompress(DecompressorStream.java:165)",
    ),
    (
        "failure.input",
        "null",
        "java.lang.IllegalStateException: Error reading delta file hdfs://nn/cp/state/0/3/41.delta of HDFSStateStoreProvider\n\tat org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider.updateFromDeltaFile(HDFSBackedStateStoreProvider.scala:424)",
    ),
    // queries
    (
        "failure.compile",
        "null",
        "org.apache.spark.sql.AnalysisException: cannot resolve '`custmer_id`' given input columns: [customer_id, amount]; line 3 pos 10;",
    ),
    (
        "failure.compile",
        "null",
        "[UNRESOLVED_ROUTINE] Cannot resolve routine `datediff_ms` on search path [`system`.`builtin`]. SQLSTATE: 42883; line 1 pos 7",
    ),
    (
        "failure.compile",
        "null",
        "org.postgresql.util.PSQLException: ERROR: column \"amount_eur\" of relation \"orders\" does not exist",
    ),
    // code and values
    (
        "failure.user_code",
        "throttl",
        "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File \"job.py\", line 44, in f\n    return limits[key]\nKeyError: 'rate limit exceeded'\n",
    ),
    (
        "failure.user_code",
        "throttl",
        "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File \"job.py\", line 44, in f\n    return x\nValueError: Input contains NaN\n",
    ),
    (
        "failure.user_code",
        "null",
        "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File \"job.py\", line 4, in f\nImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory\n",
    ),
    (
        "failure.user_code",
        "null",
        "java.lang.IllegalArgumentException: Unsupported class file major version 61\n\tat org.apache.xbean.asm7.ClassReader.<init>(ClassReader.java:195)",
    ),
    (
        "failure.user_code",
        "null",
        "java.lang.NoSuchMethodError: net.jpountz.lz4.LZ4BlockInputStream.<init>(Ljava/io/InputStream;Z)V",
    ),
    (
        "failure.user_code",
        "memory",
        "scala.MatchError: (2019-01-01,7) (of class scala.Tuple2)\n\tat com.acme.Job$$anonfun$main$2.apply(Job.scala:61)",
    ),
    (
        "failure.user_code",
        "memory",
        "org.apache.spark.SparkArithmeticException: [CAST_OVERFLOW_IN_TABLE_INSERT] Fail to assign a value of \"BIGINT\" type to the \"INT\" type column `qty` due to an overflow. SQLSTATE: 22003",
    ),
    (
        "failure.user_code",
        "memory",
        "org.apache.spark.SparkUpgradeException: You may get a different result due to the upgrading of Spark 3.0: Fail to parse '13/45/2020' in the new parser.\nCaused by: java.time.format.DateTimeParseException: Text '13/45/2020' could not be parsed at index 3",
    ),
    (
        "failure.user_code",
        "try_cast",
        "java.sql.BatchUpdateException: Cannot insert the value NULL into column 'customer_id', table 'dw.dbo.orders'; column does not allow nulls.",
    ),
    (
        "failure.user_code",
        "try_cast|OPTIMIZE",
        "org.apache.spark.sql.delta.DeltaUnsupportedOperationException: Cannot perform Merge as multiple source rows matched and attempted to modify the same",
    ),
    (
        "failure.user_code",
        "NULL",
        "org.apache.spark.SparkException: Task not serializable\nCaused by: java.io.NotSerializableException: com.acme.DbPool",
    ),
];

/// Cause, words of harmful advice, error id and message.
pub(crate) const USQL: &[(&str, &str, &str, &str)] = &[
    (
        "failure.input",
        "test for null",
        "E_RUNTIME_USER_EXTRACT_ROW_DELIMITER_EXPECTED",
        "Too many columns in input record.",
    ),
    (
        "failure.limit",
        "test for null",
        "E_RUNTIME_USER_EXTRACT_COLUMN_CONVERSION_TOO_LONG",
        "Value too long failure when attempting to convert column data.",
    ),
    (
        "failure.limit",
        "test for null",
        "E_RUNTIME_USER_ROWTOOBIG",
        "A commit request is outside of a reservation size. A row is too big.",
    ),
    (
        "failure.limit",
        "test for null",
        "E_RUNTIME_USER_UDO_TIMEOUT",
        "User defined operator timed out: no rows produced in 5 minutes",
    ),
    (
        "failure.input",
        "test for null",
        "E_CSC_USER_EMPTYFILESET",
        "No files matched the file set pattern '/in/{date:yyyy}/{*}.csv'.",
    ),
    (
        "failure.input",
        "test for null",
        "E_CSC_USER_ACCESSDENIED",
        "Access denied. ACL verification failed. Either the resource does not exist or the user is not authorized to perform the requested operation.",
    ),
    (
        "failure.compile",
        "test for null|resubmit",
        "E_CSC_USER_SYNTAXERROR",
        "syntax error. Expected one of: EXTERNAL identifier variable",
    ),
    (
        "failure.user_code",
        "128 KB",
        "E_RUNTIME_USER_UNHANDLED_EXCEPTION_FROM_USER_CODE",
        "Unhandled exception from user code: \"Output column 'Par' is missing from the data frame\"",
    ),
    (
        "failure.user_code",
        "test for null",
        "E_RUNTIME_USER_UNHANDLED_EXCEPTION_FROM_USER_CODE",
        "Unhandled exception from user code: \"Could not load file or assembly 'Newtonsoft.Json, Version=9.0.0.0'\"",
    ),
    (
        "failure.external",
        "test for null",
        "E_STORE_SYSTEM_SERVERBUSY",
        "The store account contoso is throttling requests: server busy (503).",
    ),
];
