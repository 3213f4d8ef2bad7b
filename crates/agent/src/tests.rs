//! What a model is sent about simulated jobs.

use std::path::PathBuf;

use llm::{Profile, Provider};
use report::Language;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::model::{DryRun, Preview};
use crate::{Analysis, Limits, Prompts, Reasoner, Request, Services, Silent};

/// A simulated job, until it is dropped.
struct Case {
    folder: TempDir,
    name: &'static str,
}

impl Case {
    fn new(name: &str) -> Case {
        let folder = tempfile::tempdir().expect("a folder");
        let case = simulator::cases().into_iter().find(|c| c.name == name);
        let case = case.expect("a case");
        case.write(folder.path()).expect("its files");
        Case {
            folder,
            name: case.name,
        }
    }

    fn job(&self) -> PathBuf {
        self.folder.path().join(self.name).join("job")
    }

    async fn analyze(
        &self,
        reasoner: impl Reasoner + 'static,
        language: Language,
        redact: bool,
    ) -> Analysis {
        let request = Request {
            job: self.job(),
            language: Some(language),
            hypotheses: true,
            ..Request::default()
        };
        let services = Services {
            catalogue: &job::Catalogue::builtin(),
            diagnosis: &diagnosis::Settings::default(),
            reading: job::Options::default(),
            index: None,
            reasoner: Box::new(reasoner),
            fallbacks: Vec::new(),
            prompts: Prompts::built_in(),
            prior: None,
            kind_prior: None,
            answerer: None,
            limits: Limits::default(),
            redact,
            cancel: CancellationToken::new(),
        };
        let analysis = crate::analyze(&request, &services, &mut Silent).await;
        analysis.expect("a report")
    }

    /// What would be sent to a model with such a context.
    async fn previews(
        &self,
        context: Option<usize>,
        language: Language,
        redact: bool,
    ) -> Vec<Preview> {
        let mut profile = Profile::new(Provider::OpenAi, "gpt-4o");
        profile.context_tokens = context;
        let dry = DryRun::new(profile);
        let previews = dry.previews();
        self.analyze(dry, language, redact).await;
        let previews = previews.lock().expect("the run is over");
        previews.clone()
    }
}

fn of_step<'p>(previews: &'p [Preview], step: &str) -> &'p Preview {
    let found = previews.iter().rfind(|p| p.steps == [step]);
    found.expect("a prompt of the step")
}

#[tokio::test]
async fn failing_user_code_is_shown_to_the_steps_that_explain_it() {
    let case = Case::new("user-code-failure");
    for (language, heading) in [(Language::En, "\n## Code\n"), (Language::Zh, "\n## 代码\n")] {
        let previews = case.previews(None, language, false).await;
        for step in ["think2", "think3", "think5", "hypotheses"] {
            let prompt = &of_step(&previews, step).user;
            let (_, code) = prompt.split_once(heading).expect("a part");
            let (inside, _) = code.split_once(">>>data").expect("a fence");
            let (_, inside) = inside.split_once("<<<data code").expect("a fence");
            assert!(inside.contains("InvoiceLinesScorer"), "{inside}");
            assert!(inside.contains("\n  33  "), "{inside}");
            assert!(inside.contains("Convert.ToInt64(units)"), "{inside}");
            assert!(inside.lines().count() < 20, "{inside}");
        }
        for step in ["think1", "think4"] {
            assert!(!of_step(&previews, step).user.contains(heading), "{step}");
        }
    }
}

#[tokio::test]
async fn a_job_without_user_code_has_no_part_for_it() {
    let previews = Case::new("queue-wait")
        .previews(None, Language::En, false)
        .await;
    assert!(previews.iter().all(|p| !p.user.contains("## Code")));
}

#[tokio::test]
async fn code_is_shortened_before_it_is_dropped() {
    let case = Case::new("user-code-failure");
    let lines = async |context| {
        let previews = case.previews(context, Language::En, false).await;
        let advice = of_step(&previews, "think5");
        let shown = advice.user.contains("Convert.ToInt64(units)");
        (
            advice.user.matches("row[\"").count(),
            shown,
            advice.cuts.join("; "),
        )
    };
    let (whole, _, _) = lines(None).await;
    let (few, shown, cuts) = lines(Some(7_000)).await;
    assert!(shown && few < whole, "{few} of {whole}: {cuts}");
    assert!(
        cuts.contains("code away from the lines that matter"),
        "{cuts}"
    );
    let (none, shown, cuts) = lines(Some(1_000)).await;
    assert!(!shown && none == 0, "{none}: {cuts}");
    assert!(cuts.contains("the code"), "{cuts}");
}

#[tokio::test]
async fn words_of_code_are_masked() {
    let case = Case::new("user-code-failure");
    let previews = case.previews(None, Language::En, true).await;
    let prompt = &of_step(&previews, "think2").user;
    assert!(prompt.contains("## Code"), "{prompt}");
    for own in ["InvoiceLinesScorer", "TenantKey", "tenantKey"] {
        assert!(!prompt.contains(own), "{own} in {prompt}");
    }
}
