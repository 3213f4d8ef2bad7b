//! Bounded lists and maps of events. `{}` takes two bytes of a line and a hundred as a record, so that one long line could fill
//! the memory.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::values::{Number, Str};

/// Elements of a list: a stage of a very large plan has some ten thousand accumulators.
const MOST_ELEMENTS: usize = 100_000;
/// Entries of a map: an application has some hundred settings.
const MOST_ENTRIES: usize = 10_000;

/// Visits the elements of a sequence; null is an empty one.
struct Each<'f, T, F: FnMut(T) -> bool>(&'f mut F, PhantomData<T>);

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> bool> Visitor<'de> for Each<'_, T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(element) = seq.next_element()? {
            if !(self.0)(element) {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
            }
        }
        Ok(())
    }
}

/// Calls `take` with each element until it returns false.
pub(super) fn each<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
    mut take: impl FnMut(T) -> bool,
) -> Result<(), D::Error> {
    from.deserialize_any(Each(&mut take, PhantomData))
}

/// The first elements of a list.
#[derive(Debug)]
pub(super) struct List<T>(Vec<T>);

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List(Vec::new())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut kept = Vec::new();
        each(from, |element| {
            kept.push(element);
            kept.len() < MOST_ELEMENTS
        })?;
        Ok(List(kept))
    }
}

/// Numbers of stages or RDDs.
#[derive(Debug, Default)]
pub(super) struct Ids(pub(super) Vec<u32>);

impl<'de> Deserialize<'de> for Ids {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut ids = Vec::new();
        each(from, |id: Number| {
            ids.push(id.id());
            ids.len() < MOST_ELEMENTS
        })?;
        Ok(Ids(ids))
    }
}

/// The first entries of a map.
#[derive(Debug)]
pub(super) struct Map<K, V>(pub(super) BTreeMap<K, V>);

impl<K, V> Default for Map<K, V> {
    fn default() -> Map<K, V> {
        Map(BTreeMap::new())
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for Map<K, V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries<K, V>(PhantomData<(K, V)>);
        impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
            type Value = BTreeMap<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut kept = BTreeMap::new();
                while let Some((key, value)) = map.next_entry()? {
                    kept.insert(key, value);
                    if kept.len() == MOST_ENTRIES {
                        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                    }
                }
                Ok(kept)
            }
        }
        from.deserialize_map(Entries(PhantomData)).map(Map)
    }
}

/// Entries as owned text.
pub(super) fn owned(map: Map<Str<'_>, Str<'_>>) -> impl Iterator<Item = (String, String)> {
    let owned = |(k, v): (Str<'_>, Str<'_>)| (k.0.into_owned(), v.0.into_owned());
    map.0.into_iter().map(owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_without_end_is_cut_and_what_follows_is_read() {
        #[derive(Deserialize)]
        struct Event {
            many: List<Number>,
            ids: Ids,
            after: Number,
        }
        let many = vec!["1"; MOST_ELEMENTS + 500].join(",");
        let text = format!(r#"{{"many":[{many}],"ids":null,"after":3}}"#);
        let event: Event = serde_json::from_str(&text).expect("an event");
        assert_eq!((event.many.len(), event.after.id()), (MOST_ELEMENTS, 3));
        assert!(event.ids.0.is_empty());
    }

    #[test]
    fn a_map_without_end_is_cut() {
        let entries: Vec<String> = (0..20_000).map(|n| format!(r#""k{n}":"v""#)).collect();
        let text = format!("{{{}}}", entries.join(","));
        let map: Map<Str<'_>, Str<'_>> = serde_json::from_str(&text).expect("a map");
        assert_eq!(owned(map).count(), MOST_ENTRIES);
    }
}
