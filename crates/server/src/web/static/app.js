// What pages do beyond reading: everything here works on markup that is complete without it.
"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const make = (tag, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};
const words = document.body.dataset;

// Diffs: a button that copies.
for (const diff of all("pre.diff")) {
  const button = make("button", { type: "button", textContent: words.copy });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(diff.textContent);
    button.textContent = words.copied;
    setTimeout(() => (button.textContent = words.copy), 1500);
  });
  const tools = diff.nextElementSibling?.classList.contains("tools") ? diff.nextElementSibling : null;
  if (tools) tools.prepend(button, " ");
}

// Findings light up what they are about: segments, stages and script lines.
const about = (id) => [
  ...all(`[data-findings~="${id}"]`),
  ...all(`.part[href="#${id}"]`).flatMap((part) => [part, part.closest(".row")]),
];
const light = (id, on) => {
  document.querySelector(".report")?.classList.toggle("lit", on);
  for (const node of about(id)) node.classList.toggle("lit", on);
};
for (const finding of all(".finding")) {
  finding.tabIndex = -1;
  finding.addEventListener("pointerenter", () => light(finding.id, true));
  finding.addEventListener("pointerleave", () => light(finding.id, false));
  finding.addEventListener("focusin", () => light(finding.id, true));
  finding.addEventListener("focusout", () => light(finding.id, false));
}

// The graph: zoom at the pointer with Ctrl and the wheel, pan by dragging, buttons for both.
for (const box of all(".wide")) {
  const svg = box.querySelector("svg.dag");
  if (!svg) continue;
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  let scale = 1;
  const fit = () => Math.min(1, box.clientWidth / width);
  const zoom = (next, x = box.clientWidth / 2, y = box.clientHeight / 2) => {
    next = Math.min(4, Math.max(Math.min(0.2, fit()), next));
    const [left, top] = [box.scrollLeft + x, box.scrollTop + y];
    // The sheet of a report fits the graph to the page.
    const size = { width: `${width * next}px`, height: `${height * next}px`, minWidth: "0", maxWidth: "none" };
    Object.assign(svg.style, size);
    box.scrollTo((left / scale) * next - x, (top / scale) * next - y);
    scale = next;
  };
  const button = (text, label, act) => {
    const node = make("button", { type: "button", textContent: text, title: label, ariaLabel: label });
    node.addEventListener("click", act);
    return node;
  };
  box.before(make("p", { className: "tools" },
    button("+", words.zoomIn, () => zoom(scale * 1.25)), " ",
    button("−", words.zoomOut, () => zoom(scale / 1.25)), " ",
    button(words.zoomReset, words.zoomReset, () => zoom(fit()))));
  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, top } = box.getBoundingClientRect();
    zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - left, event.clientY - top);
  }, { passive: false });
  let from = null;
  box.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    from = [event.clientX + box.scrollLeft, event.clientY + box.scrollTop];
  });
  box.addEventListener("pointermove", (event) => {
    if (from) box.scrollTo(from[0] - event.clientX, from[1] - event.clientY);
  });
  for (const end of ["pointerup", "pointerleave"]) box.addEventListener(end, () => (from = null));
  zoom(Math.max(fit(), 0.85));
}

// Live progress of an analysis.
for (const list of all("[data-events]")) {
  const source = new EventSource(list.dataset.events);
  let seen = 0;
  source.onmessage = (event) => {
    if (!seen) list.replaceChildren();
    for (const line of event.data.split("\n")) list.append(make("li", { textContent: line }));
    seen += 1;
    list.lastElementChild.scrollIntoView({ block: "nearest" });
  };
  source.addEventListener("end", () => { source.close(); location.reload(); });
  source.onerror = () => { source.close(); setTimeout(() => location.reload(), 2000); };
}

// Uploads: folders, dropped files, and how much has been sent.
for (const form of all("form.upload")) {
  for (const node of all(".only-script", form)) { node.hidden = false; node.disabled = false; }
  const [bar, state] = [form.querySelector("progress"), form.querySelector(".upload-state")];
  let dropped = [];
  const drop = form.querySelector(".drop");
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    dropped = [...event.dataTransfer.files];
    state.textContent = dropped.map((file) => file.name).join(", ");
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const data = new FormData();
    for (const name of ["token", "question", "depth"]) data.append(name, form.elements[name].value);
    const chosen = all("input[type=file]", form).flatMap((input) => [...input.files]);
    for (const file of [...chosen, ...dropped]) data.append("files", file, file.webkitRelativePath || file.name);
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("x-requested-with", "script");
    bar.hidden = false;
    request.upload.onprogress = (sent) => {
      bar.value = (100 * sent.loaded) / sent.total;
      state.textContent = `${words.uploading} ${Math.round(bar.value)} %`;
    };
    request.onload = () => {
      if (request.status === 200) { location.href = request.responseText; return; }
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      bar.hidden = true;
      state.textContent = page.querySelector(".problem-text")?.textContent ?? request.statusText;
    };
    request.onerror = () => (state.textContent = "×");
    request.send(data);
  });
}

// Questions: the answer appears as it comes.
const answer = async (form, turns) => {
  const question = form.elements.question.value;
  const [said, state] = [make("p", { className: "said" }), make("p", { className: "legend", textContent: `${form.dataset.asking} …` })];
  const abort = new AbortController();
  const stop = make("button", { type: "button", textContent: form.dataset.stop });
  stop.addEventListener("click", () => abort.abort());
  const turn = make("article", { className: "turn" }, make("h3", { textContent: question }), said, state, stop);
  const fail = (text) => {
    said.remove();
    stop.remove();
    state.replaceWith(make("p", { className: "problem-text", textContent: text }));
  };
  const hear = {
    text: (data) => (said.textContent = data),
    remark: (data) => { said.textContent = ""; state.textContent = data; },
    answer: (data) => { turn.outerHTML = data; form.elements.question.value = ""; },
    failure: fail,
  };
  turns.append(turn);
  turn.scrollIntoView({ block: "nearest" });
  let ended = false;
  try {
    const body = new URLSearchParams(new FormData(form));
    const reply = await fetch(form.action, { method: "POST", body, headers: { "x-requested-with": "script" }, signal: abort.signal });
    if (!(reply.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      fail(page.querySelector(".problem-text")?.textContent ?? reply.statusText);
      return;
    }
    let rest = "";
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const events = (rest + part.value).split("\n\n");
      rest = events.pop();
      for (const event of events) {
        const lines = event.split("\n");
        const of = (field) => lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2));
        const [name] = of("event");
        ended ||= name === "answer" || name === "failure";
        hear[name]?.(of("data").join("\n"));
      }
    }
  } catch (error) {
    if (abort.signal.aborted) { turn.remove(); return; }
  }
  if (!ended) fail(form.dataset.broken);
};
for (const form of all(".ask form")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    await answer(form, form.parentElement.querySelector(".turns"));
    button.disabled = false;
    form.elements.question.focus();
  });
}

// Two runs can be compared, no more and no fewer.
for (const form of all("form.chosen")) {
  const boxes = all("input[name=run]", form);
  const button = form.querySelector(".below button");
  const check = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    button.disabled = ticked !== 2;
    for (const box of boxes) box.disabled = ticked >= 2 && !box.checked;
  };
  form.addEventListener("change", check);
  check();
}
for (const select of all(".filters select")) select.addEventListener("change", () => select.form.requestSubmit());

// The line that a link means.
document.querySelector("tr.meant")?.scrollIntoView({ block: "center" });

// Keys: `/` searches, `j` and `k` walk through the findings.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  if (event.key === "/") {
    const field = document.querySelector("[data-key='/']");
    if (field) { event.preventDefault(); field.focus(); }
  }
  const findings = all(".finding");
  if (!findings.length || !["j", "k"].includes(event.key)) return;
  const at = findings.findIndex((finding) => finding.contains(document.activeElement));
  const next = event.key === "j" ? Math.min(at + 1, findings.length - 1) : Math.max(at - 1, 0);
  findings[next].focus();
  findings[next].scrollIntoView({ block: "start", behavior: "smooth" });
});
