(() => {
  "use strict";

  const FEWEST_ROWS = 5;
  const FIRST_ROWS = 20;
  const PHONE_WIDTH = 704;
  const PHONE_ROWS = 3;
  const PRINTED_ROWS = 100;

  function key(row, column) {
    const cell = row.cells[column];
    return "sort" in cell.dataset ? Number(cell.dataset.sort) : cell.textContent.trim();
  }

  function compare(first, second) {
    // what has no number comes last, whatever the direction
    if (typeof first === "number" && typeof second === "number") return first - second;
    if (typeof first === "number") return -1;
    if (typeof second === "number") return 1;
    return first.localeCompare(second, "en", { numeric: true });
  }

  function sortBy(table, heading, refresh) {
    const column = heading.cellIndex;
    const numeric = heading.classList.contains("number");
    const before = heading.getAttribute("aria-sort");
    const falling = before === null ? numeric : before === "ascending";
    const sign = falling ? -1 : 1;
    const rows = [...table.tBodies[0].rows].map((row) => [key(row, column), row]);
    rows.sort(([a], [b]) => (typeof a === typeof b ? sign * compare(a, b) : compare(a, b)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
    refresh();
  }

  function makeSortable(table, refresh) {
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sortBy(table, heading, refresh));
      heading.append(button);
    }
  }

  function firstRows(box) {
    if (!box.dataset.first) return FIRST_ROWS;
    return window.innerWidth < PHONE_WIDTH ? PHONE_ROWS : Number(box.dataset.first);
  }

  // of a long table the first rows are seen until all are asked for; paper gets some more
  function makeFoldable(box, table) {
    const total = table.tBodies[0].rows.length;
    const first = firstRows(box);
    if (total <= first) return () => {};
    const button = document.createElement("button");
    const printed = document.createElement("p");
    button.type = "button";
    button.className = "more";
    button.setAttribute("aria-controls", table.id);
    printed.className = "printed note";
    let open = false;
    const refresh = () => {
      const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
      rows.forEach((row, at) => {
        row.classList.toggle("folded", !open && at >= first);
        row.classList.toggle("unprinted", !open && at >= PRINTED_ROWS);
      });
      button.hidden = rows.length <= first;
      button.textContent = open ? `Show the first ${first}` : `Show all ${rows.length}`;
      button.setAttribute("aria-label", `${button.textContent} rows: ${table.caption.textContent}`);
      button.setAttribute("aria-expanded", String(open));
      printed.hidden = open || rows.length <= PRINTED_ROWS;
      table.dataset.folded = String(!open && rows.length > first);
      printed.textContent = `The first ${PRINTED_ROWS} of ${rows.length} rows are printed.`;
    };
    button.addEventListener("click", () => {
      open = !open;
      refresh();
      table.dispatchEvent(new Event("fold"));
      if (!open) button.scrollIntoView({ block: "nearest" });
    });
    box.append(button, printed);
    refresh();
    return refresh;
  }

  function makeFilterable(box, table, refresh) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < FEWEST_ROWS) return;
    const bar = document.createElement("div");
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("output");
    bar.className = "filter";
    input.type = "search";
    input.id = `filter-${table.id}`;
    label.htmlFor = input.id;
    label.textContent = "Search";
    input.setAttribute("aria-label", `Search in the table: ${table.caption.textContent}`);
    count.htmlFor = input.id;
    const texts = new Map(rows.map((row) => [row, textOf(row)]));
    const say = () => {
      const found = rows.filter((row) => !row.hidden).length;
      const total = input.value.trim() ? `${found} of ${rows.length} rows found` : `${rows.length} rows`;
      count.textContent = table.dataset.folded === "true" ? `${total}, the first ${firstRows(box)} shown` : total;
    };
    const update = () => {
      const wanted = input.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !texts.get(row).includes(wanted);
      refresh();
      say();
    };
    input.addEventListener("input", update);
    table.addEventListener("fold", say);
    update();
    bar.append(label, input, count);
    box.prepend(bar);
  }

  // cells that were shortened are found by their full text too
  function textOf(row) {
    return [...row.cells].map((cell) => `${cell.textContent} ${cell.title}`).join(" ").replaceAll("\u00a0", " ").toLowerCase();
  }

  // headings and captions of the page say what the chart's own title says
  function fit({ title, ...spec }, width) {
    const fitted = { ...spec };
    if ("concat" in fitted) {
      // two heat maps side by side only where both are seen whole
      if (width < 900) fitted.columns = 1;
    } else {
      fitted.width = Math.max(200, Math.min(560, width - 8));
      fitted.autosize = { type: "fit-x", contains: "padding" };
    }
    return fitted;
  }

  async function draw(specs, place) {
    const name = place.dataset.chart;
    const spec = fit(specs[name], place.clientWidth);
    await window.vegaEmbed(place, spec, {
      mode: "vega-lite",
      renderer: "svg",
      ast: true,
      actions: false,
      defaultStyle: false,
      tooltip: { disableDefaultStyle: true },
      config: { font: "system-ui, sans-serif" },
    });
    const beside = document.querySelector(`details[data-beside="${name}"]`);
    if (beside) beside.open = false;
    cueOf(place);
  }

  // a picture that goes on behind the edge says so, in words
  function cueOf(place) {
    const cue = place.parentElement.querySelector(".cue");
    if (cue && place.clientWidth) cue.hidden = place.scrollWidth <= place.clientWidth + 1;
  }

  const parts = [...document.querySelectorAll("details[data-fold]")];

  function openTarget() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const part = target && target.closest("details[data-fold]");
    if (part) part.open = true;
  }

  // paper has no folds
  function keepOpenForPaper() {
    let closed = [];
    window.addEventListener("beforeprint", () => {
      closed = parts.filter((part) => !part.open);
      for (const part of closed) part.open = true;
    });
    window.addEventListener("afterprint", () => {
      for (const part of closed) part.open = false;
    });
  }

  for (const box of document.querySelectorAll("[data-table]")) {
    const table = box.querySelector("table");
    const refresh = makeFoldable(box, table);
    makeFilterable(box, table, refresh);
    makeSortable(table, refresh);
  }
  const specs = JSON.parse(document.getElementById("charts").textContent);
  const drawn = [...document.querySelectorAll("[data-chart]")].map((place) => draw(specs, place));
  // charts have taken the width of their places by now, which a folded part does not have
  for (const part of parts) {
    part.open = false;
    part.addEventListener("toggle", () => part.querySelectorAll("[data-chart]").forEach(cueOf));
  }
  keepOpenForPaper();
  window.addEventListener("hashchange", openTarget);
  openTarget();
  Promise.all(drawn).then(() => {
    document.documentElement.dataset.ready = "yes";
  });
})();
