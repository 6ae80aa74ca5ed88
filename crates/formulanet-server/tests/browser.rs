//! The page in a real browser, used by keyboard alone.
//!
//! With `FORMULANET_SCREENSHOTS=FOLDER`, pictures of the page are left there.

mod common;
mod devtools;

use std::io::Write;
use std::path::PathBuf;

use common::Running;
use devtools::Browser;
use formulanet_testing::Folder;
use serde_json::json;

#[test]
fn a_newcomer_with_a_keyboard() {
    let Some(program) = devtools::find() else {
        // Past the harness, which shows what a test prints only if it fails.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: there is no chromium on the PATH, so the page is not tried in a browser"
        );
        return;
    };
    let server = Running::new(|_| ());
    let mut browser = Browser::start(&program);
    browser.look(1280, 900, "light");
    browser.open(&format!("http://localhost:{}/", server.address.port()));
    browser.wait("document.querySelectorAll('#library option').length === 2");

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
    let message = browser.value("document.querySelector('#conjecture-wrong').innerText");
    assert!(message.as_str().unwrap().contains("expected"), "{message}");
    screenshot(&mut browser, "mistake");

    // Once it is right, the mark goes and the graph comes.
    browser.press("Ctrl+a");
    browser.type_text("!m n. m + n = n + m");
    browser.wait("document.querySelector('#conjecture-graph svg')");
    assert_eq!(browser.value("document.querySelector('#conjecture-wrong').childNodes.length"), 0);
    assert_eq!(browser.value("conjecture.getAttribute('aria-invalid')"), "false");
    let is_styled = "getComputedStyle(document.querySelector('#conjecture-graph svg .e')).fill === 'none'";
    assert_eq!(browser.value(is_styled), true, "the policy lets the picture's own style sheet through");

    // The library of the server, by Ctrl+Enter.
    browser.press("Ctrl+Enter");
    browser.wait("document.querySelectorAll('#results li').length === 5");

    // The example, with one key.
    browser.press("Tab");
    browser.press("Tab");
    assert_eq!(browser.value("document.activeElement.id"), "example");
    browser.press("Enter");
    browser.wait("document.querySelectorAll('#results li').length === 10");
    let scores =
        browser.value("[...document.querySelectorAll('.score')].map((score) => Number(score.innerText))");
    let scores: Vec<f64> = scores.as_array().unwrap().iter().map(|score| score.as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");

    // To the list and down in it; Enter shows the graph of a premise beside that of the conjecture.
    for _ in 0..20 {
        if browser.value("document.activeElement.getAttribute('role') === 'option'") == true {
            break;
        }
        browser.press("Tab");
    }
    assert_eq!(browser.value("document.activeElement === results.children[0]"), true);
    browser.press("ArrowDown");
    assert_eq!(browser.value("document.activeElement === results.children[1]"), true);
    browser.press("ArrowUp");
    browser.press("Enter");
    browser.wait("document.querySelectorAll('.canvas svg').length === 2");
    browser.wait("document.querySelector('#premise-graph svg').getBoundingClientRect().width > 50");
    assert_eq!(browser.value("results.children[0].getAttribute('aria-selected')"), "true");
    let title = browser.value("document.getElementById('premise-title').innerText");
    assert_eq!(title, browser.value("document.querySelector('#results .name').innerText"));
    screenshot(&mut browser, "light");
    browser.press("End");
    assert_eq!(browser.value("document.activeElement === results.children[9]"), true);

    // What a hostile user types is text, never markup.
    browser.value("premises.value = '<img src=x onerror=alert(1)>: !x. x = x'; library.value = ''; rank()");
    browser.wait("results.children.length === 1");
    assert_eq!(browser.value("document.querySelectorAll('img').length"), 0);
    assert_eq!(
        browser.value("document.querySelector('#results .name').innerText"),
        "<img src=x onerror=alert(1)>"
    );
    browser.value("premises.value = 'a: !x. x = x\\nb: !x. x +'; rank()");
    browser.wait("document.querySelector('#premises-wrong pre')");
    let message = browser.value("document.querySelector('#premises-wrong').innerText");
    assert!(message.as_str().unwrap().contains("line 2"), "{message}");

    // A file of statements.
    let folder = Folder::new();
    let file = folder.write("own.hol", "OWN: !x. x = x");
    let document = browser.call("DOM.getDocument", json!({}));
    let find = json!({"nodeId": document["root"]["nodeId"], "selector": "#file"});
    let input = browser.call("DOM.querySelector", find);
    let files = json!({"nodeId": input["nodeId"], "files": [file]});
    browser.call("DOM.setFileInputFiles", files);
    browser.wait("premises.value === 'OWN: !x. x = x'");

    // Other eyes and smaller screens.
    browser.value("document.getElementById('example').click()");
    browser.wait("document.querySelectorAll('#results li').length === 10");
    browser.value("[...results.children].find((row) => row.innerText.includes('MULT_CLAUSES')).click()");
    browser.wait("document.querySelectorAll('.canvas svg').length === 2");
    browser.look(1280, 900, "dark");
    screenshot(&mut browser, "dark");
    for (width, name) in [(360, "narrow"), (768, "tablet")] {
        browser.look(width, 900, "light");
        let overflow =
            browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(overflow, 0, "nothing is wider than a screen of {width} pixels");
        screenshot(&mut browser, name);
    }
    // A picture that does not fit can be enlarged and moved.
    browser.look(360, 900, "light");
    let too_wide = "const box = document.getElementById('premise-graph'); box.scrollWidth > box.clientWidth";
    assert_eq!(browser.value(&format!("{{ {too_wide} }}")), false);
    browser.value("document.querySelector('#premise-figure button').click()");
    assert_eq!(browser.value(&format!("{{ {too_wide} }}")), true);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

fn screenshot(browser: &mut Browser, name: &str) {
    if let Some(folder) = std::env::var_os("FORMULANET_SCREENSHOTS") {
        browser.screenshot(&PathBuf::from(folder).join(format!("{name}.png")));
    }
}
