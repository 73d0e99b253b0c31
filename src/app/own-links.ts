/** The links of a brand that names none: the shop's documentation and legal pages. */
import type { LinkName } from '#brand/links.ts'
import type { Config } from '#config/config.ts'
import { type LegalDeps, listLegalPages } from '#storefront/pages/legal-pages.ts'

const LEGAL: readonly LinkName[] = ['terms', 'privacy', 'imprint']

export async function findOwnLinks(
  deps: LegalDeps & { config: Pick<Config, 'urls'> },
): Promise<Partial<Record<LinkName, string>>> {
  const { storefront } = deps.config.urls
  const paths = (await listLegalPages(deps)).map(({ path }) => path)
  const legal = LEGAL.filter((name) => paths.includes(`/legal/${name}`)).map((name) => [
    name,
    `${storefront}/legal/${name}`,
  ])
  return { docs: `${storefront}/docs`, ...Object.fromEntries(legal) }
}
