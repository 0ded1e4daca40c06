// One chart: uPlot draws it, arrow keys read it, a table holds its numbers.

import { bandOf } from "./curves.js";
import { BEWARE, changes, count } from "./words.js";

const HEIGHT = 220;
const TABLE_ROWS = 12;
const DASHES = [[], [8, 4], [2, 3]];

function cssColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function colorOf(number) {
  return number < 0 ? cssColor("--accent") : cssColor(`--model-${number % 6}`);
}

// A line from zero up at each point.
function stems(plot, number, first, last) {
  const [rows, values] = [plot.data[0], plot.data[number]];
  const stroke = new Path2D();
  const zero = plot.valToPos(0, "y", true);
  for (let at = first; at <= last; at += 1) {
    if (values[at] == null) continue;
    const x = plot.valToPos(rows[at], "x", true);
    stroke.moveTo(x, zero);
    stroke.lineTo(x, plot.valToPos(values[at], "y", true));
  }
  return { stroke, fill: null, clip: null, band: null, gaps: null, flags: 0 };
}

// Segments of one model take turns in colour; of several, each has its model's.
function areasOf({ segments }, models) {
  return segments.map(({ start, end, model }, place) => ({ start, end, number: models.length > 1 ? models.indexOf(model) : place % 2 }));
}

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

export class Chart {
  #kind; #plot = null; #shape = ""; #lines = []; #rows = []; #alarms = []; #areas = []; #place = -1; #announce;

  constructor(kind, announce) {
    this.#kind = kind;
    this.#announce = announce;
    this.plotBox = element("div", { className: "plot", tabIndex: 0 });
    this.plotBox.setAttribute("role", "img");
    this.key = element("ul", { className: "key" });
    this.table = element("table");
    this.details = element("details", {}, element("summary", { textContent: "Numbers" }), element("div", { className: "scroll" }, this.table));
    this.details.addEventListener("toggle", () => this.#fillTable());
    this.figure = element("figure", { id: kind.id }, element("figcaption", {}, element("h3", { textContent: kind.title })), this.plotBox, this.key, this.details);
    this.plotBox.addEventListener("keydown", (event) => this.#onKey(event));
    this.plotBox.addEventListener("blur", () => this.#point(-1));
    new ResizeObserver(() => this.#resize()).observe(this.plotBox);
  }

  // Draws the points of a store up to a place; of change points all that is known.
  show(store, place, alarms, segmentation = null) {
    this.#alarms = changes(alarms).map((change) => change.row);
    const lines = this.#kind.lines(store, place, segmentation);
    const upTo = (values) => (values && !this.#kind.isStemmed ? values.slice(0, place + 1) : values);
    this.#rows = upTo(lines[0]?.rows ?? store.records.num_rows);
    this.#areas = this.#kind.isStemmed ? areasOf(segmentation, store.models) : [];
    this.#lines = lines.map((each) => ({
      ...each, values: upTo(each.values), errors: upTo(each.errors), low: upTo(each.low), high: upTo(each.high),
    }));
    const isKnown = this.#lines.some((each) => each.values.some((value) => value != null));
    this.figure.hidden = store.models.length < (this.#kind.needsModels ?? 1) || !(isKnown || this.#kind.isStemmed);
    if (this.figure.hidden) return;
    this.#draw();
    this.#fillKey(this.#place);
    this.#fillTable();
    this.plotBox.setAttribute("aria-label", `${this.#kind.title}. ${this.#words(this.#restingPlace())}`);
  }

  // The point that is told of while none is pointed at: the last one; of stems the last that is high, or the highest.
  #restingPlace() {
    if (!this.#kind.isStemmed) return this.#rows.length - 1;
    const { values } = this.#lines[0];
    const high = values.findLastIndex((value) => value >= 0.5);
    return high >= 0 ? high : values.indexOf(values.reduce((one, other) => (other > one ? other : one), 0));
  }

  // Colours have changed.
  restyle() {
    this.#shape = "";
    if (!this.figure.hidden && this.#rows.length) this.#draw();
  }

  #draw() {
    const data = [this.#rows];
    const series = [{}];
    const bands = [];
    for (const each of this.#lines) {
      const color = colorOf(each.number);
      data.push(each.values);
      series.push({
        label: each.name, stroke: color, width: each.isThin ? 1 : 2, dash: DASHES[Math.max(each.number, 0) % 3],
        points: { show: this.#rows.length < 2 }, spanGaps: false,
        ...(this.#kind.isStepped ? { paths: uPlot.paths.stepped({ align: -1 }) } : {}),
        ...(this.#kind.isStemmed ? { paths: stems, stroke: cssColor("--ink"), points: { show: false } } : {}),
      });
      const band = bandOf(each);
      if (band) {
        const at = data.length;
        data.push(band[1], band[0]);
        const edge = { stroke: "transparent", width: 0, points: { show: false } };
        series.push(edge, edge);
        bands.push({ series: [at, at + 1], fill: color + "33" });
      }
    }
    const shape = this.#lines.map((each) => `${each.name}|${each.isThin}|${bandOf(each) !== null}`).join("\n") + (this.#rows.length < 2);
    if (shape !== this.#shape || this.#plot === null) {
      this.#plot?.destroy();
      this.#shape = shape;
      this.#plot = new uPlot(this.#options(series, bands), data, this.plotBox);
    } else {
      this.#plot.setData(data);
    }
  }

  #options(series, bands) {
    const axis = { stroke: cssColor("--soft"), grid: { stroke: cssColor("--grid"), width: 1 }, ticks: { stroke: cssColor("--grid") } };
    const { floor, range } = this.#kind;
    const format = this.#kind.axis ?? ((value) => new Intl.NumberFormat("en", { maximumSignificantDigits: 6, notation: Math.abs(value) >= 1e6 ? "compact" : "standard" }).format(value));
    return {
      width: Math.max(this.plotBox.clientWidth, 100), height: HEIGHT, series, bands,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 7 } },
      scales: {
        x: { time: false },
        y: range ? { range } : floor === 0 ? { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } : {},
      },
      axes: [
        { ...axis, values: (_, ticks) => ticks.map((value) => new Intl.NumberFormat("en", { notation: "compact" }).format(value)) },
        { ...axis, size: 70, values: (_, ticks) => ticks.map(format) },
      ],
      hooks: { setCursor: [(plot) => this.#fillKey(plot.cursor.idx ?? -1)], drawClear: [(plot) => this.#drawAreas(plot)], draw: [(plot) => this.#drawAlarms(plot)] },
    };
  }

  #drawAreas(plot) {
    const { ctx, bbox } = plot;
    ctx.save();
    for (const { start, end, number } of this.#areas) {
      const [left, right] = [start, end].map((row) => Math.round(plot.valToPos(row, "x", true)));
      ctx.fillStyle = colorOf(number) + "2b";
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
    }
    ctx.restore();
  }

  #drawAlarms(plot) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = cssColor("--bad");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const row of this.#alarms) {
      const x = Math.round(plot.valToPos(row, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  // The lines with their values at a point; the last one if none is pointed at.
  #fillKey(place) {
    const at = place >= 0 && place < this.#rows.length ? place : this.#restingPlace();
    const entries = this.#lines.map((each) => {
      const swatch = element("span", { className: `swatch${this.#kind.isStemmed ? " stem" : each.number < 0 ? "" : ` model-${each.number % 6}`}` });
      swatch.setAttribute("aria-hidden", "true");
      return element("li", {}, swatch, `${each.name} ${this.#value(each, at)}`);
    });
    if (at === place || this.#kind.isStemmed) entries.unshift(element("li", { textContent: `row ${count(this.#rows[at])}` }));
    this.key.replaceChildren(...entries);
  }

  #fillTable() {
    if (!this.details.open) return;
    const places = [];
    const step = Math.max(1, Math.floor(this.#rows.length / TABLE_ROWS));
    for (let place = this.#rows.length - 1; place >= 0 && places.length < TABLE_ROWS; place -= step) places.push(place);
    const head = element("tr", {}, ...["row", ...this.#lines.map((each) => each.name)].map((name) => element("th", { scope: "col", textContent: name })));
    const body = places.map((place) => element("tr", {},
      element("th", { scope: "row", textContent: count(this.#rows[place]) }),
      ...this.#lines.map((each) => element("td", { textContent: this.#value(each, place) }))));
    this.table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
  }

  #value(each, place) {
    return this.#kind.show(each.values[place], each.errors?.[place]) + (each.warned?.[place] ? BEWARE : "");
  }

  #words(place) {
    if (place < 0) return "No points yet.";
    return `Row ${count(this.#rows[place])}: ${this.#lines.map((each) => `${each.name} ${this.#value(each, place)}`).join("; ")}.`;
  }

  #onKey(event) {
    const last = this.#rows.length - 1;
    const from = this.#place < 0 ? last : this.#place;
    const leap = Math.max(1, Math.round(last / 20));
    const moves = { ArrowLeft: from - 1, ArrowRight: from + 1, PageUp: from - leap, PageDown: from + leap, Home: 0, End: last, Escape: -1 };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const place = event.key === "Escape" ? -1 : Math.min(Math.max(moves[event.key], 0), last);
    this.#point(place);
    if (place >= 0) this.#announce(this.#words(place));
  }

  #point(place) {
    this.#place = place;
    if (!this.#plot) return;
    const left = place < 0 ? -10 : this.#plot.valToPos(this.#rows[place], "x");
    this.#plot.setCursor({ left, top: place < 0 ? -10 : HEIGHT / 3 });
  }

  #resize() {
    const width = this.plotBox.clientWidth;
    if (this.#plot && width > 0 && width !== this.#plot.width) this.#plot.setSize({ width, height: HEIGHT });
  }
}
