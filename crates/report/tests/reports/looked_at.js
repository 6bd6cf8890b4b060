// Appended to a page by a test: uses it as a reader would, and leaves what it found in the document's title.
(async () => {
  const found = [];
  const expect = (truth, said) => { if (!truth) found.push(said); };
  const all = selector => Array.from(document.querySelectorAll(selector));
  const overflows = () => document.documentElement.scrollWidth > innerWidth;
  expect(!overflows(), `the page is ${document.documentElement.scrollWidth} px wide in ${innerWidth}`);

  const words = document.querySelector("main").innerText.split(/\s+/).filter(word => /[\p{L}\p{N}]/u.test(word)).length;
  const tables = all("table").filter(table => table.checkVisibility()).length;

  for (const link of all("a[href^='#']")) {
    const target = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    expect(target, `${link.hash} leads nowhere`);
  }
  const ids = all("[id]").map(part => part.id);
  expect(new Set(ids).size === ids.length, "an id is there twice");

  const line = document.querySelector("figure polyline.mean");
  const svg = line.closest("svg"), box = svg.getBoundingClientRect();
  svg.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width / 2, clientY: box.top + 20, bubbles: true }));
  const said = line.closest("figure").querySelector(".values").textContent;
  expect(/^[\d.,]+ seconds: .+ [\d.,]+/.test(said), `pointing says ${JSON.stringify(said)}`);

  const hide = line.closest("figure").querySelector(".series button");
  hide.click();
  expect(getComputedStyle(line).display === "none" || all("polyline.mean").some(other => getComputedStyle(other).display === "none"), "nothing hides");
  hide.click();
  expect(all("polyline.mean").every(other => getComputedStyle(other).display !== "none"), "it does not come back");

  const fold = document.getElementById("section/every-trial");
  location.hash = "section/every-trial";
  await new Promise(done => setTimeout(done, 50));
  expect(fold.open, "a link does not open what it leads to");
  const heading = fold.querySelector("thead th button"), column = () => Array.from(fold.querySelectorAll("tbody tr"), row => Number(row.cells[0].dataset.value));
  heading.click();
  heading.click();
  expect(column().every((value, index, values) => !index || values[index - 1] >= value), `sorted: ${column()}`);

  const folds = all("details.fold"), open = folds.map(part => part.open);
  dispatchEvent(new Event("beforeprint"));
  const paper = Array.from(document.styleSheets, sheet => Array.from(sheet.cssRules)).flat().filter(rule => rule.media?.mediaText === "print");
  paper.forEach(rule => { rule.media.mediaText = "all"; });
  const isShown = part => part.checkVisibility() && getComputedStyle(part).display !== "none";
  expect(folds.every(part => part.open), "something stays folded on paper");
  expect(paper.length && all("thead th").every(part => Array.from(part.children).every(isShown)), "a heading is not on paper");
  expect(all("button.copy").every(part => !isShown(part)), "there are buttons on paper");
  paper.forEach(rule => { rule.media.mediaText = "print"; });
  dispatchEvent(new Event("afterprint"));
  expect(folds.every((part, place) => part.open === open[place]), "after printing it is folded otherwise");

  let copied = "";
  Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => { copied = text; } } });
  document.querySelector("#comparison + .copy").click();
  await new Promise(done => setTimeout(done, 50));
  const lines = copied.trim().split("\n");
  expect(lines.length === document.querySelector("#comparison table").rows.length && lines.every(one => one.includes(",")), `copied: ${copied}`);

  all("details").forEach(part => { part.open = true; });
  await new Promise(done => setTimeout(done, 200));
  expect(!overflows(), `with all open the page is ${document.documentElement.scrollWidth} px wide in ${innerWidth}`);
  const axe = window.axe ? (await window.axe.run({ runOnly: ["wcag2a", "wcag2aa"] })).violations : [];
  found.push(...axe.map(one => `${one.id}: ${one.nodes.length} of ${one.nodes[0].html}`));
  document.title = JSON.stringify({ words, tables, found });
})().catch(error => { document.title = JSON.stringify({ words: 0, tables: 0, found: [String(error)] }); });
