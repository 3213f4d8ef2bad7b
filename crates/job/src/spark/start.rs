//! Start of an application: registration of its first executor, and the end of the wait for more.

use super::collect::Collector;
use crate::model::Application;
use crate::time::setting_ms;

/// Default share of the cores that cluster managers other than Spark's own wait for.
const MANAGED_SHARE: f64 = 0.8;

/// Default limit of an application's wait for cores, in milliseconds.
const LONGEST_MS: i64 = 30_000;

/// Milliseconds from a driver's container to its application: to load it, to start Java and to reach the context.
const DRIVER_START_MS: i64 = 10_000;

/// Start time of the driver. On the user's machine the driver starts on submission. In a cluster it waits for a
/// container first; the log does not record that wait, so a usual start-up time does not count as waiting.
pub(super) fn start_of_driver(app: &Application, submitted: i64, started: i64) -> i64 {
    match setting(app, "spark.submit.deployMode") {
        Some("cluster") => submitted.max(started.saturating_sub(DRIVER_START_MS)),
        _ => submitted,
    }
}

/// Registration of the first executor, and its line.
pub(super) fn first_executor(log: &Collector) -> Option<(i64, u64)> {
    let added = log
        .app
        .executors
        .iter()
        .filter_map(|e| Some((e.added_ms?, e.line)));
    let tasks = log.app.stages.iter().flat_map(|s| &s.attempts);
    let launched = tasks.map(|t| (t.launched_ms, t.line)).min();
    match added.min() {
        // a task proves that an executor was there
        Some(added) => Some(launched.filter(|task| task.0 < added.0).unwrap_or(added)),
        None => launched,
    }
}

/// End of the wait for the minimum number of cores, bounded by a
/// setting; `None` if the application does not wait, or if the settings lack the number.
pub(super) fn cores_awaited(log: &Collector) -> Option<i64> {
    let app = &log.app;
    let (start, _) = log.started?;
    let first_job = app.jobs.first()?.submitted_ms;
    let wanted = cores_wanted(app)?;
    let longest = setting(app, "spark.scheduler.maxRegisteredResourcesWaitingTime");
    let longest = longest.map_or(Some(LONGEST_MS), |text| setting_ms(text, 1))?;
    let latest = start.saturating_add(longest);
    let until = cores_came(app, wanted).map_or(latest, |came| came.min(latest));
    (until <= first_job).then_some(until)
}

/// Minimum number of cores for an application to begin.
fn cores_wanted(app: &Application) -> Option<f64> {
    let number = |name: &str| setting(app, name)?.parse::<f64>().ok();
    let is_managed =
        setting(app, "spark.master").is_some_and(|m| m.starts_with("yarn") || m.starts_with("k8s"));
    let share = number("spark.scheduler.minRegisteredResourcesRatio");
    let share = share.or(is_managed.then_some(MANAGED_SHARE));
    let executors = number("spark.executor.instances");
    let of_executors = executors.map(|n| n * number("spark.executor.cores").unwrap_or(1.0));
    let all = number("spark.cores.max").or(of_executors)?;
    Some(all * share.filter(|share| *share > 0.0)?)
}

/// Time when the number of cores was reached; `None` if never.
fn cores_came(app: &Application, wanted: f64) -> Option<i64> {
    let executors = app.executors.iter();
    let mut came: Vec<(i64, u32)> = executors
        .filter_map(|e| Some((e.added_ms?, e.cores?)))
        .collect();
    came.sort_unstable();
    let mut cores = 0.0;
    let enough = came.into_iter().find(|(_, more)| {
        cores += f64::from(*more);
        cores >= wanted
    });
    enough.map(|(at, _)| at)
}

fn setting<'a>(app: &'a Application, name: &str) -> Option<&'a str> {
    app.configuration.get(name).map(|value| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Executor;

    fn application(settings: &[(&str, &str)]) -> Application {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Application {
            configuration: settings.iter().map(own).collect(),
            ..Application::default()
        }
    }

    #[test]
    fn the_cluster_manager_and_the_settings_say_how_many_cores_are_wanted() {
        let ratio = "spark.scheduler.minRegisteredResourcesRatio";
        let executors = [
            ("spark.executor.instances", "4"),
            ("spark.executor.cores", "5"),
        ];
        let [instances, cores] = executors;
        for (settings, expected) in [
            (vec![("spark.cores.max", "8"), (ratio, "0.5")], Some(4.0)),
            (vec![("spark.cores.max", "8")], None),
            (vec![("spark.cores.max", "8"), (ratio, "0")], None),
            (vec![("spark.master", "yarn"), instances, cores], Some(16.0)),
            (vec![(ratio, "1.0"), instances], Some(4.0)),
            (vec![(ratio, "1.0")], None),
        ] {
            let wanted = cores_wanted(&application(&settings));
            assert_eq!(wanted, expected, "{settings:?}");
        }
    }

    #[test]
    fn only_a_driver_in_a_cluster_waits_for_a_container() {
        let mode = "spark.submit.deployMode";
        for (settings, started, expected) in [
            (vec![(mode, "cluster")], 60_000, 50_000),
            (vec![(mode, "cluster")], 8_000, 1_000),
            (vec![(mode, "client")], 60_000, 1_000),
            (vec![], 60_000, 1_000),
        ] {
            let began = start_of_driver(&application(&settings), 1_000, started);
            assert_eq!(began, expected, "{settings:?}");
        }
    }

    #[test]
    fn cores_come_with_their_executors() {
        let came = |at| Executor {
            added_ms: Some(at),
            cores: Some(2),
            ..Executor::default()
        };
        let app = Application {
            executors: vec![came(30), came(10)],
            ..Application::default()
        };
        for (wanted, expected) in [(2.0, Some(10)), (3.0, Some(30)), (5.0, None)] {
            assert_eq!(cores_came(&app, wanted), expected, "{wanted}");
        }
    }
}
