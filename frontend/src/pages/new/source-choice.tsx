import { useNavigate } from "@tanstack/react-router";
import { FileSpreadsheet, Globe, ScanSearch, Store } from "lucide-react";
import { Choice } from "../../components/choice";

type Source = "file" | "shop" | "crawl" | "lookup";

/** Where the products come from. */
export function SourceChoice({ value }: { value: Source }) {
  const navigate = useNavigate();
  return (
    <div className="mb-4">
      <Choice
        label="Source"
        value={value}
        onChange={(next: Source) =>
          void navigate({ to: "/new", search: next === "file" ? {} : { source: next } })
        }
        options={[
          {
            value: "file",
            label: (
              <>
                <FileSpreadsheet aria-hidden /> File
              </>
            ),
          },
          {
            value: "shop",
            label: (
              <>
                <Store aria-hidden /> Shop
              </>
            ),
          },
          {
            value: "crawl",
            label: (
              <>
                <Globe aria-hidden /> Web pages
              </>
            ),
          },
          {
            value: "lookup",
            label: (
              <>
                <ScanSearch aria-hidden /> Lookup
              </>
            ),
          },
        ]}
      />
    </div>
  );
}
