//! The roots that a client declares: folders that its user works in. They narrow what the server
//! may read and never widen it.
//!
//! Sessions that began with `initialize` are asked by a request of the server. Since revision
//! 2026-07-28 a server sends no requests; there the answer to a call asks for the roots, and the
//! client calls again with them.

#![expect(
    deprecated,
    reason = "later revisions of the protocol discourage roots; clients still declare them"
)]

use std::path::PathBuf;
use std::time::Duration;

use rmcp::model::{
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ListRootsRequest,
    ListRootsResult, ProtocolVersion,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::roots::Roots;

/// How long a client may take to list its roots. It has them at hand.
const PATIENCE: Duration = Duration::from_secs(10);

/// Name of the question in answers that ask for roots.
const QUESTION: &str = "roots";

/// What a call may read.
pub(super) enum Scope {
    /// These folders.
    Known(Roots),
    /// The client has to tell its roots first.
    Ask(InputRequiredResult),
}

/// The allowed roots, narrowed by those of the client if it declares any.
///
/// # Errors
/// If the client declares roots and does not list them: to read more than its user wants is worse
/// than to read nothing.
pub(super) async fn scope(
    allowed: &Roots,
    context: &RequestContext<RoleServer>,
    given: Option<&InputResponses>,
) -> Result<Scope, ErrorData> {
    let declared = context
        .client_capabilities()
        .is_some_and(|capabilities| capabilities.roots.is_some());
    if !declared {
        return Ok(Scope::Known(allowed.clone()));
    }
    let unlisted = |reason: String| {
        ErrorData::invalid_request(
            format!("the client declares roots but does not list them: {reason}"),
            None,
        )
    };
    if asks_in_answers(context) {
        let Some(answer) = given.and_then(|responses| responses.get(QUESTION)) else {
            return Ok(Scope::Ask(question()));
        };
        let listed: ListRootsResult =
            serde_json::from_value(answer.clone()).map_err(|e| unlisted(e.to_string()))?;
        return Ok(Scope::Known(narrowed(allowed, &listed)));
    }
    let listed = tokio::time::timeout(PATIENCE, context.peer.list_roots())
        .await
        .map_err(|_| unlisted(format!("no answer within {} s", PATIENCE.as_secs())))?
        .map_err(|e| unlisted(e.to_string()))?;
    Ok(Scope::Known(narrowed(allowed, &listed)))
}

/// Whether the protocol forbids requests of the server.
fn asks_in_answers(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

fn question() -> InputRequiredResult {
    let request = InputRequest::ListRoots(ListRootsRequest::default());
    InputRequiredResult::from_input_requests(InputRequests::from([(QUESTION.to_owned(), request)]))
}

/// A client without any root has no wish; one whose roots are no local folders may read nothing.
fn narrowed(allowed: &Roots, listed: &ListRootsResult) -> Roots {
    if listed.roots.is_empty() {
        return allowed.clone();
    }
    let folders: Vec<PathBuf> = listed
        .roots
        .iter()
        .filter_map(|root| url::Url::parse(&root.uri).ok()?.to_file_path().ok())
        .collect();
    allowed.narrowed(&folders)
}
