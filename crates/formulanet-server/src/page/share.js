
// What leaves the page: copies of premises, and a link that asks the same again.

// Longer statements do not go into a link; browsers and mail programs cut long addresses.
const LONGEST_OWN = 2000;

// Ticks a premise wherever it is, or takes the tick away; then says what copies are of.
function choose(premise, isChosen) {
  if (premise && isChosen) chosen.set(premise.name, premise);
  else if (premise) chosen.delete(premise.name);
  for (const box of columns.querySelectorAll(".tick input")) box.checked = chosen.has(box.value);
  const isTptp = toCopy().map((premise) => premise.syntax === "tptp");
  const offer = (kind, isOffered) => (document.querySelector(`[data-copy=${kind}]`).hidden = !isOffered);
  offer("tptp", isTptp.includes(true));
  offer("meson", isTptp.includes(false));
  offer("hammer", isTptp.includes(false));
  byId("copy-label").textContent = chosen.size ? `Copy ${chosen.size} ticked as` : "Copy all as";
  prefill();
}

// The ticked premises, or all, in their order and each once.
function toCopy() {
  const all = new Map(answers.flatMap((answer) => answer.premises).map((premise) => [premise.name, premise]));
  return [...all.values()].filter(({ name }) => !chosen.size || chosen.has(name));
}

// A name as TPTP writes it.
function tptpName(name) {
  return /^([a-z]\w*|0|[1-9]\d*)$/.test(name) ? name : `'${name.replace(/[\\']/g, "\\$&")}'`;
}

// Premises are given, whatever they were in the file that they are from.
function tptpOf({ name, statement }) {
  const annotated = /^(\s*(?:fof|cnf|tff|tcf|thf)\s*\(\s*(?:'(?:[^'\\]|\\.)*'|\w+)\s*,\s*)(?:negated_)?conjecture\b/;
  if (!/^\s*(fof|cnf|tff|tcf|thf)\s*\(/.test(statement)) return `fof(${tptpName(name)}, axiom, ${statement}).`;
  return statement.replace(annotated, "$1axiom").replace(/\.?\s*$/, ".");
}

const FORMATS = {
  names: (list) => list.map(({ name }) => name).join("\n"),
  tptp: (list) => list.filter(({ syntax }) => syntax === "tptp").map(tptpOf).join("\n"),
  meson: (list) => `MESON_TAC [${list.map(({ name }) => name).join("; ")}]`,
  hammer: (list) => `use: ${list.map(({ name }) => name).join(", ")}`,
  link: () => location.href,
};

async function copy(kind) {
  const text = FORMATS[kind](toCopy()), box = byId("copied"), note = byId("copy-status");
  box.value = text;
  box.hidden = false;
  box.rows = Math.min(5, Math.max(text.split("\n").length, Math.ceil(text.length / 80)));
  let said = "Copied.";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages that came without encryption from another machine, and browsers that ask first: the text is there to take.
    box.focus();
    box.select();
    said = "The browser blocked copying. The text is selected: copy it with Ctrl C.";
  }
  if (kind === "link" && premises.value.length > LONGEST_OWN) said += " Your own statements are too long for the link.";
  note.textContent = said;
}
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button.dataset.copy));

// The address of the page says what was asked.
function writeLink() {
  const parts = { conjecture: conjecture.value, second: isComparing() ? second.value : "", library: library.value, k: most.value, syntax: syntax.value };
  if (premises.value.length <= LONGEST_OWN) parts.premises = premises.value;
  const given = Object.entries(parts).filter(([key, value]) => value.trim() || key === "library");
  history.replaceState(null, "", "#" + given.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&"));
  byId("copied").hidden = true;
  byId("copy-status").textContent = "";
}

// Asks what the address says, if it says something.
function readLink() {
  const parts = {};
  for (const part of location.hash.slice(1).split("&")) {
    const [key, ...value] = part.split("=");
    try { parts[key] = decodeURIComponent(value.join("=")); } catch { return; }
  }
  if (!parts.conjecture) return;
  conjecture.value = parts.conjecture;
  second.value = parts.second || "";
  setComparing(Boolean(parts.second));
  premises.value = parts.premises || "";
  if (parts.premises) own.open = true;
  syntax.value = ["hol", "tptp"].includes(parts.syntax) ? parts.syntax : "";
  if (Number(parts.k) >= 1) most.value = Math.floor(Number(parts.k));
  const wanted = parts.library;
  if (wanted !== undefined) {
    library.value = wanted;
    if (library.value !== wanted) {
      library.value = "";
      mark(byId("general-wrong"), null, undefined, { message: `This server has no library “${wanted}”.` });
      return;
    }
  }
  refreshFirst();
  if (parts.second) refreshSecond();
  rank();
}
addEventListener("hashchange", readLink);
