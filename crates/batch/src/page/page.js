"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { text: words, jobs, parts, clusters, causes, scripts, language } = data;
  const zh = language === "zh";
  const count = jobs.ending.length;
  if (!count) return;

  // Numbers: as `report::format` writes them.
  const fixed = (x, digits) => {
    const scale = 10 ** digits, scaled = x * scale, floor = Math.floor(scaled);
    const even = scaled - floor === 0.5 && floor % 2 === 0;
    return (even ? floor / scale : x).toFixed(digits);
  };
  const commas = (x) => fixed(x, 0).replace(/\B(?=(\d{3})+$)/g, ",");
  const significant = (x) => fixed(x, x >= 100 ? 0 : x >= 10 ? 1 : x >= 1 ? 2 : 3);
  const figure = (x) => x >= 100 || Number.isInteger(x) ? commas(x) : significant(x).replace(/\.?0+$/, "");
  const number = (n) => zh && n >= 1e8 ? `${significant(n / 1e8)} 亿` : zh && n >= 1e5 ? `${significant(n / 1e4)} 万`
    : !zh && n >= 1e9 ? `${fixed(n / 1e9, 1)} B` : !zh && n >= 1e6 ? `${fixed(n / 1e6, 1)} M` : figure(n);
  const ofJobs = (n) => zh ? `${number(n)}${n >= 1e5 ? "" : " "}个作业` : `${number(n)} ${n === 1 ? "job" : "jobs"}`;
  const share = (part, whole) => {
    const percent = part / whole * 100;
    return `${fixed(percent, percent !== 0 && percent < 9.95 ? 1 : 0)} %`;
  };
  const duration = (s) => {
    const [ms, sec, min, h] = zh ? [" 毫秒", " 秒", " 分", " 小时"] : [" ms", " s", " min", " h"];
    const whole = Math.round(s);
    if (s > 0 && s < 0.9995) return fixed(Math.max(s * 1e3, 1), 0) + ms;
    if (whole < 10) return fixed(s, 1) + sec;
    if (whole < 60) return whole + sec;
    if (whole < 3600) return `${Math.floor(whole / 60)}${min} ${whole % 60}${sec}`;
    if (whole < 360000) return `${Math.floor(whole / 3600)}${h} ${Math.floor(whole % 3600 / 60)}${min}`;
    return figure(s / 3600) + h;
  };
  const minute = (second) => new Date(second * 1000).toISOString().slice(0, 16).replace("T", " ");
  const percent = (part, whole) => `${whole > 0 ? Math.round(part / whole * 1000) / 10 : 0}%`;
  const noted = (word, value) => zh ? `${words[word]} ${value}` : `${value} ${words[word]}`;

  // Texts of jobs become text nodes, never markup.
  const element = (tag, properties, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name === "style") Object.assign(made.style, value);
      else if (name === "class") made.className = value;
      else if (value !== null) made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child !== null && child !== ""));
    return made;
  };
  const one = (selector, within = document) => within.querySelector(selector);

  const labels = { cause: causes, script: scripts, owner: data.owners, queue: data.queues, week: data.weeks };
  const dimensions = Object.keys(labels);
  const label = (dimension, value) => value < 0 ? words.unknown : labels[dimension][value];
  const state = { search: "", ending: -1, by: {}, sort: "avoidable", descending: true, page: 0, open: {} };
  const size = 50, bars = 8, most = 200, lines = 20;
  const none = -1;
  const at = (column, job) => jobs[column][job] ?? none;

  const searchable = new Array(count);
  const found = (job, wanted) => {
    searchable[job] ??= [jobs.name[job], jobs.id[job], jobs.uri[job]].filter(Boolean).join("\n").toLowerCase();
    return wanted.every((word) => searchable[job].includes(word));
  };
  const hasCause = (job, cause) => {
    for (let p = parts.start[job]; p < parts.start[job + 1]; p++) if (clusters.cause[parts.cluster[p]] === cause) return true;
    return false;
  };

  // Of each job which filters exclude it: a bit per dimension, and one for the rest.
  const excluded = () => {
    const wanted = state.search.toLowerCase().split(/\s+/).filter(Boolean);
    const active = Object.entries(state.by).map(([dimension, value]) => [dimension, value, 1 << dimensions.indexOf(dimension)]);
    const bits = new Uint8Array(count);
    for (let job = 0; job < count; job++) {
      let out = state.ending >= 0 && jobs.ending[job] !== state.ending || wanted.length && !found(job, wanted) ? 1 << dimensions.length : 0;
      for (const [dimension, value, bit] of active) {
        if (!(dimension === "cause" ? hasCause(job, value) : at(dimension, job) === value)) out |= bit;
      }
      bits[job] = out;
    }
    return bits;
  };

  const grouped = (dimension, chosen) => {
    const groups = new Map();
    const add = (value, job, run, avoidable) => {
      let group = groups.get(value);
      if (!group) groups.set(value, group = { value, jobs: 0, run: 0, avoidable: 0, last: none });
      group.avoidable += avoidable ?? 0;
      if (group.last === job) return;
      group.last = job;
      group.jobs += 1;
      group.run += run ?? 0;
    };
    for (const job of chosen) {
      if (dimension !== "cause") { add(at(dimension, job), job, jobs.run[job], jobs.avoidable[job]); continue; }
      for (let p = parts.start[job]; p < parts.start[job + 1]; p++) add(clusters.cause[parts.cluster[p]], job, jobs.run[job], parts.seconds[p]);
    }
    const known = (group) => group.value < 0 ? Infinity : group.value;
    return [...groups.values()].sort((a, b) => b.avoidable - a.avoidable || b.jobs - a.jobs || known(a) - known(b));
  };

  const showTotals = (chosen) => {
    const endings = [0, 0, 0, 0], costs = data.units.map(() => [0, 0]);
    let run = 0, total = 0, avoidable = 0;
    for (const job of chosen) {
      endings[jobs.ending[job]] += 1;
      run += jobs.run[job] ?? 0;
      total += jobs.total[job] ?? jobs.run[job] ?? 0;
      avoidable += jobs.avoidable[job] ?? 0;
      const cost = costs[at("unit", job)];
      if (cost) { cost[0] += jobs.cost[job] ?? 0; cost[1] += jobs.wasted[job] ?? 0; }
    }
    const analyzed = chosen.length - endings[3];
    const notes = [["healthy", endings[1], analyzed], ["inconclusive", endings[2], endings[2]], ["failed", endings[3], endings[3]]]
      .map(([word, n, shown]) => shown ? noted(word, number(n)) : null);
    const broken = chosen.filter((job) => jobs.broken[job]).length;
    const costTile = ([cost, wasted], unit) => {
      const price = data.prices[unit], name = words[data.units[unit]] ?? data.units[unit];
      const money = (hours) => `${data.currency}${figure(hours * price)}`;
      const title = costs.length > 1 ? `${words.cost} · ${name}` : words.cost;
      return price === null ? [figure(cost), `${name} · ${words.wasted} ${figure(wasted)}`, title]
        : [money(cost), `${figure(cost)} ${name} · ${words.wasted} ${money(wasted)}`, title];
    };
    const values = [
      [number(chosen.length), notes.filter(Boolean).join(" · ")],
      [number(endings[0]), analyzed ? noted("of_analyzed", share(endings[0], analyzed)) : ""],
      [duration(run), noted("with_waiting", duration(total))],
      [duration(avoidable), total > 0 ? noted("of_total", share(avoidable, total)) : ""],
      [number(broken), chosen.length ? noted("of_all", share(broken, chosen.length)) : ""],
      ...costs.map(costTile),
    ];
    const names = ["jobs", "with_problem", "run", "avoidable", "broken_tile"];
    one(".tiles").replaceChildren(...values.map(([value, note, title], i) => {
      const name = names[i] ?? "cost";
      return element("div", { class: `tile ${name}` }, element("dt", {}, title ?? words[name]), element("dd", {}, element("b", {}, value), element("small", {}, note)));
    }));
  };

  const showBars = (card, groups) => {
    const dimension = card.dataset.by, open = state.open[dimension];
    const shown = groups.slice(0, open ? most : bars), highest = groups[0]?.avoidable ?? 0;
    const pressed = state.by[dimension];
    one("ol", card).replaceChildren(...shown.map((group) => {
      const name = label(dimension, group.value);
      return element("li", {}, element("button", { type: "button", "data-value": group.value, title: name, "aria-pressed": group.value === pressed },
        element("span", { class: "label" }, name), element("small", {}, ofJobs(group.jobs)), element("b", {}, duration(group.avoidable)),
        element("i", {}, element("i", { style: { width: percent(group.avoidable, highest) } }))));
    }));
    const more = one(".more", card);
    more.hidden = groups.length <= bars;
    more.textContent = open ? words.show_less : words.show_all;
    more.setAttribute("aria-expanded", !!open);
  };

  // A column per week, weeks without jobs included; over many years a mark for each gap. Of every few weeks the label.
  const longest = 130;
  const makeWeeks = (card) => {
    let weeks = data.weeks.map((day, value) => [day, value]).sort();
    if (!weeks.length) return card.remove();
    const first = Date.parse(weeks[0][0]), width = 7 * 864e5;
    const length = (Date.parse(weeks[weeks.length - 1][0]) - first) / width + 1;
    if (length <= longest) {
      const known = new Map(weeks);
      const day = (i) => new Date(first + i * width).toISOString().slice(0, 10);
      weeks = Array.from({ length }, (_, i) => [day(i), known.get(day(i)) ?? none]);
    }
    const every = Math.max(Math.ceil(weeks.length / 12), 1);
    const gap = (i) => i ? Math.round((Date.parse(weeks[i][0]) - Date.parse(weeks[i - 1][0])) / width) - 1 : 0;
    const mark = (i) => gap(i) > 0 ? [element("li", { class: "gap", title: words.gap.replace("#", gap(i)) }, "…")] : [];
    one("ol", card).replaceChildren(...weeks.flatMap(([day, value], i) => [...mark(i), element("li", {},
      element("button", { type: "button", "data-value": value, title: day, "aria-label": day }, element("i", { class: "rest" }), element("i", { class: "avoidable" })),
      i % every ? null : element("small", { class: i / every % 2 ? "minor" : "" }, day))]));
  };

  // The columns stay; their heights follow the filters.
  const showWeeks = (card, groups) => {
    const of = new Map(groups.map((group) => [group.value, group]));
    const weekly = groups.filter((group) => group.value >= 0);
    const highest = weekly.reduce((max, group) => Math.max(max, group.run), 0);
    one(".most", card).textContent = duration(highest);
    card.querySelectorAll("button").forEach((button) => {
      const value = Number(button.dataset.value);
      const { jobs: n, run, avoidable } = (value >= 0 && of.get(value)) || { jobs: 0, run: 0, avoidable: 0 };
      const [rest, saved] = button.children;
      rest.style.height = percent(Math.max(run - avoidable, 0), highest);
      saved.style.height = percent(Math.min(avoidable, run), highest);
      if (value >= 0) {
        const sums = [ofJobs(n), duration(run), `${words.avoidable_key} ${duration(avoidable)}`];
        button.title = labels.week[value] + words.colon + sums.join(words.comma);
        button.setAttribute("aria-label", button.title);
      }
      button.setAttribute("aria-pressed", state.by.week === value);
      button.disabled = value < 0;
    });
  };

  const paged = new Set(data.paged);
  const link = (job) => paged.has(job) ? `jobs/${jobs.key[job]}.html` : `${data.base}results/${jobs.key[job].slice(0, 2)}/${jobs.key[job]}.json`;
  const jobLabel = (job) => jobs.name[job] ?? jobs.id[job] ?? jobs.uri[job];
  // `code` in backticks, if they come in pairs.
  const coded = (text) => {
    const pieces = text.split("`");
    return pieces.length % 2 ? pieces.map((piece, i) => i % 2 ? element("code", {}, piece) : piece) : [text];
  };
  const small = (value) => value ? element("small", {}, value) : null;
  const cell = (name, properties, ...children) => element("td", { ...properties, "data-label": name }, ...children);

  const showClusters = (chosen) => {
    const section = one(".clusters");
    section.hidden = !clusters.cause.length;
    const sums = new Map();
    for (const job of chosen) {
      for (let p = parts.start[job]; p < parts.start[job + 1]; p++) {
        const index = parts.cluster[p];
        if (state.by.cause !== undefined && clusters.cause[index] !== state.by.cause) continue;
        let sum = sums.get(index);
        if (!sum) sums.set(index, sum = { index, jobs: 0, seconds: 0, last: none, highest: none, job });
        if (sum.last !== job) { sum.jobs += 1; sum.last = job; }
        const seconds = parts.seconds[p] ?? 0;
        sum.seconds += seconds;
        if (seconds > sum.highest) { sum.highest = seconds; sum.job = job; }
      }
    }
    const sorted = [...sums.values()].sort((a, b) => b.seconds - a.seconds || b.jobs - a.jobs || a.index - b.index);
    const shown = sorted.slice(0, state.open.clusters ? most : lines);
    one("tbody", section).replaceChildren(...shown.map(({ index, jobs: n, seconds, job }) => element("tr", {},
      cell(words.saves, { class: "amount" }, element("b", {}, duration(seconds))),
      cell(words.jobs, { class: "amount" }, number(n)),
      cell(words.cause, {}, causes[clusters.cause[index]]),
      cell(words.script, {}, label("script", clusters.script[index] ?? none), small(clusters.role[index])),
      cell(words.advice, { class: "text" }, ...coded(data.suggestions[clusters.advice[index]] ?? "–")),
      cell(words.costliest, { class: "name" }, element("a", { href: link(job) }, jobLabel(job))))));
    const more = one(".more", section);
    more.hidden = sorted.length <= lines;
    more.textContent = state.open.clusters ? words.show_less : words.show_all;
  };

  const endings = ["problem", "healthy", "inconclusive", "failed"];
  const finding = (job) => {
    const first = parts.start[job];
    return first < parts.start[job + 1] ? causes[clusters.cause[parts.cluster[first]]] : words[endings[jobs.ending[job]]];
  };
  const keys = {
    name: jobLabel, finding, owner: (job) => data.owners[jobs.owner[job]] ?? null, queue: (job) => data.queues[jobs.queue[job]] ?? null,
    submitted: (job) => jobs.submitted[job], run: (job) => jobs.run[job], avoidable: (job) => jobs.avoidable[job], cost: (job) => jobs.cost[job],
  };
  const collator = new Intl.Collator(language, { numeric: true });
  // Unknown values come last in both directions.
  const sorted = (chosen) => {
    const key = keys[state.sort], sign = state.descending ? -1 : 1;
    const keyed = chosen.map((job) => [key(job), job]);
    const compare = (a, b) => typeof a === "string" ? collator.compare(a, b) : a - b;
    keyed.sort(([a, x], [b, y]) => (a === null) - (b === null) || (a === null ? 0 : sign * compare(a, b)) || x - y);
    return keyed.map(([, job]) => job);
  };

  // The sections around single jobs: failed on the cluster, slower than usual, scripts that ran more than once.
  const fill = (name, rows) => {
    const section = one(`section.${name}`), left = rows.length - lines;
    section.hidden = !rows.length;
    one("tbody", section).replaceChildren(...rows.slice(0, lines).map((cells) => element("tr", {}, ...cells())),
      left > 0 ? element("tr", {}, element("td", { colspan: 7 }, words.more.replace("#", number(left)))) : "");
  };
  const maybe = (value, write) => value === null || value === undefined ? "–" : write(value);
  const named = (job) => element("td", { class: "name" }, element("a", { href: link(job) }, jobLabel(job)));
  const amount = (name, value, write) => cell(words[name], { class: "amount" }, maybe(value, write));
  const advised = (job) => coded(data.suggestions[jobs.suggestion[job]] ?? "–");
  const showRuns = (chosen) => {
    const by = (value) => (x, y) => (value(y) ?? 0) - (value(x) ?? 0);
    const broken = chosen.filter((job) => jobs.broken[job]).sort(by((job) => jobs.run[job]));
    fill("broken", broken.map((job) => () => [named(job), cell(words.cause, {}, finding(job)), cell(words.submitted, { class: "when" }, maybe(jobs.submitted[job], minute)),
      amount("run_time", jobs.run[job], duration), amount("cost", jobs.cost[job], figure), cell(words.advice, { class: "text" }, ...advised(job))]));
    const change = (job) => jobs.run[job] / jobs.usual[job] - 1;
    const slow = chosen.filter((job) => jobs.slow[job]).sort(by((job) => jobs.run[job] - jobs.usual[job]));
    fill("slow", slow.map((job) => () => [named(job), cell(words.submitted, { class: "when" }, maybe(jobs.submitted[job], minute)), amount("run_time", jobs.run[job], duration),
      amount("usual", jobs.usual[job], duration), cell(words.change, { class: "amount" }, `+${share(change(job), 1)}`), cell(words.finding, {}, finding(job))]));
    const scripts = new Map();
    for (const job of chosen) {
      const script = at("script", job);
      if (script >= 0) scripts.set(script, [...scripts.get(script) ?? [], job]);
    }
    const sum = (runs, column) => runs.reduce((all, job) => all + (jobs[column][job] ?? 0), 0);
    const again = [...scripts].filter(([, runs]) => runs.length > 1).sort(by(([, runs]) => sum(runs, "run")));
    fill("recurring", again.map(([script, runs]) => () => {
      const last = [...runs].sort(by((job) => jobs.submitted[job]))[0];
      return [cell(words.script, { class: "name" }, label("script", script)), amount("runs", runs.length, number), amount("total", sum(runs, "run"), duration),
        amount("saves", sum(runs, "avoidable"), duration), amount("usual", jobs.usual[last], duration), amount("last_run", jobs.run[last], duration),
        amount("slow", sum(runs, "slow"), (n) => n ? number(n) : "–")];
    }));
  };

  let ordered = [], highest = 0;
  const row = (job) => {
    const [from, to] = jobs.lines[job] ?? [];
    const more = parts.start[job + 1] - parts.start[job] - 1;
    return element("tr", {},
      element("td", { class: "name" }, element("a", { href: link(job) }, jobLabel(job)), small(jobs.id[job] ?? jobs.uri[job])),
      cell(words.finding, {}, element("span", { class: `mark ${endings[jobs.ending[job]]}` }, finding(job)), more > 0 ? " " : null, more > 0 ? small(`+${more}`) : null),
      cell(words.owner, { class: "who" }, keys.owner(job) ?? "–"), cell(words.queue, { class: "who" }, keys.queue(job) ?? "–"),
      cell(words.submitted, { class: "when" }, maybe(jobs.submitted[job], minute)),
      cell(words.run_time, { class: "amount" }, maybe(jobs.run[job], duration)),
      cell(words.saves, { class: "amount" }, element("b", {}, maybe(jobs.avoidable[job], duration)),
        element("i", {}, element("i", { style: { width: percent(jobs.avoidable[job] ?? 0, highest) } }))),
      cell(words.cost, { class: "amount" }, maybe(jobs.cost[job], figure)),
      cell(words.suggestion, { class: "text" }, ...coded(data.reasons[jobs.reason[job]] ?? data.suggestions[jobs.suggestion[job]] ?? "–"),
        from ? small(from === to ? words.line.replace("#", from) : words.lines.replace("#", `${from}–${to}`)) : null,
        jobs.missing[job] !== null ? small(`${words.needs} ${data.files[jobs.missing[job]]}`) : null));
  };
  const list = one(".list"), pager = one("nav", list);
  const showPage = () => {
    const pages = Math.max(Math.ceil(ordered.length / size), 1);
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    const shown = ordered.slice(state.page * size, (state.page + 1) * size);
    const empty = element("tr", {}, element("td", { colspan: 9 }, words.none));
    one("tbody", list).replaceChildren(...(shown.length ? shown.map(row) : [empty]));
    pager.hidden = pages === 1;
    one("output", pager).textContent = `${number(state.page + 1)} / ${number(pages)}`;
    one(".previous", pager).disabled = state.page === 0;
    one(".next", pager).disabled = state.page === pages - 1;
  };
  const showList = (chosen) => {
    ordered = sorted(chosen);
    list.querySelectorAll("th[data-sort]").forEach((header) => {
      if (header.dataset.sort === state.sort) header.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
      else header.removeAttribute("aria-sort");
    });
    showPage();
  };

  const showFailures = () => {
    const all = [...jobs.ending.keys()].filter((job) => endings[jobs.ending[job]] === "failed"), left = all.length - lines;
    one(".failures").hidden = !all.length;
    one(".failures ul").replaceChildren(...all.slice(0, lines).map((job) =>
      element("li", {}, element("a", { href: link(job) }, jobLabel(job)), " ", data.reasons[jobs.reason[job]] ?? words.unknown)),
    left > 0 ? element("li", {}, words.more.replace("#", number(left))) : "");
  };

  const tools = one(".tools"), search = one("input", tools), verdict = one("select", tools);
  const showTools = (n) => {
    one(".chips", tools).replaceChildren(...Object.entries(state.by).map(([dimension, value]) => {
      const name = label(dimension, value);
      return element("button", { type: "button", "data-by": dimension, "aria-label": words.remove + name }, `${words[dimension]} ${name}`, element("span", { "aria-hidden": true }, "×"));
    }));
    one(".clear", tools).hidden = !state.search && state.ending < 0 && !Object.keys(state.by).length;
    one("output", tools).textContent = n === count ? ofJobs(n) : `${number(n)} ${words.of} ${ofJobs(count)}`;
  };

  let chosen = [];
  const show = () => {
    const bits = excluded();
    const but = (allowed) => {
      const kept = [];
      for (let job = 0; job < count; job++) if (!(bits[job] & ~allowed)) kept.push(job);
      return kept;
    };
    chosen = but(0);
    showTotals(chosen);
    document.querySelectorAll(".card").forEach((card) => {
      const dimension = card.dataset.by;
      const within = dimension in state.by ? but(1 << dimensions.indexOf(dimension)) : chosen;
      (dimension === "week" ? showWeeks : showBars)(card, grouped(dimension, within));
    });
    showClusters(chosen);
    showRuns(chosen);
    showTools(chosen.length);
    showList(chosen);
  };

  document.querySelectorAll(".card").forEach((card) => card.addEventListener("click", (event) => {
    const button = event.target.closest("button"), dimension = card.dataset.by;
    if (!button) return;
    if (button.classList.contains("more")) state.open[dimension] = !state.open[dimension];
    else {
      const value = Number(button.dataset.value);
      if (state.by[dimension] === value) delete state.by[dimension]; else state.by[dimension] = value;
      state.page = 0;
    }
    const again = button.classList.contains("more") ? ".more" : `[data-value="${button.dataset.value}"]`;
    show();
    one(again, card)?.focus();
  }));
  one(".clusters .more")?.addEventListener("click", () => {
    state.open.clusters = !state.open.clusters;
    showClusters(chosen);
  });
  list.querySelectorAll("th[data-sort]").forEach((header) => {
    const button = element("button", { type: "button" }, header.textContent);
    header.replaceChildren(button);
    button.addEventListener("click", () => {
      const same = state.sort === header.dataset.sort;
      state.descending = same ? !state.descending : header.classList.contains("amount") || header.dataset.sort === "submitted";
      state.sort = header.dataset.sort;
      state.page = 0;
      showList(chosen);
    });
  });
  pager.addEventListener("click", (event) => {
    if (!event.target.closest("button")) return;
    state.page += event.target.closest(".next") ? 1 : -1;
    showPage();
    list.scrollIntoView({ block: "start" });
  });
  let waiting;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { state.search = search.value; state.page = 0; show(); }, 120);
  });
  verdict.addEventListener("change", () => { state.ending = Number(verdict.value); state.page = 0; show(); });
  tools.addEventListener("submit", (event) => event.preventDefault());
  tools.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.classList.contains("clear")) {
      Object.assign(state, { search: "", ending: -1, by: {}, page: 0 });
      search.value = "";
      verdict.value = "-1";
    } else delete state.by[button.dataset.by];
    show();
    search.focus();
  });

  makeWeeks(one(".trend"));
  showFailures();
  for (let job = 0; job < count; job++) highest = Math.max(highest, jobs.avoidable[job] ?? 0);
  document.documentElement.classList.add("live");
  tools.hidden = false;
  show();
})();
