//! Memory by its kind, and other limits.

use super::wrong;
use crate::class::Class::*;

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
