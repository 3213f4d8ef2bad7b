//! Events of an analysis as progress notifications of its call.

use agent::{Event, Observer, StepId};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::sync::mpsc::UnboundedSender;

/// Characters of a message at most; clients show it next to a bar.
const MAX_MESSAGE: usize = 160;

/// Sends a progress notification when a step starts, when it ends, and for each delay.
///
/// The progress is the number of finished steps. It must grow with every notification, so each event within a step advances half of the way to
/// the end of the step.
pub(super) struct Steps {
    token: ProgressToken,
    send: UnboundedSender<ProgressNotificationParam>,
    done: Vec<&'static str>,
    progress: f64,
    total: f64,
}

impl Steps {
    pub(super) fn new(
        token: ProgressToken,
        hypotheses: bool,
        send: UnboundedSender<ProgressNotificationParam>,
    ) -> Steps {
        Steps {
            token,
            send,
            done: Vec::new(),
            progress: 0.0,
            total: (StepId::THINK.len() + usize::from(hypotheses)) as f64,
        }
    }

    /// Steps are repeated when more files change the facts; a repeated step adds no progress.
    fn ended(&mut self, step: &'static str, message: String) {
        if self.done.contains(&step) {
            return self.within(message);
        }
        self.done.push(step);
        self.progress = self.done.len() as f64;
        self.notify(message);
    }

    fn within(&mut self, message: String) {
        let next = self.done.len() as f64 + 1.0;
        let progress = self.progress + (next - self.progress) / 2.0;
        if progress > self.progress && progress < next {
            self.progress = progress;
            self.notify(message);
        }
    }

    fn notify(&self, message: String) {
        let notification = ProgressNotificationParam::new(self.token.clone(), self.progress)
            .with_total(self.total)
            .with_message(shortened(&message));
        // After the call was abandoned, the channel has no receiver.
        let _ = self.send.send(notification);
    }
}

fn shortened(message: &str) -> String {
    match message.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

impl Observer for Steps {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::StepStarted { step, title } => self.within(format!("{} {title}", step.id())),
            Event::StepFinished { step, text, .. } => {
                self.ended(step.id(), format!("{}: {text}", step.id()))
            }
            Event::Retry {
                step,
                attempt,
                reason,
                ..
            } => self.within(format!("{}: {reason} (retry {attempt})", step.id())),
            Event::Fallback { reason } => self.within(reason.into_owned()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    #[test]
    fn progress_grows_with_every_notification_and_ends_at_the_total() {
        let (send, mut received) = tokio::sync::mpsc::unbounded_channel();
        let mut steps = Steps::new(ProgressToken(NumberOrString::Number(1)), false, send);
        let order = [
            StepId::Classify,
            StepId::KeyCode,
            StepId::Experience,
            StepId::Completeness,
            StepId::Classify,
            StepId::KeyCode,
            StepId::Advice,
        ];
        for step in order {
            steps.event(Event::StepStarted {
                step,
                title: "title".into(),
            });
            steps.event(Event::StepFinished {
                step,
                text: "text".into(),
                elapsed_ms: 1.0,
            });
        }
        let mut seen = Vec::new();
        while let Ok(notification) = received.try_recv() {
            seen.push(notification.progress);
        }
        assert_eq!(seen.len(), 2 * order.len());
        assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
        assert_eq!(seen.last(), Some(&5.0));
    }
}
