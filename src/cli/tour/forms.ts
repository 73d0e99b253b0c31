/** A form as a browser without scripts would send it. */
export type Form = {
  action: string
  method: string
  fields: Record<string, string>
  buttons: { name: string; value: string; label: string }[]
}

/**
 * Reads the forms of a page: hidden and text fields, chosen radios and options, and the buttons.
 */
export function parseForms(page: string, pageUrl: string): Form[] {
  return [...page.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)].map(
    ([, attributes = '', inside = '']) => ({
      action: new URL(attribute(attributes, 'action') ?? '', pageUrl).href,
      method: (attribute(attributes, 'method') ?? 'get').toUpperCase(),
      fields: { ...readInputs(inside), ...readSelects(inside) },
      buttons: readButtons(inside),
    }),
  )
}

function readInputs(inside: string): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [, input = ''] of inside.matchAll(/<input\b([^>]*)>/gi)) {
    const name = attribute(input, 'name')
    const type = (attribute(input, 'type') ?? 'text').toLowerCase()
    if (!name || type === 'submit') continue
    if ((type === 'radio' || type === 'checkbox') && !/\schecked\b/i.test(input)) continue
    fields[name] = attribute(input, 'value') ?? (type === 'checkbox' ? 'on' : '')
  }
  return fields
}

function readSelects(inside: string): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [, select = '', options = ''] of inside.matchAll(
    /<select\b([^>]*)>([\s\S]*?)<\/select>/gi,
  )) {
    const name = attribute(select, 'name')
    const list = [...options.matchAll(/<option\b([^>]*)>/gi)].map(([, option = '']) => option)
    const chosen = list.find((option) => /\sselected\b/i.test(option)) ?? list[0]
    if (name && chosen) fields[name] = attribute(chosen, 'value') ?? ''
  }
  return fields
}

function readButtons(inside: string): Form['buttons'] {
  return [...inside.matchAll(/<button\b([^>]*)>([\s\S]*?)<\/button>/gi)].map(
    ([, button = '', label = '']) => ({
      name: attribute(button, 'name') ?? '',
      value: attribute(button, 'value') ?? '',
      label: label.replace(/<[^>]*>/g, '').trim(),
    }),
  )
}

function attribute(tag: string, name: string): string | null {
  const match = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i').exec(
    tag,
  )
  const value = match?.[1] ?? match?.[2] ?? match?.[3]
  return value === undefined ? null : unescapeHtml(value)
}

function unescapeHtml(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#96;', '`')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
