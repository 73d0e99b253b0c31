// Runs before the first paint, so that a dark page never flashes light. A separate file, because the page's
// policy (script-src 'self') allows no inline script. The key is the one Mantine's own colour scheme manager uses.
;(() => {
  let chosen = 'auto'
  try {
    chosen = localStorage.getItem('mantine-color-scheme-value') ?? 'auto'
  } catch {
    // Storage may be closed to us (private windows, strict settings): the system's scheme is then used.
  }
  const dark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
})()
