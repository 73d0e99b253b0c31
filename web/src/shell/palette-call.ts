const calls = new EventTarget()

/** Opens the palette from anywhere. */
export function callPalette() {
  calls.dispatchEvent(new Event('call'))
}

export function onPaletteCall(listener: () => void): () => void {
  calls.addEventListener('call', listener)
  return () => calls.removeEventListener('call', listener)
}
