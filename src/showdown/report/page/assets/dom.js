// Elements from plain calls. Children are nodes or strings, and strings become text: nothing is ever parsed as markup.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const byId = (id) => document.getElementById(id);

function select(label, options, value, change) {
  const control = el(
    "select",
    { onchange: () => change(control.value) },
    options.map(([key, text]) => el("option", { value: key, selected: key === value }, text)),
  );
  return el("label", {}, el("span", {}, label), control);
}

function toggle(label, pressed, change) {
  const button = el("button", { type: "button", class: "toggle", "aria-pressed": String(pressed) }, label);
  button.addEventListener("click", () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(now));
    change(now);
  });
  return button;
}

// Many buttons, one tab stop: arrows, Home and End move among those not hidden, by row and column as they are seen, or
// along `line` where there is no grid. The answer moves the tab stop to the first, for when others are hidden or moved.
function rove(container, selector, line = null) {
  const live = () => line ?? [...container.querySelectorAll(selector)].filter((node) => !node.closest("[hidden]"));
  const rest = (target) => {
    for (const node of container.querySelectorAll(`${selector}[tabindex="0"]`)) node.tabIndex = -1;
    if (target) target.tabIndex = 0;
  };
  for (const node of container.querySelectorAll(selector)) node.tabIndex = -1;
  const restart = () => rest(live()[0]);
  restart();
  container.addEventListener("focusin", (event) => {
    const target = event.target.closest(selector);
    if (target) rest(target);
  });
  container.addEventListener("keydown", (event) => {
    const target = event.target.closest(selector);
    if (!target || !/^(Arrow|Home|End)/.test(event.key)) return;
    const nodes = live();
    const here = target.getBoundingClientRect();
    const sameRow = (node) => Math.abs(node.getBoundingClientRect().top - here.top) < 3;
    const sameColumn = (node) => Math.abs(node.getBoundingClientRect().left - here.left) < 3;
    const row = line ?? nodes.filter(sameRow),
      column = line ?? nodes.filter(sameColumn);
    const step = (list, by) => list[list.indexOf(target) + by];
    const next = {
      ArrowRight: () => step(row, 1),
      ArrowLeft: () => step(row, -1),
      ArrowDown: () => step(column, 1),
      ArrowUp: () => step(column, -1),
      Home: () => row[0],
      End: () => row[row.length - 1],
    }[event.key]?.();
    if (next) {
      event.preventDefault();
      next.focus();
    }
  });
  return restart;
}
