// What a person can do about an error, by its code. The message itself comes from the server.
import { ApiProblem } from "./api";

const ADVICE: Record<string, string> = {
  UNREACHABLE:
    "Check your connection, and whether the server runs. The page continues automatically once it answers.",
  AUTHENTICATION_FAILED: "Sign in again. Ask an admin if you have no password yet.",
  INSUFFICIENT_PERMISSIONS: "Your role does not allow this. Ask an admin of your organisation.",
  NOT_FOUND: "It may have been deleted, or you have no access to it. Go back to the list.",
  FILE_NOT_FOUND: "Uploads are kept for a day. Upload the file again.",
  FILE_TOO_LARGE: "Split the file, or ask an admin to raise PENSTOCK_MAX_FILE_BYTES.",
  EMPTY_FILE: "Choose a file that contains rows.",
  MAPPING_NEEDED: "Choose which column is the title or an identifier. The file is not sent again.",
  NO_ROWS: "The file has a header but no rows. Choose another file, or another sheet of it.",
  UNSUPPORTED_TYPE: "Save it as CSV, Excel, OpenDocument, JSON or XML, and upload that.",
  FILE_PASSWORD_PROTECTED: "Remove the password and upload the file again.",
  FILE_CORRUPT: "Open the file in the program that made it, save it again and upload the copy.",
  URL_NOT_ALLOWED:
    "Use a public address. To allow a server of your own, an admin adds its host to PENSTOCK_FETCH_ALLOW (files), PENSTOCK_PROVIDER_ALLOW (shops, sources), PENSTOCK_CRAWL_ALLOW (pages), PENSTOCK_WEBHOOK_ALLOW (webhooks, notifications) or PENSTOCK_WATCH_ALLOW (watchers).",
  URL_UNREACHABLE:
    "The other server does not answer or is slow. Try again, or download the file and upload it.",
  URL_REFUSED:
    "Open the address in a browser: it must return the file itself, not a web page or a sign-in form.",
  PROVIDER_FAILED: "Test the connection on the page “Connections” to see the shop's error.",
  PLACE_FAILED:
    "Correct address and credentials, or store them without a test if the server cannot be reached now.",
  CIRCUIT_OPEN: "The shop failed several times in a row. It is tried again automatically.",
  SANDBOX_NOT_RUNNING: "Start it in a terminal, and try again.",
  INSTALL_REFUSED: "Connect the shop again from the page “Connections”.",
  SHEET_NOT_FOUND: "Choose one of the sheets that were found.",
  INVALID_STATE: "The job's state has changed. Reload it and choose again.",
  INVALID_CURSOR: "The list has changed. Reload it.",
  INVALID_CONFIG: "Change the options named in the message.",
  QUEUE_FULL: "The queue is full. Nothing was lost; try again later.",
  API_RATE_LIMIT: "Too many requests. Wait a moment.",
  DB_UNAVAILABLE: "The database is not available. Penstock retries automatically; no accepted row is lost.",
  STORAGE_FULL: "The server's disk is full. Ask your administrator to free some space.",
  INTERNAL_ERROR:
    "This is an error in Penstock. Give the request id to your administrator; the log shows the cause.",
};

export function adviceFor(error: unknown): string {
  if (!(error instanceof ApiProblem)) return "Reload the page. If it happens again, tell your administrator.";
  if (error.retryAfterSeconds)
    return `${ADVICE[error.code] ?? "This may be temporary."} Try again in ${error.retryAfterSeconds} s.`;
  const known = ADVICE[error.code];
  if (known) return known;
  return error.status >= 500 ? "Try again in a moment." : "Correct it and try again.";
}
