// Votes by keyboard: a choice is held for some seconds, in which u takes it back, and then entered.
// Without this script a button of the form enters the vote at once. The time left is that of the
// server when it sent the page: the clock of this device may be wrong.
(() => {
  "use strict";
  const HOLD_S = 3, LOOK_MS = 15000;
  const form = document.getElementById("vote");
  if (!form) { if (document.getElementById("no-vote")) setTimeout(look, LOOK_MS); return; }

  const status = document.getElementById("vote-status");
  const keys = {ArrowLeft: "A", ArrowRight: "B", "=": "tie"};
  const button = (value) => [...form.querySelectorAll("button[name=vote]")].find((one) => one.value === value);
  let held = null, timer = 0, entered = false;
  document.getElementById("vote-keys").hidden = false;

  function hold(chosen) {
    if (entered || !chosen) return;
    clearTimeout(timer);
    held = chosen;
    for (const one of form.querySelectorAll("button[name=vote]")) one.setAttribute("aria-pressed", one === held);
    status.textContent = `${held.value} is entered in ${HOLD_S} seconds; u takes it back, Enter enters it now.`;
    timer = setTimeout(enter, HOLD_S * 1000);
  }

  function enter() {
    if (!held || entered) return;
    entered = true;
    clearTimeout(timer);
    status.textContent = `Entering ${held.value}.`;
    form.requestSubmit(held);
  }

  function take() {
    if (!held || entered) return;
    clearTimeout(timer);
    status.textContent = `${held.value} is taken back; choose again.`;
    held.removeAttribute("aria-pressed");
    held = null;
  }

  form.addEventListener("submit", (event) => {
    if (entered) return;
    event.preventDefault();
    hold(event.submitter);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (event.target.closest("input:not([type=hidden]), textarea, select")) return;
    if (event.key === "u") { take(); return; }
    if (event.key === "Enter" && held) { event.preventDefault(); enter(); return; }
    const chosen = button(keys[event.key]);
    if (chosen) { event.preventDefault(); hold(chosen); }
  });

  const left = document.getElementById("time-left");
  const end = Date.now() + Number(left.dataset.ms);
  const ticks = setInterval(count, 1000);
  count();

  function count() {
    const seconds = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    const two = (number) => String(number).padStart(2, "0");
    const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
    const clock = `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
    left.textContent = seconds ? `${clock} left.` : "The deadline has passed.";
    if (!seconds) clearInterval(ticks);
  }

  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  async function look() {
    try {
      const page = await (await fetch(location.href, {headers: {accept: "text/html"}})).text();
      if (new DOMParser().parseFromString(page, "text/html").getElementById("vote")) { location.reload(); return; }
    } catch { /* no server: look again later */ }
    setTimeout(look, LOOK_MS);
  }
})();
