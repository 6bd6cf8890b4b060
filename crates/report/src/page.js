// What only a screen can do. Without it everything can be read.
(() => {
  "use strict";
  const all = (root, selector) => Array.from(root.querySelectorAll(selector));
  const shown = value => value.toLocaleString("en", { maximumSignificantDigits: 4 });
  const button = (text, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", () => act(made));
    return made;
  };

  // A link into something folded opens it.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // On paper nobody can open anything.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all(document, "details.fold:not([open])");
    opened.forEach(part => { part.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach(part => { part.open = false; }));

  // Values under the pointer, in all panels of a figure at the same place.
  const pairs = text => text.split(" ").map(pair => pair.split(",").map(Number));
  const readout = figure => {
    const lines = all(figure, "polyline[data-values]");
    if (!lines.length) return;
    const said = document.createElement("p");
    said.className = "values";
    said.setAttribute("aria-live", "off");
    said.textContent = "Point at a line for its values.";
    figure.append(said);
    for (const panel of all(figure, ".panel")) {
      const svg = panel.querySelector("svg");
      const cross = document.createElementNS(svg.namespaceURI, "line");
      cross.setAttribute("class", "cross");
      svg.append(cross);
      svg.addEventListener("pointerleave", () => cross.removeAttribute("x1"));
      svg.addEventListener("pointermove", event => {
        const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
        const x = (event.clientX - box.left) / box.width * view.width;
        const near = all(panel, "polyline[data-values]:not(.off):not(.level)").map(line => {
          const places = pairs(line.getAttribute("points")), values = pairs(line.dataset.values);
          let best = 0;
          places.forEach((place, index) => {
            if (Math.abs(place[0] - x) < Math.abs(places[best][0] - x)) best = index;
          });
          return { name: line.dataset.name, place: places[best], value: values[best], thin: line.classList.contains("thin") };
        });
        if (!near.length) return;
        const at = near.reduce((one, other) => Math.abs(other.place[0] - x) < Math.abs(one.place[0] - x) ? other : one);
        for (const [name, value] of Object.entries({ x1: at.place[0], x2: at.place[0], y1: 0, y2: view.height - 30 }))
          cross.setAttribute(name, value);
        const told = near.filter(one => !one.thin);
        said.textContent = `${shown(at.value[0])} ${panel.dataset.x}: ` +
          (told.length ? told : near).map(one => `${one.name} ${shown(one.value[1])}`).join(" · ") + ` ${panel.dataset.y}`;
      });
    }
  };

  // One button for each series of a figure.
  const legend = figure => {
    const looks = new Map();
    for (const line of all(figure, "polyline[data-name]")) {
      const look = Array.from(line.classList).find(name => /^s\d$/.test(name));
      if (look && !looks.has(look)) looks.set(look, line.dataset.name.split(",")[0]);
    }
    if (looks.size < 2) return;
    const row = document.createElement("p");
    row.className = "series";
    for (const [look, name] of looks) {
      const toggle = button(name, made => {
        const show = made.getAttribute("aria-pressed") !== "true";
        made.setAttribute("aria-pressed", show);
        all(figure, "svg ." + look).forEach(part => part.classList.toggle("off", !show));
      });
      toggle.className = look;
      toggle.setAttribute("aria-pressed", "true");
      row.append(toggle);
    }
    figure.querySelector("figcaption").after(row);
  };
  for (const figure of all(document, "figure")) {
    legend(figure);
    readout(figure);
  }

  // Tables: sorted by a click on a heading, copied as CSV.
  const text = cell => cell.dataset.value ?? (cell.firstChild ? cell.innerText.trim().replace(/\s+/g, " ") : "");
  const csv = table => all(table, "tr").map(row => Array.from(row.cells, cell => {
    const value = text(cell);
    return /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  }).join(",")).join("\n") + "\n";
  const compare = (one, other) => {
    const numbers = [one, other].map(value => value === "" ? NaN : Number(value));
    return numbers.some(Number.isNaN) ? one.localeCompare(other) : numbers[0] - numbers[1];
  };
  for (const scroll of all(document, ".scroll")) {
    const table = scroll.querySelector("table");
    if (table.rows.length > 3) all(table, "thead th").forEach(heading => {
      const title = heading.textContent;
      const column = heading.cellIndex;
      const sort = button(title, () => {
        const down = heading.getAttribute("aria-sort") === "ascending";
        all(table, "thead th").forEach(other => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = Array.from(table.tBodies[0].rows);
        rows.sort((one, other) => compare(text(one.cells[column]), text(other.cells[column])) * (down ? -1 : 1));
        table.tBodies[0].append(...rows);
      });
      heading.replaceChildren(sort);
    });
    const copy = button("Copy as CSV", async made => {
      const content = csv(table);
      try {
        await navigator.clipboard.writeText(content);
      } catch {
        const area = document.createElement("textarea");
        area.value = content;
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
      made.textContent = "Copied";
      setTimeout(() => { made.textContent = "Copy as CSV"; }, 1500);
    });
    copy.className = "copy";
    scroll.after(copy);
  }

  // Only what scrolls is a stop for the keyboard.
  for (const part of all(document, ".scroll, .panel, pre")) {
    const stop = () => part.scrollWidth > part.clientWidth ? part.setAttribute("tabindex", "0") : part.removeAttribute("tabindex");
    new ResizeObserver(stop).observe(part);
    document.addEventListener("toggle", stop, true);
  }
})();
