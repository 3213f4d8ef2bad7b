//! Configuration layers merged key by key, with the origin of each value.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use toml::{Table, Value};

use super::schema::Config;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A flag or its environment variable.
    Flag,
    File(PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag => {
                f.write_str(report::interface().select("命令行或环境变量", "flag or environment"))
            }
            Origin::File(path) => path.display().fmt(f),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Layers {
    merged: Table,
    origins: BTreeMap<String, Origin>,
}

impl Layers {
    pub(crate) fn add(&mut self, layer: Table, origin: &Origin) {
        merge(&mut self.merged, layer, "", origin, &mut self.origins);
    }

    pub(crate) fn merged(&self) -> &Table {
        &self.merged
    }

    pub(crate) fn config(&self) -> std::result::Result<Config, toml::de::Error> {
        self.merged.clone().try_into()
    }

    /// Every value that a layer sets, with its origin, sorted by key.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &Value, &Origin)> {
        self.origins.iter().filter_map(|(key, origin)| {
            let value = look_up(&self.merged, key)?;
            Some((key.as_str(), value, origin))
        })
    }
}

fn merge(
    into: &mut Table,
    layer: Table,
    prefix: &str,
    origin: &Origin,
    origins: &mut BTreeMap<String, Origin>,
) {
    for (key, value) in layer {
        let path = match prefix {
            "" => key.clone(),
            _ => format!("{prefix}.{key}"),
        };
        match (into.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => {
                merge(below, above, &path, origin, origins)
            }
            (_, Value::Table(above)) => {
                let mut fresh = Table::new();
                merge(&mut fresh, above, &path, origin, origins);
                into.insert(key, Value::Table(fresh));
            }
            (_, value) => {
                origins.insert(path, origin.clone());
                into.insert(key, value);
            }
        }
    }
}

fn look_up<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    // A key may contain dots: try every split.
    if let Some(value) = table.get(path) {
        return Some(value);
    }
    path.match_indices('.')
        .find_map(|(at, _)| match table.get(&path[..at]) {
            Some(Value::Table(inner)) => look_up(inner, &path[at + 1..]),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        toml::from_str(text).expect("test table")
    }

    fn user() -> Origin {
        Origin::File(PathBuf::from("config.toml"))
    }

    #[test]
    fn later_layer_wins_key_by_key_and_origin_follows() {
        let mut layers = Layers::default();
        layers.add(table("language = 'en'\n[index]\nk = 5\n"), &user());
        layers.add(table("[index]\nk = 7\n"), &Origin::Flag);
        let (k, language) = (Value::from(7), Value::from("en"));
        let expected = [
            ("index.k", &k, &Origin::Flag),
            ("language", &language, &user()),
        ];
        assert!(layers.entries().eq(expected));
    }

    #[test]
    fn unknown_key_is_refused_with_its_name() {
        let mut layers = Layers::default();
        layers.add(table("langauge = 'en'"), &user());
        let error = layers.config().expect_err("unknown key").to_string();
        assert!(error.contains("langauge"), "{error}");
    }
}
