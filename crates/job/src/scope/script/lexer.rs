//! Cuts a script into tokens. Every byte of any text belongs to exactly one token.
//!
//! Knows where strings, comments, directives and C# blocks end; knows no keywords.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TokenKind {
    /// Blanks, line ends, byte order mark.
    Space,
    /// `// …`.
    LineComment,
    /// `/* … */`, or to the end of the text.
    BlockComment,
    /// Word: keyword, name, type.
    Word,
    /// `@name`.
    Variable,
    /// `@@name@@` or `@@name`.
    Parameter,
    /// Number with its suffix.
    Number,
    /// Any string or character literal.
    Text,
    /// `#IF …`, `#ELSE`, `#ENDIF`, `#ERROR …`: the rest of the line belongs to it.
    Directive,
    /// `#DECLARE` and other `#` words that open a statement.
    HashWord,
    /// `#CS … #ENDCS`, or to the end of the text.
    CsBlock,
    /// Operator or bracket of one or two characters.
    Punct,
    /// A character outside the language.
    Unknown,
}

impl TokenKind {
    /// Whether the grammar skips it.
    pub fn is_trivia(self) -> bool {
        matches!(
            self,
            TokenKind::Space | TokenKind::LineComment | TokenKind::BlockComment
        )
    }
}

/// One token; it ends where the next one starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub start: u32,
}

/// Cuts `text` into at most `most` tokens. If that is not enough, the last one is an unknown token with the
/// rest of the text. Text beyond 4 GiB has no 32-bit offset and is one such token.
pub(super) fn lex(text: &str, most: usize) -> Vec<Token> {
    let mut lexer = Lexer {
        bytes: text.as_bytes(),
        at: 0,
    };
    let most = match u32::try_from(text.len()) {
        Ok(_) => most.max(1),
        Err(_) => 1,
    };
    let mut tokens = Vec::with_capacity((text.len() / 4 + 1).min(most));
    while lexer.at < lexer.bytes.len() {
        if tokens.len() + 1 == most {
            tokens.push(Token {
                kind: TokenKind::Unknown,
                start: lexer.at as u32,
            });
            break;
        }
        let start = lexer.at as u32;
        let kind = lexer.token();
        tokens.push(Token { kind, start });
    }
    tokens
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Lexer<'_> {
    fn token(&mut self) -> TokenKind {
        let byte = self.bytes[self.at];
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => self.space(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            b'0'..=b'9' => self.number(),
            b'"' => self.quoted(b'"'),
            b'\'' => self.quoted(b'\''),
            b'@' => self.at_sign(),
            b'$' => self.dollar(),
            b'/' => self.slash(),
            b'#' => self.hash(),
            0x80.. => self.non_ascii(),
            _ => self.punct(),
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.at < self.bytes.len() && accept(self.bytes[self.at]) {
            self.at += 1;
        }
    }

    fn space(&mut self) -> TokenKind {
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c));
        TokenKind::Space
    }

    fn word(&mut self) -> TokenKind {
        self.skip_while(is_word);
        TokenKind::Word
    }

    /// A letter outside ASCII begins a word; byte order marks and wide blanks are space.
    fn non_ascii(&mut self) -> TokenKind {
        for space in ["\u{feff}", "\u{a0}", "\u{3000}", "\u{200b}"] {
            if self.bytes[self.at..].starts_with(space.as_bytes()) {
                self.at += space.len();
                return TokenKind::Space;
            }
        }
        self.word()
    }

    /// `1`, `0x1F`, `1.5e-3f`, `0UL`; the dots of a range `1...5` are not part of it.
    fn number(&mut self) -> TokenKind {
        self.skip_while(is_word);
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            self.at += 1;
            self.skip_while(is_word);
        }
        let exponent = matches!(self.bytes[self.at - 1], b'e' | b'E');
        if exponent && matches!(self.peek(0), b'+' | b'-') && self.peek(1).is_ascii_digit() {
            self.at += 1;
            self.skip_while(is_word);
        }
        TokenKind::Number
    }

    /// A literal with backslash escapes. It ends at the line's end if it is not closed before.
    fn quoted(&mut self, quote: u8) -> TokenKind {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\\' if !matches!(self.peek(1), b'\r' | b'\n' | 0) => self.at += 2,
                b'\n' | b'\r' => break,
                byte => {
                    self.at += 1;
                    if byte == quote {
                        break;
                    }
                }
            }
        }
        self.skip_to_char_boundary();
        TokenKind::Text
    }

    /// A backslash may precede a character of several bytes.
    fn skip_to_char_boundary(&mut self) {
        self.at = self.at.min(self.bytes.len());
        self.skip_while(|byte| (0x80..0xc0).contains(&byte));
    }

    /// `@"…"` may contain line ends; `""` is a quote in it.
    fn verbatim(&mut self) -> TokenKind {
        while let Some(found) = memchr::memchr(b'"', &self.bytes[self.at..]) {
            self.at += found + 1;
            if self.peek(0) != b'"' {
                return TokenKind::Text;
            }
            self.at += 1;
        }
        self.at = self.bytes.len();
        TokenKind::Text
    }

    fn at_sign(&mut self) -> TokenKind {
        self.at += 1;
        match self.peek(0) {
            b'"' => {
                self.at += 1;
                self.verbatim()
            }
            b'@' => {
                self.at += 1;
                self.skip_while(is_word);
                if self.peek(0) == b'@' && self.peek(1) == b'@' {
                    self.at += 2;
                }
                TokenKind::Parameter
            }
            byte if is_word(byte) => {
                self.skip_while(is_word);
                TokenKind::Variable
            }
            _ => TokenKind::Unknown,
        }
    }

    fn dollar(&mut self) -> TokenKind {
        self.at += 1;
        match (self.peek(0), self.peek(1)) {
            (b'"', _) => self.quoted(b'"'),
            (b'@', b'"') => {
                self.at += 2;
                self.verbatim()
            }
            (byte, _) if is_word(byte) => self.word(),
            _ => TokenKind::Unknown,
        }
    }

    fn slash(&mut self) -> TokenKind {
        match self.peek(1) {
            b'/' => {
                self.skip_to_line_end();
                TokenKind::LineComment
            }
            b'*' => {
                let rest = &self.bytes[self.at + 2..];
                let end = memchr::memmem::find(rest, b"*/");
                self.at = end.map_or(self.bytes.len(), |found| self.at + 2 + found + 2);
                TokenKind::BlockComment
            }
            _ => self.punct(),
        }
    }

    fn skip_to_line_end(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    }

    /// Upper-case word after the `#`, with blanks between them allowed.
    fn hash(&mut self) -> TokenKind {
        let mut from = self.at + 1;
        while matches!(self.bytes.get(from), Some(b' ' | b'\t')) {
            from += 1;
        }
        let rest = self.bytes[from..].iter();
        let length = rest.take_while(|byte| is_word(**byte)).count();
        let word = &self.bytes[from..from + length];
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        if is("CS") {
            self.at = from + length;
            return self.cs_block();
        }
        if ["DECLARE", "SET"].into_iter().any(is) {
            self.at = from + length;
            return TokenKind::HashWord;
        }
        if word.is_empty() {
            self.at += 1;
            return TokenKind::Unknown;
        }
        self.skip_to_line_end();
        TokenKind::Directive
    }

    fn cs_block(&mut self) -> TokenKind {
        let rest = &self.bytes[self.at..];
        let end = memchr::memmem::find(rest, b"#ENDCS");
        self.at = end.map_or(self.bytes.len(), |found| self.at + found + b"#ENDCS".len());
        TokenKind::CsBlock
    }

    fn punct(&mut self) -> TokenKind {
        let two = (self.peek(0), self.peek(1));
        self.at += match two {
            (b'=' | b'!' | b'<' | b'>', b'=') | (b'&', b'&') | (b'|', b'|') | (b'?', b'?') => 2,
            (b'=', b'>') | (b'?', b'.') => 2,
            _ => 1,
        };
        match two.0 {
            0..0x20 | b'`' | b'\\' | 0x7f => TokenKind::Unknown,
            _ => TokenKind::Punct,
        }
    }
}

/// Bytes of words; every byte beyond ASCII counts as a letter.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Whether a word is in mixed case like `Name`: keywords never are, most columns are.
pub(super) fn is_mixed_case(word: &str) -> bool {
    matches!(word.as_bytes(), [b'A'..=b'Z', b'a'..=b'z', ..])
}
