import { ArrowRight } from "lucide-react";
import { fieldLabel } from "../../lib/labels";
import { valueText } from "../../lib/values";

export interface Change {
  field?: string;
  target?: string;
  before?: unknown;
  after?: unknown;
}

export function Changes({ changes }: { changes: Change[] }) {
  return (
    <dl className="divide-y rounded-md border text-sm">
      {changes.map((one, place) => (
        <div key={place} className="grid grid-cols-[minmax(96px,1fr)_2fr] gap-3 px-3 py-1.5">
          <dt className="truncate text-ink-2">{fieldLabel(one.field ?? one.target ?? "")}</dt>
          <dd className="flex min-w-0 flex-wrap items-center gap-1.5 break-words">
            <del className="text-ink-3">{valueText(one.before) || "empty"}</del>
            <ArrowRight className="size-3 text-ink-3" aria-hidden />
            <ins className="font-medium no-underline">{valueText(one.after) || "empty"}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}
