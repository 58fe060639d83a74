// Keeps the parts of a page that have data-live up to date: events of the contest say when to load
// the page again; what differs is replaced in place. Pages are complete without this script.
(() => {
  "use strict";
  const main = document.querySelector("main[data-stream]");
  const regions = () => [...document.querySelectorAll("[data-live][id]")];
  if (!main || !regions().length || !window.EventSource) return;

  const RETRY_MS = 10000, TOGETHER_MS = 300, SPREAD_MS = 700, TICK_MS = 600;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const status = document.getElementById("live-status");
  let source = null, last = "", timer = 0, loading = false, again = false;

  const say = (text) => { if (status && status.textContent !== text) status.textContent = text; };

  function connect() {
    source = new EventSource(main.dataset.stream + (last ? "?since=" + last : ""));
    source.onopen = () => { say("live"); load(); };
    source.onerror = () => {
      say("not connected; trying again");
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, RETRY_MS);
    };
    for (const kind of main.dataset.kinds.split(" ")) source.addEventListener(kind, receive);
  }

  function receive(event) {
    last = event.lastEventId;
    document.dispatchEvent(new CustomEvent("agon:event", {detail: {id: last, kind: event.type}}));
    // Visitors of one page do not load it at the same moment.
    if (!timer) timer = setTimeout(() => { timer = 0; load(); }, TOGETHER_MS + Math.random() * SPREAD_MS);
  }

  async function load() {
    if (loading) { again = true; return; }
    loading = true;
    try {
      const response = await fetch(location.href, {headers: {accept: "text/html"}});
      if (response.ok) show(new DOMParser().parseFromString(await response.text(), "text/html"));
    } catch { /* no server: the next event or connection loads the page */ }
    loading = false;
    if (again) { again = false; load(); }
  }

  function show(page) {
    const pairs = regions().map((region) => [region, page.getElementById(region.id)]).filter(([, next]) => next);
    const moving = pairs.find(([region, next]) => isUsed(region) && width(region) !== width(next));
    if (moving) { hold(moving[0], () => show(page)); return; }
    const isFollowed = pairs.some(([region]) => isUsed(region) && region.querySelector("[data-key]"));
    for (const [region, next] of pairs) {
      if (isFollowed && region.matches(".picture")) continue;  // another height would move the rows below it
      waiting.delete(region);
      update(region, next, page);
    }
    // The first rows bring parts of the page that were not there.
    if (!page.querySelector("main[data-live]")) main.removeAttribute("data-live");
    document.dispatchEvent(new CustomEvent("agon:shown"));
  }

  const waiting = new Map();
  const LEAVING = ["pointerleave", "focusout"];
  const isUsed = (region) => region !== main && (region.matches(":hover") || region.contains(document.activeElement));
  const width = (region) => region.querySelector("[data-key]")?.children.length;

  function update(region, next, page) {
    if (region === main) {
      if (main.innerHTML !== next.innerHTML) main.replaceChildren(...imported(next));
    } else if (!region.querySelector("[data-key]") && !next.querySelector("[data-key]")) {
      replace(region, next);
    } else if (isUsed(region)) {  // numbers change, but no row moves under the pointer
      patch(region, next);
      hold(region, () => show(page));
    } else {
      arrange(region, next);
    }
  }

  function hold(region, change) {
    for (const name of LEAVING) region.addEventListener(name, release);
    waiting.set(region, change);
  }

  function release(event) {
    const region = event.currentTarget;
    setTimeout(() => {  // by then the focus has its new place
      if (!waiting.has(region) || isUsed(region)) return;
      for (const name of LEAVING) region.removeEventListener(name, release);
      const change = waiting.get(region);
      waiting.delete(region);
      change();
    });
  }

  const byKey = (region) => new Map([...region.querySelectorAll("[data-key]")].map((row) => [row.dataset.key, row]));

  function patch(region, next) {
    const rows = byKey(region);
    for (const [key, row] of byKey(next)) if (rows.has(key)) patchRow(rows.get(key), row);
  }

  function patchRow(row, next) {
    if (row.className !== next.className) row.className = next.className;
    if (row.children.length !== next.children.length) { replace(row, next); return; }
    [...next.children].forEach((cell, place) => replace(row.children[place], cell));
  }

  function arrange(region, next) {
    const rows = byKey(region), wanted = byKey(next);
    const before = new Map([...rows].map(([key, row]) => [key, row.getBoundingClientRect().top]));
    for (const [key, row] of rows) if (!wanted.has(key)) row.remove();
    let place = region.firstElementChild;
    for (const [key, row] of wanted) {
      let own = rows.get(key);
      if (own) patchRow(own, row); else own = document.importNode(row, true);
      if (own === place) place = place.nextElementSibling; else region.insertBefore(own, place);
    }
    if (still.matches) return;
    for (const [key, row] of byKey(region)) {
      const shift = before.has(key) ? before.get(key) - row.getBoundingClientRect().top : 0;
      if (shift) row.animate([{transform: `translateY(${shift}px)`}, {transform: "none"}], {duration: TICK_MS, easing: "ease-out"});
    }
  }

  const NUMBER = /^[+−]?\d[\d,]*(\.\d+)?$/;
  const value = (text) => Number(text.replaceAll(",", "").replace("−", "-"));

  const imported = (next) => [...next.childNodes].map((node) => document.importNode(node, true));

  function replace(element, next) {
    if (element.innerHTML === next.innerHTML) return;
    const from = element.textContent.trim(), to = next.textContent.trim();
    element.replaceChildren(...imported(next));
    if (still.matches || from === to) return;
    element.animate([{backgroundColor: "var(--mark)"}, {}], {duration: 3 * TICK_MS});
    if (!element.children.length && NUMBER.test(from) && NUMBER.test(to)) tick(element, value(from), to);
  }

  function tick(element, from, text) {
    const to = value(text), decimals = (text.split(".")[1] || "").length, begin = performance.now();
    const format = new Intl.NumberFormat("en-US", {minimumFractionDigits: decimals, maximumFractionDigits: decimals});
    const step = (now) => {
      const part = Math.min(1, (now - begin) / TICK_MS);
      if (part < 1) {
        element.textContent = format.format(from + (to - from) * part).replace("-", "−");
        requestAnimationFrame(step);
      } else {
        element.textContent = text;
      }
    };
    requestAnimationFrame(step);
  }

  // A browser has few connections to a server; a page in the background needs none.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { source?.close(); source = null; } else if (!source) connect();
  });
  if (!document.hidden) connect();
})();
