// The table that is seen, in its order and with its filter, as CSV, Markdown or LaTeX.
const cellText = (cell) => {
  const parts = [...cell.querySelectorAll("[data-part]")].map((node) => node.textContent);
  return (parts.length ? parts.join(" / ") : cell.textContent).trim();
};

// What is written in a table: headings, and rows of text with what is marked as best.
function sheetOf(table) {
  const head = [...table.tHead.rows[0].cells].map((cell) => cell.querySelector("button")?.textContent ?? cell.textContent);
  const rows = [...table.querySelectorAll("tbody tr, tfoot tr")]
    .filter((row) => !row.hidden)
    .map((row) =>
      [...row.cells].map((cell) => ({
        text: cellText(cell),
        best: cell.matches(".best, .tied") || cell.querySelector(".best, .tied") !== null,
      })),
    );
  return { caption: table.caption.textContent, head, rows };
}

// RFC 4180; a spreadsheet takes a text that begins like a formula for one, so that it gets an apostrophe.
function toCsv(records) {
  const names = [...new Set(records.flatMap(Object.keys))];
  const field = (value) => {
    if (value === null || value === undefined) return "";
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [names, ...records.map((record) => names.map((name) => record[name]))]
    .map((row) => row.map(field).join(",") + "\r\n")
    .join("");
}

function toMarkdown({ caption, head, rows }) {
  const escape = (text) => text.replace(/[\\|*_[\]<>`]/g, "\\$&").replace(/\s+/g, " ");
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const write = ({ text, best }) => (best ? `**${escape(text)}**` : escape(text));
  const under = head.map((_, index) => (index ? "---:" : "---"));
  return [escape(caption), "", line(head.map(escape)), line(under), ...rows.map((row) => line(row.map(write))), ""].join("\n");
}

const LATEX = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "±": "$\\pm$",
  "–": "--",
  "−": "$-$",
  "✓": "$\\checkmark$",
  "✗": "$\\times$",
  "≈": "$\\approx$",
  "·": "",
  µ: "$\\mu$",
  δ: "$\\delta$",
};
function toLatex({ caption, head, rows }) {
  const escape = (text) => text.replace(/[\\~^±–−✓✗≈·µδ]|[&%$#_{}]/gu, (letter) => LATEX[letter] ?? `\\${letter}`);
  const line = (cells) => `${cells.join(" & ")} \\\\`;
  const write = ({ text, best }) => (best ? `\\textbf{${escape(text)}}` : escape(text));
  return [
    "% needs booktabs; amssymb for the marks of agreement",
    "\\begin{table}",
    "\\centering",
    `\\caption{${escape(caption)}}`,
    `\\begin{tabular}{l${"r".repeat(head.length - 1)}}`,
    "\\toprule",
    line(head.map(escape)),
    "\\midrule",
    ...rows.map((row) => line(row.map(write))),
    "\\bottomrule",
    "\\end{tabular}",
    "\\end{table}",
    "",
  ].join("\n");
}

// `records` gives the rows of the CSV file: one number to a field, so that a spreadsheet can work with them.
function tableDownloads(table, records) {
  const name = (ending) => fileName([data.title, state.view, titleOf(state.metric)], ending);
  const kinds = [
    ["CSV", "csv", "text/csv", () => toCsv(records())],
    ["Markdown", "md", "text/markdown", () => toMarkdown(sheetOf(table))],
    ["LaTeX", "tex", "application/x-tex", () => toLatex(sheetOf(table))],
  ];
  return el(
    "div",
    { class: "downloads", role: "group", "aria-label": "Save the table" },
    kinds.map(([label, ending, type, text]) =>
      saveButton(label, `Save the table as ${label}`, () => download(name(ending), type, text())),
    ),
  );
}

// A record per finished cell that is seen, in the order of the table; `more` adds what only one view shows.
const cellRecords = (more = () => ({})) =>
  sortedPolicies()
    .filter(isShown)
    .flatMap((policy) => data.problems.map((problem) => cellOf(policy.name, problem.name)).filter(Boolean))
    .filter((cell) => cell.shown[state.metric])
    .map((cell) => ({
      policy: cell.policy,
      problem: cell.problem,
      horizon: cell.horizon,
      seed: cell.seed,
      trials: cell.trials,
      metric: state.metric,
      unit: problemOf.get(cell.problem).units[state.metric] ?? "",
      mean: cell.shown[state.metric].mean,
      sem: cell.shown[state.metric].sem,
      rank: cell.rank[state.metric],
      ...more(cell),
    }));
