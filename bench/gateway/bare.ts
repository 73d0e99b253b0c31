// Lower bound: parses and encodes the events of one stream repeatedly; prints CPU microseconds per
// token.
import { tokenEvent } from './mock.ts'

const TOKENS = 2_000
const ROUNDS = 150
const READ_BYTES = 64 * 1024

const bytes = Buffer.from(
  Array.from({ length: TOKENS }, (_, number) => tokenEvent(number)).join(''),
)
let printedBytes = 0

function once() {
  let rest = ''
  for (let at = 0; at < bytes.length; at += READ_BYTES) {
    const events = (rest + bytes.toString('utf8', at, at + READ_BYTES)).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      printedBytes += Buffer.from(`data: ${JSON.stringify(JSON.parse(event.slice(6)))}\n\n`).length
    }
  }
}

for (let round = 0; round < 30; round++) once()
const before = process.cpuUsage()
for (let round = 0; round < ROUNDS; round++) once()
const { user, system } = process.cpuUsage(before)
if (printedBytes === 0) throw new Error('nothing was printed')
console.log((user + system) / (TOKENS * ROUNDS))
