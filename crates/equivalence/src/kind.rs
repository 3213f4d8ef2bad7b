//! Types of values, as far as they decide the meaning of an expression.

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Bool,
    /// Whole numbers that C# computes with 32 bits.
    Int,
    /// Whole numbers of 64 bits.
    Long,
    Real,
    Decimal,
    Text,
    /// Stored as seconds since 1970.
    Time,
    /// Unknown, or irrelevant to expressions.
    Opaque,
}

impl Kind {
    /// Kind of a declared type, without the mark of a nullable one.
    pub(crate) fn of_type(name: &str) -> Kind {
        match name.trim().trim_end_matches('?') {
            "bool" => Kind::Bool,
            "int" | "short" | "ushort" | "byte" | "sbyte" => Kind::Int,
            "long" | "uint" | "ulong" => Kind::Long,
            "float" | "double" => Kind::Real,
            "decimal" => Kind::Decimal,
            "string" => Kind::Text,
            "DateTime" => Kind::Time,
            _ => Kind::Opaque,
        }
    }

    pub(crate) fn is_whole(self) -> bool {
        matches!(self, Kind::Int | Kind::Long)
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(self, Kind::Int | Kind::Long | Kind::Real | Kind::Decimal)
    }

    /// Kind that values of both have in C#; `None` if they have none.
    pub(crate) fn common(self, other: Kind) -> Option<Kind> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Kind::Decimal, Kind::Real) | (Kind::Real, Kind::Decimal) => None,
            (a, b) if a.is_number() && b.is_number() => Some(a.max(b)),
            _ => None,
        }
    }
}

/// Whether a column of the type can be null.
pub(crate) fn is_nullable(type_name: &str) -> bool {
    let name = type_name.trim();
    name.ends_with('?') || matches!(Kind::of_type(name), Kind::Text | Kind::Opaque)
}

/// A column of a rowset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
}
