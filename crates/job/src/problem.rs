//! What a reader can find wrong, in both languages. All words about it stand here.

use crate::catalogue::Bilingual;
use crate::model::Severity;

/// Something that could not be read, or only in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// Elements nested deeper than that many.
    TooDeep(usize),
    /// More than that many elements.
    TooMany(usize),
    /// The file ends with that many elements open.
    StillOpen(usize),
    /// XML without an element.
    NoElement,
    /// Text that is not of its format (`XML`, `JSON`).
    Malformed(&'static str, String),
    /// The system refuses to give a file.
    Unreadable(String),
    /// Only that many bytes of a file were read.
    OnlyFirst(u64),
    /// Only that many bytes of vertex events in UTF-16 were read.
    OnlyFirstOfUtf16(u64),
    /// Bytes that are not of the encoding.
    NotOfEncoding(&'static str),
    /// NUL characters.
    Nul,
    /// Declarations of entities.
    Entities,
    /// A folder of more than that many files.
    TooManyFiles(usize),
    /// A file name that is not Unicode.
    NameNotUnicode,
    /// A link.
    Link,
    /// A socket, a pipe, a device.
    NoFile,
    /// An error in the script, as the parser tells it.
    Syntax(String),
    /// Output of a vertex without counters.
    NoCounters,
    /// Command of a vertex without a stage.
    NoStage,
    /// Table metadata that cannot be decoded.
    Metadata(String),
    /// No list of tables.
    NoTables,
    /// A table without name and path.
    TableWithoutName,
    /// Rows of a table's partitions differ from its metadata.
    RowsDiffer {
        /// Stream.
        stream: String,
        /// Rows by this file.
        here: u64,
        /// Rows by the metadata.
        there: u64,
    },
    /// A number that cannot be used: attribute and value.
    OutOfRange(String, String),
    /// A syntax tree without a statement.
    NoStatement,
    /// An attempt of a vertex that cannot be read.
    Attempt,
    /// A line that is too long to be one.
    LongLine,
    /// A last line that is cut off.
    CutLine,
    /// That many further lines that cannot be read.
    MoreLines(u64),
    /// That many attempts more than are kept.
    MoreAttempts(u64),
}

impl Problem {
    /// How bad it is.
    pub(crate) fn severity(&self) -> Severity {
        use Problem as P;
        match self {
            P::TooDeep(_)
            | P::TooMany(_)
            | P::StillOpen(_)
            | P::NoElement
            | P::Malformed(..)
            | P::Unreadable(_) => Severity::Error,
            _ => Severity::Warning,
        }
    }

    /// Says what is wrong.
    pub(crate) fn message(&self) -> Bilingual {
        use Problem as P;
        match self {
            P::TooDeep(n) => both(
                format!("嵌套超过 {n} 层"),
                format!("nested deeper than {n} elements"),
            ),
            P::TooMany(n) => both(
                format!("元素超过 {n} 个"),
                format!("has more than {n} elements"),
            ),
            P::StillOpen(n) => both(
                format!("文件结束时还有 {n} 个元素没有关闭"),
                format!("ends with {n} elements still open"),
            ),
            P::NoElement => both("没有任何元素", "has no element"),
            P::Malformed(format, error) => both(
                format!("{format} 格式有误:{error}"),
                format!("malformed {format}: {error}"),
            ),
            P::Unreadable(error) => both(
                format!("无法读取:{error}"),
                format!("cannot be read: {error}"),
            ),
            P::OnlyFirst(n) | P::OnlyFirstOfUtf16(n) => both(
                format!("只读取了前 {n} 字节"),
                format!("only the first {n} bytes were read"),
            ),
            P::NotOfEncoding(encoding) => both(
                format!("含有不属于 {encoding} 的字节"),
                format!("holds bytes that are not {encoding}"),
            ),
            P::Nul => both("含有 NUL 字符", "holds NUL characters"),
            P::Entities => both(
                "声明了实体,这里不展开实体",
                "declares entities, which are not expanded",
            ),
            P::TooManyFiles(n) => both(
                format!("文件超过 {n} 个,其余的没有查看"),
                format!("more than {n} files; the rest is not looked at"),
            ),
            P::NameNotUnicode => both("文件名不是 Unicode", "the name is not Unicode"),
            P::Link => both("链接不会被跟随", "a link is not followed"),
            P::NoFile => both("既不是文件也不是文件夹", "neither a file nor a folder"),
            P::Syntax(error) => both(format!("语法错误:{error}"), error.clone()),
            P::NoCounters => both("没有计数器", "holds no counters"),
            P::NoStage => both("没有写明是哪个 stage", "names no stage"),
            P::Metadata(error) => both(
                format!("表的元数据无法解码:{error}"),
                format!("the table metadata cannot be decoded: {error}"),
            ),
            P::NoTables => both("没有表的列表", "has no list of tables"),
            P::TableWithoutName => both("有一张表没有名字", "a table without a name"),
            P::RowsDiffer {
                stream,
                here,
                there,
            } => both(
                format!("`{stream}` 各分区的行数与表的元数据不一致(总数 {here},元数据为 {there})"),
                format!(
                    "rows of the partitions of `{stream}` differ from the table's metadata ({here} against {there} in all)"
                ),
            ),
            P::OutOfRange(name, value) => both(
                format!("`{name}` 的值 `{value}` 超出范围"),
                format!("`{value}` is out of range for `{name}`"),
            ),
            P::NoStatement => both("没有任何语句", "holds no statement"),
            P::Attempt => both(
                "有一次 vertex 尝试无法读取",
                "an attempt that cannot be read",
            ),
            P::LongLine => both("有一行太长,无法读取", "a line too long to be read"),
            P::CutLine => both("文件在这一行被截断", "the file is cut off in this line"),
            P::MoreLines(n) => both(
                format!("还有 {n} 行无法读取"),
                format!("{n} more lines that cannot be read"),
            ),
            P::MoreAttempts(n) => both(
                format!("还有 {n} 次尝试超出可保留的数量"),
                format!("{n} attempts more than are kept"),
            ),
        }
    }

    /// Says what can be done about it.
    pub(crate) fn hint(&self) -> Bilingual {
        use Problem as P;
        match self {
            P::TooDeep(_) | P::TooMany(_) | P::StillOpen(_) | P::NoElement | P::Malformed(..) => {
                both(
                    "此处之前的内容已读取;如果文件被截断,请重新获取",
                    "what stands before this place was read; fetch the file again if it was cut off",
                )
            }
            P::Unreadable(_) => both("检查文件的权限", "check the permissions of the file"),
            P::OnlyFirst(_) => both(
                "这类文件通常小得多",
                "a file of this kind is normally much smaller",
            ),
            P::OnlyFirstOfUtf16(_) => both(
                "另存为 UTF-8;那样无论多大都能读取",
                "save the file as UTF-8; then it is read whatever its size",
            ),
            P::NotOfEncoding(_) => both(
                "这些字节已被替换;请把文件另存为 UTF-8",
                "they were replaced; save the file as UTF-8",
            ),
            P::Nul => both(
                "文件已损坏,或按二进制方式复制;请重新复制",
                "the file is damaged or was copied as binary; copy it again",
            ),
            P::Entities => both(
                "对实体的引用保持原样;请保存一份不含实体的文件",
                "references to them stay as they are written; save the file without them",
            ),
            P::TooManyFiles(_) => both("请给出单个作业的文件夹", "give the folder of a single job"),
            P::NameNotUnicode => both("请重命名该文件", "rename the file"),
            P::Link => both(
                "如果该文件属于这个作业,请把它复制到文件夹中",
                "copy the file into the folder if it belongs to the job",
            ),
            P::NoFile => both(
                "如果它的内容属于这个作业,请存为文件",
                "save what it gives as a file if it belongs to the job",
            ),
            P::Syntax(_) => both(
                "跳过了该语句;其余语句都已读取",
                "the statement is passed over; all others are read",
            ),
            P::NoCounters => both(
                "vertex 可能在写出计数器之前就失败了;请查看它的错误文件",
                "the vertex may have failed before it wrote its counters; look for its error file",
            ),
            P::NoStage => both(
                "该文件中各输入的大小没有使用;请重新获取文件",
                "the sizes of its inputs are not used; fetch the file again",
            ),
            P::Metadata(_) => both(
                "缺少各输入的行数与分区;请重新获取文件",
                "rows and partitions of the inputs are missing; fetch the file again",
            ),
            P::NoTables => both(
                "应为含有 `tables` 列表的对象",
                "an object with a list `tables` is expected",
            ),
            P::TableWithoutName => both(
                "请给这张表写上 `name` 或 `path`",
                "give the table a `name` or a `path`",
            ),
            P::RowsDiffer { .. } => both(
                "已采用表的元数据:该文件有时会重复另一个流的数值",
                "the metadata of the table was used: this file is known to repeat values of another stream",
            ),
            P::OutOfRange(..) => both(
                "按未知处理;其余计数器都已读取",
                "it is taken as unknown; all other counters are read",
            ),
            P::NoStatement => both(
                "脚本本身说明了其内容,不需要该文件",
                "the script itself tells what is in it; this file is not needed",
            ),
            P::Attempt | P::LongLine | P::CutLine | P::MoreLines(_) | P::MoreAttempts(_) => both(
                "分布中缺少这些尝试的数值;如果文件被截断,请重新获取",
                "the numbers of these attempts are missing from the distributions; fetch the file again if it was cut off",
            ),
        }
    }
}

fn both(zh: impl Into<String>, en: impl Into<String>) -> Bilingual {
    Bilingual {
        zh: zh.into(),
        en: en.into(),
    }
}
