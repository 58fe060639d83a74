// Counts down to the next time of a contest, by the server's clock and in the reader's zone; when a
// contest ends, forms that would be refused give way to a note. Pages are complete without it.
(() => {
  "use strict";
  const clock = document.querySelector("[data-next]");
  if (!clock) return;
  const next = Date.parse(clock.dataset.next);
  const HOUR = 3600000;
  let ahead = 0;  // of the server before this computer, in milliseconds
  const shown = document.createElement("span");
  clock.append(" · ", shown);
  const zone = {dateStyle: "medium", timeStyle: "short"};

  function left(seconds) {
    const parts = [[Math.floor(seconds / 86400), "d"], [Math.floor(seconds / 3600) % 24, "h"],
                   [Math.floor(seconds / 60) % 60, "min"], [seconds % 60, "s"]];
    const first = parts.findIndex(([count]) => count);
    return parts.slice(first, first + 2).map(([count, unit]) => count + " " + unit).join(" ");
  }

  function end() {
    for (const form of document.querySelectorAll("form[data-ends]")) {
      const note = document.createElement("p");
      note.className = "note";
      note.setAttribute("role", "status");
      note.textContent = "The contest ended " + new Date(next).toLocaleString([], zone) +
        "; nothing can be submitted any more.";
      form.replaceWith(note);
    }
    shown.textContent = "over";
  }

  // The page says no time of its own, so that its bytes stay the same; a file's head does.
  async function ask() {
    const file = document.querySelector("link[rel=stylesheet]").href;
    try {
      const date = (await fetch(file, {method: "HEAD", cache: "no-store"})).headers.get("date");
      if (date) ahead = Date.parse(date) - Date.now();
    } catch { /* no server: this computer's clock has to do */ }
  }
  if (document.querySelector("form[data-ends]") || next - Date.now() < HOUR) ask();

  const ticking = setInterval(tick, 1000);
  function tick() {
    const seconds = Math.ceil((next - Date.now() - ahead) / 1000);
    if (seconds > 0) {
      shown.textContent = "in " + left(seconds) + " (" + new Date(next).toLocaleString([], zone) + " here)";
      return;
    }
    clearInterval(ticking);
    if (clock.dataset.what === "end") end();
    else setTimeout(() => location.reload(), 500 + Math.random() * 2000);
  }
  tick();
})();
