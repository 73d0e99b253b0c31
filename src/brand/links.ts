/** The operator's own pages that footers link to, in their order. */
export const LINK_LABELS = {
  docs: 'Docs',
  status: 'Status',
  support: 'Support',
  terms: 'Terms',
  privacy: 'Privacy',
  imprint: 'Imprint',
} as const
export type LinkName = keyof typeof LINK_LABELS
export const LINKS = Object.keys(LINK_LABELS) as LinkName[]
