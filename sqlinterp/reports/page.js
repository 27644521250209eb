"use strict";
(() => {
  const valueOf = (row, place) => {
    const cell = row.cells[place];
    if (cell.classList.contains("none")) return null;
    return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true });

  const sort = (table, place, direction) => {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => [valueOf(row, place), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return direction * compare(a, b);
    });
    body.append(...rows.map(([, row]) => row));
    Array.from(table.tHead.rows[0].cells).forEach((head, other) => {
      head.setAttribute("aria-sort", other !== place ? "none" : direction > 0 ? "ascending" : "descending");
    });
  };

  document.querySelectorAll("table[data-table]").forEach((table) => {
    Array.from(table.tHead.rows[0].cells).forEach((head, place) => {
      head.firstElementChild.addEventListener("click", () => {
        const first = head.classList.contains("n") ? -1 : 1;
        const now = { none: 0, ascending: 1, descending: -1 }[head.getAttribute("aria-sort")];
        sort(table, place, now === 0 ? first : -now);
      });
    });
  });

  // A long cell shows two lines, and a version on a phone its beginning, until it is pressed.
  document.querySelectorAll(".clamp, td.key").forEach((cell) => {
    cell.addEventListener("click", () => cell.classList.toggle("open"));
  });

  // With #check every heading is pressed twice, and what came of it is written to the root element.
  if (location.hash === "#check") {
    const problems = [];
    let presses = 0;
    document.querySelectorAll("table[data-table]").forEach((table) => {
      const original = Array.from(table.tBodies[0].rows);
      Array.from(table.tHead.rows[0].cells).forEach((head, place) => {
        for (let press = 0; press < 2; press += 1) {
          head.firstElementChild.click();
          presses += 1;
          const direction = head.getAttribute("aria-sort") === "ascending" ? 1 : -1;
          const values = Array.from(table.tBodies[0].rows, (row) => valueOf(row, place));
          const filled = values.filter((value) => value !== null);
          const isSorted = filled.every((value, i) => i === 0 || direction * compare(filled[i - 1], value) <= 0);
          const nullsLast = values.slice(0, filled.length).every((value) => value !== null);
          if (!isSorted || !nullsLast || values.length !== original.length) {
            problems.push(table.dataset.table + "." + place);
          }
        }
        head.setAttribute("aria-sort", "none");
      });
      table.tBodies[0].append(...original);
    });
    const drawn = Array.from(document.querySelectorAll("figure svg"))
      .filter((svg) => svg.getBoundingClientRect().height > 40).length;
    Object.assign(document.documentElement.dataset, {
      presses: String(presses), problems: problems.join(" "), charts: String(drawn),
      overflow: String(document.documentElement.scrollWidth - document.documentElement.clientWidth),
    });
  }
})();
