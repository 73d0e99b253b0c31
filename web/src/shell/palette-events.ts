const events = new EventTarget()

/** Opens the palette from anywhere. */
export const openPalette = () => void events.dispatchEvent(new Event('palette'))

/** Opens the list of keyboard shortcuts, on pages with the side menu. */
export const openKeys = () => void events.dispatchEvent(new Event('keys'))

export const onPaletteOpen = (listener: () => void) => listen('palette', listener)

export const onKeysOpen = (listener: () => void) => listen('keys', listener)

function listen(name: string, listener: () => void): () => void {
  events.addEventListener(name, listener)
  return () => events.removeEventListener(name, listener)
}
