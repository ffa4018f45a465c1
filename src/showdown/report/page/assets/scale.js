// Axes and what is drawn against them.
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

function linearScale([low, high], [from, to], { integers = false } = {}) {
  if (high === low) high = low + (low === 0 ? 1 : Math.abs(low) * 0.1);
  const scale = (value) => from + ((value - low) / (high - low)) * (to - from);
  scale.invert = (place) => low + ((place - from) / (to - from)) * (high - low);
  scale.ticks = (count) => {
    const rough = (high - low) / count,
      power = 10 ** Math.floor(Math.log10(rough));
    const every = (step) => {
      const first = Math.ceil(low / step - 1e-9),
        last = Math.floor(high / step + 1e-9);
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
    };
    const sizes = [10, 5, 2.5, 2, 1, 0.5].map((factor) => factor * power).filter((size) => !integers || Number.isInteger(size));
    // no more than there is room for, but one or two do not make an axis; the smallest size gives four at least
    const narrow = Math.max(0, sizes.findLastIndex((size) => size >= rough));
    if (integers && rough < 1) return every(1);
    return sizes.slice(narrow).map(every).find((ticks) => ticks.length >= 3) ?? [];
  };
  return scale;
}

function logScale([low, high], [from, to]) {
  low = Math.max(low, 1e-12);
  high = Math.max(high, low * 1.1);
  const inner = linearScale([Math.log10(low), Math.log10(high)], [from, to]);
  const scale = (value) => inner(Math.log10(Math.max(value, low)));
  scale.invert = (place) => 10 ** inner.invert(place);
  scale.ticks = (count) => {
    if (high / low < 5) return linearScale([low, high], [from, to]).ticks(count);
    const decades = Math.log10(high / low),
      factors = decades < 1.2 ? [1, 2, 3, 5, 7] : decades < 3 ? [1, 2, 5] : [1];
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      for (const factor of factors) {
        const tick = factor * 10 ** power;
        if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
      }
    }
    const every = Math.ceil(ticks.length / (count + 2));
    return ticks.filter((_, index) => index % every === 0);
  };
  return scale;
}

function tickText(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(4)));
}

// A drawing with margins and both axes; `frame` gives the sizes, `plot` is where the marks go.
function chart({
  width,
  height,
  x,
  y,
  xLabel,
  yLabel,
  label,
  left = 52,
  bottom = 40,
  top = 12,
  right = 14,
  format: ticksAs = {},
}) {
  const root = svg("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": label,
    class: "chart",
  });
  const frame = { left, right: width - right, top, bottom: height - bottom };
  const axes = svg("g", { class: "axes", "aria-hidden": "true" });
  root.append(axes);
  if (x) {
    const scale = x([frame.left, frame.right]);
    frame.x = scale;
    for (const tick of scale.ticks(Math.max(2, Math.floor((frame.right - frame.left) / 80)))) {
      axes.append(
        svg("line", { x1: scale(tick), x2: scale(tick), y1: frame.top, y2: frame.bottom, class: "grid" }),
        svg("text", { x: scale(tick), y: frame.bottom + 15, "text-anchor": "middle" }, (ticksAs.x ?? tickText)(tick)),
      );
    }
    axes.append(svg("line", { x1: frame.left, x2: frame.right, y1: frame.bottom, y2: frame.bottom, class: "axis" }));
  }
  if (y) {
    const scale = y([frame.bottom, frame.top]);
    frame.y = scale;
    for (const tick of scale.ticks(Math.max(2, Math.floor((frame.bottom - frame.top) / 48)))) {
      axes.append(
        svg("line", { x1: frame.left, x2: frame.right, y1: scale(tick), y2: scale(tick), class: "grid" }),
        svg("text", { x: frame.left - 6, y: scale(tick) + 4, "text-anchor": "end" }, (ticksAs.y ?? tickText)(tick)),
      );
    }
  }
  if (xLabel)
    axes.append(
      svg("text", { x: (frame.left + frame.right) / 2, y: height - 6, "text-anchor": "middle", class: "name" }, xLabel),
    );
  if (yLabel) {
    const middle = (frame.top + frame.bottom) / 2;
    axes.append(
      svg(
        "text",
        { x: 12, y: middle, transform: `rotate(-90 12 ${middle})`, "text-anchor": "middle", class: "name" },
        yLabel,
      ),
    );
  }
  const plot = svg("g");
  root.append(plot);
  return { root, frame, plot };
}

const path = (points) => points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

// Widths are known only once an element is in the page, and change with it: `drawings` is what a view has to draw.
const drawings = new Set();
function roomIn(holder) {
  const { paddingLeft, paddingRight } = getComputedStyle(holder);
  return Math.floor(holder.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight));
}

function responsive(holder, drawAt) {
  let last = 0;
  const draw = () => {
    const width = roomIn(holder);
    if (!(width > 0) || width === last) return; // not in the page, where it has no width at all
    last = width;
    holder.replaceChildren(drawAt(width));
  };
  drawings.add(draw);
  new ResizeObserver(draw).observe(holder);
  return () => {
    last = 0;
    draw();
  };
}

// A drawing that follows the width of the page, with buttons that save it. `name` is what it is called in a file.
function plot(name, drawAt) {
  const holder = el("div", { class: "plot" });
  const redraw = responsive(holder, drawAt);
  return { node: el("div", { class: "figure" }, holder, chartDownloads(name, drawAt)), redraw };
}
