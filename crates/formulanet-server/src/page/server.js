
"use strict";
// Questions to the server, and what it says is wrong with them.

const byId = (id) => document.getElementById(id);
const conjecture = byId("conjecture"), second = byId("second"), premises = byId("premises");
const syntax = byId("syntax"), library = byId("library"), most = byId("most");

// The server's libraries and models; pictures use the names that the model of the ranking knows.
let offered = { libraries: [], models: [] };

// Sends a request and returns the text of the answer; throws an error with a message and, where known, a place.
async function send(path, request, { signal, headers } = {}) {
  let response;
  try {
    response = await fetch(path, request === undefined ? { signal } : {
      method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(request), signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw { message: "The server does not answer. Is it still running?" };
  }
  const text = await response.text();
  if (response.ok) return text;
  let problem;
  try { problem = JSON.parse(text); } catch { problem = {}; }
  throw { message: `The server answered with status ${response.status}.`, ...problem.error, status: response.status };
}

async function ask(path, request, options) {
  return JSON.parse(await send(path, request, options));
}

// The answers to several conjectures, one on each line.
async function askLines(path, request, options) {
  return (await send(path, request, options)).trim().split("\n").map((line) => JSON.parse(line));
}

function chosenLibrary() {
  return offered.libraries.find((known) => known.name === library.value);
}

function languageOf(text) {
  if (syntax.value) return syntax.value;
  if (/^\s*(fof|cnf|tff|tcf|thf)\s*\(/.test(text) || /[!?]\s*\[/.test(text)) return "tptp";
  const chosen = chosenLibrary();
  return chosen ? chosen.syntax : "hol";
}

function modelFor(language) {
  const chosen = chosenLibrary();
  if (chosen) return chosen.model;
  return (offered.models.find((model) => model.default_for.includes(language)) || {}).name;
}

function element(kind, className, text) {
  const made = document.createElement(kind);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// How many there are of something: "1 proof", "2 proofs".
function counted(count, one, many = one + "s") {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

// Marks a mistake under a text: its line, a caret under the column, and the message.
function mark(box, area, text, error) {
  box.replaceChildren();
  if (area) area.setAttribute("aria-invalid", error ? "true" : "false");
  if (!error) return;
  const line = error.line && text !== undefined ? text.split("\n")[error.line - 1] : undefined;
  let message = error.message;
  if (line !== undefined && error.column) {
    const all = Array.from(line.replaceAll("\t", " "));
    // As much as fits without wrapping, so that the caret stays under its place.
    const width = Math.max(20, Math.min(60, Math.floor(area.clientWidth / 9.2) - 5));
    const from = all.length <= width ? 0 : Math.max(0, error.column - Math.floor(width / 2));
    const before = from > 0 ? "…" : "", after = from + width < all.length ? "…" : "";
    const pre = element("pre"), caret = element("b");
    caret.textContent = " ".repeat(before.length + Math.max(0, error.column - 1 - from)) + "^";
    caret.setAttribute("aria-hidden", "true");
    pre.append(before + all.slice(from, from + width).join("") + after + "\n", caret);
    box.append(pre);
    const place = text.includes("\n") ? `line ${error.line}, column ${error.column}` : `column ${error.column}`;
    message = `${place}: ${message}`;
  }
  box.append(element("div", "", message));
}

// Reads which libraries there are; keeps the choice.
async function readLibraries() {
  offered = await ask("/v1/library");
  const before = library.value;
  const options = offered.libraries.map((known) => {
    const option = element("option", "", `${known.name} (${counted(known.statements, "statement")})`);
    option.value = known.name;
    return option;
  });
  library.replaceChildren(library.options[0], ...options);
  library.value = before;
  byId("library-hint").hidden = offered.libraries.length > 0;
}
