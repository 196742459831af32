// Gauges: the range of a parameter as an arc with bands of its limits, and a needle at its value. Draws only what changed.
import { type GaugeScale, gaugeScale, share } from "../model/gauge-scale.ts";
import { labels } from "../model/relative-names.ts";
import { legible, reading as shortNumber } from "../model/wording.ts";
import { element, setData, setText, setTitle } from "../views/page.ts";
import { Instrument } from "./instrument.ts";
import type { WidgetContext, WidgetSpec } from "./widget.ts";
import { readingOf, type WidgetReading } from "./widget-reading.ts";

const SVG = "http://www.w3.org/2000/svg";
const NAMES_MAX = 6;
const LABEL_CHARACTERS = 22;
/** The arc begins and ends below the middle, at these angles from the top. */
const SWEEP = (115 / 180) * Math.PI;
const RADIUS = 80;
const MIDDLE = { x: 100, y: 92 };

export class GaugeWidget extends Instrument {
  readonly #dials: Dial[];

  constructor(spec: WidgetSpec, context: WidgetContext) {
    super(spec, context, NAMES_MAX);
    const texts = labels(this.names(), LABEL_CHARACTERS);
    this.#dials = this.names().map((name, at) => new Dial(name, this.names().length > 1 ? (texts[at] ?? "") : ""));
    this.element.append(...this.#dials.map(({ root }) => root));
  }

  protected draw(shown_ms: number): void {
    this.names().forEach((name, at) => {
      const reading = readingOf(name, this.context, shown_ms);
      this.#dials[at]!.draw(reading, gaugeScale(reading.definition, this.#seen(name)));
    });
  }

  #seen(name: string): [number, number] | null {
    const { min, max, length } = this.context.series.slice(name);
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let at = 0; at < length; at += 1) {
      if (min[at]! < low) low = min[at]!;
      if (max[at]! > high) high = max[at]!;
    }
    return low <= high ? [low, high] : null;
  }
}

class Dial {
  readonly root = element("div", "dial");
  readonly #svg = document.createElementNS(SVG, "svg");
  readonly #bands = document.createElementNS(SVG, "g");
  readonly #fill = arc("dial-fill");
  readonly #needle = document.createElementNS(SVG, "path");
  readonly #value = element("b", "dial-value", "–");
  readonly #unit = element("span", "dial-unit");
  readonly #low = element("span");
  readonly #high = element("span");
  readonly #why = element("p", "why");
  #drawnScale = "";

  constructor(name: string, label: string) {
    this.root.dataset["parameter"] = name;
    this.#svg.setAttribute("viewBox", "0 0 200 140");
    this.#svg.setAttribute("role", "img");
    this.#needle.setAttribute("class", "dial-needle");
    const track = arc("dial-track");
    track.setAttribute("d", path(RADIUS, 0, 1));
    this.#svg.append(track, this.#fill, this.#bands, this.#needle);
    const ends = element("p", "dial-ends");
    ends.append(this.#low, this.#high);
    const line = element("p", "dial-line");
    line.append(this.#value, " ", this.#unit);
    if (label) this.root.append(element("p", "big-label", label));
    this.root.append(this.#svg, line, ends, this.#why);
  }

  draw(reading: WidgetReading, scale: GaugeScale): void {
    this.#drawScale(scale);
    setData(this.root, "severity", reading.severity);
    setText(this.#value, reading.text);
    setText(this.#unit, reading.unit);
    setText(this.#why, reading.why);
    setTitle(this.#why, reading.why);
    const at = reading.number === null || Number.isNaN(reading.number) ? null : share(scale, reading.number);
    setPath(this.#fill, at === null ? "" : path(RADIUS, 0, at));
    setPath(this.#needle, at === null ? "" : needle(at));
    const told = `${legible(reading.name)}: ${reading.text} ${reading.unit}`;
    if (this.#svg.getAttribute("aria-label") !== told) this.#svg.setAttribute("aria-label", told);
  }

  #drawScale(scale: GaugeScale): void {
    const wanted = JSON.stringify(scale);
    if (wanted === this.#drawnScale) return;
    this.#drawnScale = wanted;
    setText(this.#low, shortNumber(scale.low));
    setText(this.#high, shortNumber(scale.high));
    const bands = scale.bands.map(({ from, to, level }) => {
      const band = arc(`dial-band dial-${level}`);
      band.setAttribute("d", path(RADIUS + 10, share(scale, from), share(scale, to)));
      return band;
    });
    this.#bands.replaceChildren(...bands);
  }
}

function arc(className: string): SVGPathElement {
  const made = document.createElementNS(SVG, "path");
  made.setAttribute("class", className);
  return made;
}

function setPath(node: SVGPathElement, d: string): void {
  if (node.getAttribute("d") !== d) node.setAttribute("d", d);
}

function path(radius: number, from: number, to: number): string {
  const large = (to - from) * 2 * SWEEP > Math.PI ? 1 : 0;
  return `M${point(radius, from)}A${radius} ${radius} 0 ${large} 1 ${point(radius, to)}`;
}

function needle(at: number): string {
  return `M${point(RADIUS - 22, at)}L${point(RADIUS + 7, at)}`;
}

function point(radius: number, at: number): string {
  const angle = (2 * at - 1) * SWEEP;
  return `${(MIDDLE.x + radius * Math.sin(angle)).toFixed(1)} ${(MIDDLE.y - radius * Math.cos(angle)).toFixed(1)}`;
}
