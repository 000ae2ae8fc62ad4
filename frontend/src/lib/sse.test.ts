import { describe, expect, it } from "vitest";
import { EventParser } from "./sse";

describe("EventParser", () => {
  it("gives an event once its empty line is there, however the text is cut", () => {
    const parser = new EventParser();
    const text = 'id: 1-2\nevent: job.progress\ndata: {"a":1}\n\n: still here\n\ndata: one\ndata: two\n\n';
    const found = [...text].flatMap((letter) => parser.feed(letter));
    expect(found).toEqual([
      { id: "1-2", event: "job.progress", data: '{"a":1}' },
      { id: "1-2", event: "message", data: "one\ntwo" },
    ]);
  });

  it("takes carriage returns as ends of lines, also between two pieces", () => {
    const parser = new EventParser();
    expect([...parser.feed("event: x\r"), ...parser.feed("\ndata: 1\r\n\r"), ...parser.feed("\n")]).toEqual([
      { id: null, event: "x", data: "1" },
    ]);
  });
});
