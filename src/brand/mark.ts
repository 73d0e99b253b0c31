/** The marks of brands without a picture: the key of the built-in brand, and a letter for others. */
import { escapeHtml } from '#platform/http/html.ts'
import { contrast } from './oklch.ts'

export const KEY_MARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
  <title>Latchkey</title>
  <rect width="32" height="32" rx="8" fill="#174f40" />
  <g fill="#e3bb62" transform="translate(4 4) scale(.75)">
    <path fill-rule="evenodd" d="M10.7 12.6a8.7 8.7 0 1 1 0 17.4 8.7 8.7 0 0 1 0-17.4ZM7.7 25.4h6v-5.1a3 3 0 0 0-6 0v5.1Z" />
    <path transform="rotate(-45 16 16)" d="M15.8 14h15.7v3.9h-1.7V22h-3.4v-4.1h-2.5v5.3h-3.4v-5.3h-4.7z" />
  </g>
</svg>
`

/** Draws the first letter of the name in a square of the primary color. */
export function drawMonogram(name: string, primary: string): string {
  const { segment: letter = '' } =
    new Intl.Segmenter().segment(name)[Symbol.iterator]().next().value ?? {}
  const ink = contrast(primary, '#ffffff') >= contrast(primary, '#000000') ? '#ffffff' : '#000000'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>${escapeHtml(name)}</title><rect width="32" height="32" rx="8" fill="${primary}"/><text x="16" y="22" text-anchor="middle" font-family="system-ui,sans-serif" font-weight="700" font-size="18" fill="${ink}">${escapeHtml(letter.toUpperCase())}</text></svg>
`
}
