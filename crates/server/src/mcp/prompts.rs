//! Prompts: tasks that a user picks, spelled out for the model.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};

struct Task {
    name: &'static str,
    title: &'static str,
    arguments: &'static [(&'static str, &'static str)],
    /// With `{name}` for each argument.
    text: &'static str,
}

const TASKS: [Task; 3] = [
    Task {
        name: "investigate_slow_job",
        title: "Investigate a slow job",
        arguments: &[(
            "job",
            "The job: a folder, an event log or a History Server address",
        )],
        text: "Find out why the job {job} is slow and what to change first. Call analyze_job. If the job ran before, call job_history, and compare_runs \
               with its last good run. Check the first suggestion with whatif. Report the cause with its evidence, the change as a diff or setting, and the time it saves. \
               Use only numbers that the tools gave.",
    },
    Task {
        name: "explain_failure",
        title: "Explain a failure",
        arguments: &[("job", "The job that failed")],
        text: "Explain why the job {job} failed. Call analyze_job, then read_job_file for the error and the code or script around it, and search_experience for the error's id. \
               Quote the error, say what caused it, and propose a fix. Say what the files don't show.",
    },
    Task {
        name: "review_fix",
        title: "Review a fix",
        arguments: &[
            ("before", "The run before the change"),
            ("after", "The run after it"),
        ],
        text: "Judge whether a change helped: call compare_runs with a={before} and b={after}. Separate the effect of the change from more or less input, other tokens and waits. \
               If the suggestion came from a report, record the outcome with give_feedback after the user agrees.",
    },
];

pub(super) fn list() -> Vec<Prompt> {
    let prompt = |task: &Task| {
        let argument = |(name, description): &(&str, &str)| {
            PromptArgument::new(*name)
                .with_description(*description)
                .with_required(true)
        };
        let arguments = task.arguments.iter().map(argument).collect();
        Prompt::new(task.name, Some(task.title), Some(arguments))
    };
    TASKS.iter().map(prompt).collect()
}

pub(super) fn get(asked: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let invalid = |text: String| ErrorData::invalid_params(text, None);
    let task = TASKS.iter().find(|task| task.name == asked.name);
    let task = task.ok_or_else(|| invalid(format!("there is no prompt `{}`", asked.name)))?;
    let mut text = task.text.to_owned();
    for (name, _) in task.arguments {
        let given = asked
            .arguments
            .as_ref()
            .and_then(|all| all.get(*name)?.as_str());
        let given = given.ok_or_else(|| invalid(format!("the argument `{name}` is missing")))?;
        text = text.replace(&format!("{{{name}}}"), &format!("`{given}`"));
    }
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(task.title))
}
