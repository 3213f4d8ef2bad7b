//! Places to fetch missing files from.

use job::Job;
use job::model::{Application, FileKind};
use report::{Text, text};

/// Place of an application's logs.
pub fn logs(job: &Job) -> Text {
    let app = job.spark.as_deref();
    let set = |name: &str| {
        app.and_then(|app| app.setting(None, name))
            .unwrap_or_default()
    };
    let id = job.info.id.as_deref().unwrap_or_default();
    let master = set("spark.master");
    if id.starts_with("application_") {
        text!(
            "`yarn logs -applicationId {id}`",
            "`yarn logs -applicationId {id}`"
        )
    } else if master.starts_with("k8s") {
        let namespace = match set("spark.kubernetes.namespace") {
            "" => "default",
            namespace => namespace,
        };
        let pod = match set("spark.kubernetes.driver.pod.name") {
            "" => "<driver-pod>",
            pod => pod,
        };
        text!(
            "`kubectl logs -n {namespace} {pod}` 与 `kubectl describe pod`（Executor 的 Pod 同样）",
            "`kubectl logs -n {namespace} {pod}` and `kubectl describe pod`, for the pods of executors as well",
        )
    } else if app.is_some_and(Application::is_databricks) {
        text!(
            "Databricks 计算页的“Driver 日志”（Driver logs）与“事件日志”（Event log）",
            "the pages Driver logs and Event log of the compute in Databricks",
        )
    } else {
        text!(
            "运行 spark-submit 的终端输出；Spark UI 的 Executors 页有每个 Executor 的 stderr（YARN：`yarn logs -applicationId <id>`，Kubernetes：`kubectl logs <pod>`）",
            "the output of spark-submit; the page Executors of the Spark UI has the stderr of each executor (YARN: `yarn logs -applicationId <id>`, Kubernetes: `kubectl logs <pod>`)",
        )
    }
}

/// Place to fetch a file of a kind from.
pub(crate) fn file(job: &Job, kind: FileKind) -> Text {
    use FileKind as K;
    match kind {
        K::DriverLog => logs(job),
        K::SparkEvents => text!(
            "spark.eventLog.dir 指定的目录，或 History Server 的“下载”（`/api/v1/applications/<id>/logs`）",
            "the folder of spark.eventLog.dir, or the download of the History Server (`/api/v1/applications/<id>/logs`)",
        ),
        K::SparkScript => text!(
            "提交应用时使用的代码库或笔记本",
            "the repository or notebook that the application was submitted from"
        ),
        K::RestJob | K::RestStatistics => text!(
            "作业的 REST 接口（`az dla job show --job-identity <id>`）",
            "the REST interface of the job (`az dla job show --job-identity <id>`)",
        ),
        K::CompileResult | K::CompilerPlan | K::Ast | K::CompilerTimers => {
            text!("本地运行的工作目录", "the working folder of the local run",)
        }
        _ => text!(
            "作业页面的文件列表（Visual Studio 的作业视图、门户的“数据”或“资源”页）",
            "the list of files on the job page (the job view in Visual Studio; Data or Resources in the portal)",
        ),
    }
}
