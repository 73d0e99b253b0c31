/** Shared by all parts of Office packages: their relations and their XML. */
import { listElements } from './xml.ts'
import type { Zip } from './zip.ts'

export const PART_MAX = 150_000_000

export function decodeXml(bytes: Uint8Array): string {
  const [a, b] = bytes
  if (a === 0xff && b === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (a === 0xfe && b === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  return new TextDecoder().decode(bytes)
}

export type Relation = { id: string; type: string; target: string }

/** Returns the relations of a part, with targets as paths in the package. */
export function readRelations(zip: Zip, part: string): Relation[] {
  const slash = part.lastIndexOf('/')
  const bytes = zip.read(`${part.slice(0, slash + 1)}_rels/${part.slice(slash + 1)}.rels`, PART_MAX)
  if (bytes === undefined) return []
  return listElements(decodeXml(bytes), 'Relationship')
    .filter((fields) => fields.get('TargetMode') !== 'External')
    .map((fields) => ({
      id: fields.get('Id') ?? '',
      type: fields.get('Type')?.split('/').at(-1) ?? '',
      target: resolvePath(part.slice(0, slash + 1), fields.get('Target') ?? ''),
    }))
}

/** Returns the main part that the package names, else the usual one. */
export function findMainPart(zip: Zip, usual: string): string {
  return readRelations(zip, '').find(({ type }) => type === 'officeDocument')?.target ?? usual
}

/** Resolves a path such as `../media/a.png` from a part's folder. */
export function resolvePath(folder: string, target: string): string {
  const path: string[] = []
  for (const step of (target.startsWith('/') ? target : folder + target).split('/')) {
    if (step === '..') path.pop()
    else if (step !== '.' && step !== '') path.push(step)
  }
  return path.join('/')
}
