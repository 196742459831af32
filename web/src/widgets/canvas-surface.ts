// A canvas as large as its element, sharp on every screen, with the colours of the theme. It draws nothing by itself.

export const CANVAS_FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

export class CanvasSurface {
  readonly canvas = document.createElement("canvas");
  readonly #context = this.canvas.getContext("2d");
  readonly #style: CSSStyleDeclaration;
  readonly #host: HTMLElement;

  constructor(host: HTMLElement) {
    this.#host = host;
    this.#style = getComputedStyle(host);
    host.append(this.canvas);
  }

  get width(): number {
    return this.#host.clientWidth;
  }

  /** An empty canvas in CSS pixels; null while there is no room. */
  begin(height = this.#host.clientHeight): CanvasRenderingContext2D | null {
    const { width } = this;
    if (width < 1 || height < 1 || this.#context === null) return null;
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      this.canvas.width = wide;
      this.canvas.height = high;
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    this.#context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#context.clearRect(0, 0, width, height);
    this.#context.font = CANVAS_FONT;
    return this.#context;
  }

  colour(name: string): string {
    return this.#style.getPropertyValue(name).trim() || "gray";
  }
}
