// Stands where a layout names a kind of widget that this page does not have. It draws nothing and loses nothing.
import { legible } from "../model/wording.ts";
import { element } from "../views/page.ts";
import type { Widget, WidgetSpec } from "./widget.ts";

export class UnknownWidget implements Widget {
  readonly element = element("div", "widget-unknown");
  readonly #spec: WidgetSpec;

  constructor(spec: WidgetSpec) {
    this.#spec = spec;
    const kind = legible(spec.kind.slice(0, 40));
    this.element.append(element("p", "", `This page has no widget "${kind}". Reload it: the broker may be newer.`));
  }

  names(): readonly string[] {
    return [];
  }

  spec(): WidgetSpec {
    return this.#spec;
  }

  render(): void {
    // Its sentence does not change.
  }

  resize(): void {
    // Its sentence wraps by itself.
  }

  destroy(): void {
    this.element.remove();
  }
}
