/**
 * PBKDF2-HMAC-SHA1 for WinZip's keys: 80 bytes are four chains of SHA-1 (RFC 8018), which one
 * WebAssembly program computes in the four lanes of its vectors. It takes 0.4 of node:crypto's
 * time, which decides the time of an archive with thousands of small files.
 */
import { createHash } from 'node:crypto'

const LANES = 4
const STATE_WORDS = 5
const BLOCK_WORDS = 16
const SALT_BYTES = 16
const VECTOR_BYTES = 16
const INITIAL = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]
const CONSTANTS = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6]

/** Places in memory: two states of the password's HMAC, the message block, the sum. */
const INNER = 0
const OUTER = INNER + STATE_WORDS * VECTOR_BYTES
const BLOCK = OUTER + STATE_WORDS * VECTOR_BYTES
const SUM = BLOCK + BLOCK_WORDS * VECTOR_BYTES

/** The part of the global that is used here; its types belong to the browser's library. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}

type Program = {
  memory: { buffer: ArrayBuffer }
  compress(state: number, block: number, into: number): void
  iterate(rounds: number): void
}

export class Pbkdf2Lanes {
  readonly #program = new WebAssembly.Instance(new WebAssembly.Module(buildModule()))
    .exports as Program
  readonly #words = new Uint32Array(this.#program.memory.buffer)
  #password: string | null = null

  /** Returns the first `sizeBytes` of the key, at most 80. The salt has 16 bytes. */
  derive(password: string, salt: Uint8Array, rounds: number, sizeBytes: number): Buffer {
    if (salt.length !== SALT_BYTES) throw new Error(`a salt has ${SALT_BYTES} bytes`)
    if (password !== this.#password) this.#prepare(password)

    // The salt, the number of the chain, and SHA-1's padding of 64 + 20 bytes. The padding stays.
    this.#fill(BLOCK, [0, 0, 0, 0, 0, 0x80000000, 0, 0, 0, 0, 0, 0, 0, 0, 0, (64 + 20) * 8])
    this.#fill(BLOCK, readWords(Buffer.from(salt)))
    for (let lane = 0; lane < LANES; lane++) this.#words[BLOCK / 4 + 4 * LANES + lane] = lane + 1
    this.#fill(SUM, [0, 0, 0, 0, 0])
    this.#program.iterate(rounds)

    const key = Buffer.alloc(LANES * STATE_WORDS * 4)
    for (let lane = 0; lane < LANES; lane++)
      for (let word = 0; word < STATE_WORDS; word++) {
        const value = this.#words[SUM / 4 + word * LANES + lane] as number
        key.writeUInt32BE(value, (lane * STATE_WORDS + word) * 4)
      }
    return key.subarray(0, sizeBytes)
  }

  /** Computes the states of HMAC (RFC 2104) after the padded password. */
  #prepare(password: string) {
    const bytes = Buffer.from(password)
    const key = Buffer.alloc(BLOCK_WORDS * 4)
    if (bytes.length > key.length) createHash('sha1').update(bytes).digest().copy(key)
    else bytes.copy(key)
    for (const [place, filler] of [
      [INNER, 0x36363636],
      [OUTER, 0x5c5c5c5c],
    ] as const) {
      this.#fill(place, INITIAL)
      this.#fill(
        BLOCK,
        readWords(key).map((word) => word ^ filler),
      )
      this.#program.compress(place, BLOCK, place)
    }
    this.#password = password
  }

  /** Writes the same words to all lanes. */
  #fill(place: number, words: number[]) {
    for (const [index, word] of words.entries()) {
      const at = place / 4 + index * LANES
      this.#words.fill(word, at, at + LANES)
    }
  }
}

function readWords(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32BE(index * 4))
}

/** Bytes of the WebAssembly binary format. */
type Code = number[]

const simd = (operation: number): Code => [0xfd, ...unsigned(operation)]
const get = (local: number): Code => [0x20, ...unsigned(local)]
const set = (local: number): Code => [0x21, ...unsigned(local)]
const constant = (value: number): Code => [0x41, ...signed(value | 0)]
const call = (index: number): Code => [0x10, ...unsigned(index)]
const load = (offset: number): Code => [...simd(0x00), 4, ...unsigned(offset)]
const store = (offset: number): Code => [...simd(0x0b), 4, ...unsigned(offset)]
const splat = (value: number): Code => [...constant(value), ...simd(0x11)]
const [ADD, XOR, OR, SELECT] = [simd(0xae), simd(0x51), simd(0x50), simd(0x52)]
const END = 0x0b

function rotate(local: number, bits: number): Code {
  const left = [...get(local), ...constant(bits), ...simd(0xab)]
  return [...left, ...get(local), ...constant(32 - bits), ...simd(0xad), ...OR]
}

/** SHA-1's compression (FIPS 180-4, 6.1.2) of a state and a block, into a state. */
function buildCompress(): Code {
  const [STATE, MESSAGE, INTO, FIRST] = [0, 1, 2, 3]
  const word = (index: number) => FIRST + STATE_WORDS + (index % BLOCK_WORDS)
  const spare = word(0) + BLOCK_WORDS
  const code: Code = []
  for (let index = 0; index < STATE_WORDS; index++)
    code.push(...get(STATE), ...load(index * VECTOR_BYTES), ...set(FIRST + index))
  for (let index = 0; index < BLOCK_WORDS; index++)
    code.push(...get(MESSAGE), ...load(index * VECTOR_BYTES), ...set(word(index)))

  for (let round = 0; round < 80; round++) {
    // The variables change places instead of values: a of this round is b of the next.
    const local = (index: number) => FIRST + ((((index - round) % 5) + 5) % 5)
    const [a, b, c, d, e] = [local(0), local(1), local(2), local(3), local(4)]
    const w = word(round)
    if (round >= BLOCK_WORDS) {
      const [w13, w8, w2] = [word(round + 13), word(round + 8), word(round + 2)]
      code.push(...get(w13), ...get(w8), ...XOR, ...get(w2), ...XOR, ...get(w), ...XOR)
      code.push(...set(spare), ...rotate(spare, 1), ...set(w))
    }
    const parity = [...get(b), ...get(c), ...XOR, ...get(d), ...XOR]
    const choose = [...get(c), ...get(d), ...get(b), ...SELECT]
    const majority = [...get(c), ...get(d), ...get(b), ...get(d), ...XOR, ...SELECT]
    const f = [choose, parity, majority, parity][Math.floor(round / 20)] as Code
    code.push(...get(e), ...splat(CONSTANTS[Math.floor(round / 20)] as number), ...ADD)
    code.push(...get(w), ...ADD, ...f, ...ADD, ...rotate(a, 5), ...ADD, ...set(e))
    code.push(...rotate(b, 30), ...set(b))
  }

  for (let index = 0; index < STATE_WORDS; index++) {
    const place = index * VECTOR_BYTES
    code.push(...get(INTO), ...get(FIRST + index), ...get(STATE), ...load(place), ...ADD)
    code.push(...store(place))
  }
  return [1, STATE_WORDS + BLOCK_WORDS + 1, 0x7b, ...code, END]
}

/** HMAC of the block into the block, added to the sum, as often as the argument says. */
function buildIterate(compress: number): Code {
  const loop: Code = []
  for (const state of [INNER, OUTER])
    loop.push(...constant(state), ...constant(BLOCK), ...constant(BLOCK), ...call(compress))
  for (let index = 0; index < STATE_WORDS; index++) {
    const place = index * VECTOR_BYTES
    loop.push(...constant(0), ...constant(0), ...load(SUM + place))
    loop.push(...constant(0), ...load(BLOCK + place), ...XOR, ...store(SUM + place))
  }
  const countDown = [...get(0), ...constant(1), 0x6b, 0x22, 0]
  const again = [0x0d, 0]
  return [0, 0x03, 0x40, ...loop, ...countDown, ...again, END, END]
}

function buildModule(): Uint8Array<ArrayBuffer> {
  const [I32, FUNCTION] = [0x7f, 0x60]
  const types = [
    [FUNCTION, 3, I32, I32, I32, 0],
    [FUNCTION, 1, I32, 0],
  ]
  const exported = (name: string, kind: number, index: number) => [
    name.length,
    ...Buffer.from(name),
    kind,
    index,
  ]
  const bodies = [buildCompress(), buildIterate(0)].map((body) => [
    ...unsigned(body.length),
    ...body,
  ])
  return Uint8Array.from([
    ...Buffer.from('\0asm'),
    ...[1, 0, 0, 0],
    ...section(1, types),
    ...section(3, [[0], [1]]),
    ...section(5, [[0, 1]]),
    ...section(7, [
      exported('compress', 0, 0),
      exported('iterate', 0, 1),
      exported('memory', 2, 0),
    ]),
    ...section(10, bodies),
  ])
}

function section(id: number, items: Code[]): Code {
  const body = [...unsigned(items.length), ...items.flat()]
  return [id, ...unsigned(body.length), ...body]
}

/** LEB128. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

function signed(value: number): Code {
  const isLast = value >= -0x40 && value < 0x40
  return isLast ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)]
}
