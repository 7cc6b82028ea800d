/** Points on a canvas: drawn sharp, found by pointer or arrow key. */

const REACH = 14; // CSS pixels between a pointer and a point that it means
const PADDING = 14;
const LINE = 16; // height of a name beside a point

/** @typedef {{id: string, title: string, group: string}} Item */

/**
 * @param {number} index
 * @param {number} count
 */
export const colorOf = (index, count) => `oklch(var(--dot-light, 0.62) 0.13 ${Math.round((360 * index) / Math.max(count, 1) + 195) % 360})`;

export class MapView {
  #canvas;
  #tip;
  #handlers;
  /** @type {Item[]} */
  #items = [];
  /** @type {Float32Array} x and y of each, 0…1 */
  #points = new Float32Array(0);
  /** @type {Float32Array} the same in CSS pixels of the canvas */
  #places = new Float32Array(0);
  /** @type {number[][]} the items of each group */
  #groups = [];
  #width = 0;
  #height = 0;
  /** @type {HTMLCanvasElement | null} all points; null where they have to be drawn anew */
  #picture = null;
  /** @type {{x: number, y: number} | null} */
  #query = null;
  /** @type {Set<number>} */
  #near = new Set();
  #at = -1;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLElement} tip
   * @param {{open: (item: Item) => void, here: (item: Item | null) => void}} handlers
   */
  constructor(canvas, tip, handlers) {
    this.#canvas = canvas;
    this.#tip = tip;
    this.#handlers = handlers;
    canvas.addEventListener("pointermove", (event) => this.#point(this.#nearest(event.offsetX, event.offsetY)));
    canvas.addEventListener("pointerleave", () => this.#point(-1));
    canvas.addEventListener("click", (event) => {
      const found = this.#nearest(event.offsetX, event.offsetY);
      this.#point(found);
      if (found !== -1) handlers.open(this.#items[found]);
    });
    canvas.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.#picture = null;
      this.#draw();
    });
  }

  /**
   * @param {Item[]} items
   * @param {Float32Array} points x and y of each, 0…1
   * @param {string[]} groups
   */
  setPoints(items, points, groups) {
    this.#items = items;
    this.#points = points;
    const numbers = new Map(groups.map((group, i) => [group, i]));
    this.#groups = groups.map(() => []);
    items.forEach(({ group }, i) => this.#groups[/** @type {number} */ (numbers.get(group))].push(i));
    this.#query = null;
    this.#near.clear();
    this.#place();
    this.#point(-1);
    this.#draw();
  }

  /**
   * @param {{x: number, y: number} | null} place
   * @param {number[]} [near] items nearest to it
   */
  setQuery(place, near = []) {
    this.#query = place;
    this.#near = new Set(near);
    this.#canvas.dataset.query = place === null ? "" : `${place.x.toFixed(3)},${place.y.toFixed(3)}`;
    this.#draw();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const ratio = devicePixelRatio || 1;
    const pixels = [Math.round(width * ratio), Math.round(height * ratio)];
    if (width === 0 || (this.#width === width && this.#height === height && this.#canvas.width === pixels[0])) return;
    [this.#width, this.#height] = [width, height];
    [this.#canvas.width, this.#canvas.height] = pixels;
    this.#place();
    this.#draw();
  }

  /** To be called when points or size have changed. */
  #place() {
    this.#places = this.#points.map((value, i) => this.#pixels(value, i % 2 === 0 ? this.#width : this.#height));
    this.#picture = null;
  }

  /**
   * @param {number} share 0…1
   * @param {number} extent the canvas's width or height
   */
  #pixels(share, extent) {
    return PADDING + share * (extent - 2 * PADDING);
  }

  /**
   * @param {number} i
   * @returns {[x: number, y: number]} in CSS pixels
   */
  #pixelOf(i) {
    return [this.#places[2 * i], this.#places[2 * i + 1]];
  }

  get #dotSize() {
    return this.#items.length > 800 ? 2 : 4;
  }

  /** All points as a picture: thousands of them are drawn once, and not for each move of the pointer. */
  #drawPoints() {
    const picture = document.createElement("canvas");
    [picture.width, picture.height] = [this.#canvas.width, this.#canvas.height];
    const context = /** @type {CanvasRenderingContext2D} */ (picture.getContext("2d"));
    const ratio = this.#canvas.width / this.#width;
    context.scale(ratio, ratio);
    const light = getComputedStyle(this.#canvas).getPropertyValue("--dot-light").trim() || "0.62";
    const size = this.#dotSize;
    this.#groups.forEach((rows, group) => {
      context.fillStyle = colorOf(group, this.#groups.length).replace(/var\([^)]*\)/, light);
      context.beginPath();
      for (const i of rows) {
        const [x, y] = this.#pixelOf(i);
        context.moveTo(x + size, y);
        context.arc(x, y, size, 0, 2 * Math.PI);
      }
      context.fill();
    });
    return picture;
  }

  #draw() {
    const context = this.#canvas.getContext("2d");
    if (context === null || this.#width === 0) return;
    const style = getComputedStyle(this.#canvas);
    const [ink, accent, paper] = ["--ink", "--accent", "--raised"].map((name) => style.getPropertyValue(name));
    this.#picture ??= this.#drawPoints();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    context.globalAlpha = this.#query === null ? 0.8 : 0.45;
    context.drawImage(this.#picture, 0, 0);
    context.globalAlpha = 1;
    const ratio = this.#canvas.width / this.#width;
    context.scale(ratio, ratio);
    if (this.#query !== null) this.#drawQuery(context, this.#query, { accent, ink, paper });
    if (this.#at !== -1) {
      const [x, y] = this.#pixelOf(this.#at);
      context.strokeStyle = ink;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(x, y, this.#dotSize + 4, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{x: number, y: number}} place
   * @param {{accent: string, ink: string, paper: string}} colors
   */
  #drawQuery(context, place, { accent, ink, paper }) {
    const [x, y] = [this.#pixels(place.x, this.#width), this.#pixels(place.y, this.#height)];
    context.strokeStyle = context.fillStyle = accent;
    context.lineWidth = 1;
    context.beginPath();
    for (const i of this.#near) {
      context.moveTo(x, y);
      context.lineTo(...this.#pixelOf(i));
    }
    context.stroke();
    context.beginPath();
    context.arc(x, y, 7, 0, 2 * Math.PI);
    context.fill();
    const family = getComputedStyle(this.#canvas).fontFamily;
    context.font = `13px ${family}`;
    context.lineJoin = "round";
    /** @type {number[][]} boxes that are taken: left, top, right, bottom */
    const taken = [[x - 8, y - 8, x + 8, y + 8]];
    for (const i of this.#near) {
      const [left, top] = this.#pixelOf(i);
      context.beginPath();
      context.arc(left, top, 4, 0, 2 * Math.PI);
      context.fillStyle = accent;
      context.fill();
      const name = shortened(this.#items[i].title);
      const box = placeFor(left, top, context.measureText(name).width, this.#width, taken);
      if (box === null) continue; // the line below the map has all names
      taken.push(box);
      context.strokeStyle = paper;
      context.lineWidth = 4;
      context.strokeText(name, box[0], box[3] - 4);
      context.fillStyle = ink;
      context.fillText(name, box[0], box[3] - 4);
    }
  }

  /**
   * @param {number} left
   * @param {number} top
   */
  #nearest(left, top) {
    let [best, distance] = [-1, REACH];
    for (let i = 0; i < this.#items.length; i++) {
      const apart = Math.hypot(this.#places[2 * i] - left, this.#places[2 * i + 1] - top);
      if (apart < distance) [best, distance] = [i, apart];
    }
    return best;
  }

  /** @param {number} i −1 for none */
  #point(i) {
    if (i === this.#at) return;
    this.#at = i;
    this.#tip.hidden = i === -1;
    if (i !== -1) {
      const [x, y] = this.#pixelOf(i);
      this.#tip.textContent = this.#items[i].title;
      this.#tip.style.left = `${Math.min(Math.max(x, 60), this.#width - 60)}px`;
      this.#tip.style.top = `${y}px`;
    }
    this.#canvas.style.cursor = i === -1 ? "" : "pointer";
    this.#handlers.here(i === -1 ? null : this.#items[i]);
    this.#draw();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const direction = directions[/** @type {keyof typeof directions} */ (event.key)];
    if (event.key === "Enter" && this.#at !== -1) this.#handlers.open(this.#items[this.#at]);
    if (direction === undefined || this.#items.length === 0) return;
    event.preventDefault();
    const first = this.#near.values().next().value ?? 0;
    this.#point(this.#at === -1 ? first : this.#towards(direction));
  }

  /**
   * The next point in a direction: near, and not far off to the side.
   *
   * @param {number[]} direction
   */
  #towards([right, down]) {
    const [fromX, fromY] = this.#pixelOf(this.#at);
    let [best, cost] = [this.#at, Infinity];
    for (let i = 0; i < this.#items.length; i++) {
      const [x, y] = this.#pixelOf(i);
      const along = (x - fromX) * right + (y - fromY) * down;
      const aside = Math.abs((x - fromX) * down) + Math.abs((y - fromY) * right);
      if (i !== this.#at && along > 0.5 && along + 2 * aside < cost) [best, cost] = [i, along + 2 * aside];
    }
    return best;
  }
}

/** @param {string} title */
const shortened = (title) => (title.length > 28 ? `${title.slice(0, 27).trimEnd()}…` : title);

/**
 * Where a name can stand beside its point without hiding another.
 *
 * @param {number} x of the point
 * @param {number} y
 * @param {number} width of the name
 * @param {number} room the map's width
 * @param {number[][]} taken
 * @returns {number[] | null} left, top, right, bottom
 */
function placeFor(x, y, width, room, taken) {
  const offsets = [0, LINE, -LINE, 2 * LINE, -2 * LINE];
  const sides = [x + 8, x - 8 - width].filter((left) => left >= 2 && left + width <= room - 2);
  for (const offset of offsets) {
    for (const left of sides) {
      const top = y - LINE / 2 + offset;
      const box = [left, top, left + width, top + LINE];
      if (top > 0 && taken.every((other) => box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1])) return box;
    }
  }
  return null;
}
