//! Inputs, storage, services, stops.

use super::wrong;
use crate::class::Class::*;

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
