// Downloads that break off, and resumes that complete them.
import { get, type IncomingMessage } from 'node:http'

type Part = { status: number; etag: string; bytes: Buffer }

/** Downloads until `cut` bytes have arrived, then resumes with a Range until all have. */
export async function downloadInTwo(
  url: string,
  headers: Record<string, string>,
  cut: number,
): Promise<Buffer> {
  const first = await read(url, headers, cut)
  if (first.status !== 200) throw new Error(`the download was answered with ${first.status}`)
  const range = `bytes=${first.bytes.length}-`
  const rest = await read(url, { ...headers, range, 'if-range': first.etag })
  if (rest.status !== 206) throw new Error(`the resume was answered with ${rest.status}`)
  return Buffer.concat([first.bytes, rest.bytes])
}

/** Breaks the connection once `cut` bytes have arrived. */
export function read(
  url: string,
  headers: Record<string, string>,
  cut = Number.POSITIVE_INFINITY,
): Promise<Part> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers, agent: false }, (reply: IncomingMessage) => {
      const pieces: Buffer[] = []
      let arrived = 0
      const finish = () =>
        resolve({
          status: reply.statusCode ?? 0,
          etag: reply.headers.etag ?? '',
          // A whole small archive can arrive in one piece.
          bytes: Buffer.concat(pieces).subarray(0, cut),
        })
      reply.on('data', (piece: Buffer) => {
        if (arrived >= cut) return
        pieces.push(piece)
        arrived += piece.length
        if (arrived < cut) return
        finish()
        request.destroy()
      })
      reply.once('end', finish)
      reply.once('error', (error) => arrived < cut && reject(error))
    })
    request.once('error', reject)
  })
}
