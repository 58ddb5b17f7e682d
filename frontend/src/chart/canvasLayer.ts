/**
 * One canvas of a chart. A chart has several stacked canvases, each redrawn when its content
 * changes. Axes are redrawn at most twice a second, data with each view, the pointer's marks with
 * the pointer. No timer triggers drawing.
 */

export class CanvasLayer {
  readonly context: CanvasRenderingContext2D | null;
  private readonly canvas = document.createElement("canvas");
  private width = 0;
  private height = 0;
  private scale = 0;

  /** @param container Positioned; the canvas is appended and ignores the pointer. */
  constructor(container: HTMLElement) {
    Object.assign(this.canvas.style, {
      position: "absolute",
      top: "0",
      left: "0",
      pointerEvents: "none",
    });
    container.append(this.canvas);
    this.context = this.canvas.getContext("2d");
  }

  /** Device pixels per CSS pixel. */
  get ratio(): number {
    return this.scale;
  }

  /**
   * Set the size in CSS pixels, which are also the drawing units.
   * @returns True if the size changed: the canvas is empty after a change.
   */
  fit(width: number, height: number): boolean {
    const ratio = window.devicePixelRatio || 1;
    if (width === this.width && height === this.height && ratio === this.scale) return false;
    this.width = width;
    this.height = height;
    this.scale = ratio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    this.context?.setTransform(ratio, 0, 0, ratio, 0, 0);
    return true;
  }

  clear(): void {
    this.context?.clearRect(0, 0, this.width, this.height);
  }

  /** Show or hide the layer. A hidden empty layer costs the browser nothing. */
  show(shown: boolean): void {
    const display = shown ? "block" : "none";
    if (this.canvas.style.display !== display) this.canvas.style.display = display;
  }

  remove(): void {
    this.canvas.remove();
  }
}

/** Draw a label on the background colour, so that it is legible over lines. */
export function labelOn(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  style: { readonly font: string; readonly fill: string; readonly background: string },
  align: "left" | "right" = "left",
): void {
  context.font = style.font;
  context.textAlign = "left";
  context.textBaseline = "top";
  const width = context.measureText(text).width;
  const left = align === "left" ? x : x - width - 2 * LABEL_PAD.x;
  context.fillStyle = style.background;
  context.fillRect(left, y, width + 2 * LABEL_PAD.x, LABEL_HEIGHT + 2 * LABEL_PAD.y);
  context.fillStyle = style.fill;
  context.fillText(text, left + LABEL_PAD.x, y + LABEL_PAD.y);
}

const LABEL_PAD = { x: 3, y: 1 } as const;
const LABEL_HEIGHT = 11;
