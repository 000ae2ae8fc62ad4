// Where a grid stands, for more rows than a browser can lay out: an element is at most some 33 million
// pixels high, so beyond that the scrollbar is scaled and rows are placed by where it stands.

export const MOST_PIXELS = 8_000_000;

export class Scroll {
  readonly height: number;
  readonly contentHeight: number;

  constructor(
    readonly rows: number,
    readonly rowHeight: number,
    /** Height in which rows are seen. */
    readonly view: number,
    most: number = MOST_PIXELS,
  ) {
    this.height = rows * rowHeight;
    this.contentHeight = Math.min(this.height, most);
  }

  /** The furthest the rows can be moved up. */
  get end(): number {
    return Math.max(0, this.height - this.view);
  }

  /** Pixels of rows for each pixel of the scrollbar; 1 where all fits. */
  get scale(): number {
    const bar = this.contentHeight - this.view;
    return bar > 0 ? this.end / bar : 1;
  }

  get isScaled(): boolean {
    return this.height > this.contentHeight;
  }

  clamp(offset: number): number {
    return Math.max(0, Math.min(this.end, offset));
  }

  offsetOf(scrollTop: number): number {
    return this.clamp(scrollTop * this.scale);
  }

  scrollTopOf(offset: number): number {
    return offset / this.scale;
  }

  /** First row to draw, and how many; a few more than are seen. */
  window(offset: number, extra = 4): { first: number; count: number } {
    const top = Math.floor(offset / this.rowHeight);
    const first = Math.max(0, top - extra);
    const last = Math.min(this.rows, top + Math.ceil(this.view / this.rowHeight) + 1 + extra);
    return { first, count: Math.max(0, last - first) };
  }

  /** The least movement after which the row is wholly seen. */
  showing(row: number, offset: number): number {
    const top = row * this.rowHeight;
    if (top < offset) return this.clamp(top);
    if (top + this.rowHeight > offset + this.view) return this.clamp(top + this.rowHeight - this.view);
    return offset;
  }
}
