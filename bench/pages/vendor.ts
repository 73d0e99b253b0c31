// A vendor with OpenAI's API that writes Markdown at a constant rate. It compensates for late
// timers.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const TICK_MS = 8

export async function steadyVendor({ tokens, perSecond }: { tokens: number; perSecond: number }) {
  const words =
    `${MARKDOWN.repeat(Math.ceil((tokens * 6) / MARKDOWN.length))}`
      .match(/\s*\S+/g)
      ?.slice(0, tokens) ?? []
  let finished = Promise.withResolvers<void>()
  const server = createServer((request, reply) => {
    request.resume()
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    const begun = performance.now()
    let sent = 0
    const timer = setInterval(() => {
      const due = Math.min(
        words.length,
        Math.floor(((performance.now() - begun) / 1_000) * perSecond),
      )
      if (due > sent)
        reply.write(
          words
            .slice(sent, due)
            .map((content) => chunk({ content }))
            .join(''),
        )
      sent = due
      if (sent < words.length) return
      clearInterval(timer)
      reply.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
      finished.resolve()
      finished = Promise.withResolvers()
    }, TICK_MS)
    reply.once('close', () => clearInterval(timer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    /** Resolves when the next answer has been written to its end. */
    finished: () => finished.promise,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function chunk(delta: object, finish_reason: string | null = null): string {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'gpt-6-luna', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
}

/** Typical output of models: paragraphs with bold words, a list, a table, code. */
export const MARKDOWN = `

## How a lock works

A **pin tumbler lock** has pins of several lengths, and a key that lifts *each of them* to one line, the shear line. Where a
single pin stands too high or too low, the plug does not turn; that is all there is to it, see [the drawing](https://example.com).

- **Driver pins** are pushed down by springs
- **Key pins** rest on the key, and each is as long as its cut is deep
- The \`bitting\` is the list of these depths

| Part | Made of | Price |
| :--- | :--- | ---: |
| Plug | Brass | 4.20 |
| Spring | Steel | 0.11 |

\`\`\`ts
export function opens(key: number[], lock: number[]): boolean {
  return key.length === lock.length && key.every((depth, pin) => depth === lock[pin])
}
\`\`\`

1. Insert the key as far as it goes
2. Turn it, and do not force it
`
