//! Numbers and names that programs agree on, and the order in which exceptions of a chain count.

use super::wrong;
use crate::class::Class::{self, *};
use crate::codes::{condition, exit, http, sqlstate};

#[test]
fn codes_say_their_class() {
    let exits = [
        ("Command exited with code 52", Some(HeapFull)),
        ("Exit status: 137. Diagnostics: Killed", Some(Overhead)),
        ("exited with exit code 139(SIGSEGV)", Some(Native)),
        ("exitCode: -104", Some(Physical)),
        ("Exit status: -100", Some(Preempted)),
        ("Exit code is 143", Some(Lost)),
        ("exit code 0", None),
        ("no code", None),
    ];
    for (text, class) in exits {
        assert_eq!(exit(text), class, "{text}");
    }
    let answers = [
        (
            "GoogleJsonResponseException: 429 Too Many Requests",
            Some(Throttled),
        ),
        (
            "(Service: Amazon S3; Status Code: 403; Error Code: X)",
            Some(InputForbidden),
        ),
        (
            "Operation failed: \"busy\", 503, PUT, https://a",
            Some(Throttled),
        ),
        (
            "Server returned HTTP response code: 502 for URL",
            Some(Service),
        ),
        ("\"code\" : 404,", Some(InputMissing)),
        ("read 404 rows in 503 ms", None),
        ("Exit code 403", None),
        ("row 4031", None),
    ];
    for (text, class) in answers {
        assert_eq!(http(text), class, "{text}");
    }
    let states: [(&str, Option<(Class, bool)>); 6] = [
        ("Division by zero. SQLSTATE: 22012", Some((BadValue, true))),
        ("no column. SQLSTATE: 42703", Some((Compile, true))),
        ("no path. SQLSTATE: 42K03", Some((InputMissing, true))),
        (
            "a function failed. SQLSTATE: 39000",
            Some((UserCode, false)),
        ),
        ("rows were written. SQLSTATE: 58030", None),
        ("SQLSTATE: 2", None),
    ];
    for (text, said) in states {
        assert_eq!(sqlstate(text), said, "{text}");
    }
    let name = "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column";
    assert_eq!(condition(name), Some((Compile, false)));
    assert_eq!(condition("[a] b [C] d"), None);
}

#[test]
fn the_innermost_exception_that_gives_a_reason_decides() {
    let cases = [
        (
            InputForbidden,
            "org.apache.spark.SparkException: Job aborted.\nCaused by: org.apache.spark.sql.AnalysisException: cannot be read\nCaused by: java.nio.file.AccessDeniedException: s3a://b/k: denied",
        ),
        (
            PythonWorker,
            "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)\nCaused by: java.net.SocketException: Connection reset",
        ),
        (
            UserCode,
            "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File \"a.py\", line 4, in f\nKeyError: 'quota exceeded'\n",
        ),
        (
            System,
            "java.lang.NullPointerException\n\tat org.apache.spark.sql.execution.adaptive.X.f(X.scala:1)",
        ),
        (
            Service,
            "org.vendor.DriverConnectTimeoutException: node 7 does not answer",
        ),
        (
            Throttled,
            "org.vendor.RequestRateLimitedTooManyRequestsException: wait a while",
        ),
        (
            Constraint,
            "java.sql.BatchUpdateException: value too long for type character varying(10)",
        ),
        (
            NotSerializable,
            "_pickle.PicklingError: Could not serialize object: TypeError: cannot pickle '_thread.lock' object",
        ),
    ];
    assert_eq!(wrong(&cases), Vec::<String>::new());
}
