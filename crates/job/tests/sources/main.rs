//! Every number of a sheet is at the places that it names, and a calculated number follows from its places.

mod check;
mod events;
mod files;
mod jobs;
mod log;
mod xml;

use files::Files;

#[test]
fn every_value_of_a_sheet_is_at_its_places() {
    let mut wrong: Vec<String> = Vec::new();
    let mut values = 0;
    for path in jobs::jobs() {
        let job = job::load(&path).expect("a job");
        let (sheet, files) = (job.sheet(), Files::open(&path));
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
    }
    println!("{values} values");
    assert!(values > 1000);
    let shown = wrong
        .iter()
        .take(60)
        .map(String::as_str)
        .collect::<Vec<_>>();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        shown.join("\n")
    );
}
