import { useNavigate } from "@tanstack/react-router";
import { Columns3, Search, X } from "lucide-react";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "../../components/button";
import { Choice } from "../../components/choice";
import { Input } from "../../components/field";
import { Menu, MenuCheck } from "../../components/menu";
import type { FullJob } from "../../lib/api";
import { codeLabel } from "../../lib/codes";
import { count, plural } from "../../lib/format";
import type { ItemFilter } from "../../lib/item-pages";
import type { View } from "./columns";

interface Props {
  job: FullJob;
  filter: ItemFilter;
  known: number | null;
  shown: number | null;
  view: View;
  onView: (view: View) => void;
  /** The title of the column that the rows are sorted by. */
  sorted: string | null | undefined;
  onUnsort: () => void;
  onGoTo?: (index: number) => void;
  columns: { id: string; title: string }[];
  hidden: string[];
  onHidden: (hidden: string[]) => void;
  /** Before the choice of columns. */
  actions?: ReactNode;
}

export function RowsToolbar(props: Props) {
  const { job, filter, known, shown, hidden } = props;
  const told = known ?? shown;
  const goTo = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get("row")).replace(/[^0-9]/g, "");
    if (text) props.onGoTo?.(Number(text) - 1);
  };
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Choice
        label="View"
        value={props.view}
        onChange={props.onView}
        options={[
          { value: "results", label: "Results", title: "As exported" },
          {
            value: "input",
            label: "As in the file",
            title: "The original cells, editable",
          },
        ]}
      />
      <SearchBox job={job} q={filter.q ?? ""} />
      {props.onGoTo && (
        <form onSubmit={goTo}>
          <Input
            name="row"
            inputMode="numeric"
            aria-label="Go to row"
            placeholder="Go to row"
            className="w-24"
            title="Type a row's number and press Enter"
          />
        </form>
      )}
      <span className="text-sm text-ink-2" aria-live="polite">
        {told === null ? "Counted as you scroll" : plural(told, "row")}
        {filter.code && (
          <>
            {" with "}
            <strong className="font-medium">{codeLabel(filter.code)}</strong>
          </>
        )}
        {known !== null && known !== job.counters.total && ` of ${count(job.counters.total)}`}
      </span>
      {props.sorted && (
        <Button
          size="sm"
          onClick={props.onUnsort}
          aria-label={`Sorted by ${props.sorted}. Back to the order of the file`}
        >
          Sorted by {props.sorted} <X aria-hidden />
        </Button>
      )}
      <div className="flex-1" />
      {props.actions}
      <Menu
        trigger={
          <Button look="quiet">
            <Columns3 aria-hidden /> Columns
          </Button>
        }
      >
        {props.columns.map((column) => (
          <MenuCheck
            key={column.id}
            checked={!hidden.includes(column.id)}
            onChange={(on) =>
              props.onHidden(on ? hidden.filter((one) => one !== column.id) : [...hidden, column.id])
            }
          >
            {column.title}
          </MenuCheck>
        ))}
      </Menu>
    </div>
  );
}

export function SearchBox({ job, q }: { job: FullJob; q: string }) {
  const navigate = useNavigate();
  const [text, setText] = useState(q);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => setText(q), [q]);
  useEffect(() => () => clearTimeout(timer.current ?? undefined), []);
  const change = (next: string) => {
    setText(next);
    if (timer.current) clearTimeout(timer.current);
    timer.current = setTimeout(
      () =>
        void navigate({
          to: "/jobs/$jobId",
          params: { jobId: job.id },
          search: (now) => ({ ...now, q: next.trim() || undefined }),
          replace: true,
        }),
      350,
    );
  };
  return (
    <div className="relative">
      <Search className="pointer-events-none absolute top-2 left-2 size-4 text-ink-3" aria-hidden />
      <Input
        type="search"
        aria-label="Search in the rows"
        placeholder="Search in the rows"
        className="w-44 pl-8"
        value={text}
        onChange={(event) => change(event.target.value)}
      />
    </div>
  );
}
