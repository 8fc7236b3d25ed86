// Before the first paint, so that the chosen theme does not flash. Storage may be switched off.
try {
  const theme = localStorage.getItem("kenyon-theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // The theme of the system.
}
