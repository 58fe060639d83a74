// The link of an invitation has its code after #, which browsers do not send: fill it in.
(() => {
  "use strict";
  const code = document.getElementById("code");
  if (code && !code.value && location.hash.length > 1) code.value = decodeURIComponent(location.hash.slice(1));
})();
