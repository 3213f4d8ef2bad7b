//! Measures the script parser: lexing, syntax tree, statements and errors of scripts of the usual
//! size and of one that is a hundred times as long.
//!
//! `cargo bench -p job --bench script`. Each number is the best of several runs over at least
//! 4 MB of text. Prints a table in Markdown.

#![expect(clippy::print_stdout, reason = "a bench prints its measurements")]

use std::hint::black_box;
use std::time::Instant;

use job::script::Script;

/// Bytes parsed per run, so that a run takes long enough to be timed.
const BYTES_PER_RUN: usize = 4 << 20;

const ROUNDS: usize = 9;

fn main() {
    // `cargo bench` passes `--bench`; `cargo test` runs the binary without it, as a no-op
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!("| script | statements | MB/s |\n|---|---|---|");
    measure("SCOPE", &scope(1));
    measure("SCOPE, a hundred times as long", &scope(100));
    measure("U-SQL", &usql(1));
    measure("U-SQL, a hundred times as long", &usql(100));
    measure(
        "brackets nested 100,000 deep",
        &format!("x = SELECT {}", "(".repeat(100_000)),
    );
}

fn measure(name: &str, text: &str) {
    let repeats = (BYTES_PER_RUN / text.len()).max(1);
    let mut best = f64::INFINITY;
    let mut statements = 0;
    for _ in 0..ROUNDS {
        let texts: Vec<String> = (0..repeats).map(|_| text.to_owned()).collect();
        let start = Instant::now();
        for text in texts {
            let script = black_box(Script::parse("scope.script", text));
            statements = script.statements.len();
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    let speed = (repeats * text.len()) as f64 / 1e6 / best;
    println!(
        "| {name}, {:.1} kB | {statements} | {speed:.0} |",
        text.len() as f64 / 1e3
    );
}

fn scope(parts: usize) -> String {
    let mut text = String::from(
        "// Owner: somebody\n#DECLARE RunDate DateTime = DateTime.Parse(\"@@RunDate@@\");\n\
         #IF (LOCAL)\n#DECLARE In string = @\"D:\\data\\in.ss\";\n#ELSE\n\
         #DECLARE In string = @\"/shares/team/in.ss\";\n#ENDIF\n\n",
    );
    for part in 0..parts {
        text.push_str(&format!(
            "Raw{part} = SSTREAM @In;\n\n// keep what people did\nClean{part} =\n    SELECT UserId,\n           \
             EventTime,\n           UrlHelper.GetDomain(Url) AS Domain,\n           Latency ?? 0 AS Latency,\n           \
             IF(Market == \"en-us\", 1, 0) AS IsUs\n    FROM Raw{part}\n    WHERE PageType != \"Bot\" && Latency < 60000;\n\n\
             [SKEWJOIN=(SKEW=FROMLEFT, REPARTITION=FULLJOIN)]\nJoined{part} =\n    SELECT c.UserId,\n           \
             c.Domain,\n           u.Country,\n           c.Latency\n    FROM Clean{part} AS c\n         LEFT OUTER JOIN\n             \
             Users AS u\n         ON c.UserId == u.UserId;\n\nSessions{part} =\n    REDUCE Joined{part} ON UserId PRESORT EventTime DESC\n    \
             PRODUCE UserId, Country, Steps:int\n    USING SessionReducer(\"30\");\n\nStats{part} =\n    SELECT Country,\n           \
             COUNT() AS Hits,\n           SUM(Steps) AS Steps,\n           COUNT(DISTINCT UserId) AS Users\n    FROM Sessions{part}\n    \
             GROUP BY Country\n    HAVING Hits > 10;\n\nOUTPUT Stats{part}\nTO SSTREAM @Out\n   HASH CLUSTERED BY Country\n       \
             SORTED BY Country\n   WITH STREAMEXPIRY \"30\";\n\n"
        ));
    }
    text.push_str("#CS\npublic static class UrlHelper\n{\n    public static string GetDomain(string url) { return url; }\n}\n#ENDCS\n");
    text
}

fn usql(parts: usize) -> String {
    let mut text = String::from(
        "USE DATABASE Shop;\nDECLARE EXTERNAL @Day DateTime = DateTime.Now.AddDays(-1);\n\n",
    );
    for part in 0..parts {
        text.push_str(&format!(
            "@orders{part} =\n    EXTRACT OrderId long,\n            CustomerId long?,\n            Price decimal,\n            \
             Tags SQL.ARRAY<string>,\n            Day DateTime\n    FROM \"/input/{{Day:yyyy}}/orders.csv\"\n    \
             USING Extractors.Csv(skipFirstNRows : 1, silent : true);\n\n/* the last day only */\n@day{part} =\n    SELECT o.OrderId,\n           \
             o.CustomerId ?? -1 AS CustomerId,\n           c.Segment,\n           (double) o.Price * 1.19 AS Gross\n    \
             FROM @orders{part} AS o\n         INNER JOIN Shop.dbo.Customers AS c\n         ON o.CustomerId == c.CustomerId\n    \
             WHERE o.Day == @Day AND !string.IsNullOrEmpty(c.Segment);\n\n@ranked{part} =\n    SELECT *,\n           \
             ROW_NUMBER() OVER (PARTITION BY Segment ORDER BY Gross DESC) AS Rank\n    FROM @day{part}\n    \
             OPTION(ROWCOUNT=500000);\n\nOUTPUT @ranked{part}\nTO \"/output/ranked.csv\"\nORDER BY Rank\n\
             USING Outputters.Csv(outputHeader : true);\n\n"
        ));
    }
    text
}
