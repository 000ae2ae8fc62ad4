// After the build: what it was made of, and what a first visit loads, for tests that need no Node.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("..", import.meta.url));
const dist = join(here, "../src/penstock/web/dist");
const SOURCES = [
  "index.html",
  "package.json",
  "package-lock.json",
  "public",
  "src",
  "tsconfig.json",
  "vite.config.ts",
];

function files(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => files(join(path, name)));
}

export function sourceHash() {
  const hash = createHash("sha256");
  const all = SOURCES.flatMap((name) => files(join(here, name)))
    .map((path) => relative(here, path).split(sep).join("/"))
    .filter((path) => !/\.test\.tsx?$/.test(path))
    .sort((a, b) => (a < b ? -1 : 1));
  for (const path of all) {
    hash.update(`${path}\0`);
    hash.update(readFileSync(join(here, path)));
    hash.update("\0");
  }
  return hash.digest("hex");
}

const manifest = JSON.parse(readFileSync(join(dist, "manifest.json"), "utf8"));
const first = new Set();
const visit = (name) => {
  const chunk = manifest[name];
  if (!chunk || first.has(chunk.file)) return;
  first.add(chunk.file);
  for (const css of chunk.css ?? []) first.add(css);
  for (const next of chunk.imports ?? []) visit(next);
};
visit("index.html");
rmSync(join(dist, "manifest.json"));
writeFileSync(
  join(dist, "BUILD.json"),
  `${JSON.stringify({ source: sourceHash(), first: [...first].sort() }, null, 2)}\n`,
);
