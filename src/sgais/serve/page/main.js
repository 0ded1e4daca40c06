// The page: fetches the curves, listens for news, draws what has changed.

import { Chart } from "./chart.js";
import { CHARTS, SEGMENTED_CHARTS } from "./curves.js";
import { Slider } from "./replay.js";
import * as service from "./service.js";
import { FETCHED_POINTS, Store } from "./store.js";
import * as tables from "./tables.js";
import { alarmLines } from "./words.js";

const byId = (id) => document.getElementById(id);
const RETRY_SECONDS = 2;
const MOST_POINTS = 2000; // of a replay, which is fetched once

let state = null;
let store = null;
let slider = null;
let isDrawing = false;
let told = null; // what the screen reader has been told of: leader, alarms

function announce(text) {
  byId("news").textContent = text;
}

let charts = [];

// Which curves there are depends on what is looked for.
function makeCharts() {
  const isSegmented = state.segmentation !== undefined;
  for (const id of ["models-section", "alarms-section", "alarms-hint"]) byId(id).hidden = isSegmented;
  charts = (isSegmented ? SEGMENTED_CHARTS : CHARTS).map((kind) => new Chart(kind, announce));
  byId("charts").replaceChildren(...charts.map((chart) => chart.figure));
}

function shownRows() {
  return Number(byId("range").value);
}

function place() {
  return slider ? slider.place : store.length - 1;
}

function firstShownRow() {
  return shownRows() && state ? Math.max(0, state.num_rows - shownRows()) : 0;
}

// Draws at most once per frame, however much news there is.
function draw() {
  if (isDrawing || document.hidden) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    drawNow();
  });
}

function drawNow() {
  const at = place();
  const row = at < 0 ? 0 : store.records.num_rows[at];
  const alarms = slider ? state.alarms.filter((alarm) => alarm.row <= row) : state.alarms;
  const segmentation = state.segmentation ?? null;
  const { leader, isSeparated, words } = segmentation === null ? tables.verdict(store, at, state.chunk_size)
    : tables.segmentedVerdict(segmentation, store.models, state.chunk_size);
  document.title = `${state.title} – sgais`;
  byId("title").textContent = state.title;
  tables.showVerdict(words);
  tables.showStatus(state.status, state.mode === "replay" ? "replay" : state.status);
  tables.showLost(false);
  tables.showMessage(state.message);
  tables.showNumbers(store, at, state, alarmLines(alarms).length);
  if (segmentation === null) {
    tables.showModels(store, at, state);
    tables.showAlarms(alarms);
  } else tables.showSegments(segmentation, store.models);
  byId("no-curves").hidden = at >= 0;
  for (const chart of charts) chart.show(store, at, alarms, segmentation);
  tellWhatIsNew(leader, isSeparated, words, alarms);
  document.body.dataset.rows = String(row); // for tests and the curious
}

function tellWhatIsNew(leader, isSeparated, words, alarms) {
  const now = { leader, isSeparated, alarms: slider ? alarms.length : state.num_alarms };
  if (told !== null && now.alarms > told.alarms) announce(`Alarm. ${alarmLines(alarms).at(-1)}`);
  else if (told !== null && (now.leader !== told.leader || now.isSeparated !== told.isSeparated)) announce(words);
  told = now;
}

async function fetchAll() {
  state = await service.state();
  const points = state.mode === "replay" ? MOST_POINTS : FETCHED_POINTS;
  store = new Store(await service.records(firstShownRow(), points));
  if (charts.length === 0) makeCharts();
}

function onNews(news) {
  state = news.state;
  store.append(news.records);
  if (shownRows()) store.dropBefore(firstShownRow());
  if (store.isFull) refetch();
  draw();
}

let isFetching = false;

// The service thins the curves: when the page has too many points, it asks for them anew.
async function refetch() {
  if (isFetching) return;
  isFetching = true;
  try {
    const fetched = new Store(await service.records(firstShownRow(), FETCHED_POINTS));
    const newer = store;
    store = fetched;
    store.append(newer.records); // what came in the meantime
    draw();
  } catch {
    // the connection is gone: that is noticed elsewhere
  } finally {
    isFetching = false;
  }
}

function ask(isWrong) {
  byId("ask").hidden = false;
  byId("token-wrong").hidden = !isWrong;
  tables.showStatus("waiting", "token needed");
  return new Promise((resolve) => {
    byId("token-form").onsubmit = (event) => {
      event.preventDefault();
      service.rememberToken(byId("token").value);
      byId("ask").hidden = true;
      resolve();
    };
    byId("token").focus();
  });
}

function pause(seconds) {
  return new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
}

async function follow() {
  await fetchAll();
  if (state.mode === "replay") {
    byId("range-label").hidden = true;
    slider = new Slider(store, () => draw());
    drawNow();
    return true;
  }
  draw();
  await service.listen(store.lastRow, onNews);
  return false;
}

async function run() {
  service.tokenFromAddress();
  let isOver = false;
  while (!isOver) {
    try {
      if ((await service.needsToken()) && !service.hasToken()) await ask(false);
      isOver = await follow();
    } catch (error) {
      if (error instanceof service.Refused && error.status === 401) await ask(true);
    }
    if (!isOver) {
      const isEnded = state?.status === "ended";
      tables.showStatus("lost", isEnded ? "ended" : "connection lost");
      tables.showLost(!isEnded);
      await pause(RETRY_SECONDS);
    }
  }
}

byId("range").addEventListener("change", refetch);
document.addEventListener("visibilitychange", () => store && draw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((chart) => chart.restyle()));
run();
