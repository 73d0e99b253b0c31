/** A form as a browser without scripts would send it. */
export type Form = {
  action: string
  method: string
  fields: Record<string, string>
  buttons: { name: string; value: string; label: string }[]
}

/** Reads the forms of a page: hidden and text fields, chosen radios and options, and the buttons. */
export function parseForms(page: string, pageUrl: string): Form[] {
  return [...page.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)].map(
    ([, attributes = '', inside = '']) => {
      const fields: Record<string, string> = {}
      for (const [, input = ''] of inside.matchAll(/<input\b([^>]*)>/gi)) {
        const name = attribute(input, 'name')
        const type = (attribute(input, 'type') ?? 'text').toLowerCase()
        if (!name || type === 'submit') continue
        if ((type === 'radio' || type === 'checkbox') && !/\schecked\b/i.test(input)) continue
        fields[name] = attribute(input, 'value') ?? (type === 'checkbox' ? 'on' : '')
      }
      for (const [, select = '', options = ''] of inside.matchAll(
        /<select\b([^>]*)>([\s\S]*?)<\/select>/gi,
      )) {
        const name = attribute(select, 'name')
        const list = [...options.matchAll(/<option\b([^>]*)>/gi)].map(([, option = '']) => option)
        const chosen = list.find((option) => /\sselected\b/i.test(option)) ?? list[0]
        if (name && chosen) fields[name] = attribute(chosen, 'value') ?? ''
      }
      const buttons = [...inside.matchAll(/<button\b([^>]*)>([\s\S]*?)<\/button>/gi)].map(
        ([, button = '', label = '']) => ({
          name: attribute(button, 'name') ?? '',
          value: attribute(button, 'value') ?? '',
          label: label.replace(/<[^>]*>/g, '').trim(),
        }),
      )
      return {
        action: new URL(attribute(attributes, 'action') ?? '', pageUrl).href,
        method: (attribute(attributes, 'method') ?? 'get').toUpperCase(),
        fields,
        buttons,
      }
    },
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
