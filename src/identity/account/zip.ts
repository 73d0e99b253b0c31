import { promisify } from 'node:util'
import { crc32, deflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)

const SIZE_MAX = 0xffff_ffff
const COUNT_MAX = 0xffff

/**
 * A plain ZIP, a file in memory at a time (PKWARE APPNOTE 6.3, deflate, UTF-8 names, no ZIP64:
 * under 4 GB and 65,535 files). Sold files use the storefront's encrypted writer; this one is for a
 * person's own data.
 */
export async function* writeZip(
  files: AsyncIterable<{ name: string; content: Buffer }>,
  modified: Date,
): AsyncGenerator<Buffer> {
  const [time, date] = dosMoment(modified)
  const centrals: Buffer[] = []
  let count = 0
  let offset = 0

  for await (const { name, content } of files) {
    const nameBytes = Buffer.from(name)
    const packed = await deflate(content)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0) // version needed: 2.0
    fields.writeUInt16LE(0x0800, 2) // names are UTF-8
    fields.writeUInt16LE(8, 4) // deflate
    fields.writeUInt16LE(time, 6)
    fields.writeUInt16LE(date, 8)
    fields.writeUInt32LE(crc32(content), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(content.length, 18)
    fields.writeUInt16LE(nameBytes.length, 22)

    yield Buffer.concat([signature(0x04034b50), fields, nameBytes, packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    centrals.push(signature(0x02014b50), Buffer.from([20, 0]), fields, rest, nameBytes)
    offset += 4 + fields.length + nameBytes.length + packed.length
    count++
    if (offset > SIZE_MAX || count > COUNT_MAX)
      throw new Error('more than a ZIP without ZIP64 can hold')
  }

  const directory = Buffer.concat(centrals)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(count, 4)
  end.writeUInt16LE(count, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(offset, 12)
  yield Buffer.concat([directory, signature(0x06054b50), end])
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** MS-DOS time and date: two-second steps since 1980. */
function dosMoment(moment: Date): [time: number, date: number] {
  const time =
    (moment.getUTCHours() << 11) | (moment.getUTCMinutes() << 5) | (moment.getUTCSeconds() >> 1)
  const date =
    ((moment.getUTCFullYear() - 1980) << 9) |
    ((moment.getUTCMonth() + 1) << 5) |
    moment.getUTCDate()
  return [time, date]
}
