//! The roots that a client declares, i.e. the folders that its user works in. They narrow the allowed roots and never widen them.
//!
//! In sessions that started with `initialize` the server requests the roots. Since revision 2026-07-28 servers send no requests: the answer to
//! a call asks for the roots, and the client repeats the call with them.

#![expect(
    deprecated,
    reason = "later protocol revisions discourage roots, but clients still declare them"
)]

use std::path::PathBuf;
use std::time::Duration;

use rmcp::model::{
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ListRootsRequest,
    ListRootsResult, ProtocolVersion,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use crate::roots::Roots;

/// How long a client may take to list its roots.
const PATIENCE: Duration = Duration::from_secs(10);

/// Name of the question in answers that ask for roots.
const QUESTION: &str = "roots";

/// Roots of a call.
pub(super) enum Scope {
    /// These folders.
    Known(Roots),
    /// The client must list its roots first.
    Ask(InputRequiredResult),
}

/// The allowed roots, narrowed by the client's roots if it declares any.
///
/// # Errors
/// If the client declares roots but does not list them: no access is better than more access than its user wants.
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

/// Whether the protocol forbids requests from the server.
fn asks_in_answers(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

fn question() -> InputRequiredResult {
    let request = InputRequest::ListRoots(ListRootsRequest::default());
    InputRequiredResult::from_input_requests(InputRequests::from([(QUESTION.to_owned(), request)]))
}

/// A client with an empty list accepts all folders; a client without a local folder in its list may read
/// none.
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
