//! Texts for recognizing failures, for both engines.
//!
//! A pattern is in lower case, separated by ` | `; `*` stands for anything within a line. Within a table the first group decides
//! that has a pattern in a line. `NAMED` is searched in all exceptions of an error at once, `GROUPS` in one exception after the other,
//! the innermost first, and `GENERAL` where neither found anything.

use super::class::Class;

/// Patterns of one class, and the programs or documents that have these texts.
pub(crate) struct Group {
    pub(crate) class: Class,
    pub(crate) source: &'static str,
    any: &'static str,
}

/// A table of groups: the class and the source of each, then its patterns.
macro_rules! groups {
    ($(#[$doc:meta])* $name:ident: $($class:ident, $source:literal, $any:literal;)*) => {
        $(#[$doc])*
        pub(crate) static $name: &[Group] = &[$(Group { class: Class::$class, source: $source, any: $any }),*];
    };
}

impl Group {
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &'static str> {
        self.any.split(" | ")
    }
}

groups! {
    /// Texts that name themselves, wherever in a chain of exceptions they are.
    NAMED:
    // limits
    BroadcastSize, "Databricks",
        "size of broadcasted table far exceeds";
    ResultSize, "Spark TaskSetManager",
        "spark.driver.maxresultsize | total size of serialized results";
    RpcMessage, "Spark CoarseGrainedSchedulerBackend",
        "spark.rpc.message.maxsize | spark.akka.framesize | \
         map output statuses were * bytes which exceeds";
    Kryo, "Spark KryoSerializer",
        "kryoserializer.buffer | kryo*buffer overflow | buffer overflow. available: * required:";
    BroadcastTimeout, "Spark BroadcastExchangeExec",
        "could not execute broadcast in | spark.sql.broadcasttimeout | broadcastexchange*timed out";
    BroadcastSize, "Spark BroadcastExchangeExec",
        "cannot broadcast the table | not enough memory to build and broadcast | maximum broadcast table";
    TempData, "SCOPE job manager",
        "tempdata | temporary data*limit | maximum temporary | temporary storage*exceed";
    ValueSize, "U-SQL runtime",
        "string_too_long | stringtoobig | stringtoolong | rowtoobig | row_too_big | row_too_large | \
         conversion_too_long | string size * exceeds | row size * exceeds | row of size * exceeds | \
         value too long failure | resulting data length is too long | exceeds the maximum allowed size | \
         maximum row size | is larger than the maximum allowed row";
    // memory, by kind
    Virtual, "YARN ContainersMonitor",
        "exceeding virtual memory limits | beyond virtual memory limits | \
         beyond the 'virtual' memory limit | for exceeding memory limits. * virtual memory used";
    Physical, "YARN ContainersMonitor",
        "exceeding physical memory limits | beyond physical memory limits | \
         beyond the 'physical' memory limit | killed by yarn for exceeding | physical memory used";
    Disk, "Linux, kubelet",
        "no space left on device | low on resource: ephemeral-storage | \
         ephemeral local storage usage exceeds | ephemeral-storage | diskpressure";
    OffHeap, "JVM, Netty",
        "outofdirectmemoryerror | direct buffer memory | of direct memory | outofmemoryerror: metaspace | \
         compressed class space | permgen space | spark.memory.offheap";
    Threads, "JVM, Linux",
        "unable to create native thread | unable to create new native thread | too many open files | \
         emfile | resource temporarily unavailable";
    Native, "JVM",
        "insufficient memory for the java runtime | a fatal error has been detected by the java runtime | \
         sigabrt | sigsegv | sigbus | problematic frame | std::bad_alloc | glibc detected | munmap_chunk | \
         double free or corruption";
    PythonMemory, "Python",
        "^memoryerror | : memoryerror | arraymemoryerror | unable to allocate * for an array | \
         arrowmemoryerror | malloc of size * failed | arrow*out of memory";
    MemoryDenied, "Spark TaskMemoryManager",
        "unable to acquire * bytes | can't acquire * bytes | unable_to_acquire_memory | \
         sparkoutofmemoryerror | could not acquire * memory";
    HeapFull, "JVM",
        "java heap space | gc overhead limit exceeded | requested array size exceeds vm limit | \
         java.lang.outofmemoryerror | (jvm oom)";
    VertexMemory, ".NET, SCOPE runtime",
        "0x8007000e | \
         system.outofmemoryexception | outofmemory | out_of_memory | insufficient memory to continue | \
         exceeded its memory | memory limit of the vertex | vertex*memory limit | exceed* memory limit | \
         process memory * exceed";
    Overhead, "Linux, kubelet, Spark",
        "oomkilled | container oom | memory cgroup out of memory | low on resource: memory | \
         cannot allocate memory | (sigkill | \
         out of memory: kill | oom-kill";
    // disks and quotas
    Disk, "Linux, Hadoop",
        "not enough space on the disk | enospc | could not find any valid local directory | \
         no space available in any of the local directories | failed to create a temp directory | \
         failed to create local dir | diskerrorexception | disk full | disk is full | local-dirs are bad | \
         local-dirs usable space is below";
    Quota, "HDFS, Linux",
        "exceeded quota | \
         quotaexceededexception | quota of * is exceeded | disk quota exceeded | quota exceeded | \
         exceeded*storage quota";
    PythonWorker, "Spark PythonRunner",
        "python worker exited unexpectedly | python worker failed to connect back | python worker*crash | \
         fatal python error | worker process*died | pyspark*segmentation fault | \
         python worker did not connect back";
    // shuffles and executors
    FetchFailed, "Spark DAGScheduler",
        "register with external shuffle | \
         metadatafetchfailed | missing an output location for shuffle | fetchfailed | \
         failed to get shuffle block | shuffleblockfetcher | failed to get broadcast_ | \
         has failed the maximum allowable number of times | shuffle_*.index | shuffle_*.data | \
         blockmgr-*no such file | error while reading shuffle | \
         unable to deserialize broadcasted map statuses | corrupt*shuffle";
    Preempted, "YARN, Kubernetes, clouds",
        "preempt | decommission | spot instance | spotinstance | spot*reclaim | \
         container released on a *lost* node | node was terminated | node lost | lost node | \
         instance*terminated | evicted | taintmanagereviction | \
         nodelost | cloud provider shutdown";
    Lost, "Spark TaskSchedulerImpl, YARN",
        "driver has stopped unexpectedly | applicationmaster for attempt * timed out | \
         heartbeat timed out | heartbeats timed out | remote rpc client disassociated | \
         rpc client disassociated | max number of executor failures | executor failures * reached | \
         executor*removed after * failures | worker lost | slave lost | executordeadexception";
}

groups! {
    /// Texts of an exception that give the reason, also inside other exceptions.
    GROUPS:
    // dependencies
    Dependency, "JVM, Python, .NET",
        "unsupported class file major version | could not initialize class | failed to register classes with kryo | \
         unregistered class id | could not find or load main class | errimagepull | imagepullbackoff | \
         cannot assign instance of | cannot import name | failed to find data source | data_source_not_found | \
         could not load file or assembly | cannot run program | has different version*than that in driver | \
         python_version_mismatch | no filesystem for scheme | serialversionuid | assembly*not found | unable to load dll";
    // U-SQL and SCOPE: the compiler, and messages of the runtime about inputs
    System, "SCOPE compiler",
        "e_csc_system_internal | internal compiler error";
    InputMissing, "SCOPE compiler, store",
        "e_csc*filenotfound | e_csc*streamnotfound | e_csc*streamdoesnotexist | e_csc*inputfile | stream*does not exist | \
         stream*not found | input file*does not exist | stream*has expired | input*has expired | emptyfileset | no files matched | e_store*not_found | \
         e_store*notfound | no input files | file set*no files | could not find*stream";
    InputForbidden, "ADLS, Cosmos store",
        "e_store*access | e_csc*access | e_store*auth | e_store*forbidden | e_runtime*accessdenied | acl verification failed";
    Compile, "SCOPE compiler",
        "e_csc_user_ | error cs0 | error cs1 | c# compil";
    UserCode, "SCOPE runtime",
        "e_runtime_user_expressionevaluation | error while evaluating expression";
    InputUnreadable, "U-SQL runtime",
        "extract_encoding_error | extract_invalid_character | inputreadfailure | extent*unavailable | extent*not available | \
         extent*lost | data*unavailable in stream";
    InputMismatch, "U-SQL runtime",
        "extract_unexpected_number_columns | extract_row_delimiter_expected | extract_column_delimiter | \
         extract_column_conversion | extract_row_error | extract_quote | unexpected number of columns in input | \
         too many columns in input record | error occured while extracting row | error occurred while extracting row | \
         e_runtime_user_extract | schema of the stream | schema*does not match";
    // storage that throttles
    Throttled, "S3, Azure Storage, Google Cloud Storage, AWS",
        "slowdown | slow down | \", 503, | reduce your request rate | throttl | status code: 503 | 503 service unavailable | \
         503 server busy | too many requests | toomanyrequests | status code: 429 | error 429 | http 429 | serverbusy | \
         server is busy | over the account limit | ratelimit | rate limit | rate exceeded | requestlimitexceeded | \
         provisionedthroughputexceeded | userratelimitexceeded | e_store*busy";
    // inputs
    InputForbidden, "HDFS, S3, Azure, Google Cloud, Hive, Unity Catalog",
        "configuration property * not found | invalid configuration value detected for fs.azure | \
         using anoynomous credentials | using anonymous credentials | logon denied | password authentication failed | \
         login failed for user | mkdirs failed to create | access denied | accessdenied | access is denied | \
         permission denied | status code: 403 | 403 forbidden | error 403 | 403, | http 403 | statuscode=403 | \
         not authorized to | notauthorized | authorizationpermissionmismatch | authorizationfailure | authenticationfailed | \
         authorization failed | insufficient privileges | insufficient_permissions | insufficient permission | \
         does not have privilege | does not have permission | does not have storage.objects | user does not have | \
         unauthorizedaccess | unauthorized | status code: 401 | invalidaccesskeyid | signaturedoesnotmatch | expiredtoken | \
         token included in the request is expired | token*is expired | can't be found in cache | nocredentialprovider | \
         nocredentials | no aws credentials | unable to load*credentials | gss initiate failed | \
         client cannot authenticate via | no valid credentials provided | permissionerror: | \
         this request is not authorized | kms*denied";
    InputMissing, "Spark, HDFS, S3, Azure, Google Cloud, Delta Lake",
        "some data may have been | invalidmountexception | path does not exist | path_not_found | paths do not exist | \
         sparkfilenotfoundexception | underlying files have been updated | no such file or directory | file does not exist | \
         file_not_exist | input path does not exist | input pattern * matches 0 files | nosuchkey | \
         specified key does not exist | status code: 404 | nosuchbucket | bucket does not exist | blobnotfound | \
         specified blob does not exist | specified path does not exist | pathnotfound | filesystemnotfound | \
         containernotfound | specified container does not exist | delta_file_not_found | \
         cannot be found. this occurs when data has been manually deleted | is not a delta table | \
         delta_missing_delta_table | delta_table_not_found | delta_path_does_not_exist | unable to infer schema | \
         unable_to_infer_schema | data may have been lost because | topic*does not exist | unknowntopicorpartition | \
         no such object | 404 not found | partition_path_not_found | could not find*partition | \
         could not find file";
    InputMismatch, "Parquet, Avro, ORC, CSV, Delta Lake",
        "plainvaluesdictionary | parquet.column.values | schema for existing state | delta_metadata_mismatch | \
         parquet column cannot be converted | schemacolumnconvertnotsupported | parquet_column_data_type_mismatch | \
         unsupported parquet | illegal parquet type | parquet_type_illegal | cannot be read as | \
         incompatible_data_for_table | incompatible data for | schema mismatch | delta_schema | schema_mismatch | \
         failed to merge incompatible | cannot_merge_schema | failed merging schema | failed_merge | \
         failed to merge fields | cannot convert avro | avro_incompatible_read_type | incompatible schema | \
         incompatibleschema | conflicting column names | found duplicate column | duplicate field | \
         number of column in csv header | header does not conform | csv header | column count mismatch | \
         number of columns*does not match | schema of * does not match | does not match the schema | \
         mixing of file formats | unable to convert value*column type | cannot cast * of orc | orc*schema evolution | \
         is not compatible with the schema | uses a type * that does not match";
    InputUnreadable, "Parquet, ORC, Hadoop codecs, HDFS, Spark",
        "error reading delta file | error reading snapshot file | cannot_load_state_store | input/output error | is not a parquet file | expected magic number | could not read footer | \
         cannot_read_file_footer | malformed orc file | malformed_record | malformed record | malformed_csv | \
         checksum error | checksum mismatch | could not obtain block | corrupt | unexpected end of input stream | \
         unexpected end of file | unexpected end of zlib | unexpected end of stream | not a gzip file | not in gzip format | \
         crc error | bad crc | incorrect header check | invalid block type | zlib*error | not a data file | not an avro data file | invalid sync | \
         zstd*decompress | could not read block | premature eof | unknown data type in file";
    // tables that change while they are written
    Conflict, "Delta Lake, Iceberg, Hudi",
        "concurrent update to the log | multiple streaming jobs detected | multiple streaming queries are concurrently | \
         deadlock detected | deadlock found | concurrentappend | concurrentdelete | concurrenttransaction | \
         delta_concurrent | delta_protocol_changed | delta_metadata_changed | files were added to * by a concurrent update | \
         cannot commit*conflict | commitfailedexception: cannot commit | found conflicting files | commitstateunknown";
    OutputExists, "Spark, Hadoop",
        "output directory * already exists | path_already_exists | path * already exists | location_already_exists | \
         file*already exists";
    Service, "Hive metastore",
        "unable to instantiate*metastore | could not connect to meta store | ttransportexception | metastore*unavailable | \
         metastore*timed out | metastore*unreachable";
    Compile, "Spark Catalyst, Hive",
        "strict mode requires | table or view does not exist | invalid object name | relation * does not exist | \
         nosuchobjectexception | parse_syntax_error | unresolved_column | unresolved_routine | unresolved_field | \
         cannot resolve * given input | cannot resolve column | cannot resolve * due to | table_or_view_not_found | table or view not found | table or view * not found | schema_not_found | \
         table or view * already exists | table_or_view_already_exists | datatype_mismatch | mismatched input | \
         extraneous input | no viable alternative at input | ambiguous_reference | missing_aggregation | missing_group_by | \
         implicit cartesian product | undefined function | compilation failed | script*does not compile | wrong_num_args";
    Generated, "Spark code generation, JVM",
        "grows beyond 64 kb | code too large | stack overflow | constant pool*has grown past";
    Time, "SCOPE job manager, Databricks, EMR, YARN",
        "e_runtime_system*timeout | udo_timeout | operator timed out | exceeded*hour | for more than * hour | running longer than | vertex_timeout | \
         vertextimeout | time_limit | timelimit | longer than the limit | ran longer than | exceeded*time limit | \
         maximum run time | exceeded timeout | exceeded the maximum*time | exceeded*maximum*duration | \
         timed out after running | job timeout | deadline exceeded for the job | killed due to timeout | \
         application lifetime | statement_timeout | compilation*timed out | compilation*time-out";
    // stops from outside the job
    Stopped, "Spark DAGScheduler, YARN, Databricks, SCOPE",
        "stopped while waiting | could not find coarsegrainedscheduler | removed our application: killed | \
         sparkcontext was shut down | sparkcontext is shutting down | sparkcontext has been shutdown | \
         stopped sparkcontext | sparkcontext was stopped | cancelled by user | canceled by user | killed by user | \
         was killed by the user | killed by admin | terminated by user | cancelled part of cancelled job | \
         cancelled as part of cancellation | cancelled because | job * cancelled | job was cancelled | job was canceled | \
         execution was cancelled | spark_job_cancelled | command was cancelled | query was cancelled | query cancelled | \
         operation_canceled | operation canceled | user cancelled | user canceled | received signal | keyboardinterrupt | \
         stage cancelled | run was cancelled | run canceled | application * was killed | application was killed | \
         e_jm*cancel | terminated by the user | asked to stop | streamingquery*stopped | cluster*terminated | \
         cluster terminated";
    System, "SCOPE and U-SQL runtime, Spark",
        "e_runtime_system | toomanyduetosystemerror | due to * system error | internal_error | internalissue | \
         assertion failed: ' | e_system";
    // other limits
    OtherLimit, "Spark, JVM, SCOPE job manager",
        "above the max threshold | must be at least * please increase heap size | hive.exec.max | which is more than | \
         size exceeds integer.max_value | exceeds 2 gb | exceeds 2gb | cannot grow bufferholder | too many elements | \
         too many partitions | spark.*exceed | exceed*spark. | spark.*bigger than | bigger than spark. | \
         larger than*spark. | requires more slots than the total";
    // values that code of the user meets
    BadValue, "Spark SQL in ANSI mode",
        "cast_invalid_input | divide_by_zero | arithmetic_overflow | binary_arithmetic_overflow | cast_overflow | \
         cannot_parse | invalid_array_index | invalid_fraction_of_second | map_key_does_not_exist | \
         numeric_value_out_of_range | decimal precision * exceeds | conversion_invalid_input | \
         invalid input syntax for type | cannot be cast to \" | set spark.sql.ansi.enabled to false | not_null_assert | \
         null value appeared in non-nullable";
    Constraint, "Delta Lake, databases",
        "multiple source rows matched | merge_cardinality | duplicated_map_key | duplicate entry | duplicate key | \
         scalar_subquery_too_many_rows | violates * constraint | unique constraint | does not allow nulls | \
         cannot be null | would be truncated | value too long for type | check constraint";
    NotSerializable, "Spark ClosureCleaner, JavaSerializer",
        "task not serializable | notserializableexception | cannot pickle | can't pickle | could not serialize object";
}

groups! {
    /// Texts that may follow from something else: an exception around them that gives a reason decides before them.
    GENERAL:
    Lost, "Spark TaskSchedulerImpl, YARN",
        "executorlostfailure | executor lost | lost executor | executor exited | executor * exited | \
         executor with id * was lost | executor with id * exited | container from a bad node | \
         container marked as failed | command exited with code";
    Compile, "Spark Catalyst, Hive",
        "analysisexception | catalyst.parser.parseexception | ql.parse.parseexception | semanticexception";
    Stopped, "JVM, Hadoop",
        "interruptedexception | interruptedioexception | closedbyinterrupt | filesystem closed | shutdown hook | \
         shutdown in progress";
    Service, "JDK, Hadoop, AWS, Azure, Hive metastore, Kafka",
        "tcp/ip connection | external scheduler cannot be instantiated | all masters are unresponsive | \
         connection refused | connectexception | connection reset | connectionreset | unknownhost | \
         name or service not known | temporary failure in name resolution | no such host | connecttimeout | \
         connection timed out | connect timed out | sockettimeout | read timed out | socket timeout | \
         no route to host | network is unreachable | socketexception | unable to execute http request | \
         could not connect to meta store | metastore | metaexception | ttransportexception | \
         thrift*exception | sslhandshake | sslexception | certificate | bad gateway | gateway time | \
         internal server error | internalservererror | internalerror (service | status code: 500 | \
         status code: 502 | status code: 504 | http 500 | http 502 | http 503 | http 504 | \
         service unavailable | serviceunavailable | safe mode | safemodeexception | standbyexception | \
         connectionerror | max retries exceeded | communications link failure | connection pool | \
         waiting for connection from pool | sqltransient | sqlrecoverable | sqltimeoutexception | \
         sqlnontransientconnection | psqlexception | broken pipe | nohttpresponse | closedchannel | \
         timeoutexception | timeouterror | temporarily unavailable | leaseexpired | no lease on | \
         could only be replicated to 0 nodes | could only be written to 0 of | futures timed out | \
         rpc*timed out | rpctimeout | e_store*timeout | e_store_ | requesttimeout | eventhubexception | \
         remoteexception | the remote server returned an error | webexception | storageexception | \
         azureblobfilesystemexception | abfsrestoperationexception | amazons3exception | awsserviceio | \
         awsclientio | sdkclientexception | googlejsonresponseexception";
    System, "SCOPE and U-SQL runtime, Spark",
        "internal error | internal system error | system error | systemerror";
    OtherLimit, "Spark, JVM, SCOPE job manager",
        "limit exceeded | limitexceeded | exceeded the limit | exceeds the limit | exceeds the maximum | \
         exceeded the maximum | maximum allowed | _limit_ | toomanyfiles | exceeds maximum";
    UserCode, "Python, JVM, .NET",
        "user did not initialize spark context | \
         pythonexception | failed_execute_udf | failed to execute user defined function | \
         user_raised_exception | unhandled_exception | unhandled exception from user code | \
         e_runtime_user | vertex user code error | valueerror | typeerror | keyerror | indexerror | \
         attributeerror | nameerror | zerodivisionerror | assertionerror | unicodedecodeerror | \
         jsondecodeerror | recursionerror | runtimeerror | overflowerror | stopiteration | \
         notimplementederror | nullpointerexception | numberformatexception | arithmeticexception | \
         classcastexception | indexoutofbounds | illegalargumentexception | illegalstateexception | \
         unsupportedoperationexception | nosuchelementexception | matcherror | datetimeparse | \
         nullreferenceexception | \
         system.formatexception | argumentexception | argumentnullexception | argumentoutofrange | \
         invalidoperationexception | overflowexception | dividebyzero | keynotfoundexception | \
         invalidcastexception | indexoutofrange | negativearraysize | jsonreaderexception | xmlexception";
}

groups! {
    /// Texts that only name the place where an exception surfaced. They count only without another match: a reader of files
    /// also wraps the exceptions of the rest of its task.
    WRAPPERS:
    InputUnreadable, "Spark FileScanRDD",
        "failed_read_file | encountered error while reading file | error while reading file | \
         unable to read file";
}
