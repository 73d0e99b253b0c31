/** The brand as the pages of the user app read it: in a meta element, before the app starts. */
import type { LinkName } from './links.ts'
import type { LiveBrand } from './live.ts'
import { type Colors, deriveColors } from './tokens.ts'

export type PageBrand = {
  name: string
  tagline: string | null
  /** The path of the icon; null for the key, which the app draws itself. */
  mark: string | null
  /** The paths of the logo; null: the mark and the name. */
  logo: { light: string; dark: string } | null
  links: Partial<Record<LinkName, string>>
  radius: number
  colours: Colors
}

/** `ownLinks`: of a brand that names none. */
export function buildPageBrand(brand: LiveBrand, ownLinks: PageBrand['links']): PageBrand {
  const [light, dark] = [brand.findImagePath('light'), brand.findImagePath('dark')]
  return {
    name: brand.name,
    tagline: brand.tagline,
    mark: brand.hasKeyMark ? null : brand.iconPath,
    logo: light !== null && dark !== null ? { light, dark } : null,
    links: { ...ownLinks, ...brand.form.links },
    radius: brand.radius,
    colours: deriveColors(brand.primary, brand.accent),
  }
}
