// What a person can do about an error, by its code. The message itself comes from the server.
import { ApiProblem } from "./api";

const ADVICE: Record<string, string> = {
  UNREACHABLE:
    "Check your connection, or whether the server runs. This page goes on by itself once it answers.",
  AUTHENTICATION_FAILED: "Sign in again. Ask an admin if you have no password yet.",
  INSUFFICIENT_PERMISSIONS: "Your role does not allow this. Ask an admin of your organisation.",
  NOT_FOUND: "It may have been removed, or belongs to someone else. Go back to the list.",
  FILE_NOT_FOUND: "Uploads are kept for a day. Upload the file again.",
  FILE_TOO_LARGE: "Split the file, or ask an admin to raise PENSTOCK_MAX_FILE_BYTES.",
  EMPTY_FILE: "Choose a file that has rows in it.",
  MAPPING_NEEDED:
    "Choose a title or an identifier: under “Columns”, or with “Map the columns anew” in the job's menu.",
  NO_ROWS: "The file has a header and nothing below it. Choose another sheet, or another file.",
  UNSUPPORTED_TYPE: "Save it as CSV, Excel, OpenDocument, JSON or XML, and upload that.",
  FILE_PASSWORD_PROTECTED: "Remove the password in the program that made the file, and upload it again.",
  FILE_CORRUPT: "Open the file in the program that made it, save it again, and upload that.",
  URL_NOT_ALLOWED:
    "Download the file and upload it, or ask an admin to add its host to PENSTOCK_FETCH_ALLOW.",
  URL_UNREACHABLE: "The other server is away or slow. Try again, or download the file and upload it.",
  URL_REFUSED: "Open the address in a browser: it should give out the file itself, not a page or a sign-in.",
  PROVIDER_FAILED: "Test the connection on the page “Connections”: it says what the shop objects to.",
  CIRCUIT_OPEN: "The shop failed several times in a row. It is probed again by itself.",
  SANDBOX_NOT_RUNNING: "Start it in a terminal, and try again.",
  INSTALL_REFUSED: "Connect the shop again from the page “Connections”.",
  SHEET_NOT_FOUND: "Choose one of the sheets that were found.",
  INVALID_STATE: "The job has moved on meanwhile. Look at its present state and choose again.",
  INVALID_CURSOR: "The list has changed. Load it again.",
  INVALID_CONFIG: "Change the options named in the message.",
  QUEUE_FULL: "The queue is full for now. Nothing was lost; try again when it has drained.",
  API_RATE_LIMIT: "Too many requests in a short time. Wait a moment.",
  DB_UNAVAILABLE: "The database is away. It is tried again by itself; nothing accepted is lost.",
  STORAGE_FULL: "The server's disk is full. Ask whoever runs it to free some space.",
  INTERNAL_ERROR:
    "This is a fault of Penstock. Give the request id to whoever runs it; the log has the cause.",
};

export function adviceFor(error: unknown): string {
  if (!(error instanceof ApiProblem))
    return "Reload the page. If it happens again, tell whoever runs Penstock.";
  if (error.retryAfterSeconds)
    return `${ADVICE[error.code] ?? "It may pass."} Try again in ${error.retryAfterSeconds} s.`;
  const known = ADVICE[error.code];
  if (known) return known;
  return error.status >= 500
    ? "It may pass: try again in a moment."
    : "Change what the message names, and try again.";
}
