#!/usr/bin/env python3
"""Writes crates/indexer/data/wordpiece-cases.json: texts with the tokens of the reference library."""
import argparse
import json

from tokenizers import Tokenizer

TEXTS = [
    "", " ", "Why is the join slow?", "maxRowCount SV3_Combine SKEWJOIN", "E_RUNTIME_USER_EXPRESSIONEVALUATION at 0x7ffe",
    "SELECT a.Id, COUNT(*) AS n FROM @rows AS a GROUP BY a.Id HAVING COUNT(*) > 10;", "数据倾斜怎么解决", "Spark 作业的数据倾斜 (data skew) 问题",
    "naïve café façade Ångström", "Straße STRASSE ẞ", "İstanbul ıspanak", "ΣΊΣΥΦΟΣ ο Σίσυφος", "Привет, мир! Ёлка й", "日本語のテキスト、カタカナとひらがな",
    "한국어 문장입니다", "שלום עולם", "مرحبا بالعالم", "हिन्दी में किताब", "ภาษาไทย", "Tiếng Việt có dấu",
    "emoji 🙂 and 👩‍👩‍👧 family", "zero\u200bwidth\u200djoin\ufeffmark", "soft\u00adhyphen", "non\u00a0breaking\u2003spaces\u2028line\u2029paragraph",
    "tab\tnew\nline\rreturn", "bell\u0007null\u0000form\u000cfeed", "bad \ufffd character", "e\u0301 combining, a\u0308\u0323 two", "ﬁ ligature ﬂ ① ² ½ №",
    "ＦＵＬＬ　ｗｉｄｔｈ，１２３！", "“quotes” ‘single’ — dash – en … dots", "«guillemets» „low“ ‹x›", "price €5 £6 ¥7 ₿8 100% ±3 × ÷ ≤ ≥ ∑ √", "~`!@#$%^&*()_+-={}[]|\\:;\"'<>,.?/",
    "x" * 99, "x" * 100, "x" * 101, "y" * 300, "word " + "ab" * 60 + " word", "https://example.com/a/b?c=d&e=f#g", "C:\\Users\\me\\file.txt", "user@example.org",
    "1,234,567.89 3.14e-10 0xDEADBEEF", "v2.0.0-rc.1+build5", "snake_case_name kebab-case-name dotted.name.path", "don't can't it's o'clock", "U.S.A. e.g. i.e. etc.",
    "phosphorylation of acetyltransferase", "antidisestablishmentarianism", "COVID-19 mRNA IL-6 TNF-α β-catenin", "H₂O CO₂ m²", "α β γ δ ε", "\u037e greek question mark; \u1fef grave",
    "豈 更 車 compatibility", "𠀀𠀁 extension B", "㐀 extension A", "〇 々 〆 ・ 「括弧」", "\u0345 lone mark", "\u0301", "\ud7a3\uac00", "ⅷ Ⅷ ª º", "ǅ ǆ Ǆ", "a\u0378b unassigned", "\ue000 private",
    "line one\r\nline two\r\n\r\nline four", "ŁÓDŹ Łódź đ Đ ø Ø æ Æ", "q̈ş̄ stacked", "++ -- == != <= >= => -> :: ..", "#hashtag @mention $cash", "a", "Ab", "the THE The",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="folder with tokenizer.json")
    parser.add_argument("--out", default="wordpiece-cases.json")
    args = parser.parse_args()
    tokenizer = Tokenizer.from_file(args.model + "/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    with open(args.out, "w") as f:
        lines = (json.dumps([t, tokenizer.encode(t, add_special_tokens=False).tokens], ensure_ascii=True) for t in TEXTS)
        f.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
