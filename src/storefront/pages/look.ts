/** The shop's colors and corners under an operator's brand, as variables over storefront.css. */
import type { LiveBrand } from '#brand/live.ts'
import { deriveColors } from '#brand/tokens.ts'

export function shopLook(brand: LiveBrand): string {
  const { tokens, highlight, tints, steps } = deriveColors(brand.primary, brand.accent)
  const { light, dark } = tokens
  const pairs = {
    green: [light.accent, dark.accent],
    'green-deep': [steps.pine[8], tints.pine.text],
    'on-green': [light.accentText, dark.accentText],
    tint: [steps.pine[0], tints.pine.ground],
    brass: [highlight.light, highlight.dark],
  }
  const colors = Object.entries(pairs).map(
    ([name, [onLight, onDark]]) => `--${name}:light-dark(${onLight},${onDark})`,
  )
  const { radius } = brand
  return `:root{${[...colors, `--radius:${radius * 1.75}px`, `--radius-field:${radius * 1.25}px`].join(';')}}
`
}
