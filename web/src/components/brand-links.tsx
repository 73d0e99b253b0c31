import { Anchor } from '@mantine/core'
import { LINK_LABELS, LINKS } from '../../../src/brand/links.ts'
import { t } from '../language/text.ts'
import { brand } from './brand.ts'

/** The operator's own pages, for a footer. */
export function BrandLinks() {
  return LINKS.map((name) => {
    const url = brand.links[name]
    return (
      url !== undefined && (
        <Anchor key={name} href={url} c="dimmed" py={10} underline="hover">
          {t(LINK_LABELS[name])}
        </Anchor>
      )
    )
  })
}
