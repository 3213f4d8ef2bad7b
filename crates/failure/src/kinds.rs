//! Types of exceptions: languages and libraries by name, others by the words in their names.

use super::class::Class::{self, *};
use super::codes::Said;

/// Types of missing or unfit code, with any message.
const LINKAGE: &str = "ModuleNotFoundError | ImportError | PackageNotFoundError | ClassNotFoundException | NoClassDefFoundError | \
    NoSuchMethodError | NoSuchFieldError | AbstractMethodError | UnsupportedClassVersionError | MissingMethodException";

/// Types of faults in code of the user, with any message.
const BASIC: &str = "AttributeError | IndexError | KeyError | NameError | TypeError | UnboundLocalError | ZeroDivisionError | \
    AssertionError | RecursionError | JSONDecodeError | UnicodeDecodeError | UnicodeEncodeError | StopIteration | \
    NotImplementedError | NullPointerException | NumberFormatException | ArithmeticException | \
    ArrayIndexOutOfBoundsException | StringIndexOutOfBoundsException | IndexOutOfBoundsException | \
    NoSuchElementException | MatchError | DateTimeParseException | DateTimeException | NegativeArraySizeException | \
    EmptyStackException | InputMismatchException | NullReferenceException | FormatException | KeyNotFoundException | \
    DivideByZeroException | InvalidCastException | IndexOutOfRangeException | OverflowException | ArgumentNullException | \
    ArgumentOutOfRangeException | JsonReaderException | JsonParseException";

/// Types that are a fault of Spark if Spark itself throws them, outside code of the user.
const INTERNAL: &str = "NullPointerException | ClassCastException | AssertionError | MatchError | \
    ArrayIndexOutOfBoundsException | IndexOutOfBoundsException | NegativeArraySizeException | IllegalStateException";

/// A table of classes, each with its names.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident: $($class:ident, $names:literal;)*) => {
        $(#[$doc])*
        const $name: &[(Class, &str)] = &[$((Class::$class, $names)),*];
    };
}

table! {
    /// Types by their simple name.
    NAMED:
    BadValue, "SparkArithmeticException | SparkNumberFormatException | SparkDateTimeException | \
         SparkArrayIndexOutOfBoundsException | SparkUpgradeException";
    Constraint, "SQLIntegrityConstraintViolationException";
    Compile, "SQLSyntaxErrorException | NoSuchTableException | NoSuchDatabaseException | NoSuchNamespaceException | \
         NoSuchViewException | NoSuchFunctionException | SQLFeatureNotSupportedException";
    Dependency, "ClassNotFoundException | NoClassDefFoundError | NoSuchMethodError | NoSuchFieldError | AbstractMethodError | \
         IncompatibleClassChangeError | UnsupportedClassVersionError | UnsatisfiedLinkError | BootstrapMethodError | \
         ExceptionInInitializerError | VerifyError | LinkageError | InvalidClassException | ModuleNotFoundError | \
         ImportError | UnsupportedFileSystemException | IllegalAccessError | BadImageFormatException | \
         DllNotFoundException | TypeLoadException | MissingMethodException | PackageNotFoundError";
    InputForbidden, "AccessControlException | AccessDeniedException | UnauthorizedAccessException | PermissionError | \
         HiveAccessControlException | SecurityException | GSSException | InvalidToken | ForbiddenException | \
         NotAuthorizedException | SQLInvalidAuthorizationSpecException | NoCredentialsError | BadCredentialsException | \
         InvalidAWSCredentialsException";
    InputMissing, "FileNotFoundException | NoSuchFileException | FileNotFoundError | InvalidInputException | \
         DirectoryNotFoundException | NoSuchKeyException | NoSuchBucketException | OffsetOutOfRangeException | \
         UnknownTopicOrPartitionException | NoOffsetForPartitionException | IsNotADirectoryError";
    InputMismatch, "AvroTypeException | SchemaColumnConvertNotSupportedException | ParquetDecodingException | \
         InvalidSchemaException | IncompatibleSchemaException | StateSchemaNotCompatible | SchemaParseException";
    InputUnreadable, "ChecksumException | BlockMissingException | ZipException | BadGzipFile | BadRecordException | \
         FileFormatException | CorruptStatistics | MalformedJsonException | InvalidProtocolBufferException | \
         EncoderFallbackException | DecoderFallbackException | MalformedInputException | BadZipFile";
    OutputExists, "FileAlreadyExistsException | FileExistsError | AlreadyBeingCreatedException";
    Conflict, "CommitFailedException | CommitStateUnknownException | HoodieWriteConflictException | ConcurrentAppendException | \
         ConcurrentWriteException | ConcurrentDeleteReadException | ConcurrentDeleteDeleteException | \
         ConcurrentTransactionException | MetadataChangedException | ProtocolChangedException";
    Quota, "DSQuotaExceededException | NSQuotaExceededException | QuotaByStorageTypeExceededException";
    ValueSize, "RecordTooLargeException | MessageSizeTooLargeException | DocumentTooLarge | BsonMaximumSizeExceededException";
    Generated, "StackOverflowError | StackOverflowException | JaninoRuntimeException";
    HeapFull, "OutOfMemoryError";
    PythonMemory, "MemoryError | ArrowMemoryError";
}

table! {
    /// Libraries with exceptions about one subject.
    PACKAGES:
    InputUnreadable, "org.apache.parquet. | org.apache.orc. | org.apache.avro. | org.apache.hadoop.io.compress. | com.univocity. | \
         com.fasterxml.jackson.core. | org.apache.commons.compress. | com.github.luben.zstd. | org.xml.sax.";
    Service, "java.net. | javax.net. | java.sql. | java.rmi. | org.postgresql. | com.mysql. | org.mariadb. | oracle.jdbc. | \
         com.microsoft.sqlserver. | net.snowflake. | com.ibm.db2. | com.vertica. | com.teradata. | com.sap. | \
         com.clickhouse. | ru.yandex.clickhouse. | com.amazon.redshift. | com.mongodb. | org.elasticsearch. | \
         org.opensearch. | com.datastax. | redis.clients. | io.lettuce. | org.apache.hadoop.hbase. | \
         org.apache.hadoop.ipc. | org.apache.hadoop.hdfs. | org.apache.thrift. | org.apache.kafka. | kafka.common. | \
         org.apache.pulsar. | org.apache.zookeeper. | org.apache.http. | org.apache.curator. | io.grpc. | okhttp3. | \
         com.amazonaws. | software.amazon. | com.azure. | com.microsoft.azure. | com.google.cloud. | com.google.api. | \
         requests.exceptions. | urllib3.exceptions. | urllib.error. | botocore.exceptions. | socket. | http.client. | \
         grpc. | psycopg2. | pymysql. | pymongo.errors. | sqlalchemy.exc. | System.Net. | System.Data. | \
         Microsoft.Azure. | com.couchbase. | com.aerospike. | org.apache.solr. | org.neo4j. | io.fabric8. | \
         org.apache.hadoop.fs.s3a. | org.apache.hadoop.fs.azurebfs. | org.apache.hadoop.fs.azure. | \
         com.google.cloud.hadoop. | org.apache.hive.service. | org.apache.hadoop.hive.metastore.";
}

table! {
    /// Words that types are named after.
    WORDS:
    Throttled, "Throttl | TooManyRequests | RateLimit | RateExceeded | ResourceExhausted | ServerBusy | SlowDown | ThroughputExceeded";
    Quota, "QuotaExceeded";
    InputForbidden, "AccessDenied | Forbidden | Unauthorized | Unauthenticated | Authorization | Authentication | Permission | Credential";
    InputMismatch, "SchemaMismatch | IncompatibleSchema | TypeMismatch | SchemaChange";
    InputUnreadable, "Corrupt | Checksum | Malformed";
    Compile, "TableNotFound | EntityNotFound | NoSuchTable | DatabaseNotFound";
    Conflict, "Conflict | ConcurrentUpdate | OptimisticLock";
    OutputExists, "AlreadyExists";
    InputMissing, "FileNotFound | PathNotFound | BlobNotFound | KeyNotFoundInBucket | NoSuchObject";
    Service, "Timeout | TimedOut | Unavailable | Connect | NoNodeAvailable | NoHostAvailable | Unreachable | Socket | \
         TransportException | Disconnect | HttpResponse | HttpException | RpcException | NoRouteToHost";
    Stopped, "Interrupt | Cancel | Abort";
}

/// The class of a type that decides with any message.
pub(super) fn deciding(kind: &str) -> Option<Class> {
    let tables = [(UserCode, BASIC), (Dependency, LINKAGE)];
    let found = tables.iter().find(|(_, names)| has(names, simple(kind)));
    found.map(|(class, _)| *class)
}

/// Whether such an exception, thrown by Spark outside code of the user, is a fault of Spark.
pub(super) fn is_internal(kind: &str) -> bool {
    has(INTERNAL, simple(kind))
}

/// Whether a frame is one of the engine or of a library of its platform.
pub(super) fn is_of_engine(frame: &str) -> bool {
    const ENGINE: [&str; 6] = [
        "org.apache.spark.",
        "org.apache.hadoop.",
        "org.apache.iceberg.",
        "org.apache.hudi.",
        "io.delta.",
        "com.databricks.",
    ];
    let frame = frame.rsplit('/').next().unwrap_or(frame);
    ENGINE.iter().any(|package| frame.starts_with(package))
}

/// The class of a timeout or of a fault of a network by the code of Spark that waited.
pub(super) fn of_waiting(frames: &[&str]) -> Option<Class> {
    const PLACES: [(Class, &str); 3] = [
        (BroadcastTimeout, "BroadcastExchangeExec"),
        (FetchFailed, "ShuffleBlockFetcherIterator"),
        (FetchFailed, "MapOutputTracker"),
    ];
    let has = |place: &str| frames.iter().any(|frame| frame.contains(place));
    let found = PLACES.iter().find(|(_, place)| has(place));
    found.map(|(class, _)| *class)
}

/// The class of an exception by its type, and whether the type alone is the reason.
pub(super) fn class(kind: &str) -> Option<Said> {
    let simple = simple(kind);
    let named = NAMED.iter().find(|(_, names)| has(names, simple));
    if let Some((class, _)) = named {
        return Some((*class, true));
    }
    let of = |table: &[(Class, &str)], fits: &dyn Fn(&str) -> bool| {
        let found = table.iter().find(|(_, all)| all.split(" | ").any(fits));
        found.map(|(class, _)| (*class, false))
    };
    let shaded = |package: &str| kind.starts_with(package) || kind.contains(&format!(".{package}"));
    of(WORDS, &|word| simple.contains(word)).or_else(|| of(PACKAGES, &shaded))
}

/// The name of a type without its package.
fn simple(kind: &str) -> &str {
    kind.rsplit(['.', '$']).next().unwrap_or(kind)
}

fn has(names: &str, name: &str) -> bool {
    names.split(" | ").any(|one| one == name)
}
