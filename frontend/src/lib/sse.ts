// The text of an event stream, cut into events.
export interface StreamEvent {
  id: string | null;
  event: string;
  data: string;
}

export class EventParser {
  private rest = "";
  private lastId: string | null = null;
  private name = "";
  private data: string[] = [];

  /** Events that are complete with this piece; what is not waits for the next. */
  feed(piece: string): StreamEvent[] {
    this.rest += piece;
    const lines = this.rest.split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    const found: StreamEvent[] = [];
    for (const line of lines) {
      const done = this.take(line);
      if (done) found.push(done);
    }
    return found;
  }

  private take(line: string): StreamEvent | null {
    if (line === "") {
      const done = this.data.length
        ? { id: this.lastId, event: this.name || "message", data: this.data.join("\n") }
        : null;
      this.name = "";
      this.data = [];
      return done;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.name = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id" && !value.includes("\0")) this.lastId = value;
    return null;
  }
}
