
// Adding statements and proofs, where the server allows it.

const addName = byId("add-name"), addStatement = byId("add-statement"), addProof = byId("add-proof"), addToken = byId("add-token");
// Fields that follow the conjecture and the ticks until somebody writes into them.
const isOwnText = new Set();
for (const area of [addStatement, addProof]) {
  area.addEventListener("input", () => (area.value ? isOwnText.add(area) : isOwnText.delete(area)));
}

function prefill() {
  if (!isOwnText.has(addStatement)) addStatement.value = conjecture.value;
  if (!isOwnText.has(addProof)) addProof.value = [...chosen.keys()].join("\n");
}
conjecture.addEventListener("input", prefill);
byId("add").addEventListener("toggle", prefill);

// A token lives as long as its tab; some browsers allow not even that.
const TOKEN = "formulanet-token";
try { addToken.value = sessionStorage.getItem(TOKEN) || ""; } catch { addToken.value = ""; }

byId("add-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = addName.value.trim(), statement = addStatement.value.trim(), into = library.value;
  const proof = addProof.value.split(/[\s,;]+/).filter(Boolean), general = byId("add-wrong"), note = byId("add-status");
  mark(general, null, undefined, null);
  mark(byId("add-statement-wrong"), addStatement, "", null);
  note.textContent = "";
  for (const field of [addName, addToken]) field.setAttribute("aria-invalid", "false");
  const stop = (field, message) => {
    mark(general, field, undefined, { message });
    if (field) field.focus();
  };
  if (!into) return stop(library, "Choose a library to add to.");
  if (!name) return stop(addName, "Give a name.");
  const fact = { name };
  if (statement) fact.statement = statement;
  if (statement) fact.syntax = languageOf(statement);
  if (proof.length) fact.proof = proof;
  const headers = { authorization: `Bearer ${addToken.value.trim()}` };
  try {
    const added = await ask(`/v1/libraries/${encodeURIComponent(into)}/facts`, { facts: [fact] }, { headers });
    try { sessionStorage.setItem(TOKEN, addToken.value.trim()); } catch { /* Then it is typed again. */ }
    note.textContent = reportOf(name, added);
    isOwnText.clear();
    await readLibraries();
  } catch (error) {
    if (error.status === 401) return stop(addToken, "Wrong token. Enter the token from the server's --token-file.");
    if ((error.field || "").endsWith(".statement")) return mark(byId("add-statement-wrong"), addStatement, statement, error);
    mark(general, (error.field || "").endsWith(".name") ? addName : null, undefined, error);
  }
});

function reportOf(name, added) {
  if (added.of_unknown) return `The library does not have ${name}, so its proof was not kept. Give the statement, too.`;
  const parts = [];
  if (added.new) parts.push(`added ${name}`);
  if (added.changed) parts.push(`changed ${name}`);
  if (added.same) parts.push(`${name} was there already`);
  if (added.proofs) parts.push(`learned ${counted(added.proofs, "proof")}`);
  if (added.unknown) parts.push(`${counted(added.unknown, "name")} of the proof unknown`);
  if (added.ignored) parts.push(`${counted(added.ignored, "name")} of the proof left out, because they come later`);
  const text = parts.join("; ") || "nothing new";
  return text[0].toUpperCase() + text.slice(1) + ".";
}

// The beginning.
readLibraries().then(() => {
  if (offered.libraries.length) library.selectedIndex = 1;
  else own.open = true;
  byId("add").hidden = !offered.writable || !offered.libraries.length;
  readLink();
  if (conjecture.value.trim()) refreshFirst();
}).catch((error) => mark(byId("general-wrong"), null, undefined, error));
