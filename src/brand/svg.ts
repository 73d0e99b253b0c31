/**
 * Decides whether an SVG contains only shapes. Elements and attributes are on lists; everything
 * else is refused, because browsers have many ways to run or load something.
 */

const ELEMENTS = new Set(
  `svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan
   linearGradient radialGradient stop clipPath mask pattern style`.split(/\s+/),
)
const TAG = /<(\/?)([A-Za-z][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g
const NAMESPACE = 'http://www.w3.org/2000/svg'

/** Returns null for a harmless SVG, otherwise the reason for the operator. */
export function findSvgFault(bytes: Buffer): string | null {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return 'The SVG is not UTF-8'
  }
  const markup = text.replace(/^\s*<\?xml\s[^?]*\?>/, '').replace(/<!--(?:(?!--)[\s\S])*-->/g, '')
  if (/<[!?]/.test(markup)) return 'The SVG contains a DOCTYPE, CDATA or an instruction'
  const trimmed = markup.trim()
  return trimmed === '' ? 'The file is empty' : new Walk(trimmed).findFault()
}

/** Reads the tags one after another; the text between them contains no markup. */
class Walk {
  readonly #markup: string
  readonly #open: string[] = []

  constructor(markup: string) {
    this.#markup = markup
  }

  findFault(): string | null {
    for (let at = 0; at < this.#markup.length; ) {
      const next = this.#markup.indexOf('<', at)
      const between = this.#markup.slice(at, next === -1 ? undefined : next)
      const fault = this.#checkText(between)
      if (fault !== null) return fault
      if (next === -1) break
      TAG.lastIndex = next
      const tag = TAG.exec(this.#markup)
      if (tag === null) return 'The SVG is not well-formed'
      at = TAG.lastIndex
      const problem = this.#checkTag(tag)
      if (problem !== null) return problem
      if (this.#open.length === 0 && at < this.#markup.length)
        return 'The SVG has text after its end'
    }
    return this.#open.length === 0 ? null : 'The SVG is not well-formed'
  }

  #checkText(text: string): string | null {
    if (this.#open.length === 0) return text === '' ? null : 'The file is not an SVG'
    return this.#open.at(-1) === 'style' ? findStyleFault(text) : null
  }

  #checkTag([, closing, name = '', attributes = '', selfClosing]: RegExpExecArray): string | null {
    if (closing) return this.#open.pop() === name ? null : 'The SVG is not well-formed'
    if (this.#open.length === 0 && name !== 'svg') return 'The file is not an SVG'
    if (!ELEMENTS.has(name)) return `The SVG contains <${name.slice(0, 40)}>, which is not allowed`
    if (!selfClosing) this.#open.push(name)
    for (const [, attribute = '', double, single] of attributes.matchAll(ATTRIBUTE)) {
      const fault = findAttributeFault(attribute.toLowerCase(), double ?? single ?? '')
      if (fault !== null) return fault
    }
    return name === 'svg' && this.#open.length <= 1 && !attributes.includes(NAMESPACE)
      ? 'The SVG lacks its namespace, so browsers would not show it'
      : null
  }
}

function findAttributeFault(name: string, value: string): string | null {
  if (name.startsWith('on')) return `The SVG contains a script: ${name.slice(0, 40)}`
  if (name === 'xmlns' && value !== NAMESPACE) return 'The SVG has another namespace'
  if (name.startsWith('xmlns')) return null
  // An entity could spell an address that the rules below do not see.
  if (/&(?!(?:amp|lt|gt|quot|apos);)/.test(value)) return 'The SVG contains character references'
  if (/(?:^|:)(?:href|src|base)$/.test(name) && !/^#[\w.:-]+$/.test(value))
    return `The SVG loads something: ${value.slice(0, 60)}`
  return findStyleFault(value)
}

/** Rejects everything in a style that loads, and backslashes, which could hide it. */
function findStyleFault(value: string): string | null {
  const rest = value.replace(/url\(\s*(["']?)#[\w.:-]+\1\s*\)/gi, '')
  const found = /url\s*\(|@|image\s*\(|image-set|expression|javascript:|data:|\\|&#/i.exec(rest)
  return found ? `The SVG loads something or hides it: ${found[0]}` : null
}
