/**
 * The service's English phrases in German. API replies stay in English; apps and pages for people
 * match them with the templates of `phrases.de.json`, where `{name}` stands for any text.
 */
export type Phrases = Readonly<Record<string, string>>

/** Returns the phrase in German with its values; null when no template matches. */
export function translatePhrase(phrases: Phrases, phrase: string): string | null {
  // A phrase such as `constructor` would find a member of Object.prototype.
  if (Object.hasOwn(phrases, phrase)) return phrases[phrase] ?? null
  for (const [template, german] of Object.entries(phrases)) {
    const values = template.includes('{') ? matchValues(template, phrase) : null
    if (values !== null) return fillPlaces(german, (name) => values.get(name))
  }
  return null
}

/** Returns the texts at the places of a template; null when the text does not match it. */
export function matchValues(template: string, text: string): Map<string, string> | null {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const pattern = template
    .split(/\{\w+\}/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('(.+?)')
  const match = new RegExp(`^${pattern}$`, 's').exec(text)
  return match && new Map(names.map((name, index) => [name, match[index + 1] ?? '']))
}

export function fillPlaces(template: string, find: (name: string) => string | undefined): string {
  return template.replace(/\{(\w+)\}/g, (place, name: string) => find(name) ?? place)
}
