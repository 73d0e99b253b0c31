import { Anchor } from '@mantine/core'
import { brand } from './brand.ts'

const LABELS = {
  docs: 'Docs',
  status: 'Status',
  support: 'Support',
  terms: 'Terms',
  privacy: 'Privacy',
  imprint: 'Imprint',
}

/** The operator's own pages, for a footer. */
export function BrandLinks() {
  return (Object.keys(LABELS) as (keyof typeof LABELS)[]).map((name) => {
    const url = brand.links[name]
    return (
      url !== undefined && (
        <Anchor key={name} href={url} c="dimmed" py={10} underline="hover">
          {LABELS[name]}
        </Anchor>
      )
    )
  })
}
