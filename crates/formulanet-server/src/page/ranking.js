
// Ranking: the form, and the premises that come back.

const status = byId("status"), columns = byId("columns"), compare = byId("compare"), own = byId("own");
// What was ranked last: an answer for each conjecture.
let answers = [];
// Names that are ticked, with their premises.
const chosen = new Map();

const EXAMPLE = {
  conjecture: "!m n p. m * (n + p) = m * n + m * p",
  premises: [
    "ADD_ASSOC: !m n p. m + (n + p) = (m + n) + p",
    "ADD_SYM: !m n. m + n = n + m",
    "MULT_CLAUSES: (!n. 0 * n = 0) /\\ (!m. m * 0 = 0) /\\ (!m n. SUC m * n = m * n + n) /\\ (!m n. m * SUC n = m + m * n)",
    "ADD_CLAUSES: (!n. 0 + n = n) /\\ (!m. m + 0 = m) /\\ (!m n. SUC m + n = SUC (m + n)) /\\ (!m n. m + SUC n = SUC (m + n))",
    "LE_REFL: !n:num. n <= n",
    "REAL_LT_REFL: !x:real. ~(x < x)",
    "IN_UNION: !s t x:A. x IN (s UNION t) <=> x IN s \\/ x IN t",
    "APPEND_NIL: !l:(A)list. APPEND l [] = l",
    "EXISTS_REFL: !a:A. ?x. x = a",
    "LENGTH_APPEND: !l m:(A)list. LENGTH (APPEND l m) = LENGTH l + LENGTH m",
  ].join("\n"),
};

// For the library that is chosen, the last of its statements that is neither trivial nor long; without one, a conjecture and statements of our own.
byId("example").addEventListener("click", async () => {
  const known = chosenLibrary();
  let text = EXAMPLE.conjecture;
  if (known) {
    const offset = Math.max(0, known.statements - 50);
    try {
      const part = await ask(`/v1/library?name=${encodeURIComponent(known.name)}&limit=50&offset=${offset}`);
      const statements = part.entries.map((entry) => entry.statement);
      text = statements.filter(({ length }) => length > 20 && length <= 120).pop() || statements.pop() || text;
    } catch (error) {
      return mark(byId("general-wrong"), null, undefined, error);
    }
  } else {
    premises.value = EXAMPLE.premises;
    premises.setSelectionRange(0, 0);
    own.open = true;
  }
  syntax.value = "";
  conjecture.value = text;
  refreshFirst();
  rank();
});

function setComparing(isComparing) {
  compare.setAttribute("aria-pressed", String(isComparing));
  byId("second-part").hidden = byId("second-figure").hidden = !isComparing;
}
const isComparing = () => compare.getAttribute("aria-pressed") === "true";
compare.addEventListener("click", () => {
  setComparing(!isComparing());
  if (isComparing()) second.focus();
});

byId("file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  const box = byId("premises-wrong");
  // The server has a limit of its own; this one is for the browser.
  if (file.size > 8 << 20) {
    mark(box, premises, "", { message: `${file.name} is larger than 8 MiB. Build a library from it with “formulanet library build”.` });
  } else {
    premises.value = await file.text();
    mark(box, premises, "", null);
  }
  event.target.value = "";
});
premises.addEventListener("input", () => mark(byId("premises-wrong"), premises, "", null));

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  rank();
});
for (const area of [conjecture, second, premises]) {
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      rank();
    }
  });
}

let ranking = new AbortController();
async function rank() {
  ranking.abort();
  ranking = new AbortController();
  const { signal } = ranking, general = byId("general-wrong"), button = byId("rank"), statements = premises.value;
  const fields = [[conjecture, byId("conjecture-wrong")], [second, byId("second-wrong")]].slice(0, isComparing() ? 2 : 1);
  mark(general, null, "", null);
  mark(byId("premises-wrong"), premises, "", null);
  for (const [area, box] of fields) {
    if (area.value.trim()) continue;
    mark(box, area, "", { message: "Type a conjecture first, or press “Show an example”." });
    return area.focus();
  }
  const texts = fields.map(([area]) => area.value);
  const k = Math.max(1, Math.floor(Number(most.value)) || 32);
  const request = { conjectures: texts, syntax: languageOf(texts[0]), k, explain: true };
  if (library.value) request.library = library.value;
  if (statements.trim()) request.premises = statements;
  button.disabled = true;
  status.textContent = "Ranking…";
  try {
    const lines = await askLines("/v1/rank", request, { signal });
    lines.forEach(({ error }, number) => error && refuse(error, fields[number], texts[number], statements));
    show(lines.filter(({ error }) => !error).length === texts.length ? lines : [], texts);
    writeLink();
  } catch (error) {
    if (error.name === "AbortError") return;
    refuse(error, fields[0], texts[0], statements);
    show([], texts);
  } finally {
    if (ranking.signal === signal) button.disabled = false;
  }
}

// Says what is wrong where it is.
function refuse(error, [area, box], text, statements) {
  const field = error.field || "";
  if (field.startsWith("conjecture")) return mark(box, area, text, error);
  if (!field.startsWith("premises")) return mark(byId("general-wrong"), null, undefined, error);
  own.open = true;
  mark(byId("premises-wrong"), premises, statements, error);
}

function show(found, texts) {
  answers = found;
  chosen.clear();
  const places = answers.map((answer) => new Map(answer.premises.map((premise) => [premise.name, premise.rank])));
  columns.classList.toggle("two", answers.length > 1);
  columns.replaceChildren(...answers.map((answer, number) => {
    const column = element("div"), list = element("ol", "results");
    if (answers.length > 1) column.append(element("h3", "", texts[number]));
    list.append(...answer.premises.map((premise) => row(premise, places[1 - number])));
    setActive(list, list.firstChild);
    column.append(list);
    return column;
  }));
  byId("tools").hidden = !answers.some((answer) => answer.premises.length);
  tell(places);
  choose();
  if (!answers.length) return;
  // On a small screen the premises lie below the form.
  const section = byId("answers"), { top } = section.getBoundingClientRect();
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (top < 0 || top > innerHeight / 3) section.scrollIntoView({ behavior: isStill ? "auto" : "smooth" });
}

function tell(places) {
  if (!answers.length) {
    status.textContent = "No results.";
    return;
  }
  const [first, other] = answers, count = counted(first.premises.length, "premise");
  const took = Math.round(Math.max(...answers.map((answer) => answer.took_ms)));
  let text = `${other ? "2 × " : ""}${count} in ${took} ms, ranked by the model ${first.model}.`;
  const both = other && [...places[0].keys()].filter((name) => places[1].has(name)).length;
  if (other) text += ` ${both} ${both === 1 ? "is" : "are"} in both lists.`;
  const named = (relation) => [...new Set(answers.flatMap((answer) => (answer.existing || []).filter((found) => found.relation === relation).map((found) => found.name)))];
  const same = named("same"), general = named("instance");
  if (same.length) text += ` Already in the library: ${same.join(", ")}.`;
  if (general.length) text += ` An instance of what is in the library: ${general.join(", ")}.`;
  const unknown = [...new Set(answers.flatMap((answer) => answer.unknown_symbols))];
  if (unknown.length) text += ` The model does not know ${unknown.join(", ")}.`;
  status.textContent = text;
}

let rows = 0;
function row(premise, elsewhere) {
  const item = element("li"), line = element("div", "line"), tick = element("label", "tick"), box = element("input");
  box.type = "checkbox";
  box.value = premise.name;
  box.setAttribute("aria-label", `Choose ${premise.name}`);
  box.addEventListener("change", () => choose(premise, box.checked));
  tick.append(box);
  const button = element("button", "premise"), more = element("div", "more");
  button.type = "button";
  more.id = `more-${rows++}`;
  more.hidden = true;
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-controls", more.id);
  const score = element("span", "score"), track = element("span", "track"), fill = element("span", "fill");
  fill.style.width = `${Math.max(0, Math.min(1, premise.score)) * 100}%`;
  track.append(fill);
  score.append(track, element("span", "", premise.score.toFixed(3)));
  button.append(element("span", "number", premise.rank), element("span", "name", premise.name), score,
    element("span", "formula", premise.statement));
  const reason = element("span", "reason");
  if (elsewhere && elsewhere.has(premise.name)) reason.append(element("span", "both", `in both, ${elsewhere.get(premise.name)} there`));
  reason.append(reasonOf(premise));
  if (reason.textContent) button.append(reason);
  button.addEventListener("click", () => open(item, button, more, premise));
  line.addEventListener("keydown", (event) => move(event, item));
  line.addEventListener("focusin", () => setActive(item.parentNode, item));
  line.append(tick, button);
  item.append(line, more);
  return item;
}

// The symbols that a premise shares with the conjecture. Nobody reads a number digit by digit.
function sharedOf(premise) {
  const digits = ["BIT0", "BIT1", "_", "_0"];
  const shared = (premise.shared_symbols || []).filter((symbol) => !digits.includes(symbol));
  return shared.map((symbol) => (symbol === "NUMERAL" ? "numerals" : symbol));
}

// Why a premise is there, in a line.
function reasonOf(premise) {
  const parts = [], shared = sharedOf(premise);
  if (shared.length) parts.push(`shares ${shared.slice(0, 5).join("  ")}${shared.length > 5 ? " …" : ""}`);
  if (premise.uses) parts.push(counted(premise.uses, "proof used it", "proofs used it"));
  return parts.join(" · ");
}

// Shows why a premise is there, and its graph; or hides them.
async function open(item, button, more, premise) {
  const isOpen = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!isOpen));
  item.classList.toggle("open", !isOpen);
  more.hidden = isOpen;
  if (isOpen || more.firstChild) return;
  const reasons = element("dl");
  const say = (term, text) => text && reasons.append(element("dt", "", term), element("dd", "", text));
  say("Shared symbols", sharedOf(premise).join("  "));
  const usedBy = premise.used_by || [], others = premise.uses > usedBy.length ? ", …" : "";
  if (premise.uses !== undefined) say("Proofs that used it", premise.uses ? `${premise.uses}: ${usedBy.join(", ")}${others}` : "none");
  const figure = element("figure"), caption = element("figcaption"), canvas = element("div", "canvas");
  const enlarge = element("button", "small", "enlarge");
  enlarge.type = "button";
  enlarge.hidden = true;
  enlarge.setAttribute("aria-pressed", "false");
  enlarge.addEventListener("click", toggleLarge);
  caption.append(element("span", "", `Graph of ${premise.name}`), enlarge);
  figure.append(caption, canvas);
  if (reasons.firstChild) more.append(reasons);
  more.append(figure);
  const request = { formula: premise.statement, syntax: premise.syntax, model: modelFor(premise.syntax) };
  try {
    draw(canvas, await ask("/v1/graph", request));
  } catch (error) {
    draw(canvas, { note: error.message });
  }
}

// Tab comes to one row only; arrows go from row to row.
function setActive(list, item) {
  for (const other of list.children) {
    for (const part of other.querySelectorAll(".line input, .line button")) part.tabIndex = other === item ? 0 : -1;
  }
}

function move(event, item) {
  const target = {
    ArrowDown: item.nextSibling, ArrowUp: item.previousSibling, Home: item.parentNode.firstChild, End: item.parentNode.lastChild,
  }[event.key];
  if (target === undefined) return;
  event.preventDefault();
  if (target) target.querySelector(event.target.type === "checkbox" ? "input" : "button").focus();
}
