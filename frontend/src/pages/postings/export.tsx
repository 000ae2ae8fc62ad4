import { ExportAs } from "../../components/export-as";

/** The postings that match, as a file. */
export function ExportPostings({ filter }: { filter: Record<string, string> }) {
  return <ExportAs path="/api/postings/export" name="job-postings" filter={filter} />;
}
