//! Files of a job from a browser, into a folder of their own below the folder for uploads.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use axum::extract::Multipart;
use axum::extract::multipart::{Field, MultipartError};
use report::format::Bytes;
use report::say;
use tokio::io::AsyncWriteExt;

use super::app::App;
use super::receiving::Receiving;
use crate::error::{Error, ErrorKind, Result};

/// Bytes of one upload.
pub(super) const MAX_BYTES: usize = 1 << 30;
/// Files of one upload; a folder of a SCOPE job has some dozens.
const MAX_FILES: usize = 2000;
/// Bytes of all uploads; the oldest make room.
const MAX_KEPT: u64 = 8 << 30;
/// Bytes of a text field.
const MAX_TEXT: usize = 8 << 10;

/// Bytes of all uploads under way; the kept ones leave room for them.
const MAX_RECEIVED: u64 = MAX_KEPT / 2;

/// The folder of an upload under way; removed unless the upload completes.
struct Incoming<'a> {
    folder: PathBuf,
    bytes: u64,
    all: &'a Receiving,
    is_complete: bool,
}

impl Incoming<'_> {
    /// Counts bytes before they are written.
    ///
    /// # Errors
    /// If the uploads under way have too many.
    fn count(&mut self, bytes: u64) -> Result<()> {
        self.bytes += bytes;
        let all = self.all.0.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if all <= MAX_RECEIVED {
            return Ok(());
        }
        Err(error!(
            Other: "同时上传的内容过多", "too much is being uploaded at once";
            "请稍后再试", "try again later"
        ))
    }
}

impl Drop for Incoming<'_> {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.bytes, Ordering::Relaxed);
        if !self.is_complete {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Fields and files of an upload form.
#[derive(Default)]
pub(super) struct Upload {
    pub(super) job: PathBuf,
    pub(super) question: String,
    pub(super) depth: String,
}

/// Receives an upload; removes an incomplete one, also if the client hangs up or takes too long.
///
/// # Errors
/// If the form is not one of this page, or it has no file, too many, or one with a strange name.
pub(super) async fn receive(app: &App, form: Multipart) -> Result<Upload> {
    make_room(&app.uploads);
    let mut incoming = Incoming {
        folder: app.uploads.join(ulid::Ulid::generate().to_string()),
        bytes: 0,
        all: &app.receiving,
        is_complete: false,
    };
    let received = fields(app, form, &mut incoming).await?;
    incoming.is_complete = true;
    Ok(received)
}

async fn fields(app: &App, mut form: Multipart, incoming: &mut Incoming<'_>) -> Result<Upload> {
    let mut upload = Upload {
        job: incoming.folder.clone(),
        ..Upload::default()
    };
    let (mut is_own, mut files) = (false, 0);
    while let Some(mut field) = form.next_field().await.map_err(broken)? {
        match field.name().unwrap_or_default() {
            "token" => is_own = app.is_own_form(&text(&mut field).await?),
            _ if !is_own => {
                return Err(error!(
                    Usage: "表单不是来自本页面", "this form does not come from this page";
                    "请刷新页面并重新选择文件", "reload the page and choose the files again"
                ));
            }
            "question" => upload.question = text(&mut field).await?,
            "depth" => upload.depth = text(&mut field).await?,
            "files" => {
                let name = field.file_name().unwrap_or_default().to_owned();
                // A form without a chosen file sends a file without a name.
                if name.is_empty() {
                    continue;
                }
                files += 1;
                if files > MAX_FILES {
                    return Err(error!(
                        Usage: "一次最多上传 {MAX_FILES} 个文件", "an upload may have {MAX_FILES} files";
                        "请去掉与本作业无关的文件，或给出目录的路径", "leave out files that don't belong to this job, or give the path of its folder"
                    ));
                }
                save(&mut field, &file_name(&name)?, incoming).await?;
            }
            _ => {}
        }
    }
    match files {
        0 => Err(error!(
            Usage: "没有选择文件", "no file was chosen";
            "请选择作业目录中的文件，或一个事件日志", "choose the files of a job folder, or one event log"
        )),
        _ => Ok(upload),
    }
}

fn broken(error: MultipartError) -> Error {
    Error {
        causes: vec![error.body_text()],
        ..error!(
            Usage: "上传没有完成", "the upload did not complete";
            "一次最多上传 {limit}；更大的目录请给出路径", "an upload may have {limit}; give the path of a larger folder instead", limit = Bytes(MAX_BYTES as f64)
        )
    }
}

async fn text(field: &mut Field<'_>) -> Result<String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(broken)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_TEXT {
            return Err(error!(
                Usage: "字段超过 {MAX_TEXT} 字节", "a field has more than {MAX_TEXT} bytes";
                "请缩短问题", "shorten the question"
            ));
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

async fn save(field: &mut Field<'_>, name: &Path, incoming: &mut Incoming<'_>) -> Result<()> {
    let path = incoming.folder.join(name);
    let failed = |e: std::io::Error| {
        Error::from_source(ErrorKind::Other, &e).hint(say!(
            "请腾出磁盘空间，或另选数据目录",
            "free some space on the disk, or choose another data folder"
        ))
    };
    if let Some(folder) = path.parent() {
        tokio::fs::create_dir_all(folder).await.map_err(failed)?;
    }
    let mut file = tokio::fs::File::create_new(&path).await.map_err(failed)?;
    while let Some(chunk) = field.chunk().await.map_err(broken)? {
        incoming.count(chunk.len() as u64)?;
        file.write_all(&chunk).await.map_err(failed)?;
    }
    file.flush().await.map_err(failed)
}

/// The path of a file in its job: without the folder that was chosen, and never outside of it.
fn file_name(given: &str) -> Result<PathBuf> {
    let unified = given.replace('\\', "/");
    let mut parts: Vec<&str> = unified.split('/').collect();
    if parts.len() > 1 {
        parts.remove(0);
    }
    let is_plain = |part: &&str| {
        !matches!(*part, "" | "." | "..")
            && !part.contains(|c: char| {
                c.is_control() || matches!(c, ':' | '*' | '?' | '"' | '<' | '>' | '|')
            })
            && part.len() <= 200
            && !part.ends_with(['.', ' '])
    };
    if parts.len() <= 8 && parts.iter().all(is_plain) {
        return Ok(parts.iter().collect());
    }
    let name = report::visible_line(given);
    Err(error!(
        Usage: "`{name}` 不能作为作业文件的名称", "`{name}` cannot be the name of a file of a job";
        "请重命名该文件，或给出目录的路径", "rename the file, or give the path of its folder"
    ))
}

/// Removes the oldest uploads that are too many.
fn make_room(uploads: &Path) {
    let entries = fs::read_dir(uploads).into_iter().flatten().flatten();
    let mut all: Vec<(SystemTime, PathBuf, u64)> = entries
        .map(|entry| {
            let at = entry.metadata().and_then(|m| m.modified());
            let size = size(&entry.path());
            (at.unwrap_or(SystemTime::UNIX_EPOCH), entry.path(), size)
        })
        .collect();
    all.sort();
    let mut kept: u64 = all.iter().map(|(.., size)| size).sum();
    for (_, path, size) in all {
        if kept <= MAX_KEPT - MAX_RECEIVED {
            break;
        }
        // Files in use stay until the next upload.
        let _ = fs::remove_dir_all(path);
        kept -= size;
    }
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(of) if of.is_dir() => size(&entry.path()),
            Ok(of) => of.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod security {
    use super::*;

    #[test]
    fn uploads_under_way_are_bounded_together_and_leave_nothing() {
        let home = tempfile::tempdir().expect("a folder");
        let all = Receiving::default();
        let incoming = |name: &str| {
            let folder = home.path().join(name);
            fs::create_dir(&folder).expect("made");
            Incoming {
                folder,
                bytes: 0,
                all: &all,
                is_complete: false,
            }
        };
        let (mut first, mut second) = (incoming("a"), incoming("b"));
        assert!(first.count(MAX_RECEIVED - 1).is_ok());
        assert!(second.count(2).is_err(), "one byte too many");
        first.is_complete = true;
        drop(first);
        assert!(second.count(MAX_RECEIVED - 2).is_ok(), "room again");
        drop(second);
        assert_eq!(all.0.load(Ordering::Relaxed), 0);
        let left = fs::read_dir(home.path()).expect("listed").flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["a"], "only what is complete");
    }

    #[test]
    fn no_name_leaves_the_upload() {
        for (given, expected) in [
            ("scope.script", Some("scope.script")),
            ("job/scope.script", Some("scope.script")),
            ("job/logs/a.txt", Some("logs/a.txt")),
            ("作业/脚本.script", Some("脚本.script")),
            ("..", None),
            ("../x", Some("x")),
            ("job/../../x", None),
            ("job/..\\..\\x", None),
            ("/etc/passwd", Some("etc/passwd")),
            ("C:\\x\\y", Some("x/y")),
            ("a\0b", None),
            ("job/c:x", None),
            ("", None),
        ] {
            let found = file_name(given).ok();
            assert_eq!(found, expected.map(PathBuf::from), "{given}");
        }
    }
}
