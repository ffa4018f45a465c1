// Files made here: nothing leaves the page, and the content policy stays as strict as it is.
function download(name, type, content) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = el("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  say(`Saved ${name}`);
}

// A short message that is also read out; it goes away by itself.
let hush = null;
function say(text) {
  const status = byId("status");
  status.textContent = text;
  status.hidden = false;
  clearTimeout(hush);
  hush = setTimeout(() => (status.hidden = true), 4000);
}

// Each part is cut, so that a long title does not push out what tells files apart.
const fileName = (parts, ending) =>
  `${parts
    .map((part) =>
      part
        .toLowerCase()
        .replace(/[^\p{L}\p{N}.]+/gu, "-")
        .slice(0, 60)
        .replace(/^[-.]+|-+$/g, ""),
    )
    .join("-")}.${ending}`;

const saveButton = (label, hint, save) =>
  el("button", { type: "button", class: "plain save", "aria-label": hint, title: hint, onclick: save }, label);

// The link to what is seen now. The clipboard may be forbidden: then the address is shown to be copied by hand.
async function copyLink() {
  remember();
  try {
    await navigator.clipboard.writeText(location.href);
    say("Link copied");
  } catch {
    say(`Copy this address: ${location.href}`);
  }
}

const EXPORT_WIDTH = 900;
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-size", "text-anchor"];
const TITLE_ROOM = 30;

// The chart as a file of its own: drawn at a fixed width, with the page's colours written into it, and a heading.
function chartFile(name, drawAt) {
  const stage = el("div", { class: "stage", "aria-hidden": "true" });
  document.body.append(stage);
  const drawn = drawAt(EXPORT_WIDTH);
  stage.append(drawn);
  if (drawn.tagName !== "svg") {
    stage.remove();
    return null; // there is nothing to draw, and a sentence says so
  }
  const copy = drawn.cloneNode(true),
    originals = [...drawn.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((node, index) => {
    const style = getComputedStyle(originals[index]);
    for (const property of DRAWN) node.setAttribute(property, style.getPropertyValue(property));
    for (const attribute of ["class", "tabindex", "role"]) node.removeAttribute(attribute);
  });
  for (const attribute of ["class", "tabindex", "role"]) copy.removeAttribute(attribute);
  for (const hair of copy.querySelectorAll('[visibility="hidden"]')) hair.remove();
  const look = getComputedStyle(document.body);
  const [width, height] = [drawn.width.baseVal.value, drawn.height.baseVal.value];
  const paper = { x: 0, y: -TITLE_ROOM, width, height: height + TITLE_ROOM, fill: look.backgroundColor };
  copy.prepend(
    svg("rect", paper),
    svg("text", { x: 12, y: -10, "font-size": 14, "font-weight": 600, fill: look.color }, name),
  );
  for (const [attribute, value] of Object.entries({
    xmlns: SVG,
    height: height + TITLE_ROOM,
    viewBox: `0 ${-TITLE_ROOM} ${width} ${height + TITLE_ROOM}`,
    "font-family": "system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif",
  }))
    copy.setAttribute(attribute, value);
  stage.remove();
  return { text: new XMLSerializer().serializeToString(copy), width, height: height + TITLE_ROOM };
}

function savePng(name, { text, width, height }) {
  const picture = new Image();
  picture.onload = () => {
    const canvas = el("canvas", { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(picture, 0, 0, 2 * width, 2 * height);
    canvas.toBlob((blob) => download(fileName([name], "png"), "image/png", blob), "image/png");
  };
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

function chartDownloads(name, drawAt) {
  const save = (write) => () => {
    const file = chartFile(name, drawAt);
    if (file) write(file);
    else say("There is no chart to save");
  };
  return el(
    "div",
    { class: "downloads", role: "group", "aria-label": `Save the chart: ${name}` },
    saveButton(
      "SVG",
      `Save as SVG: ${name}`,
      save(({ text }) => download(fileName([name], "svg"), "image/svg+xml", text)),
    ),
    saveButton("PNG", `Save as PNG: ${name}`, save((file) => savePng(name, file))),
  );
}
