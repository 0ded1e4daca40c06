// A slider through a saved run.

import { count } from "./words.js";

const byId = (id) => document.getElementById(id);
const SECONDS = 20; // from end to end

export class Slider {
  #timer = 0; #store; #onMove;

  constructor(store, onMove) {
    this.#store = store;
    this.#onMove = onMove;
    byId("replay").hidden = false;
    const slider = byId("place");
    slider.max = String(Math.max(store.length - 1, 0));
    slider.value = slider.max;
    slider.addEventListener("input", () => { this.#stop(); this.#moved(); });
    byId("play").addEventListener("click", () => (this.#timer ? this.#stop() : this.#play()));
    this.#moved();
  }

  get place() {
    return this.#store.length ? Number(byId("place").value) : -1;
  }

  #play() {
    const slider = byId("place");
    if (slider.value === slider.max) slider.value = "0";
    byId("play").textContent = "Pause";
    byId("play").setAttribute("aria-pressed", "true");
    const step = Math.max(1, Math.round(this.#store.length / (SECONDS * 10)));
    this.#timer = setInterval(() => {
      slider.value = String(Number(slider.value) + step);
      this.#moved();
      if (slider.value === slider.max) this.#stop();
    }, 100);
  }

  #stop() {
    clearInterval(this.#timer);
    this.#timer = 0;
    byId("play").textContent = "Play";
    byId("play").setAttribute("aria-pressed", "false");
  }

  #moved() {
    const rows = this.#store.records.num_rows;
    const words = this.place < 0 ? "no rows" : `row ${count(rows[this.place])} of ${count(rows[rows.length - 1])}`;
    byId("place").setAttribute("aria-valuetext", words);
    byId("place-words").textContent = words;
    this.#onMove();
  }
}
