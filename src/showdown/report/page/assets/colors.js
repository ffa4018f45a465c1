// A policy's line looks the same on every chart and every page: its colour and dash follow from its name. Neighbouring
// colours have other dashes, so that lines can be told apart without seeing colours.
const COLOR_COUNT = 10;
const DASHES = ["", "7 4", "2 3", "9 3 2 3"];

function hashOf(text) {
  let hash = 2166136261; // FNV-1a
  for (const letter of text) hash = Math.imul(hash ^ letter.codePointAt(0), 16777619) >>> 0;
  return hash;
}

// Two names can ask for the same look. The first by alphabet has it, the next takes the nearest free one: another
// colour while there is one, then another dash.
const slots = new Map();
{
  const taken = new Set(),
    all = COLOR_COUNT * DASHES.length;
  for (const name of data.policies.map((policy) => policy.name).sort()) {
    let slot = hashOf(name) % COLOR_COUNT;
    for (let tried = 0; taken.has(slot) && tried < all; tried++) slot = (slot + 1) % all;
    taken.add(slot);
    slots.set(name, slot);
  }
}

function strokeOf(policy) {
  const slot = slots.get(policy) ?? 0;
  return {
    stroke: `var(--line-${slot % COLOR_COUNT})`,
    "stroke-dasharray": DASHES[(slot + Math.floor(slot / COLOR_COUNT)) % DASHES.length] || null, // no two slots are equal
  };
}

const swatch = (policy, width) =>
  svg(
    "svg",
    { width, height: 10, "aria-hidden": "true" },
    policy === null ? null : svg("line", { x1: 0, x2: width, y1: 5, y2: 5, "stroke-width": 2.5, ...strokeOf(policy) }),
  );

// Viridis, dark to bright: good to bad in both themes, ordered for every kind of colour vision and in grey.
const VIRIDIS = [
  [68, 1, 84],
  [72, 40, 120],
  [62, 74, 137],
  [49, 104, 142],
  [38, 130, 142],
  [31, 158, 137],
  [53, 183, 121],
  [109, 205, 89],
  [180, 222, 44],
  [253, 231, 37],
];
// Blue, pale, orange: better than Uniform, the same, worse; apart for every kind of colour vision.
const AROUND_UNIFORM = [
  [5, 76, 135],
  [67, 147, 195],
  [176, 212, 232],
  [246, 246, 242],
  [251, 196, 128],
  [217, 116, 18],
  [127, 59, 8],
];
function heat(fraction, colors = VIRIDIS) {
  const place = clamp(fraction, 0, 1) * (colors.length - 1),
    index = Math.min(Math.floor(place), colors.length - 2);
  const mix = colors[index].map((low, channel) =>
    Math.round(low + (colors[index + 1][channel] - low) * (place - index)),
  );
  return { background: `rgb(${mix})`, color: inkOn(mix) };
}

// Black or white, whichever stands out more: at least 4.5 : 1 on any colour.
function inkOn(color) {
  const [red, green, blue] = color.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179 ? "#fff" : "#000";
}
