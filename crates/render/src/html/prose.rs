//! Markdown of the knowledge base as HTML. Documents are text: their HTML is shown, not used, and only links to the web are links.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// Renders a passage.
pub fn render(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut link_is_dropped = Vec::new();
    let events = Parser::new_ext(markdown, options).filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::Link { dest_url, .. }) if !is_web(&dest_url) => {
            link_is_dropped.push(true);
            None
        }
        Event::Start(link @ Tag::Link { .. }) => {
            link_is_dropped.push(false);
            Some(Event::Start(link))
        }
        Event::End(TagEnd::Link) => match link_is_dropped.pop() {
            Some(false) => Some(Event::End(TagEnd::Link)),
            _ => None,
        },
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        other => Some(other),
    });
    let mut out = String::new();
    html::push_html(&mut out, events);
    // Wide elements scroll by themselves, with the keys too.
    out.replace("<pre>", r#"<pre tabindex="0">"#)
        .replace("<table>", r#"<div class="scroll" tabindex="0"><table>"#)
        .replace("</table>", "</table></div>")
}

fn is_web(address: &CowStr) -> bool {
    address.starts_with("https://") || address.starts_with("http://")
}

#[cfg(test)]
mod security {
    use super::*;

    #[test]
    fn documents_bring_no_markup_image_or_script() {
        for (markdown, expected) in [
            ("a **b**", "<p>a <strong>b</strong></p>\n"),
            (
                "<script>alert(1)</script>",
                "&lt;script&gt;alert(1)&lt;/script&gt;",
            ),
            ("x <img src=y>", "<p>x &lt;img src=y&gt;</p>\n"),
            ("![a](http://x/y.png)", "<p>a</p>\n"),
            ("[a](javascript:alert(1))", "<p>a</p>\n"),
            (
                "[a](https://x.y/?a&b)",
                "<p><a href=\"https://x.y/?a&amp;b\">a</a></p>\n",
            ),
        ] {
            assert_eq!(render(markdown), expected, "{markdown}");
        }
    }
}
