import { useNavigate } from "@tanstack/react-router";
import { FileSpreadsheet, Store } from "lucide-react";
import { Choice } from "../../components/choice";

type Source = "file" | "shop";

/** Where the products come from. */
export function SourceChoice({ value }: { value: Source }) {
  const navigate = useNavigate();
  return (
    <div className="mb-4">
      <Choice
        label="Source"
        value={value}
        onChange={(next: Source) =>
          void navigate({ to: "/new", search: next === "shop" ? { source: "shop" } : {} })
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
        ]}
      />
    </div>
  );
}
