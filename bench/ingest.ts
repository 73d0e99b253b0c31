// Measures how fast a text becomes searchable over HTTP: MB per CPU second of the service, without
// and with its first search.
import { chunkEvaluation, dataFolder, xquad } from './lib/corpora.ts'
import { payingUser, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'

export const description = 'MB of text stored per CPU second over HTTP'

const BYTES = 16_000_000
const MIN_PER_CPU_SECOND = 4

export async function run(args: string[]): Promise<void> {
  const folder = dataFolder(args)
  if (folder === null) return
  const sets: [string, string][] = [
    [
      'English, many sets',
      chunkEvaluation(folder)
        .map(({ text }) => text)
        .join('\n\n'),
    ],
    ['Chinese', xquad(folder, 'zh').paragraphs.join('\n\n')],
  ]
  const service = await startService({
    RATE_LIMIT_RAG: 'off',
    RATE_LIMIT_GENERAL: 'off',
    EMBEDDER: 'local',
  })
  const rows: string[][] = []
  try {
    for (const [name, prose] of sets) {
      for (const [pieces, bytes] of [
        [1, BYTES],
        [200, 20_000],
      ] as const) {
        const { token } = await payingUser(service)
        const post = async (path: string, body: object) => {
          const reply = await fetch(`${service.url}${path}`, {
            method: 'POST',
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          })
          const text = await reply.text()
          if (!reply.ok) throw new Error(`${path}: ${reply.status} ${text.slice(0, 200)}`)
        }
        const size = Math.ceil((bytes * prose.length) / Buffer.byteLength(prose))
        const repeated = prose.repeat(Math.ceil((size * 2) / prose.length) + 1)
        let sent = 0
        const beforeMs = service.cpuMs()
        for (let i = 0; i < pieces; i++) {
          const from = (i * 7_919) % prose.length
          const content = `${i} ${repeated.slice(from, from + size)}`
          sent += Buffer.byteLength(content)
          await post('/api/rag/ingest/text', { content })
        }
        const ingestMs = service.cpuMs() - beforeMs
        await post('/api/rag/search', { query: 'What was decided about the budget?' })
        const firstMs = service.cpuMs() - beforeMs - ingestMs
        const perSecond = sent / 1e3 / ingestMs
        rows.push([
          name,
          `${pieces} × ${(sent / pieces / 1e6).toFixed(2)} MB`,
          perSecond.toFixed(1),
          perSecond >= MIN_PER_CPU_SECOND ? 'ok' : 'FAILED',
          (sent / 1e3 / (ingestMs + firstMs)).toFixed(1),
        ])
      }
    }
  } finally {
    await service.stop()
  }
  printTable(
    `MB of UTF-8 per CPU second, all threads, at 1000/200; at least ${MIN_PER_CPU_SECOND}`,
    ['text', 'sent', 'stored', '', 'stored and searched once'],
    rows,
  )
}
