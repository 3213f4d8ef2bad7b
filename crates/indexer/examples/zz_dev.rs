use indexer::eval::{self, Options};
use indexer::{Index, Settings};
use std::path::Path;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (knowledge, mode) = (Path::new(&args[1]), args[2].as_str());
    let index = Path::new(&args[3]);
    let settings = Settings::default();
    indexer::build::update(knowledge, index, &settings, &mut |_| {}).unwrap();
    let open = Index::open(index, &settings).unwrap();
    let judged = eval::read_judgements(Path::new(
        args.get(4)
            .map_or("/work/wt/search/knowledge/judgements", |s| s),
    ))
    .unwrap();
    let options = Options::default();
    let text = match mode {
        "ablate" => {
            serde_json::to_string(&eval::ablate(&open, &judged, &options).unwrap()).unwrap()
        }
        "remarks" => judged
            .iter()
            .map(|q| {
                format!(
                    "{} {:?}\n",
                    q.text,
                    open.remarks(&indexer::Query::new(&q.text, 5))
                )
            })
            .collect(),
        _ => serde_json::to_string(&eval::evaluate(&open, &judged, &options).unwrap()).unwrap(),
    };
    println!("{text}");
}
