// A profile while it is edited: the stored JSON with changes. What the form does not know stays as it is.
import { ApiProblem, type Schemas, send } from "../../../lib/api";

export type Profile = Schemas["ProfileShape"];
export type ColumnRule = Schemas["ColumnRuleShape"];

export const TOML = "application/toml";
const JSON_TYPE = "application/json";

const address = (name: string, dryRun = false) =>
  `/api/profiles/${encodeURIComponent(name)}${dryRun ? "?dryRun=true" : ""}`;

/** Saves a profile as JSON or TOML, or only checks it; answers what was read, as JSON or TOML. */
export async function putProfile(
  name: string,
  body: Profile | string,
  { dryRun = false, asToml = false } = {},
): Promise<string> {
  const isText = typeof body === "string";
  const answer = await send(address(name, dryRun), {
    method: "PUT",
    headers: { "Content-Type": isText ? TOML : JSON_TYPE, Accept: asToml ? TOML : JSON_TYPE },
    body: isText ? body : JSON.stringify(body),
  });
  return answer.text();
}

export async function loadProfile(name: string, signal: AbortSignal): Promise<Profile> {
  return (await send(address(name), { headers: { Accept: JSON_TYPE }, signal })).json();
}

/** The message of an error about this setting. */
export function errorAt(error: unknown, ...place: string[]): string | undefined {
  if (!(error instanceof ApiProblem)) return undefined;
  const told = error.details.place;
  if (!Array.isArray(told) || told.length < place.length) return undefined;
  if (!place.every((part, at) => told[at] === part)) return undefined;
  return error.message.replace(/^The profile cannot be used: /, "");
}

/** Whether the form shows an error at one of its settings. */
export function isPlaced(error: unknown): boolean {
  if (!(error instanceof ApiProblem) || !Array.isArray(error.details.place)) return false;
  return error.details.place[0] !== "rules";
}

export function setColumn(profile: Profile, column: string, change: Partial<ColumnRule>): Profile {
  const columns = profile.columns ?? {};
  return { ...profile, columns: { ...columns, [column]: { ...columns[column], ...change } as ColumnRule } };
}

export function removeColumn(profile: Profile, column: string): Profile {
  const { [column]: _, ...columns } = profile.columns ?? {};
  return { ...profile, columns };
}

export interface Word {
  field: string;
  word: string;
  value: string;
}

export function wordsOf(profile: Profile): Word[] {
  return Object.entries(profile.values ?? {}).flatMap(([field, words]) =>
    Object.entries(words).map(([word, value]) => ({ field, word, value })),
  );
}

export function setWord(profile: Profile, { field, word, value }: Word): Profile {
  const values = profile.values ?? {};
  return { ...profile, values: { ...values, [field]: { ...values[field], [word]: value } } };
}

export function removeWord(profile: Profile, { field, word }: Word): Profile {
  const { [field]: words = {}, ...others } = profile.values ?? {};
  const { [word]: _, ...left } = words;
  return { ...profile, values: Object.keys(left).length ? { ...others, [field]: left } : others };
}
