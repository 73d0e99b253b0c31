const events = new EventTarget()

/** Opens the palette from anywhere. */
export function openPalette() {
  events.dispatchEvent(new Event('open'))
}

export function onPaletteOpen(listener: () => void): () => void {
  events.addEventListener('open', listener)
  return () => events.removeEventListener('open', listener)
}
