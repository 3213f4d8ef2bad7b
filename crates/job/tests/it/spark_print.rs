//! Event logs: real ones, their compressions, and what is cut off, lost or out of order.

const LOGS: &str = "/work/shared/spark-dev/logs";

#[test]
fn every_development_log_is_read() {
    let Ok(entries) = std::fs::read_dir(LOGS) else {
        return ();
    };
    for entry in entries.flatten() {
        let job = job::load(&entry.path()).expect("an event log");
        let app = job.spark.as_deref().expect("an application");
        println!(
            "{} {:?} {:?} {:?} total {:?} tokens {:?} stages {} edges {} order {} execs {} executions {} tables {} errors {:?}",
            entry.file_name().display(),
            job.info.name,
            job.info.state,
            job.info.states,
            job.info.total_seconds(),
            job.info.tokens,
            job.stages.len(),
            job.edges.len(),
            job.order.len(),
            app.executors.len(),
            app.executions.len(),
            job.tables.len(),
            job.errors
                .iter()
                .map(|e| (&e.id, &e.message, &e.frame))
                .collect::<Vec<_>>(),
        );
        for d in &job.diagnostics {
            println!("   {:?} {}", d.locator, d.message.en);
        }
        for (i, s) in job.stages.iter().enumerate() {
            let f = s.facts.as_deref().expect("facts");
            println!(
                "   {} {:?} tasks {} ops {:?}",
                s.name,
                s.call_site,
                app.stages[i].tasks,
                s.operators.iter().map(|o| &o.id).collect::<Vec<_>>()
            );
            for o in &f.operators {
                println!(
                    "        {} {:?} {:?} rows {:?} max {:?} own {:?} spill {:?}",
                    o.name,
                    o.uid,
                    o.role,
                    job::facts::value(&o.rows),
                    job::facts::value(&o.rows_max),
                    job::facts::value(&o.own_ms),
                    job::facts::value(&o.spilled_bytes)
                );
            }
        }
        for e in &job.edges {
            println!(
                "   edge {} -> {} {:?} {:?} rows {:?}/{:?} bytes {:?}",
                job.stages[e.from].name,
                job.stages[e.to].name,
                e.exchange,
                e.keys,
                e.rows_written,
                e.rows_read,
                e.bytes_written
            );
        }
        println!(
            "   order {:?} path {:?}",
            job.order,
            job.critical_path().map(|p| p
                .value
                .iter()
                .map(|s| job.stages[s.stage].name.clone())
                .collect::<Vec<_>>())
        );
    }
}
