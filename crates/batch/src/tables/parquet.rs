//! A table as a Parquet file: row groups of bounded size, so that memory does not grow with the rows.

use std::io::Write;
use std::sync::Arc;

use jiff::civil::{Date, date};
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::columns::{Cell, Kind, Row};

/// Bytes that a row group holds before it is written; readers skip whole groups, so they should not be small.
const GROUP_BYTES: usize = 16 << 20;

/// Day 0 of Parquet.
const EPOCH: Date = date(1970, 1, 1);

/// Writes the rows of one type.
pub(super) struct Table<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Values>,
    bytes: usize,
}

/// Values of one column of the current row group, and per row whether there is one.
struct Values {
    defined: Vec<i16>,
    of: Typed,
}

enum Typed {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Real(Vec<f64>),
    Boolean(Vec<bool>),
    Timestamp(Vec<i64>),
    Date(Vec<i32>),
}

impl<W: Write + Send> Table<W> {
    pub(super) fn new<R: Row>(out: W) -> Result<Table<W>> {
        let columns = R::columns();
        let fields = columns.iter().map(|(name, kind, ..)| {
            let kind = match kind {
                Kind::Text => "BYTE_ARRAY {} (STRING)",
                Kind::Integer => "INT64 {}",
                Kind::Real => "DOUBLE {}",
                Kind::Boolean => "BOOLEAN {}",
                Kind::Timestamp => "INT64 {} (TIMESTAMP(MILLIS,true))",
                Kind::Date => "INT32 {} (DATE)",
            };
            format!("OPTIONAL {};", kind.replace("{}", name))
        });
        let fields: String = fields.collect();
        let schema = parse_message_type(&format!("message {} {{ {fields} }}", R::NAME))?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let properties = Arc::new(properties.build());
        Ok(Table {
            writer: SerializedFileWriter::new(out, Arc::new(schema), properties)?,
            columns: columns
                .iter()
                .map(|(_, kind, ..)| Values::new(*kind))
                .collect(),
            bytes: 0,
        })
    }

    pub(super) fn add(&mut self, row: &impl Row) -> Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(row.cells()) {
            self.bytes += column.push(cell);
        }
        if self.bytes >= GROUP_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<W> {
        self.write_group()?;
        self.writer.into_inner()
    }

    fn write_group(&mut self) -> Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        self.bytes = 0;
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            let Some(mut writer) = group.next_column()? else {
                return Err(ParquetError::General("fewer columns than values".into()));
            };
            column.write(writer.untyped())?;
            writer.close()?;
            column.clear();
        }
        group.close()?;
        Ok(())
    }
}

macro_rules! with_values {
    ($typed:expr, $values:ident => $body:expr) => {
        match $typed {
            Typed::Text($values) => $body,
            Typed::Integer($values) | Typed::Timestamp($values) => $body,
            Typed::Real($values) => $body,
            Typed::Boolean($values) => $body,
            Typed::Date($values) => $body,
        }
    };
}

impl Values {
    fn new(kind: Kind) -> Values {
        let of = match kind {
            Kind::Text => Typed::Text(Vec::new()),
            Kind::Integer => Typed::Integer(Vec::new()),
            Kind::Real => Typed::Real(Vec::new()),
            Kind::Boolean => Typed::Boolean(Vec::new()),
            Kind::Timestamp => Typed::Timestamp(Vec::new()),
            Kind::Date => Typed::Date(Vec::new()),
        };
        Values {
            defined: Vec::new(),
            of,
        }
    }

    /// Returns the bytes that the value takes. A value of another type than the column's counts as null.
    fn push(&mut self, cell: Cell<'_>) -> usize {
        let size = match &cell {
            Cell::Text(text) => text.len() + size_of::<ByteArray>(),
            _ => size_of::<i64>(),
        };
        let defined = match (&mut self.of, cell) {
            (Typed::Text(values), Cell::Text(text)) => push(values, text.as_ref().into()),
            (Typed::Integer(values), Cell::Integer(n)) => push(values, n),
            (Typed::Real(values), Cell::Real(n)) => push(values, n),
            (Typed::Boolean(values), Cell::Boolean(is)) => push(values, is),
            (Typed::Timestamp(values), Cell::Timestamp(at)) => push(values, at.as_millisecond()),
            (Typed::Date(values), Cell::Date(day)) => push(values, days(day)),
            _ => 0,
        };
        self.defined.push(defined);
        size
    }

    fn write(&self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        use ColumnWriter::*;
        let defined = Some(self.defined.as_slice());
        match (writer, &self.of) {
            (ByteArrayColumnWriter(w), Typed::Text(v)) => w.write_batch(v, defined, None),
            (Int64ColumnWriter(w), Typed::Integer(v) | Typed::Timestamp(v)) => {
                w.write_batch(v, defined, None)
            }
            (DoubleColumnWriter(w), Typed::Real(v)) => w.write_batch(v, defined, None),
            (BoolColumnWriter(w), Typed::Boolean(v)) => w.write_batch(v, defined, None),
            (Int32ColumnWriter(w), Typed::Date(v)) => w.write_batch(v, defined, None),
            _ => Err(ParquetError::General("a column of another type".into())),
        }?;
        Ok(())
    }

    fn clear(&mut self) {
        self.defined.clear();
        with_values!(&mut self.of, values => values.clear());
    }
}

/// Definition level of a present value.
fn push<T>(values: &mut Vec<T>, value: T) -> i16 {
    values.push(value);
    1
}

fn days(day: Date) -> i32 {
    (day - EPOCH).get_days()
}
