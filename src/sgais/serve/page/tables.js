// The part of the page that is text: where the models stand, alarms, numbers.

import { BEWARE, MISSING, alarmLines, bytes, count, fixed, share, withError } from "./words.js";

const CLEARLY = 0.95;
const UNCHANGED = "The data have not changed, as far as the models can tell.";
const UNHEARD = "Not connected: whether the data have changed is not known here.";
const byId = (id) => document.getElementById(id);

function cell(tag, text) {
  return Object.assign(document.createElement(tag), { textContent: text });
}

// Writes only what differs, so that screen readers and selections are left alone.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function verdict(store, place, chunkSize) {
  const leader = place < 0 ? null : store.leaderAt(place);
  if (leader === null) return { leader, isSeparated: false, words: `Waiting for the first chunk of ${count(chunkSize)} rows.` };
  const { probability, low, is_warned: isWarned } = store.at(leader, place);
  if (store.models.length < 2) return { leader, isSeparated: false, words: `${leader}: one model, nothing to compare.` };
  const isSeparated = low > CLEARLY;
  const doubt = isSeparated ? "beyond doubt" : "not yet separated";
  return { leader, isSeparated, words: `${leader} leads with probability ${share(probability)}${isWarned ? BEWARE : ""}, ${doubt}.` };
}

// What is said of change points, and where they are.
export function segmentedVerdict({ num_rows: rows, num_segments: known, segments }, models, chunkSize) {
  if (!known) return { leader: null, isSeparated: false, words: `Waiting for the first chunk of ${count(chunkSize)} rows.` };
  const { start, model, probability } = segments.at(-1);
  const of = models.length > 1 ? ` The present segment is most probably of ${model}.` : "";
  const words = known === 1 ? `${count(rows)} rows, and most probably no change.`
    : `${count(rows)} rows in ${count(known)} segments: the latest change is before row ${count(start)}, with probability ${share(probability)}.`;
  return { leader: `${known} ${model}`, isSeparated: false, words: words + of };
}

export function showSegments({ num_rows: rows, num_segments: known, segments }, models) {
  byId("segments-section").hidden = known === 0;
  const more = known > segments.length ? `, the latest ${count(segments.length)} of ${count(known)}` : "";
  const areSeveral = models.length > 1;
  byId("model-heading").hidden = !areSeveral;
  setText(byId("segments-hint"), `The most probable ones, given all ${count(rows)} rows${more}.`);
  const lines = segments.map(({ start, end, model, probability }) => {
    const row = document.createElement("tr");
    const from = cell("th", count(start));
    from.scope = "row";
    row.append(from, cell("td", count(end)), ...(areSeveral ? [modelCell(model, models.indexOf(model))] : []),
      cell("td", start ? share(probability) : ""));
    return row;
  });
  const body = byId("segments").tBodies[0];
  const text = (rows) => [...rows].map((row) => row.textContent).join("\n");
  if (text(body.children) !== text(lines)) body.replaceChildren(...lines);
}

function modelCell(name, number) {
  const found = cell("td", "");
  const swatch = cell("span", "");
  swatch.setAttribute("aria-hidden", "true");
  swatch.className = `swatch model-${number % 6}`;
  found.append(swatch, name);
  return found;
}

export function showModels(store, place, state) {
  const body = byId("models").tBodies[0];
  const leader = place < 0 ? null : store.leaderAt(place);
  const best = leader === null ? null : store.at(leader, place);
  const row = store.records.num_rows[place];
  const standings = store.models.map((model) => (place < 0 ? {} : store.at(model, place)));
  const hasDoubt = standings.some((now) => now.mode_doubt > 0); // else a column of zeros
  byId("modes-heading").hidden = !hasDoubt;
  const lines = store.models.map((model, number) => {
    const now = standings[number];
    const band = now.low == null || store.models.length < 2 ? "" : ` (${share(now.low)} to ${share(now.high)})`;
    const factor = best === null || now.log_evidence == null ? MISSING
      : model === leader ? "leads" : withError(now.log_evidence - best.log_evidence, Math.hypot(now.standard_error, best.standard_error), 2);
    return { model, number, probability: now.probability ?? -1, texts: [
      share(now.probability) + band,
      factor,
      now.log_evidence == null ? MISSING : fixed(now.log_evidence, 2) + (now.is_warned ? BEWARE : ""),
      now.log_evidence == null || !row ? MISSING : fixed(now.log_evidence / row, 4),
      fixed(now.standard_error, 3),
      fixed(now.kernel_bias, 3),
      ...(hasDoubt ? [fixed(now.mode_doubt, 3)] : []),
    ] };
  });
  lines.sort((one, other) => other.probability - one.probability);
  const hasShape = body.childElementCount === lines.length && body.firstElementChild?.childElementCount === 1 + lines[0].texts.length;
  if (!hasShape) body.replaceChildren(...lines.map(emptyRow));
  lines.forEach((line, rank) => writeRow(body.children[rank], line));
  showRemarks(state);
}

function emptyRow({ texts }) {
  const name = cell("th", "");
  name.scope = "row";
  const swatch = cell("span", "");
  swatch.setAttribute("aria-hidden", "true");
  name.append(swatch, cell("span", ""));
  const row = document.createElement("tr");
  row.append(name, ...texts.map(() => cell("td", "")));
  return row;
}

function writeRow(row, { model, number, texts }) {
  const [name, ...cells] = row.children;
  name.firstElementChild.className = `swatch model-${number % 6}`;
  setText(name.lastElementChild, model);
  texts.forEach((text, column) => setText(cells[column], text));
}

function showRemarks(state) {
  const lines = [];
  for (const model of state.models) {
    if (model.failure) lines.push(`${model.name} failed: ${model.failure}`);
    else if (model.warning) lines.push(`Beware of ${model.name}: ${model.warning}.`);
  }
  byId("remarks").replaceChildren(...lines.map((text) => cell("li", text)));
}

export function showAlarms(alarms) {
  const lines = alarmLines(alarms).reverse();
  byId("no-alarms").hidden = lines.length > 0;
  const list = byId("alarms");
  if (list.childElementCount === lines.length && list.firstElementChild?.textContent === lines[0]) return;
  list.replaceChildren(...lines.map((text) => cell("li", text)));
}

export function showNumbers(store, place, state, numAlarms) {
  const records = store.records;
  const at = (column) => (place < 0 ? null : records[column][place]);
  const entries = [["Rows taken in", count(place < 0 ? state.num_rows : records.num_rows[place])]];
  if (state.rows_waiting !== undefined) entries.push(["Rows waiting", count(state.rows_waiting)]);
  if (state.mode !== "replay") {
    entries.push(["Rows per second", count(at("rows_per_second"))], ["Memory", bytes(at("memory_bytes"))]);
  }
  if (state.rows_saved !== undefined) entries.push(["In the checkpoint", count(state.rows_saved)]);
  if (state.rows_set_aside) entries.push(["Rows set aside", count(state.rows_set_aside)]);
  entries.push(["Rows per chunk", count(state.chunk_size)]);
  if (state.segmentation) {
    entries.push(["Segments", count(state.segmentation.num_segments)], ["log Z", withError(at("log_evidence"), at("standard_error"), 2)]);
  } else entries.push(["Alarms", count(numAlarms)]);
  const list = byId("numbers");
  if (list.childElementCount !== entries.length) {
    list.replaceChildren(...entries.map(() => {
      const box = document.createElement("div");
      box.append(cell("dt", ""), cell("dd", ""));
      return box;
    }));
  }
  entries.forEach(([name, text], number) => {
    setText(list.children[number].children[0], name);
    setText(list.children[number].children[1], text);
  });
}

export function showStatus(status, words) {
  const pill = byId("status");
  pill.dataset.state = status;
  setText(pill, words);
}

// A page that hears nothing knows nothing of what may have changed.
export function showLost(isLost) {
  document.body.dataset.lost = String(isLost);
  setText(byId("no-alarms"), isLost ? UNHEARD : UNCHANGED);
}

export function showMessage(message) {
  byId("message").hidden = !message;
  setText(byId("message"), message);
}

export function showVerdict(words) {
  setText(byId("verdict"), words);
}
