import type { PageBrand } from '../../../src/brand/page-brand.ts'

/** The brand that the service wrote into the page. */
export const brand: PageBrand = JSON.parse(
  document.querySelector<HTMLMetaElement>('meta[name=brand]')?.content ?? '{}',
)

export const BRAND = brand.name
