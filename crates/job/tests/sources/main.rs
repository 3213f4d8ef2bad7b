//! Every number of a sheet is at the places that it names, and a calculated number follows from its places.

mod check;
mod events;
mod files;
mod jobs;
mod log;
mod xml;

use std::path::Path;

use files::Files;

/// Number of checked values of the job's sheet, and their faults.
fn checked(path: &Path) -> (usize, Vec<String>) {
    let job = job::load(path).expect("a job");
    let (sheet, files) = (job.sheet(), Files::open(path));
    let (mut values, mut wrong) = (0, Vec::new());
    for (name, of_thing) in check::things(&sheet) {
        for (measure, value) in of_thing.iter() {
            if check::is_of_several_events(&files, measure.id, value) {
                continue;
            }
            values += 1;
            if let Err(why) = check::check(&files, value) {
                let (path, id) = (path.display(), measure.id);
                wrong.push(format!("{path}: {id} of {name}: {why}"));
            }
        }
    }
    (values, wrong)
}

#[test]
fn every_value_of_a_sheet_is_at_its_places() {
    let checked = jobs::each(checked);
    let values: usize = checked.iter().map(|(values, _)| values).sum();
    println!("{values} values");
    assert!(values > 1000);
    let wrong: Vec<String> = checked.into_iter().flat_map(|(_, wrong)| wrong).collect();
    check::none_is_wrong(&wrong);
}
