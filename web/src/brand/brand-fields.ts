import type { BrandForm } from '../api/types.ts'
import { t } from '../language/text.ts'

/** A field by its place in the form: `name`, `links.terms`. */
export type FieldName =
  | 'name'
  | 'legal_name'
  | 'tagline'
  | 'language'
  | 'radius'
  | `logo.${'light' | 'dark' | 'square' | 'social'}`
  | `colours.${'primary' | 'accent'}`
  | `links.${'terms' | 'privacy' | 'imprint' | 'support' | 'docs' | 'status'}`
  | `mail.${'from_name' | 'footer' | 'colour'}`

/** The texts of the fields as the operator types them. */
export type BrandFields = Readonly<Partial<Record<FieldName, string>>>

export function formatFields(form: BrandForm): BrandFields {
  return Object.fromEntries(
    Object.entries(form).flatMap(([name, value]) =>
      typeof value === 'object'
        ? Object.entries(value).map(([key, part]) => [`${name}.${key}`, part])
        : [[name, String(value)]],
    ),
  )
}

/** Leaves out empty fields, which then have their default. */
export function readFields(fields: BrandFields): BrandForm {
  const form: Record<string, unknown> = {}
  for (const [place, text] of Object.entries(fields)) {
    const value = text.trim()
    if (value === '') continue
    const [name = '', key] = place.split('.')
    if (key !== undefined) form[name] = { ...(form[name] as object | undefined), [key]: value }
    else form[name] = name === 'radius' ? Number(value) : value
  }
  return form
}

/** Replaces what the service says about the pattern of a field. */
export function describeErrors(
  fields: BrandFields,
  errors: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(errors).map(([name, words]) => {
      if (name === 'links.support') return [name, t('Start with https:// or mailto:')]
      if (name.startsWith('links.')) return [name, t('Start with https://')]
      const value = fields[name as FieldName] ?? ''
      const isColor = name.startsWith('colours.') || name === 'mail.colour'
      if (isColor && !/^#[0-9a-f]{6}$/i.test(value))
        return [name, t('Enter a color such as #1d4ed8')]
      return [name, words]
    }),
  )
}
