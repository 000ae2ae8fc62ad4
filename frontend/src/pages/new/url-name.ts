/** How a file is called that was fetched: the last part of the address, without what may be secret. */
export function nameOf(url: string): string {
  try {
    const { pathname, hostname } = new URL(url);
    return decodeURIComponent(pathname.split("/").filter(Boolean).at(-1) ?? hostname);
  } catch {
    return "file";
  }
}
