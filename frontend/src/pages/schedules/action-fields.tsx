import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Field, Input, Select, Textarea } from "../../components/field";
import { ImportFields, importConfig } from "../../components/import-fields";
import { client, ok } from "../../lib/api";
import { SHOP_FORMATS } from "../../lib/shop-formats";
import { watchersQuery } from "../../lib/watchers";

export type Action = Record<string, unknown>;
type Text = (name: string) => string;

interface Company {
  company: string;
  urls?: unknown[];
  sitemap?: string;
}

/** The fields of one kind of action, filled with those of an action that exists. */
export function ActionFields({ kind, action }: { kind: string; action?: Action }) {
  const given = action?.kind === kind ? action : undefined;
  switch (kind) {
    case "file":
      return <FileFields given={given} />;
    case "shop":
      return <ShopFields given={given} />;
    case "research":
      return (
        <Field label="Query">
          {(ids) => (
            <Input {...ids} name="query" required maxLength={500} defaultValue={textOf(given, "query")} />
          )}
        </Field>
      );
    case "scan":
      return <ScanFields given={given} />;
    case "crawl":
      return <CrawlFields given={given} />;
    default:
      return <ExportFields given={given} />;
  }
}

function FileFields({ given }: { given?: Action }) {
  return (
    <>
      <Field label="Address of the file">
        {(ids) => (
          <Input
            {...ids}
            name="url"
            type="url"
            required
            maxLength={2000}
            defaultValue={textOf(given, "url")}
          />
        )}
      </Field>
      <div className="grid gap-3 sm:grid-cols-2">
        <ImportFields given={given} />
      </div>
    </>
  );
}

function ShopFields({ given }: { given?: Action }) {
  const found = useQuery({
    queryKey: ["connections", "of schedules"],
    queryFn: async ({ signal }) => (await ok(client.GET("/api/connections", { signal }))).items,
  });
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field label="Shop">
        {(ids) => (
          // The shops come later than the form: a new list is a new control.
          <Select
            {...ids}
            key={found.data?.length}
            name="connectionId"
            required
            defaultValue={textOf(given, "connectionId")}
          >
            {(found.data ?? []).map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Products">
        {(ids) => (
          <Select {...ids} name="all" defaultValue={given?.all ? "all" : "changed"}>
            <option value="changed">Changed since the last import</option>
            <option value="all">All</option>
          </Select>
        )}
      </Field>
    </div>
  );
}

function ScanFields({ given }: { given?: Action }) {
  return (
    <PlaceSelect label="Watched place" name="watcherId" given={textOf(given, "watcherId")}>
      <option value="">All of your org</option>
    </PlaceSelect>
  );
}

function CrawlFields({ given }: { given?: Action }) {
  const companies = (given?.companies ?? []) as Company[];
  const [first] = companies;
  const simple =
    !given ||
    (companies.length === 1 && (first?.sitemap || first?.urls?.every((one) => typeof one === "string")));
  if (!simple)
    return (
      <Field label="Companies" hint="As JSON, as in POST /api/runs.">
        {(ids) => (
          <Textarea
            {...ids}
            name="json"
            required
            spellCheck={false}
            className="min-h-32 font-mono text-xs"
            defaultValue={JSON.stringify(companies, null, 2)}
          />
        )}
      </Field>
    );
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Company">
          {(ids) => <Input {...ids} name="company" required maxLength={100} defaultValue={first?.company} />}
        </Field>
        <Field label="Pages">
          {(ids) => (
            <Select {...ids} name="pages" defaultValue={first?.urls ? "urls" : "sitemap"}>
              <option value="sitemap">All pages of a sitemap</option>
              <option value="urls">These addresses</option>
            </Select>
          )}
        </Field>
      </div>
      <Field label="Addresses" hint="One per line.">
        {(ids) => (
          <Textarea
            {...ids}
            name="addresses"
            required
            spellCheck={false}
            placeholder="https://shop.example/sitemap.xml"
            defaultValue={(first?.urls ?? [first?.sitemap ?? ""]).join("\n")}
          />
        )}
      </Field>
    </>
  );
}

function ExportFields({ given }: { given?: Action }) {
  const to = (given?.to ?? {}) as { url?: string; watcherId?: string; method?: string };
  const [what, setWhat] = useState(textOf(given, "what") || "products");
  const [target, setTarget] = useState(to.url ? "url" : "place");
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field label="Export">
        {(ids) => (
          <Select {...ids} name="what" value={what} onChange={(event) => setWhat(event.target.value)}>
            <option value="products">Products</option>
            <option value="job">Results of a job</option>
          </Select>
        )}
      </Field>
      <Field label="Format">
        {(ids) => (
          <Select {...ids} name="format" defaultValue={textOf(given, "format") || "csv"}>
            {["csv", "xlsx", "json", "ndjson"].map((one) => (
              <option key={one} value={one}>
                {one.toUpperCase()}
              </option>
            ))}
            <optgroup label="For shop systems">
              {SHOP_FORMATS.map(([name, label]) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </optgroup>
          </Select>
        )}
      </Field>
      {what === "job" ? (
        <Field label="Id of the job">
          {(ids) => <Input {...ids} name="jobId" required defaultValue={textOf(given, "jobId")} />}
        </Field>
      ) : (
        <Field label="Source (optional)" hint="Only products of this supplier.">
          {(ids) => <Input {...ids} name="source" maxLength={200} defaultValue={textOf(given, "source")} />}
        </Field>
      )}
      <Field label="File name (optional)" hint="{date} and {time} are replaced.">
        {(ids) => (
          <Input
            {...ids}
            name="fileName"
            maxLength={200}
            placeholder={`${what}-{date}`}
            defaultValue={textOf(given, "fileName")}
          />
        )}
      </Field>
      <Field label="Send to">
        {(ids) => (
          <Select {...ids} name="target" value={target} onChange={(event) => setTarget(event.target.value)}>
            <option value="place">A watched place</option>
            <option value="url">An address</option>
          </Select>
        )}
      </Field>
      {target === "place" ? (
        <PlaceSelect label="Place" name="to" given={to.watcherId ?? ""} required />
      ) : (
        <Field label="Address" hint={`Sent by ${to.method ?? "POST"}, with a signature.`}>
          {(ids) => <Input {...ids} name="to" type="url" required maxLength={2000} defaultValue={to.url} />}
        </Field>
      )}
    </div>
  );
}

interface PlaceSelectProps {
  label: string;
  name: string;
  given: string;
  required?: boolean;
  children?: React.ReactNode;
}

function PlaceSelect({ label, name, given, required, children }: PlaceSelectProps) {
  const found = useQuery(watchersQuery);
  const none = found.data?.length === 0 && required;
  return (
    <Field label={label} hint={none ? "There is none yet: create one under Watchers." : undefined}>
      {(ids) => (
        <Select {...ids} key={found.data?.length} name={name} required={required} defaultValue={given}>
          {children}
          {(found.data ?? []).map((one) => (
            <option key={one.id} value={one.id}>
              {one.name}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

function textOf(action: Action | undefined, name: string): string {
  return action?.[name] === undefined || action[name] === null ? "" : String(action[name]);
}

/** What the fields say; other settings of the action stay as they are. */
export function actionOf(kind: string, text: Text, action?: Action): Action {
  const kept = action?.kind === kind ? action : {};
  return compact({ ...kept, kind, ...fieldsOf(kind, text, kept) });
}

function fieldsOf(kind: string, text: Text, kept: Action): Action {
  switch (kind) {
    case "file":
      return {
        url: text("url"),
        profile: text("profile"),
        config: importConfig(text, kept.config as Action | undefined),
      };
    case "shop":
      return { connectionId: text("connectionId"), all: text("all") === "all" };
    case "research":
      return { query: text("query") };
    case "scan":
      return { watcherId: text("watcherId") };
    case "crawl":
      return { companies: companiesOf(text) };
    default:
      return {
        what: text("what"),
        format: text("format"),
        jobId: text("what") === "job" ? text("jobId") : "",
        source: text("what") === "job" ? "" : text("source"),
        fileName: text("fileName"),
        to: targetOf(text, (kept.to ?? {}) as Action),
      };
  }
}

function targetOf(text: Text, kept: Action): Action {
  if (text("target") === "place") return { watcherId: text("to") };
  return compact({ url: text("to"), method: kept.method });
}

function companiesOf(text: Text): unknown {
  if (text("json")) return JSON.parse(text("json"));
  const addresses = text("addresses").split(/\s+/).filter(Boolean);
  if (text("pages") === "urls") return [{ company: text("company"), urls: addresses }];
  if (addresses.length !== 1) throw new Error("A crawl has one sitemap. Choose “These addresses” for pages.");
  return [{ company: text("company"), sitemap: addresses[0] }];
}

/** Without what is empty. */
function compact(given: Action): Action {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== "" && value !== undefined));
}
