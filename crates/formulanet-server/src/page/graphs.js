
// Pictures of graphs, and the one that follows what is typed.

function draw(canvas, answer) {
  const parsed = answer.svg ? new DOMParser().parseFromString(answer.svg, "image/svg+xml").documentElement : null;
  if (parsed && parsed.nodeName === "svg") canvas.replaceChildren(document.importNode(parsed, true));
  else canvas.replaceChildren(element("p", "", answer.note || "There is no drawing."));
  fit(canvas);
}

// Offers to enlarge a picture only where it is shown smaller than it is.
function fit(canvas) {
  const enlarge = canvas.closest("figure").querySelector("button"), picture = canvas.querySelector("svg");
  canvas.classList.remove("large");
  const isWhole = !picture || Number(picture.getAttribute("width")) <= Math.ceil(picture.getBoundingClientRect().width) &&
    Number(picture.getAttribute("height")) <= Math.ceil(picture.getBoundingClientRect().height);
  enlarge.hidden = isWhole;
  const isLarge = !isWhole && enlarge.getAttribute("aria-pressed") === "true";
  canvas.classList.toggle("large", isLarge);
  enlarge.textContent = isLarge ? "fit" : "enlarge";
  if (isLarge) {
    // Who has no mouse moves the picture with the arrow keys.
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "group");
    canvas.setAttribute("aria-label", "Enlarged graph");
    canvas.scrollLeft = (canvas.scrollWidth - canvas.clientWidth) / 2;
  } else {
    for (const name of ["tabindex", "role", "aria-label"]) canvas.removeAttribute(name);
  }
}

function toggleLarge(event) {
  const enlarge = event.currentTarget, isLarge = enlarge.getAttribute("aria-pressed") === "true";
  enlarge.setAttribute("aria-pressed", String(!isLarge));
  fit(enlarge.closest("figure").querySelector(".canvas"));
}
for (const enlarge of document.querySelectorAll("figure button")) enlarge.addEventListener("click", toggleLarge);
addEventListener("resize", () => document.querySelectorAll(".canvas").forEach(fit));

// While typing: the graph if the text is a formula, the mistake if not. The last question wins.
function follow(area, box, canvas) {
  let typing, asking = new AbortController();
  async function refresh() {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking, text = area.value;
    if (!text.trim()) return mark(box, area, text, null);
    const language = languageOf(text);
    try {
      const answer = await ask("/v1/graph", { formula: text, syntax: language, model: modelFor(language) }, { signal });
      mark(box, area, text, null);
      draw(canvas, answer);
    } catch (error) {
      if (error.name !== "AbortError") mark(box, area, text, error);
    }
  }
  area.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(refresh, 300);
  });
  syntax.addEventListener("change", refresh);
  library.addEventListener("change", refresh);
  return refresh;
}
const refreshFirst = follow(conjecture, byId("conjecture-wrong"), byId("conjecture-graph"));
const refreshSecond = follow(second, byId("second-wrong"), byId("second-graph"));
