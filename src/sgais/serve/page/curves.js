// What each chart shows: from the store to lines with bands.

import { bytes, count, fixed, share, withError } from "./words.js";

const BAND = 3; // standard errors on either side

const perRow = (value, row) => (value == null || !row ? null : value / row);

// A line of a chart: a name, the number of its model (-1: none), values, errors.
function line(name, number, values, errors = null) {
  return { name, number, values, errors };
}

function ofModels(store, pick) {
  return store.models.map((model, number) => {
    const columns = store.records.models[model];
    const [values, errors] = pick(columns, store.records.num_rows, model);
    return line(model, number, values, errors);
  });
}

// Lines with the points at which a warning says that log Z should not be trusted.
function withWarnings(store, lines) {
  return lines.map((each) => ({ ...each, warned: store.records.models[each.name].is_warned }));
}

function evidence(store) {
  return withWarnings(store, ofModels(store, (columns, rows) => [
    columns.log_evidence.map((value, place) => perRow(value, rows[place])),
    columns.standard_error.map((value, place) => perRow(value, rows[place])),
  ]));
}

function bayesFactors(store, place) {
  const leader = store.leaderAt(place);
  if (leader === null) return [];
  const best = store.records.models[leader];
  const lines = ofModels(store, (columns) => [
    columns.log_evidence.map((value, at) => (value == null || best.log_evidence[at] == null ? null : value - best.log_evidence[at])),
    columns.standard_error.map((value, at) => (value == null || best.standard_error[at] == null ? null : Math.hypot(value, best.standard_error[at]))),
  ]);
  return withWarnings(store, lines).filter((each) => each.name !== leader).map((each) => ({
    ...each,
    name: `${each.name} against ${leader}`,
    warned: each.warned.map((value, at) => value || best.is_warned[at]),
  }));
}

function probabilities(store) {
  return withWarnings(store, ofModels(store, (columns) => [columns.probability, null])).map((each) => ({
    ...each,
    low: store.records.models[each.name].low,
    high: store.records.models[each.name].high,
  }));
}

function errorBudget(store) {
  const lines = [];
  store.models.forEach((model, number) => {
    const { standard_error: error, kernel_bias: bias, mode_doubt: doubt } = store.records.models[model];
    lines.push(line(`${model}: Monte Carlo`, number, error));
    if (bias.some((value) => value > 0)) lines.push({ ...line(`${model}: kernel`, number, bias), isThin: true });
    if (doubt.some((value) => value > 0)) lines.push({ ...line(`${model}: modes`, number, doubt), isThin: true });
  });
  return lines;
}

// Where the stream has changed, as is known now: stems over rows that curves know nothing of.
function changes(store, place, { rows, probabilities }) {
  return [{ ...line("change before the row", -1, [null, ...probabilities, null]), rows: [0, ...rows, store.lastRow] }];
}

const single = (name, column) => (store) => [line(name, -1, store.records[column])];

function evidenceOfAll(store) {
  const { num_rows: rows, log_evidence: values, standard_error: errors } = store.records;
  return [line("all segments", -1, values.map((value, place) => perRow(value, rows[place])), errors.map((value, place) => perRow(value, rows[place])))];
}

const OF_ALL = [
  { id: "throughput", title: "Throughput: rows per second", lines: single("rows per second", "rows_per_second"), show: count, floor: 0 },
  { id: "memory", title: "Memory of the process", lines: single("memory", "memory_bytes"), show: bytes, floor: 0, axis: (value) => bytes(value) },
];

export const CHARTS = [
  { id: "evidence", title: "Evidence: log Z per row, in nats", lines: evidence, show: (value, error) => withError(value, error) },
  { id: "probabilities", title: "Probabilities of the models", lines: probabilities, show: share, range: [0, 1] },
  { id: "bayes-factors", title: "Log Bayes factors against the leader, in nats", lines: bayesFactors, show: (value, error) => withError(value, error, 2), needsModels: 2 },
  { id: "annealing", title: "Annealing steps per chunk: peaks where data surprise", lines: (store) => ofModels(store, (columns) => [columns.annealing_steps, null]), show: count, floor: 0, isStepped: true },
  { id: "error-budget", title: "Error budget of log Z, in nats", lines: errorBudget, show: (value) => fixed(value, 3), floor: 0 },
  ...OF_ALL,
];

export const SEGMENTED_CHARTS = [
  { id: "changes", title: "Probability of a change, given all rows so far", lines: changes, show: share, range: [0, 1.03], isStemmed: true },
  { id: "run-length", title: "Rows since the latest change, as each chunk saw it", lines: single("rows", "run_length"), show: count, floor: 0 },
  { id: "probabilities", title: "Probabilities of the models, for the present segment", lines: probabilities, show: share, range: [0, 1], needsModels: 2 },
  { id: "evidence", title: "Evidence: log Z per row, change points summed out, in nats", lines: evidenceOfAll, show: (value, error) => withError(value, error) },
  ...OF_ALL,
];

// Lower and upper ends of the bands of a line; null where it has none.
export function bandOf(each) {
  if (each.low) return [each.low, each.high];
  if (!each.errors || each.errors.every((error) => error == null)) return null;
  const shifted = (sign) => each.values.map((value, place) => (value == null || each.errors[place] == null ? null : value + sign * BAND * each.errors[place]));
  return [shifted(-1), shifted(+1)];
}
