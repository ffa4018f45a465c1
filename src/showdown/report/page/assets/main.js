// The page itself: heading, tabs, filters, foot; the views draw the rest when they are asked for.
const VIEWS = {
  leaderboard: ["Leaderboard", leaderboard],
  heatmap: ["Heat map", heatmap],
  curves: ["Regret curves", curves],
  ranks: ["Ranks", ranksView],
  time: ["Time", timeView],
  reproduction: ["Reproduction", reproduction],
};
let current = null;

function showView() {
  const main = byId("view"),
    focused = document.activeElement,
    [title, build] = VIEWS[state.view];
  const label = main.contains(focused) ? focused.closest("label")?.textContent : null;
  drawings.clear();
  current =
    data.cells.length || state.view === "leaderboard"
      ? build()
      : { nodes: [el("p", { class: "nothing" }, "No cell is finished.")], arrange: () => {} };
  main.replaceChildren(...current.nodes);
  for (const draw of drawings) draw();
  main.setAttribute("aria-label", title);
  // a control that rebuilt its own view keeps the focus
  if (label)
    [...main.querySelectorAll("label")]
      .find((node) => node.textContent === label)
      ?.querySelector("select")
      ?.focus();
  for (const tab of byId("tabs").children) {
    const active = tab.dataset.view === state.view;
    tab.setAttribute("aria-selected", String(active));
    tab.tabIndex = active ? 0 : -1;
  }
  // only the leaderboard's kind of view has a metric to choose
  byId("metric").hidden = state.view === "curves" || state.view === "time";
}

function refreshRows() {
  current.arrange();
  byId("count").textContent =
    `${data.policies.filter(isShown).length} of ${plural(data.policies.length, "policy", "policies")}`;
}

function buildTabs() {
  const tabs = byId("tabs");
  const go = (view) => {
    state.view = view;
    showView();
    try {
      history.replaceState(null, "", `#${view}`);
    } catch {
      /* some viewers forbid it */
    }
  };
  for (const [view, [title]] of Object.entries(VIEWS)) {
    tabs.append(
      el(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${view}`,
          "data-view": view,
          "aria-controls": "view",
          onclick: () => go(view),
        },
        title,
      ),
    );
  }
  tabs.addEventListener("keydown", (event) => {
    const all = [...tabs.children],
      here = all.indexOf(event.target);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || here < 0) return;
    event.preventDefault();
    const target = all[(to + all.length) % all.length];
    go(target.dataset.view);
    target.focus();
  });
}

function buildControls() {
  const metric = select(
    "show",
    data.metrics.map(({ name, title }) => [name, title]),
    state.metric,
    (value) => {
      const turned = smallerIsBetter(value) !== smallerIsBetter(state.metric);
      state.metric = value;
      // a problem stays sorted with the best first, or with the worst
      if (turned && state.sort.key.startsWith(problemKey(""))) state.sort.descending = !state.sort.descending;
      showView();
    },
  );
  metric.id = "metric";
  const family = select("family", [["", "all"], ...families.map((name) => [name, name])], "", (value) => {
    state.family = value;
    refreshRows();
  });
  family.id = "family";
  const text = el("input", {
    type: "search",
    id: "filter",
    placeholder: "Lin, BBB",
    autocomplete: "off",
    oninput: () => {
      state.text = text.value;
      refreshRows();
    },
  });
  byId("controls").append(
    metric,
    family,
    el("label", {}, el("span", {}, "filter"), text),
    el("output", { id: "count", "aria-live": "polite" }),
  );
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
}

function buildHeading() {
  byId("title").textContent = data.title;
  const trials = [...new Set(data.cells.map((cell) => cell.trials))].sort((one, other) => one - other);
  const trialsEach = trials.length
    ? `, ${trials.length > 1 ? `${trials[0]} to ` : ""}${plural(trials.at(-1), "trial")} each`
    : "";
  byId("summary").textContent =
    `${plural(data.policies.length, "policy", "policies")} on ${plural(data.problems.length, "problem")}${trialsEach}.`;
  const ranked = data.policies
    .filter((policy) => policy.mean_rank[MAIN] !== null)
    .sort((one, other) => one.mean_rank[MAIN] - other.mean_rank[MAIN]);
  // time is another machine's, so whether it agrees says nothing about the policies
  const timed = data.metrics.filter(({ per_cell }) => per_cell);
  const regrets = Object.entries(data.agreement).filter(([table]) => !timed.some(({ name }) => table.endsWith(` ${name}`)));
  const agreement = regrets.reduce((sum, [, { agree, compared }]) => [sum[0] + agree, sum[1] + compared], [0, 0]);
  const tiles = [[data.cells.length, data.cells.length === 1 ? "finished cell" : "finished cells"]];
  if (data.unfinished.length) tiles.push([data.unfinished.length, "not finished"]);
  if (ranked.length) tiles.push([ranked[0].name, `best mean rank, ${ranked[0].mean_rank[MAIN].toFixed(1)}`]);
  if (agreement[1]) tiles.push([`${agreement[0]} of ${agreement[1]}`, "published regrets agree, cumulative and simple"]);
  byId("tiles").append(
    ...tiles.map(([value, name]) => el("div", {}, el("strong", {}, String(value)), el("span", {}, name))),
  );
}

// Light, dark, or as the system says; remembered where the browser allows it.
function buildTheme() {
  const kept = {
    get: () => {
      try {
        return localStorage.getItem("showdown-theme");
      } catch {
        return null;
      }
    },
    set: (value) => {
      try {
        localStorage.setItem("showdown-theme", value);
      } catch {
        /* private window */
      }
    },
  };
  const order = ["auto", "light", "dark"],
    button = byId("theme");
  let theme = order.includes(kept.get()) ? kept.get() : "auto";
  const apply = () => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `theme: ${theme}`;
  };
  button.addEventListener("click", () => {
    theme = order[(order.indexOf(theme) + 1) % order.length];
    kept.set(theme);
    apply();
  });
  apply();
}

function buildFoot() {
  const list = (title, lines) =>
    lines.length
      ? el(
          "section",
          {},
          el("h2", {}, title),
          el(
            "ul",
            {},
            lines.map((line) => el("li", {}, line)),
          ),
        )
      : null;
  const failed = data.unfinished.map(
    (cell) =>
      `${cell.policy} on ${cell.problem} (horizon ${cell.horizon}, ${plural(cell.trials, "trial")}, seed ${cell.seed}): ${cell.status}${cell.reason ? `, ${cell.reason}` : ""}`,
  );
  byId("foot").append(
    ...[
      list("Not finished", failed),
      list("Notes", data.notes),
      list("Files that were left out", data.warnings),
      el(
        "section",
        {},
        el("h2", {}, "How this was made"),
        facts([
          ["versions", data.about.versions.join("; ")],
          ["hardware", data.about.hardware.join("; ")],
          ["seed", data.about.seeds.join(", ")],
          ["page made", `${data.made} by showdown ${data.version}`],
        ]),
        el("pre", { class: "command" }, data.command),
      ),
    ].filter(Boolean),
  );
}

const wanted = location.hash.slice(1);
if (wanted in VIEWS) state.view = wanted;
state.problem = (
  data.problems.find((problem) => data.cells.some((cell) => cell.problem === problem.name)) ?? data.problems[0]
).name;
if (!data.agreement[`paper ${MAIN}`]?.compared && data.agreement[`paper-linear ${MAIN}`]?.compared)
  state.source = "paper-linear";
buildTheme();
buildHeading();
buildTabs();
buildControls();
buildFoot();
showView();
refreshRows();
