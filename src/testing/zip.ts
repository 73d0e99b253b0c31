// Writes ZIPs for tests, honest ones and hostile ones: every field of an entry can be forged.
import { crc32, deflateRawSync } from 'node:zlib'

export type ZipItem = {
  name: string | Buffer
  content?: string | Buffer
  /** Default: deflated. */
  method?: number
  flags?: number
  /** Unix mode with the file's type. */
  mode?: number
  /** Declared instead of the true values. */
  sizeBytes?: number
  checksum?: number
  localName?: string
  /** The number of the entry whose header and data this one shares. */
  shares?: number
}

const UTF8 = 0x800

export function writeZip(
  items: readonly ZipItem[],
  { before = '', between = '', comment = '' } = {},
): Buffer {
  const parts: Buffer[] = [Buffer.from(before)]
  const central: Buffer[] = []
  const offsets: number[] = []
  for (const item of items) {
    const { content = '', method = 8, flags = UTF8, mode = 0o100644 } = item
    const bytes = Buffer.from(content)
    const packed = method === 8 ? deflateRawSync(bytes) : bytes
    const name = Buffer.from(item.name)
    const at = item.shares === undefined ? sum(parts) : (offsets[item.shares] ?? 0)
    offsets.push(at)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(flags, 2)
    fields.writeUInt16LE(method, 4)
    fields.writeUInt32LE(item.checksum ?? crc32(bytes), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(item.sizeBytes ?? bytes.length, 18)
    fields.writeUInt16LE(name.length, 22)
    if (item.shares === undefined) {
      const localName = Buffer.from(item.localName ?? item.name)
      const local = Buffer.from(fields)
      local.writeUInt16LE(localName.length, 22)
      parts.push(Buffer.from('PK\x03\x04'), local, localName, packed)
    }
    const record = Buffer.alloc(46)
    record.write('PK\x01\x02', 'latin1')
    record.writeUInt16LE((3 << 8) | 20, 4)
    fields.copy(record, 6)
    record.writeUInt32LE(mode * 0x10000, 38)
    record.writeUInt32LE(at, 42)
    central.push(record, name)
  }
  parts.push(Buffer.from(between))
  const at = sum(parts)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(items.length, 8)
  end.writeUInt16LE(items.length, 10)
  end.writeUInt32LE(sum(central), 12)
  end.writeUInt32LE(at, 16)
  end.writeUInt16LE(comment.length, 20)
  return Buffer.concat([...parts, ...central, end, Buffer.from(comment)])
}

const sum = (parts: readonly Buffer[]) => parts.reduce((total, { length }) => total + length, 0)
