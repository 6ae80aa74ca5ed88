//! The page in a real browser: by keyboard alone, on large and small screens, in light and dark.
//!
//! With `FORMULANET_SCREENSHOTS=FOLDER`, pictures of the page are left there. With `FORMULANET_AXE=FILE`, which is
//! `axe.min.js` of the npm package `axe-core`, the page is checked for people who use it with other means than a mouse and
//! sharp eyes.

mod common;
mod devtools;

use std::io::Write;
use std::path::PathBuf;

use common::{Running, STATEMENTS};
use devtools::Browser;
use formulanet_server::Settings;
use formulanet_testing::Folder;
use serde_json::{Value, json};

const TOKEN: &str = "a-token-that-nobody-knows";
const ROWS: &str = "document.querySelectorAll('.results > li').length";
const HAS_GRAPH: &str = "document.querySelector('#conjecture-graph svg')";

/// A server with the page, shown by a browser; nothing if there is no browser.
fn page(change: impl FnOnce(&mut Settings)) -> Option<(Running, Browser)> {
    let Some(program) = devtools::find() else {
        skip("there is no chromium on the PATH, so the page is not tried in a browser");
        return None;
    };
    let server = Running::new(change);
    let mut browser = Browser::start(&program);
    browser.look(1280, 900, "light");
    open(&server, &mut browser);
    Some((server, browser))
}

fn open(server: &Running, browser: &mut Browser) {
    browser.open(&address(server));
    browser.wait("document.querySelectorAll('#library option').length === 2");
}

fn address(server: &Running) -> String {
    format!("http://localhost:{}/", server.address.port())
}

/// Past the harness, which shows what a test prints only if it fails.
fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

fn screenshot(browser: &mut Browser, name: &str) {
    if let Some(folder) = std::env::var_os("FORMULANET_SCREENSHOTS") {
        browser.screenshot(&PathBuf::from(folder).join(format!("{name}.png")));
    }
}

/// Types a conjecture over what is there, and ranks.
fn rank(browser: &mut Browser, text: &str) {
    browser.value("conjecture.select(); conjecture.focus(); columns.replaceChildren()");
    browser.type_text(text);
    browser.press("Ctrl+Enter");
    browser.wait(&format!("{ROWS} > 0"));
}

/// The text of a page's element.
fn text(browser: &mut Browser, selector: &str) -> String {
    let found = browser.value(&format!("document.querySelector(`{selector}`).innerText"));
    found.as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_newcomer_with_a_keyboard() {
    let Some((_server, mut browser)) = page(|_| ()) else { return };

    // A mistake is marked at its column while it is typed.
    browser.press("Tab");
    assert_eq!(browser.value("document.activeElement.id"), "conjecture");
    browser.type_text("!m n. m + = n");
    browser.wait("document.querySelector('#conjecture-wrong pre b')");
    assert_eq!(browser.value("conjecture.getAttribute('aria-invalid')"), "true");
    let marked = browser.value("document.querySelector('#conjecture-wrong pre').textContent");
    let marked = marked.as_str().unwrap();
    let (line, caret) = marked.split_once('\n').unwrap();
    assert_eq!(line, "!m n. m + = n");
    assert_eq!(caret, format!("{}^", " ".repeat(line.find('=').unwrap())), "{marked}");
    let message = text(&mut browser, "#conjecture-wrong");
    assert!(message.contains("expected"), "{message}");
    screenshot(&mut browser, "mistake");

    // Once it is right, the mark goes and the graph comes.
    browser.press("Ctrl+a");
    browser.type_text("!m n. m + n = n + m");
    browser.wait(HAS_GRAPH);
    assert_eq!(browser.value("document.querySelector('#conjecture-wrong').childNodes.length"), 0);
    assert_eq!(browser.value("conjecture.getAttribute('aria-invalid')"), "false");
    let is_styled = "getComputedStyle(document.querySelector('#conjecture-graph svg .e')).fill === 'none'";
    assert_eq!(browser.value(is_styled), true, "the policy lets the picture's own style sheet through");

    // The library of the server, by Ctrl+Enter and by the button.
    browser.press("Ctrl+Enter");
    browser.wait(&format!("{ROWS} === 5"));
    browser.value("columns.replaceChildren()");
    browser.tab_to("document.activeElement.id === 'rank'");
    browser.press("Enter");
    browser.wait(&format!("{ROWS} === 5"));

    // The example is one for the library that is chosen. While it ranks, the button is off, and Tab passes it by.
    browser.value("columns.replaceChildren()");
    browser.tab_to("document.activeElement.id === 'example'");
    browser.press("Enter");
    let (_, last) = STATEMENTS[5];
    browser.wait(&format!("conjecture.value === '{last}' && {ROWS} === 5 && !rank.disabled"));
    assert_eq!(browser.value("library.value"), "small");
    // Without a library, it brings statements along.
    for _ in 0..3 {
        browser.press("Shift+Tab");
    }
    assert_eq!(browser.value("document.activeElement.id"), "library");
    browser.press("ArrowUp");
    assert_eq!(browser.value("library.value"), "");
    browser.tab_to("document.activeElement.id === 'example'");
    browser.press("Enter");
    browser.wait(&format!("{ROWS} === 10"));
    assert_eq!(browser.value("library.value"), "");
    let scores =
        browser.value("[...document.querySelectorAll('.score')].map((score) => Number(score.innerText))");
    let scores: Vec<f64> = scores.as_array().unwrap().iter().map(|score| score.as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");

    // To the list and down in it; Enter shows why a premise is there, and its graph; Space ticks.
    let row = |number: usize, part: &str| {
        format!(
            "document.activeElement === document.querySelectorAll('.results > li')[{number}].querySelector('.line {part}')"
        )
    };
    browser.tab_to(&row(0, "input"));
    browser.press("Space");
    assert_eq!(text(&mut browser, "#copy-label"), "Copy 1 ticked as");
    browser.press("Tab");
    assert_eq!(browser.value(&row(0, "button")), true);
    browser.press("ArrowDown");
    assert_eq!(browser.value(&row(1, "button")), true);
    browser.press("Enter");
    browser.wait("document.querySelectorAll('.canvas svg').length === 2");
    browser.wait("document.querySelector('.more svg').getBoundingClientRect().width > 50");
    assert_eq!(browser.value("document.activeElement.getAttribute('aria-expanded')"), "true");
    assert!(text(&mut browser, ".more dl").contains("Shared symbols"));
    screenshot(&mut browser, "light");
    browser.press("Enter");
    assert_eq!(browser.value("document.querySelectorAll('.more:not([hidden])').length"), 0);
    browser.press("End");
    assert_eq!(browser.value(&row(9, "button")), true);
    browser.press("Home");
    assert_eq!(browser.value(&row(0, "button")), true);
    // The list is one stop: Tab leaves it.
    browser.press("Tab");
    assert_eq!(browser.value("document.activeElement.closest('.results') === null"), true);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn text_of_users_is_text() {
    let Some((_server, mut browser)) = page(|_| ()) else { return };
    // What a hostile user types is text, never markup.
    browser.value("premises.value = '<img src=x onerror=alert(1)>: !x. x = x'; library.value = ''; 0");
    rank(&mut browser, "!x. x = x /\\ x = x");
    assert_eq!(browser.value("document.querySelectorAll('img').length"), 0);
    assert_eq!(text(&mut browser, ".results .name"), "<img src=x onerror=alert(1)>");
    browser.value("premises.value = 'a: !x. x = x\\nb: !x. x +'; rank()");
    browser.wait("document.querySelector('#premises-wrong pre')");
    let message = text(&mut browser, "#premises-wrong");
    assert!(message.contains("line 2"), "{message}");
    assert_eq!(text(&mut browser, "#status"), "No results.");

    // A file of statements.
    let folder = Folder::new();
    let file = folder.write("own.hol", "OWN: !x. x = x");
    let document = browser.call("DOM.getDocument", json!({}));
    let find = json!({"nodeId": document["root"]["nodeId"], "selector": "#file"});
    let input = browser.call("DOM.querySelector", find);
    let files = json!({"nodeId": input["nodeId"], "files": [file]});
    browser.call("DOM.setFileInputFiles", files);
    browser.wait("premises.value === 'OWN: !x. x = x'");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn large_and_small_screens() {
    let Some((server, mut browser)) = page(|_| ()) else { return };
    let is_in_view = |selector: &str, height: u32| {
        format!(
            "[document.querySelector('{selector}').getBoundingClientRect()].every(({{top, bottom}}) => \
             top >= 0 && bottom <= {height} + 1)"
        )
    };
    let many: Vec<String> = (0..40).map(|i| format!("OWN_{i}: !x. x = x + {i}")).collect();
    let fill = format!("premises.value = {}; own.open = true; most.value = 40; 0", json!(many.join("\n")));
    for (width, height, scheme) in [(1280, 900, "light"), (390, 844, "light"), (390, 844, "dark")] {
        browser.look(width, height, scheme);
        open(&server, &mut browser);
        assert_eq!(browser.value(&is_in_view("#rank", height)), true, "Rank is seen without scrolling");
        browser.value(&fill);
        rank(&mut browser, "!m n. m + n = n + m");
        browser.wait(&is_in_view(".results > li:first-child", height));
        // All rows lie on the page itself, and none is cut.
        assert_eq!(browser.value(ROWS), 40);
        let boxes = "let cut = 0; for (let at = document.querySelector('.results'); at !== document.body; at = at.parentNode) \
                     cut += at.scrollHeight - at.clientHeight > 1 && getComputedStyle(at).overflowY !== 'visible'; cut";
        assert_eq!(browser.value(&format!("{{ {boxes} }}")), 0, "no box scrolls on its own");
        browser.value("document.querySelector('.results > li:last-child').scrollIntoView({block: 'end'})");
        browser.wait(&is_in_view(".results > li:last-child", height));
        if width == 1280 {
            assert_eq!(browser.value(&is_in_view("#rank", height)), true, "the form goes along");
        }
        let overflow =
            browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(overflow, 0, "nothing is wider than a screen of {width} pixels");
        screenshot(&mut browser, &format!("screen-{width}-{scheme}"));
    }
    // A picture that does not fit can be enlarged and moved.
    browser.value("document.querySelector('.results button').click()");
    browser.wait("document.querySelector('.more svg')");
    browser.look(390, 300, "light");
    let moves = "const box = document.querySelector('.more .canvas'); box.scrollWidth > box.clientWidth || \
                 box.scrollHeight > box.clientHeight";
    assert_eq!(browser.value(&format!("{{ {moves} }}")), false);
    browser.wait("!document.querySelector('.more figure button').hidden");
    browser.value("document.querySelector('.more figure button').click()");
    assert_eq!(browser.value(&format!("{{ {moves} }}")), true);
    assert_eq!(browser.value("document.querySelector('.more .canvas').tabIndex"), 0);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn copies_and_links() {
    let Some((server, mut browser)) = page(|_| ()) else { return };
    let origin = address(&server).trim_end_matches('/').to_owned();
    let permissions =
        json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": origin});
    browser.call("Browser.grantPermissions", permissions);
    browser.call("Page.bringToFront", json!({}));
    rank(&mut browser, "!m n. m + n = n + m");
    let names =
        browser.value("[...document.querySelectorAll('.results .name')].map((name) => name.innerText)");
    let names: Vec<&str> = names.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let copied = |browser: &mut Browser, kind: &str| {
        browser.value("document.getElementById('copy-status').textContent = ''");
        browser.value(&format!("document.querySelector('[data-copy={kind}]').click()"));
        browser.wait("document.getElementById('copy-status').textContent");
        assert_eq!(text(browser, "#copy-status"), "Copied.");
        let text = browser.value("navigator.clipboard.readText()");
        assert_eq!(browser.value("document.getElementById('copied').value"), text);
        text.as_str().unwrap().to_owned()
    };
    assert_eq!(copied(&mut browser, "names"), names.join("\n"));
    assert_eq!(copied(&mut browser, "meson"), format!("MESON_TAC [{}]", names.join("; ")));
    browser.value("document.querySelectorAll('.tick input')[3].click()");
    browser.value("document.querySelectorAll('.tick input')[1].click()");
    assert_eq!(copied(&mut browser, "hammer"), format!("use: {}, {}", names[1], names[3]));
    assert_eq!(browser.value("document.querySelector('[data-copy=tptp]').hidden"), true);
    let link = copied(&mut browser, "link");

    // A browser that does not let pages copy: the text is selected.
    browser.value("navigator.clipboard.writeText = () => Promise.reject(new Error('no')); 0");
    browser.value("document.querySelector('[data-copy=names]').click()");
    browser.wait("document.activeElement.id === 'copied'");
    let selected = "{ const {value, selectionStart, selectionEnd} = document.activeElement; value.slice(selectionStart, selectionEnd) }";
    assert_eq!(browser.value(selected), format!("{}\n{}", names[1], names[3]));

    // The link asks the same again.
    browser.open(&link);
    browser.wait(&format!("{ROWS} === 5"));
    assert_eq!(browser.value("conjecture.value + library.value"), "!m n. m + n = n + msmall");
    browser.wait(HAS_GRAPH);

    // Own statements of TPTP, with and without what stands around a formula.
    let own = "fof('A b', lemma, ! [X] : p(X)).\nfof(c, axiom, p(a)).";
    let fragment = "conjecture=%3F%5BX%5D%3Ap(X)&library=&k=7&premises=";
    let own_encoded = browser.value(&format!("encodeURIComponent({})", json!(own)));
    let link = format!("{}#{fragment}{}", address(&server), own_encoded.as_str().unwrap());
    // Where the page is open already, the address alone changes.
    browser.call("Page.navigate", json!({"url": link}));
    browser.wait(&format!("conjecture.value === '?[X]:p(X)' && {ROWS} === 2"));
    assert_eq!(browser.value("library.value + most.value"), "7");
    let copied = copied(&mut browser, "tptp");
    let mut lines: Vec<&str> = copied.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["fof('A b', lemma, ! [X] : p(X)).", "fof(c, axiom, p(a))."]);
    // Formulas alone get a name, and nothing is left to prove.
    assert_eq!(browser.value("tptpOf({name: \"it's\", statement: 'p'})"), r"fof('it\'s', axiom, p).");
    let goal = "tptpOf({name: 'g', statement: \"fof('g, h', conjecture, p)\"})";
    assert_eq!(browser.value(goal), "fof('g, h', axiom, p).");

    // A library that is not there.
    browser
        .call("Page.navigate", json!({"url": format!("{}#conjecture=p&library=nowhere", address(&server))}));
    browser.wait("document.getElementById('general-wrong').innerText.includes('nowhere')");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn two_conjectures_side_by_side() {
    let Some((_server, mut browser)) = page(|_| ()) else { return };
    browser.value("conjecture.value = '!m n. m + n = n + m'; 0");
    browser.tab_to("document.activeElement.id === 'compare'");
    browser.press("Space");
    assert_eq!(browser.value("document.activeElement.id"), "second");
    browser.press("Ctrl+Enter");
    assert!(text(&mut browser, "#second-wrong").contains("Type a conjecture"));
    browser.type_text("!n. n <");
    browser.press("Ctrl+Enter");
    browser.wait("document.querySelector('#second-wrong pre')");
    assert_eq!(browser.value("document.querySelectorAll('.results').length"), 0);
    browser.press("Ctrl+a");
    browser.type_text("!n. n < SUC n /\\ n <= n");
    browser.press("Ctrl+Enter");
    browser.wait("document.querySelectorAll('.results').length === 2");
    // Five and six, of which five are in both.
    assert_eq!(browser.value(ROWS), 11);
    assert_eq!(browser.value("document.querySelectorAll('.both').length"), 10);
    let status = text(&mut browser, "#status");
    assert!(status.contains("5 are in both lists"), "{status}");
    let tops = browser
        .value("[...document.querySelectorAll('.results')].map((list) => list.getBoundingClientRect().top)");
    assert_eq!(tops[0], tops[1], "side by side");
    // A tick is for a premise, wherever it is.
    browser.value("document.querySelectorAll('.results')[1].querySelector('li:has(.both) input').click()");
    assert_eq!(browser.value("document.querySelectorAll('.tick input:checked').length"), 2);
    browser.wait("document.querySelector('#second-graph svg')");
    screenshot(&mut browser, "two");
    // The link has both.
    let link = browser.value("location.href");
    browser.open(link.as_str().unwrap());
    browser.wait(&format!("{ROWS} === 11"));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn adding_where_the_server_allows_it() {
    let Some((_server, mut browser)) = page(|_| ()) else { return };
    assert_eq!(browser.value("document.getElementById('add').hidden"), true);
    drop(browser);
    let Some((server, mut browser)) = page(|settings| settings.token = Some(TOKEN.to_owned())) else {
        return;
    };
    browser.wait("!document.getElementById('add').hidden");
    rank(&mut browser, "!m n p. m + n = p + m");
    browser.value("document.querySelectorAll('.tick input')[0].click()");
    browser.value("document.getElementById('add').open = true");
    let first = text(&mut browser, ".results .name");
    browser.wait(&format!("addProof.value === '{first}' && addStatement.value === conjecture.value"));
    browser.value("addName.focus()");
    browser.type_text("ADD_MORE");
    browser.value("addToken.focus()");
    browser.type_text("wrong");
    browser.press("Enter");
    browser.wait("document.getElementById('add-wrong').innerText.includes('token')");
    assert_eq!(browser.value("document.activeElement.id + addToken.type"), "add-tokenpassword");
    assert_eq!(browser.value("sessionStorage.length"), 0);
    browser.press("Ctrl+a");
    browser.type_text(TOKEN);
    browser.press("Enter");
    browser.wait("document.getElementById('add-status').innerText");
    assert_eq!(text(&mut browser, "#add-status"), "Added ADD_MORE; learned 1 proof.");
    browser.wait("library.selectedOptions[0].text === 'small (7 statements)'");
    // The next question knows both.
    rank(&mut browser, "!m n p. p + m = n + m");
    browser.wait("[...document.querySelectorAll('.name')].some((name) => name.innerText === 'ADD_MORE')");
    let reason = format!(
        "[...document.querySelectorAll('.results > li')].find((row) => row.innerText.includes('{first}')).innerText"
    );
    let reason = browser.value(&reason);
    assert!(reason.as_str().unwrap().contains("1 proof used it"), "{reason}");
    browser.value("addStatement.value = '!x. x +'; document.querySelector('#add-form button').click()");
    browser.wait("document.querySelector('#add-statement-wrong pre b')");
    assert_eq!(browser.value("localStorage.length"), 0, "the token lives as long as its tab");
    open(&server, &mut browser);
    assert_eq!(browser.value("addToken.value"), TOKEN);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn nothing_that_axe_finds() {
    let Some(axe) = std::env::var_os("FORMULANET_AXE") else {
        return skip("FORMULANET_AXE does not name axe.min.js, so the page is not checked by it");
    };
    let axe = std::fs::read_to_string(axe).unwrap();
    let Some((server, mut browser)) = page(|settings| settings.token = Some(TOKEN.to_owned())) else {
        return;
    };
    browser.call("Page.setBypassCSP", json!({"enabled": true}));
    let check = |browser: &mut Browser, state: &str| {
        browser.value(&format!("{axe}; 0"));
        let found = browser.value(
            "axe.run(document, {rules: {'target-size': {enabled: true}}}).then((result) => ({passes: result.passes.length, \
             violations: result.violations.map((rule) => `${rule.id}: ${rule.nodes.map((node) => node.target)}`)}))",
        );
        let _ = writeln!(
            std::io::stderr(),
            "axe: {state}: {} rules passed, {}",
            found["passes"],
            found["violations"]
        );
        assert!(found["passes"].as_u64().unwrap() > 20, "{found}");
        assert_eq!(found["violations"], json!([]), "{state}");
    };
    for (width, height) in [(1280, 900), (390, 844)] {
        for scheme in ["light", "dark"] {
            browser.look(width, height, scheme);
            open(&server, &mut browser);
            let state = |what: &str| format!("{width} x {height}, {scheme}, {what}");
            check(&mut browser, &state("empty"));
            browser.value("conjecture.focus()");
            browser.type_text("!m n. m + = n");
            browser.wait("document.querySelector('#conjecture-wrong pre b')");
            check(&mut browser, &state("a mistake"));
            rank(&mut browser, "!m n. m + n = n + m");
            browser.value("document.querySelector('.results button').click()");
            browser.wait("document.querySelector('.more svg')");
            browser.value("document.querySelector('.tick input').click(); copy('names')");
            browser.value("own.open = document.getElementById('add').open = true");
            browser.wait(HAS_GRAPH);
            check(&mut browser, &state("ranked"));
            screenshot(&mut browser, &format!("{width}-{scheme}"));
            browser.value("setComparing(true); second.value = '!n. n < SUC n'; rank()");
            browser.wait("document.querySelectorAll('.results').length === 2");
            check(&mut browser, &state("two conjectures"));
        }
    }
}
