/**
 * The form of a brand, in the BRAND file, in the database and in the API. An omitted field has its
 * default. `findFaults` has the rules that a schema cannot express.
 */
import { type Static, type TSchema, Type } from 'typebox'
import { OneOf } from '#platform/http/schema.ts'
import { LOCALES, type Locale } from '#platform/locale.ts'
import type { Issue } from '#platform/problem.ts'
import { findImageFault, IMAGE_BYTES_MAX, SOCIAL_BYTES_MAX } from './images.ts'
import { contrast, fromHex, reach } from './oklch.ts'

const Line = (maxLength: number, description: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[^\\s\\p{C}]([^\\p{C}]*[^\\s\\p{C}])?$',
    description,
  })
const Colour = (description: string) =>
  Type.String({ maxLength: 7, pattern: '^#[0-9a-fA-F]{6}$', description })
const Link = (description: string, pattern = '^https://[^\\s"<>]+$') =>
  Type.String({ maxLength: 500, pattern, description })

/** A picture as a `data:` address; base64 is a third longer than its bytes. */
const Picture = (description: string, bytesMax = IMAGE_BYTES_MAX) =>
  Type.String({
    maxLength: Math.ceil(bytesMax / 3) * 4 + 40,
    pattern: '^data:image/(svg\\+xml|png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$',
    description: `${description} A base64 \`data:\` address of at most ${Math.floor(bytesMax / 1024)} KB.`,
  })

const Group = <P extends Record<string, TSchema>>(title: string, properties: P) =>
  Type.Object(
    Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]),
    ) as { [K in keyof P]: ReturnType<typeof Type.Optional<P[K]>> },
    { title, additionalProperties: false },
  )

export const BrandForm = Type.Object(
  {
    name: Type.Optional(Line(50, 'The name that customers read everywhere.')),
    legal_name: Type.Optional(Line(120, 'The company, in the footers of the shop and of emails.')),
    tagline: Type.Optional(Line(160, 'One sentence below the name and for search engines.')),
    language: Type.Optional(
      Type.Unsafe<Locale>({
        ...OneOf(...LOCALES),
        description:
          'The language of emails to you and your team, and for everyone whose browser asks for neither English nor German. Default: `en`.',
      }),
    ),
    logo: Type.Optional(
      Group('BrandFormLogo', {
        light: Picture('The logo on light pages, in place of the square and the name.'),
        dark: Picture('The logo on dark pages. Default: the light one.'),
        square: Picture('The icon of the apps and of browser tabs.'),
        social: Picture(
          'A PNG or JPEG of 1200 × 630 pixels for links in social networks.',
          SOCIAL_BYTES_MAX,
        ),
      }),
    ),
    colours: Type.Optional(
      Group('BrandFormColours', {
        primary: Colour('Buttons, links and the focus. Needs a contrast of 4.5 : 1 to white.'),
        accent: Colour('Highlights. Needs a contrast of 3 : 1 to white.'),
      }),
    ),
    radius: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 16,
        description: 'The radius of buttons and fields in pixels; cards follow from it.',
      }),
    ),
    links: Type.Optional(
      Group('BrandFormLinks', {
        terms: Link('Terms of service'),
        privacy: Link('Privacy policy'),
        imprint: Link('Imprint'),
        support: Link('Support: a page, or mailto:', '^(https://|mailto:)[^\\s"<>]+$'),
        docs: Link('Documentation'),
        status: Link('Status page'),
      }),
    ),
    mail: Type.Optional(
      Group('BrandFormMail', {
        from_name: Line(50, 'The sender of emails. Default: the name in MAIL_FROM, or the name.'),
        footer: Type.String({
          minLength: 1,
          maxLength: 500,
          pattern: '^[^\\x00-\\x09\\x0b-\\x1f]+$',
          description: 'The last lines of every email, such as your postal address.',
        }),
        colour: Colour('The button of emails. Default: the primary colour.'),
      }),
    ),
  },
  { title: 'BrandForm', additionalProperties: false },
)
export type BrandForm = Static<typeof BrandForm>

/** Of text (WCAG 1.4.3), and of graphics (1.4.11). */
const READABLE = 4.5
const VISIBLE = 3

/** Returns what is wrong with a form that fits the schema. */
export function findFaults(form: BrandForm): Issue[] {
  const { logo = {}, colours = {}, mail = {} } = form
  return [
    ...(['light', 'dark', 'square', 'social'] as const).flatMap((kind) =>
      report(['logo', kind], findImageFault(logo[kind], kind)),
    ),
    ...report(['colours', 'primary'], findContrastFault(colours.primary, READABLE)),
    ...report(['colours', 'accent'], findContrastFault(colours.accent, VISIBLE)),
    ...report(['mail', 'colour'], findContrastFault(mail.colour, READABLE)),
  ]
}

function report(place: string[], msg: string | null): Issue[] {
  return msg === null ? [] : [{ loc: place, msg, type: 'value_error' }]
}

/** Suggests the nearest color that passes. */
function findContrastFault(colour: string | undefined, needed: number): string | null {
  if (colour === undefined) return null
  const ratio = contrast(colour, WHITE)
  if (ratio >= needed) return null
  return `The contrast to white is ${ratio.toFixed(1)} : 1 and must be at least ${needed} : 1: ${reach(fromHex(colour), [WHITE], needed)} passes`
}

const WHITE = '#ffffff'
