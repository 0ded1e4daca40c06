// The curves that the page holds: a bounded number of points, whatever the length of the stream.

export const MOST_POINTS = 1500;
export const FETCHED_POINTS = 700;

export class Store {
  constructor(records) {
    this.records = records;
  }

  get length() {
    return this.records.num_rows.length;
  }

  get models() {
    return Object.keys(this.records.models);
  }

  get lastRow() {
    return this.length ? this.records.num_rows[this.length - 1] : 0;
  }

  get isFull() {
    return this.length > MOST_POINTS;
  }

  // Adds points behind the last one.
  append(news) {
    const first = news.num_rows.findIndex((row) => row > this.lastRow);
    if (first < 0) return;
    this.#columns((column, of) => column.push(...of(news).slice(first)));
  }

  // Drops points before a row, but for one so that curves reach the edge.
  dropBefore(row) {
    const first = this.records.num_rows.findIndex((each) => each >= row) - 1;
    if (first > 0) this.#columns((column) => column.splice(0, first));
  }

  // All numbers of a model at a point.
  at(model, place) {
    const found = {};
    for (const [name, column] of Object.entries(this.records.models[model])) found[name] = column[place] ?? null;
    return found;
  }

  leaderAt(place) {
    let leader = null;
    for (const model of this.models) {
      const { probability } = this.at(model, place);
      if (probability !== null && (leader === null || probability > this.at(leader, place).probability)) leader = model;
    }
    return leader;
  }

  #columns(change) {
    for (const name of Object.keys(this.records).filter((each) => each !== "models")) {
      change(this.records[name], (from) => from[name]);
    }
    for (const model of this.models) {
      for (const name of Object.keys(this.records.models[model])) {
        change(this.records.models[model][name], (from) => from.models[model][name]);
      }
    }
  }
}
