/**
 * Inverse document frequency of each word among one user's chunks: a word that is everywhere says little about any one place.
 * Kept as counts per document, so that adding or removing a document is adding or removing its counts. Words share 2^18 buckets.
 */
const BUCKET_BITS = 18
export const BUCKETS = 1 << BUCKET_BITS

/** Stands in for texts not seen yet, so that a store of one chunk does not take its every word for common. */
const PRIOR_CHUNKS = 100
const PRIOR_COUNT = 1

export class Idf {
  #counts = new Uint32Array(BUCKETS)
  #chunks = 0

  add(packed: Uint8Array, chunks: number): void {
    this.#chunks += chunks
    unpack(packed, (bucket, count) => {
      this.#counts[bucket] = (this.#counts[bucket] as number) + count
    })
  }

  remove(packed: Uint8Array, chunks: number): void {
    this.#chunks -= chunks
    unpack(packed, (bucket, count) => {
      this.#counts[bucket] = (this.#counts[bucket] as number) - count
    })
  }

  /** BM25's inverse document frequency, with the prior. Always above 0. */
  weight(feature: number): number {
    const count = (this.#counts[bucketOf(feature)] as number) + PRIOR_COUNT
    const chunks = this.#chunks + PRIOR_CHUNKS
    return Math.log(1 + Math.max(0, chunks - count + 0.5) / (count + 0.5))
  }
}

/** In how many of `chunks` each feature is, packed: bucket deltas and counts as LEB128, some 3 bytes a word. */
export function packFrequencies(chunks: Iterable<Iterable<number>>): Uint8Array {
  const counts = new Map<number, number>()
  for (const features of chunks) {
    const buckets = new Set<number>()
    for (const feature of features) buckets.add(bucketOf(feature))
    for (const bucket of buckets) counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
  }

  return pack(counts)
}

/** Of a document that was embedded in batches. */
export function sumFrequencies(batches: Uint8Array[]): Uint8Array {
  const [only] = batches
  if (only !== undefined && batches.length === 1) return only
  const counts = new Map<number, number>()
  for (const packed of batches) {
    unpack(packed, (bucket, count) => {
      counts.set(bucket, (counts.get(bucket) ?? 0) + count)
    })
  }
  return pack(counts)
}

/** What remains of a document's when a chunk's are taken off. */
export function subtractFrequencies(packed: Uint8Array, taken: Uint8Array): Uint8Array {
  const counts = new Map<number, number>()
  unpack(packed, (bucket, count) => {
    counts.set(bucket, count)
  })
  unpack(taken, (bucket, count) => {
    counts.set(bucket, (counts.get(bucket) ?? 0) - count)
  })
  return pack(counts)
}

function pack(counts: Map<number, number>): Uint8Array {
  const bytes: number[] = []
  let last = 0
  for (const bucket of [...counts.keys()].sort((a, b) => a - b)) {
    const count = counts.get(bucket) ?? 0
    if (count <= 0) continue
    writeNumber(bytes, bucket - last)
    writeNumber(bytes, count)
    last = bucket
  }
  return Uint8Array.from(bytes)
}

/** So many buckets that the few hundred features of a chunk hardly ever share one. */
export function bucketOf(feature: number): number {
  return feature >>> (32 - BUCKET_BITS)
}

function writeNumber(bytes: number[], value: number): void {
  let rest = value
  while (rest > 127) {
    bytes.push((rest & 127) | 128)
    rest >>>= 7
  }
  bytes.push(rest)
}

function unpack(packed: Uint8Array, each: (bucket: number, count: number) => void): void {
  let at = 0
  const readNumber = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = packed[at++] ?? 0
      value |= (byte & 127) << shift
      if (byte < 128) return value
    }
  }
  for (let bucket = 0; at < packed.length; ) {
    bucket += readNumber()
    each(bucket, readNumber())
  }
}
