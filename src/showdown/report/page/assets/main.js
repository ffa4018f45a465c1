// The page itself: heading, tabs, filters, foot; the views draw the rest when they are asked for.
const VIEWS = onlyTunings ? { tuning: ["Tuning", tuningView] } : {
  ...(Object.keys(data.overviews).length ? { overview: ["Overview", overviewView] } : {}),
  leaderboard: ["Leaderboard", leaderboard],
  heatmap: ["Heat map", heatmap],
  curves: ["Regret curves", curves],
  ...(data.problems.length > 1 ? { ranks: ["Ranks", ranksView] } : {}), // one problem has no mean rank
  compare: ["Compare", compareView],
  time: ["Time", timeView],
  ...(data.answer ? {} : { reproduction: ["Reproduction", reproduction] }), // nobody published numbers of this table
  ...(data.tunings.length ? { tuning: ["Tuning", tuningView] } : {}),
};
let current = null;

function showView() {
  const view = byId("view"),
    focused = document.activeElement,
    [, build] = VIEWS[state.view];
  const label = view.contains(focused) ? focused.closest("label")?.textContent : null;
  drawings.clear();
  current =
    data.cells.length || ["leaderboard", "tuning"].includes(state.view)
      ? build()
      : { nodes: [el("p", { class: "nothing" }, "No cell is finished.")], arrange: () => {} };
  view.replaceChildren(...current.nodes);
  byId("verdict").classList.toggle("short", !["overview", "leaderboard"].includes(state.view));
  for (const draw of drawings) draw();
  view.setAttribute("aria-labelledby", `tab-${state.view}`);
  // a control that rebuilt its own view keeps the focus
  if (label)
    [...view.querySelectorAll("label")]
      .find((node) => node.textContent === label)
      ?.querySelector("select")
      ?.focus();
  for (const tab of byId("tabs").children) {
    const active = tab.dataset.view === state.view;
    tab.setAttribute("aria-selected", String(active));
    tab.tabIndex = active ? 0 : -1;
  }
  // these views are about regret over time and against time, and about a search that has an objective of its own
  byId("metric").hidden = ["curves", "time", "tuning"].includes(state.view);
  drawnFor = toHash({ withOpen: false });
}

function refreshRows() {
  current.arrange();
  byId("count").textContent =
    `${data.policies.filter(isShown).length} of ${plural(data.policies.length, "policy", "policies")}`;
  drawnFor = toHash({ withOpen: false });
}

// Show what the address says: at the start, after Back, and when somebody edits it.
function restore() {
  fromHash(location.hash);
  const dialog = byId("detail");
  if (toHash({ withOpen: false }) !== drawnFor) {
    byId("metric").querySelector("select").value = state.metric;
    byId("family").querySelector("select").value = state.family;
    byId("filter").value = state.text;
    showVerdict();
    showView();
    refreshRows();
  }
  if (state.open) openDetail(...state.open);
  else if (dialog.open) dialog.close();
}

function buildTabs() {
  const tabs = byId("tabs");
  const go = (view) => {
    state.view = view;
    remember();
    showView();
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
      remember();
      showVerdict();
      showView();
    },
  );
  metric.id = "metric";
  const family = select("family", [["", "all"], ...families.map((name) => [name, name])], "", (value) => {
    state.family = value;
    remember();
    refreshRows();
  });
  family.id = "family";
  const text = el("input", {
    type: "search",
    id: "filter",
    placeholder: "Lin, BBB, Thompson",
    autocomplete: "off",
    "aria-keyshortcuts": "/",
    oninput: () => {
      state.text = text.value;
      remember({ replace: true });
      refreshRows();
    },
  });
  byId("controls").append(
    metric,
    family,
    el("label", {}, el("span", {}, "search"), text),
    el("output", { id: "count", "aria-live": "polite" }),
  );
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, select, dialog")) return;
    event.preventDefault();
    text.focus();
  });
}

function buildHeading() {
  byId("title").textContent = data.title;
  const trials = [...new Set(data.cells.map((cell) => cell.trials))].sort((one, other) => one - other);
  const trialsEach = trials.length
    ? `, ${trials.length > 1 ? `${trials[0]} to ` : ""}${plural(trials.at(-1), "trial")} each`
    : "";
  const { seeds, other_seeds: others } = data.about;
  const seed = others.length ? `, seed ${seeds.join(", ")} (not shown: seed ${others.join(", ")})` : "";
  byId("summary").textContent = onlyTunings ? `${plural(data.tunings.length, "tuning")}.` :
    `${plural(data.policies.length, "policy", "policies")} on ${plural(data.problems.length, "problem")}${trialsEach}${seed}.`;
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

// A printed page hides nothing: what is folded is unfolded, and charts take the width of the paper.
function buildPrinting() {
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded.push(...document.querySelectorAll("details:not([open])"));
    for (const part of unfolded) part.open = true;
    for (const draw of drawings) draw();
  });
  addEventListener("afterprint", () => {
    for (const part of unfolded) part.open = false;
    unfolded = [];
  });
}

buildTheme();
buildHeading();
buildGuide();
buildTabs();
buildControls();
buildFoot();
buildPrinting();
byId("link").addEventListener("click", copyLink);
byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address holds the state
  byId("view").focus();
});
byId("detail").addEventListener("close", closeDetail);
addEventListener("popstate", restore);
if (onlyTunings) for (const part of ["verdict", "guide", "controls"]) byId(part).hidden = true;
restore();
