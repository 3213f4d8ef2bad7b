//! Names of archives.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Zip,
    Tar,
    TarGz,
    TarZst,
}

const SUFFIXES: [(&str, Format); 6] = [
    (".zip", Format::Zip),
    (".tar", Format::Tar),
    (".tar.gz", Format::TarGz),
    (".tgz", Format::TarGz),
    (".tar.zst", Format::TarZst),
    (".tzst", Format::TarZst),
];

pub(crate) fn is_archive(name: &str) -> bool {
    format_of(name).is_some()
}

/// The format of an archive, by its name.
pub(crate) fn format_of(name: &str) -> Option<Format> {
    let name = name.to_ascii_lowercase();
    let mut suffixes = SUFFIXES.iter();
    suffixes.find_map(|(suffix, format)| name.ends_with(suffix).then_some(*format))
}
