use super::*;
use crate::parse::ReadError;

fn parse_with(limits: Limits, text: &str, tokens: &str) -> Result<String, ParseError> {
    let (mut names, mut formula) = (Interner::new(), Formula::new());
    let statement = Tokenized::new(text, tokens);
    Parser::new(limits).parse(&statement, &mut names, &mut formula)?;
    Ok(formula.display(&names).to_string())
}

#[track_caller]
fn check(text: &str, tokens: &str, expected: &str) {
    assert_eq!(parse_with(Limits::default(), text, tokens).unwrap(), expected);
}

#[track_caller]
fn check_error(text: &str, tokens: &str, expected: &str) {
    let error = parse_with(Limits::default(), text, tokens).expect_err(text);
    assert_eq!(error.to_string(), expected, "{text}");
}

#[test]
fn statements() {
    check("|- T", "cT", "|- T");
    check("|- (!x. (x = y))", "c= f0 f1", "|- (!x. (x = y))");
    check("|- (((real_le x) y) = (f x))", "c= creal_le f0 f1 * f2 f0", "|- (((real_le x) y) = (f x))");
    check(
        "(P x), T |- (lambdai. (x $ i))",
        "c==> cP f0 c==> cT clambda / c$ f0 b0",
        "(P x), T |- (\\i. (x $ i))",
    );
    check("x, y |- (?!z. (z = x))", "c==> f0 c==> f1 c?! / c= b0 f0", "x, y |- (?!z. (z = x))");
    check("|- ((\\x. x) T)", "* / b0 cT", "|- ((\\x. x) T)");
    check("|- (!x. ((!x. (P x)) /\\ (P x)))", "c/\\ ! cP b0 cP f0", "|- (!x. ((!x. (P x)) /\\ (P x)))");
    check("|- (? P)", "c? f0", "|- ((?) P)");
    check("|- ((m .. n) = s)", "c= c.. f0 f1 f2", "|- ((m .. n) = s)");
    check(
        "|- ((a_rather_long_constant a_rather_long_variable) = x)",
        "c= ca_rather_long_constant f0 f1",
        "|- ((a_rather_long_constant a_rather_long_variable) = x)",
    );
}

#[test]
fn damaged_statements() {
    check_error("|- (T", "cT", "1:6: expected `)`, found the end of the line, with the `(` of column 4 open");
    check_error("|- T)", "cT", "1:5: expected the end of the formula or a term, found `)`");
    check_error("|- ()", "", "1:5: expected a term, found nothing");
    check_error("|- (!x. )", "", "1:9: expected the body of a binder, found nothing");
    check_error("|- (!x. T T)", "cT cT", "1:11: expected `)` after the body of a binder, found another term");
    check_error(
        "|- (a b c d)",
        "f0 f1 f2 f3",
        "1:11: expected `)` after three terms: `(f x)` or `(a op b)`, found another term",
    );
    check_error("T", "cT", "1:2: expected `|-` and a conclusion, found the end of the line");
    check_error("|-", "", "1:3: expected a term, found nothing");
    check_error("T |- T |- T", "", "1:8: expected one conclusion after `|-`, found `|-`");
    check_error(", |- T", "", "1:1: expected a term, found nothing");
    check_error("|- !x. T", "cT", "1:4: expected `(` before a binder, found a binder without brackets");
    check_error("|- (T\tT)", "cT cT", "1:6: expected a term, found the control character 0x09");
    check_error(
        "|- T",
        "cT x",
        "2:4: expected a token (`cNAME`, `f0`, `b0`, `*`, `/`, `!` or `part`), found `x`",
    );
    check_error(
        "|- T",
        "cT f",
        "2:4: expected a token (`cNAME`, `f0`, `b0`, `*`, `/`, `!` or `part`), found `f`",
    );
}

#[test]
fn tokens_must_fit_the_text() {
    let check = |text: &str, tokens: &str, text_has: (u32, u32), tokens_have: (u32, u32)| {
        let expected = format!(
            "2:1: expected tokens of the text above, with {} constants and {} variables, found {} constants and {} variables",
            text_has.0, text_has.1, tokens_have.0, tokens_have.1
        );
        check_error(text, tokens, &expected);
    };
    check("|- (T = T)", "c= cT", (3, 0), (2, 0));
    check("|- (x = y)", "c= f0", (1, 2), (1, 1));
    check("|- (x = y)", "c= f0 cz", (1, 2), (2, 1));
    check("T |- T", "cT cT", (3, 0), (2, 0));
}

#[test]
fn hostile_statements() {
    let many = 1_000_000;
    for text in ["(", "(!x. ", "(x ", "((", ")"] {
        assert!(parse_with(Limits::default(), &format!("|- {}", text.repeat(many)), "").is_err());
    }
    let deep = format!("|- {}x{}", "(".repeat(many), ")".repeat(many));
    let error = parse_with(Limits::default(), &deep, "f0").unwrap_err().to_string();
    assert_eq!(error, "1:20004: expected at most 20000 nested brackets, found more");
    let limits = Limits { depth: usize::MAX, ..Limits::default() };
    assert_eq!(parse_with(limits, &deep, "f0").unwrap(), "|- x");
    let wide = format!("|- {}x{}", "(x ".repeat(many), ")".repeat(many));
    let error = parse_with(limits, &wide, "f0").unwrap_err().to_string();
    assert!(error.ends_with("expected at most 200000 terms in a formula, found more"), "{error}");
}

/// All statements of a file, and the error that ends it.
fn read(file: &[u8]) -> (Vec<String>, Option<String>) {
    let mut reader = Reader::new(std::io::BufReader::with_capacity(5, file), Limits::default());
    let mut found = Vec::new();
    loop {
        match reader.next_entry() {
            Ok(None) => return (found, None),
            Ok(Some(entry)) => {
                let (name, text) = (entry.name.unwrap_or("-"), entry.statement.text);
                found.push(format!("{:?} {name} {text} {}", entry.kind, entry.statement.position));
            }
            Err(error) => return (found, Some(error.to_string())),
        }
    }
}

const FILE: &str = "N goal\nC |- T\nT cT\nD lemma\nA |- (T = T)\nT c= cT cT\n+ |- T\nT cT\n- |- F\nT cF\n";

#[test]
fn files() {
    let (found, error) = read(FILE.as_bytes());
    assert_eq!(error, None);
    let expected = [
        "Conjecture goal |- T 2:3",
        "Dependency lemma |- (T = T) 5:3",
        "Step { useful: true } - |- T 7:3",
        "Step { useful: false } - |- F 9:3",
    ];
    assert_eq!(found, expected);
    assert_eq!(read(FILE.replace('\n', "\r\n").as_bytes()), (found, None));
}

#[test]
fn damaged_files() {
    let check = |file: &[u8], expected: &str| assert_eq!(read(file).1.as_deref(), Some(expected));
    let expected_name = "expected the name of a conjecture, `N ` (is this a HolStep file?), found";
    check(b"", &format!("1:1: {expected_name} the end of the file"));
    check(b"C |- T\n", &format!("1:1: {expected_name} `C |- T`"));
    check(b"\x7fELF\x00\x01", &format!("1:1: {expected_name} `\\u{{7f}}ELF\\0\\u{{1}}`"));
    check(b"N x\n", "2:1: expected the text of the conjecture, `C `, found the end of the file");
    check(b"N x\nC |- T\n", "3:1: expected the tokens of the text above, `T `, found the end of the file");
    check(b"N x\nC |- T\nC |- T\n", "3:1: expected the tokens of the text above, `T `, found `C |- T`");
    let next = "expected a theorem (`D `), a step (`+ ` or `- `) or the end of the file, found";
    check(b"N x\nC |- T\nT cT\nA |- T\n", &format!("4:1: {next} `A |- T`"));
    check(b"N x\nC |- T\nT cT\n+\n", &format!("4:1: {next} `+`"));
    check(b"N x\nC |- \xff\nT cT\n", "2:6: expected UTF-8 text, found the byte 0xff");
    check(b"N x\nC |- T\0\nT cT\n", "2:7: expected UTF-8 text, found a NUL byte");
    check(b"N \xc3\nC |- T\nT cT\n", "1:3: expected UTF-8 text, found the byte 0xc3");
}

/// The statements of a file without damaged ones, and the number of these.
fn read_on(file: &str) -> (Vec<String>, usize) {
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    let (mut found, mut damaged) = (Vec::new(), 0);
    loop {
        match reader.next_entry() {
            Ok(None) => return (found, damaged),
            Ok(Some(entry)) => found.push(entry.statement.text.to_owned()),
            Err(_) => {
                damaged += 1;
                reader.recover();
            }
        }
    }
}

#[test]
fn reading_goes_on_at_the_next_mark() {
    let file = "N goal\nC |- T\nT cT\nD lemma\nA |- A\nT cA\n+ |- B\nT cB\n- |- C\nT cC\n- |- D\nT cD\n";
    let check = |from: &str, to: &str, expected: &[&str]| {
        assert_eq!(
            read_on(&file.replace(from, to)),
            (expected.iter().map(|e| format!("|- {e}")).collect(), 1)
        );
    };
    check("+ |- B\n", "? |- B\n", &["T", "A", "C", "D"]);
    check("+ |- B\nT cB\n", "+ |- B\n", &["T", "A", "C", "D"]);
    check("T cB\n", "cB\n\nrubbish\n", &["T", "A", "C", "D"]);
    check("T cB\n- |- C\nT cC\n", "", &["T", "A", "D"]);
    check("D lemma\n", "", &["T", "B", "C", "D"]);
    check("A |- A\nT cA\n", "", &["T", "B", "C", "D"]);
    check("C |- T\n", "", &["A", "B", "C", "D"]);
    check("N goal\n", "", &["A", "B", "C", "D"]);
    check("T cD\n", "", &["T", "A", "B", "C"]);
    check("|- C", "|- \0", &["T", "A", "B", "D"]);
}

#[test]
fn a_cut_file_is_no_file_or_a_shorter_one() {
    for end in 0..FILE.len() {
        let (found, error) = read(&FILE.as_bytes()[..end]);
        assert!(found.len() <= 4);
        // Only where a statement ends can a cut go unnoticed by the reader.
        let statements = FILE[..end].lines().filter(|line| line.starts_with("T ")).count();
        assert!(error.is_some() || found.len() == statements, "cut at {end}");
    }
}

#[test]
fn a_long_line_is_refused_before_it_is_read() {
    let limits = Limits { bytes: 1000, ..Limits::default() };
    let input = std::io::Read::take(std::io::repeat(b'N'), 50 << 20);
    let mut reader = Reader::new(std::io::BufReader::new(input), limits);
    let Err(ReadError::Parse(error)) = reader.next_entry() else { panic!("a long line is an error") };
    assert_eq!(error.to_string(), "1:1001: expected at most 1000 bytes in a line, found more");
}
