// Before the first paint, so that a dark room is never lit up. A file of its own: no inline scripts.
(() => {
  let wanted = "system";
  try {
    wanted = JSON.parse(localStorage.getItem("penstock.prefs") || "{}").theme || "system";
  } catch {}
  const dark =
    wanted === "dark" || (wanted === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", dark);
})();
