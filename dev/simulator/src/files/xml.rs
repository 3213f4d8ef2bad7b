//! A small XML writer: elements with attributes, indented.

/// Text that grows by elements.
#[derive(Debug, Default)]
pub(crate) struct Xml {
    pub(crate) text: String,
    depth: usize,
}

/// Escapes an attribute or text.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
    out
}

/// Attributes in the order of printing.
pub(crate) type Attrs = Vec<(&'static str, String)>;

impl Xml {
    /// Starts a document, with or without a declaration.
    pub(crate) fn new(declared: bool) -> Self {
        let text = if declared {
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
        } else {
            ""
        };
        Self {
            text: text.to_owned(),
            depth: 0,
        }
    }

    fn tag(&mut self, name: &str, attrs: &Attrs, close: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push('<');
        self.text.push_str(name);
        for (key, value) in attrs {
            self.text.push_str(&format!(" {key}=\"{}\"", escape(value)));
        }
        self.text.push_str(close);
        self.text.push('\n');
    }

    /// Opens an element.
    pub(crate) fn open(&mut self, name: &str, attrs: &Attrs) {
        self.tag(name, attrs, ">");
        self.depth += 1;
    }

    /// Closes an element.
    pub(crate) fn close(&mut self, name: &str) {
        self.depth -= 1;
        self.text
            .push_str(&format!("{}</{name}>\n", "  ".repeat(self.depth)));
    }

    /// Writes an element without content.
    pub(crate) fn leaf(&mut self, name: &str, attrs: &Attrs) {
        self.tag(name, attrs, " />");
    }

    /// Writes an element with text.
    pub(crate) fn value(&mut self, name: &str, text: &str) {
        self.text.push_str(&format!(
            "{}<{name}>{}</{name}>\n",
            "  ".repeat(self.depth),
            escape(text)
        ));
    }
}

/// One attribute.
pub(crate) fn a(key: &'static str, value: impl ToString) -> (&'static str, String) {
    (key, value.to_string())
}

/// Formats a number as an integer.
pub(crate) fn whole(key: &'static str, value: f64) -> (&'static str, String) {
    let value = libm::round(value);
    (
        key,
        if value > 0.0 {
            format!("{value:.0}")
        } else {
            "0".to_owned()
        },
    )
}
