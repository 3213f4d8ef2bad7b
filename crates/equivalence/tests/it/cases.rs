//! Single changes over a small script with a schema.

use equivalence::{Facts, Judgment, Unknown, judge};
use job::script::Script;

/// Two files, every clause that is executed, two outputs.
pub(crate) const SCRIPT: &str = r#"#DECLARE In string = @"/data";
#DECLARE Least int = 100;

Visits = EXTRACT UserId:long, Country:string, Url:string, Millis:int, Cost:double, Seen:DateTime, Bot:bool, Ref:long?
    FROM @In + "/visits.tsv" USING DefaultTextExtractor();

Users = EXTRACT UserId:long, Name:string, Level:int
    FROM @In + "/users.tsv" USING DefaultTextExtractor();

Slow =
    SELECT UserId, Country, Millis, Cost, Seen, Ref
    FROM Visits
    WHERE Millis > @Least AND Country != "zz" AND !Bot;

Joined =
    SELECT s.UserId, s.Country, s.Millis, s.Cost, s.Seen, u.Level
    FROM Slow AS s
         INNER JOIN Users AS u
         ON s.UserId == u.UserId;

PerCountry =
    SELECT Country, COUNT() AS Visited, SUM(Millis) AS Total, MAX(Cost) AS Dearest
    FROM Joined
    WHERE Level >= 2
    GROUP BY Country;

Ranked =
    SELECT UserId, Seen, ROW_NUMBER() OVER (PARTITION BY UserId ORDER BY Seen) AS Number
    FROM Slow;

First =
    SELECT UserId, Seen
    FROM Ranked
    WHERE Number == 1;

Both =
    SELECT UserId, Ref FROM Slow WHERE Ref != null
    UNION ALL
    SELECT UserId, Ref FROM Slow WHERE Ref == null;

OUTPUT PerCountry TO SSTREAM "/out/country.ss" CLUSTERED BY Country SORTED BY Country;
OUTPUT First TO SSTREAM "/out/first.ss";
OUTPUT Both TO SSTREAM "/out/both.ss";
"#;

fn changed(from: &str, to: &str) -> Judgment {
    assert!(SCRIPT.contains(from), "{from}");
    judged(SCRIPT, &SCRIPT.replacen(from, to, 1))
}

/// Judges without tables or known rewrites.
pub(crate) fn judged(before: &str, after: &str) -> Judgment {
    let parse = |text: &str| Script::parse("scope.script", text.to_owned());
    let facts = Facts {
        tables: &[],
        reads: &|_| None,
        rewrites: &[],
    };
    judge(&parse(before), &parse(after), &facts)
}

/// Changes that keep the result, and are recognized as such.
pub(crate) const SAME: &[(&str, &str)] = &[
    ("Millis > @Least", "Millis > 100"),
    ("Millis > @Least", "Millis >= 101"),
    ("Millis > @Least", "@Least < Millis"),
    ("Millis > @Least", "!(Millis <= @Least)"),
    ("!Bot", "Bot == false"),
    ("Country != \"zz\" AND !Bot", "!Bot AND Country != \"zz\""),
    (
        "Country != \"zz\"",
        "(Country == null OR Country != \"zz\")",
    ),
    (
        "FROM Joined\n    WHERE Level >= 2",
        "FROM Joined\n    WHERE Level > 1",
    ),
    ("COUNT() AS Visited", "COUNT(*) AS Visited"),
    ("COUNT() AS Visited", "SUM(1) AS Visited"),
    (
        "INNER JOIN Users AS u",
        "INNER JOIN (SELECT UserId, Level FROM Users WHERE Level >= 2) AS u",
    ),
    ("WHERE Number == 1", "WHERE Number <= 1"),
    // The test of `Level` drops the rows without a partner.
    ("INNER JOIN", "LEFT OUTER JOIN"),
    (
        "WHERE Ref != null\n    UNION ALL\n    SELECT UserId, Ref FROM Slow WHERE Ref == null",
        "",
    ),
    (
        "PerCountry =\n    SELECT Country, COUNT() AS Visited, SUM(Millis) AS Total, MAX(Cost) AS Dearest\n    FROM Joined\n    WHERE Level >= 2\n    GROUP BY Country",
        "Parts =\n    SELECT Country, UserId, COUNT() AS Visited, SUM(Millis) AS Total, MAX(Cost) AS Dearest\n    FROM Joined\n    WHERE Level >= 2\n    GROUP BY Country, UserId;\nPerCountry =\n    SELECT Country, SUM(Visited) AS Visited, SUM(Total) AS Total, MAX(Dearest) AS Dearest\n    FROM Parts\n    GROUP BY Country",
    ),
    (
        "First =\n    SELECT UserId, Seen\n    FROM Ranked\n    WHERE Number == 1",
        "First =\n    SELECT UserId, MIN(Seen) AS Seen\n    FROM Slow\n    GROUP BY UserId",
    ),
    (
        "SELECT s.UserId, s.Country, s.Millis, s.Cost, s.Seen, u.Level",
        "SELECT s.Country, s.Millis, s.Cost, u.Level",
    ),
];

/// Changes with a different result on some rows.
pub(crate) const OTHER: &[(&str, &str)] = &[
    ("Millis > @Least AND ", ""),
    (" AND Country != \"zz\"", ""),
    (" AND !Bot", ""),
    ("!Bot", "Bot"),
    ("Millis > @Least", "1 == 0"),
    ("Millis > @Least", "Millis >= @Least"),
    ("Millis > @Least", "Millis > 101"),
    ("#DECLARE Least int = 100", "#DECLARE Least int = 99"),
    ("Country != \"zz\"", "Country != \"ZZ\""),
    ("Country != \"zz\"", "Country.ToLower() != \"zz\""),
    ("Level >= 2", "Level > 2"),
    ("INNER JOIN", "FULL OUTER JOIN"),
    (
        "ON s.UserId == u.UserId",
        "ON s.UserId == u.UserId AND s.Millis == u.Level",
    ),
    ("ON s.UserId == u.UserId", "ON s.Millis == u.Level"),
    ("SUM(Millis)", "MAX(Millis)"),
    ("SUM(Millis)", "SUM(Level)"),
    ("COUNT() AS Visited", "COUNT(DISTINCT UserId) AS Visited"),
    ("MAX(Cost)", "MIN(Cost)"),
    (
        "SELECT UserId, Country, Millis, Cost, Seen, Ref",
        "SELECT DISTINCT UserId, Country, Millis, Cost, Seen, Ref",
    ),
    (
        "SELECT UserId, Country, Millis, Cost, Seen, Ref",
        "SELECT TOP 1 UserId, Country, Millis, Cost, Seen, Ref",
    ),
    (
        "SELECT s.UserId, s.Country",
        "SELECT s.UserId, s.Country.ToUpper() AS Country",
    ),
    ("s.Millis, s.Cost", "u.Level AS Millis, s.Cost"),
    ("ORDER BY Seen)", "ORDER BY Seen DESC)"),
    ("PARTITION BY UserId", "PARTITION BY UserId, Country"),
    ("WHERE Number == 1", "WHERE Number == 2"),
    ("WHERE Number == 1", "WHERE Number <= 2"),
    ("UNION ALL", "UNION"),
    ("UNION ALL", "EXCEPT"),
    ("WHERE Ref == null", "WHERE Ref != null"),
    (
        "SELECT UserId, Ref FROM Slow WHERE Ref != null",
        "SELECT UserId, UserId AS Ref FROM Slow WHERE Ref != null",
    ),
    ("SORTED BY Country", "SORTED BY Country DESC"),
    ("GROUP BY Country", "GROUP BY Country, Level"),
    (
        "SELECT UserId, Seen\n    FROM Ranked",
        "SELECT UserId, Seen.Date AS Seen\n    FROM Ranked",
    ),
];

#[test]
fn the_same_result_is_found_to_be_the_same() {
    for (from, to) in SAME {
        let judgment = changed(from, to);
        assert!(
            matches!(judgment, Judgment::Proven | Judgment::Tested),
            "{from} -> {to}: {judgment:?}"
        );
    }
}

#[test]
fn another_result_comes_with_a_counterexample() {
    for (from, to) in OTHER {
        let judgment = changed(from, to);
        let undetermined = to.contains("TOP 1")
            && matches!(judgment, Judgment::Unknown(Unknown::Undetermined { .. }));
        assert!(
            undetermined || matches!(judgment, Judgment::Different(_)),
            "{from} -> {to}: {judgment:?}"
        );
    }
}

/// An uncertain result is `Unknown`, with the reason.
#[test]
fn what_cannot_be_told_is_said_to_be_unknown() {
    let line = "    WHERE Millis > @Least AND Country != \"zz\" AND !Bot";
    for (from, to, reason) in [
        (
            line,
            "    WHERE Millis > @Least AND Rules.Keep(Country) AND !Bot",
            "Rules.Keep",
        ),
        (
            line,
            "    WHERE Millis > @Least AND Country LIKE \"zz\" AND !Bot",
            "LIKE",
        ),
        ("SUM(Millis)", "STDEV(Millis)", "STDEV"),
        ("Millis:int", "Millis:long", "DefaultTextExtractor"),
        ("/out/first.ss", "/out/other.ss", "OUTPUT First"),
        (
            "CLUSTERED BY Country SORTED",
            "CLUSTERED BY Total SORTED",
            "OUTPUT PerCountry",
        ),
        (
            "Level >= 2",
            "Level >= 2 AND Level < 2000000000000",
            "2000000000000",
        ),
        (
            "ON s.UserId == u.UserId",
            "ON s.UserId == u.UserId PIVOT",
            "",
        ),
        (
            "OUTPUT First",
            "#CS\nclass A {}\n#ENDCS\nOUTPUT First",
            "#CS",
        ),
    ] {
        let judgment = changed(from, to);
        let Judgment::Unknown(why) = &judgment else {
            panic!("{to}: {judgment:?}");
        };
        assert!(why.text().en.contains(reason), "{to}: {}", why.text().en);
    }
}

/// It is unspecified whether null keys match in joins, so a result that depends on it is unknown.
#[test]
fn null_keys_leave_a_change_undecided() {
    let by_ref = SCRIPT
        .replace("ON s.UserId == u.UserId", "ON s.Ref == u.Maybe")
        .replace("Level:int", "Level:int, Maybe:long?");
    let filtered = by_ref.replace(
        "FROM Slow AS s",
        "FROM (SELECT * FROM Slow WHERE Ref != null) AS s",
    );
    assert_eq!(
        judged(&by_ref, &filtered),
        Judgment::Unknown(Unknown::NullKeys)
    );
}

/// Queries with huge results are refused, not executed to the end.
#[test]
fn what_is_too_large_ends_early() {
    let mut script = SCRIPT.replace("OUTPUT Both", "OUTPUT Last");
    let mut doubled = String::from("R0 = SELECT UserId, Ref FROM Both;\n");
    for n in 0..40 {
        doubled.push_str(&format!(
            "R{} = SELECT a.UserId, b.Ref FROM R{n} AS a CROSS JOIN R{n} AS b;\n",
            n + 1
        ));
    }
    doubled.push_str("Last = SELECT UserId, Ref FROM R40;\n");
    script = script.replace("OUTPUT PerCountry", &format!("{doubled}OUTPUT PerCountry"));
    let other = script.replace("Millis > @Least", "Millis >= 101");
    assert_eq!(
        judged(&script, &other),
        Judgment::Unknown(Unknown::TooLarge)
    );
}
