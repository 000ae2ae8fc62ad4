import { describe, expect, it } from "vitest";
import { firstPage, linesOf, NEW_CRAWL, runOrder } from "./runs";

describe("a crawl that is filled in", () => {
  it("needs a company and pages", () => {
    expect(runOrder(NEW_CRAWL)).toBeNull();
    expect(runOrder({ ...NEW_CRAWL, company: "acme" })).toBeNull();
    expect(runOrder({ ...NEW_CRAWL, company: "acme", source: "sitemap" })).toBeNull();
    expect(runOrder({ ...NEW_CRAWL, company: "acme", source: "start" })).toBeNull();
  });

  it("sends the chosen source only", () => {
    const filled = { ...NEW_CRAWL, company: " acme ", urls: "https://a.example/1\n\n https://a.example/2 " };
    expect(runOrder(filled)?.companies).toEqual([
      { company: "acme", urls: ["https://a.example/1", "https://a.example/2"] },
    ]);
    expect(runOrder({ ...filled, source: "sitemap", sitemap: "https://a.example/s.xml" })?.companies).toEqual(
      [{ company: "acme", sitemap: "https://a.example/s.xml" }],
    );
    expect(
      runOrder({ ...filled, source: "start", start: "https://a.example/", follow: "/p/*\n" })?.companies,
    ).toEqual([{ company: "acme", start: { url: "https://a.example/", follow: ["/p/*"], limit: 100 } }]);
  });

  it("previews the first page it names", () => {
    expect(firstPage({ ...NEW_CRAWL, urls: "\nhttps://a.example/1\nhttps://a.example/2" })).toBe(
      "https://a.example/1",
    );
    expect(firstPage({ ...NEW_CRAWL, source: "start", start: "https://a.example/" })).toBe(
      "https://a.example/",
    );
    expect(firstPage({ ...NEW_CRAWL, source: "sitemap", sitemap: "https://a.example/s.xml" })).toBe("");
    expect(linesOf(" a \n\n b")).toEqual(["a", "b"]);
  });
});
