/**
 * Uploaded releases lie beside the folders of versions, under a name that no version has, so that
 * only their rows in the database publish them.
 */
import type { Tier } from '#catalogue/catalogue.ts'

const UPLOADED = '_uploaded'

export const buildReleaseFolder = ({ tier, id }: { tier: Tier; id: string }) =>
  `${tier}/${UPLOADED}/${id}`

export const isUploaded = (path: string): boolean => path.split('/')[1] === UPLOADED
