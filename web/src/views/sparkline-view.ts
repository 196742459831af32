// A small line of a row's last minute as SVG: a chart in each of many rows would cost too much.
import type { Series } from "../model/value-history.ts";
import { type Box, sparkline } from "../model/sparkline.ts";

const SVG = "http://www.w3.org/2000/svg";
const SPAN_MS = 60_000;
/** It is stretched to the width of its column. */
const BOX: Box = { width: 160, height: 24 };

export class SparklineView {
  readonly root = document.createElementNS(SVG, "svg");
  readonly #path = document.createElementNS(SVG, "path");
  #line = "";

  constructor() {
    this.root.setAttribute("viewBox", `0 0 ${BOX.width} ${BOX.height}`);
    this.root.setAttribute("preserveAspectRatio", "none");
    this.root.setAttribute("class", "spark");
    this.root.setAttribute("aria-hidden", "true");
    this.root.append(this.#path);
  }

  clear(): void {
    this.#line = "";
    this.#path.removeAttribute("d");
  }

  render(series: Series, now_ms: number): void {
    const line = sparkline(series, now_ms, SPAN_MS, BOX);
    if (line === this.#line) return;
    this.#line = line;
    this.#path.setAttribute("d", line);
  }
}
