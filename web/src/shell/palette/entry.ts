import type { Icon } from '@tabler/icons-react'

/** A row of the palette. Choosing it opens an address or runs an action. */
export type Entry = {
  id: string
  group: string
  label: string
  detail?: string | undefined
  icon: Icon
} & ({ href: string } | { run: () => void })

/**
 * Returns the entries that contain every typed word in their label or detail, best first. A label
 * that begins with the typed text is best, then one with a word that begins with it.
 */
export function rankEntries(entries: readonly Entry[], typed: string): Entry[] {
  const text = typed.toLowerCase()
  const words = text.split(/\s+/).filter(Boolean)
  const ranked = entries.flatMap((entry) => {
    const label = entry.label.toLowerCase()
    const all = `${label} ${entry.detail?.toLowerCase() ?? ''} ${entry.group.toLowerCase()}`
    if (!words.every((word) => all.includes(word))) return []
    const rank = label.startsWith(text) ? 0 : label.includes(` ${text}`) ? 1 : 2
    return [{ entry, rank }]
  })
  return ranked.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry)
}
