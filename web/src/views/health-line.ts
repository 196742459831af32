// The health line of the first page: each point in words and colour, explained to a pointer and to the keyboard.
import type { LiveMessage } from "../model/contract.ts";
import { type HealthPoint, healthPoints } from "../model/health.ts";
import { element, part, setData, setText } from "./page.ts";

interface PointParts {
  root: HTMLElement;
  figure: HTMLElement;
  word: HTMLElement;
  why: HTMLElement;
}

export class HealthLine {
  readonly #host = part("health");
  readonly #points = new Map<string, PointParts>();
  #rendered: LiveMessage | null = null;

  render(latest: LiveMessage | null): void {
    if (latest === null || latest === this.#rendered) return;
    this.#rendered = latest;
    for (const point of healthPoints(latest)) this.#draw(point);
  }

  #draw(point: HealthPoint): void {
    const { root, figure, word, why } = this.#points.get(point.name) ?? this.#make(point);
    setData(root, "health", point.health);
    setText(figure, point.figure);
    setText(word, point.word);
    setText(why, point.why);
  }

  #make({ name, label }: HealthPoint): PointParts {
    const root = element("div", "health-point");
    root.dataset["point"] = name;
    root.tabIndex = 0;
    root.role = "group";
    const heading = element("span", "health-label", label);
    const figure = element("span", "health-figure");
    const word = element("span", "health-word");
    const why = element("span", "health-why");
    heading.id = `health-${name}`;
    why.id = `health-${name}-why`;
    why.role = "tooltip";
    root.setAttribute("aria-labelledby", heading.id);
    root.setAttribute("aria-describedby", why.id);
    root.append(heading, figure, word, why);
    this.#host.append(root);
    const made = { root, figure, word, why };
    this.#points.set(name, made);
    return made;
  }
}
