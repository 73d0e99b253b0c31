import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from '#testing/app.ts'
import { joinTokens, OpenEvents, readEvents } from '#testing/events.ts'
import { holds, mockVendor, says } from '#testing/mock-vendor.ts'
import { crashRounds } from '../bench/crash/rounds.ts'
import { payingUser, signUp, startService } from '../bench/lib/service.ts'

test('kill -9 during the main path loses nothing acknowledged and sends no email twice', async () => {
  for (const round of await crashRounds(3)) {
    assert.deepEqual(
      round.wrong,
      [],
      `killed after ${round.killedAfterMs} ms, with ${round.acknowledged}`,
    )
  }
})

test('kill -9 during an answer keeps what was written, and the conversation continues', async (t) => {
  const vendor = await mockVendor(t)
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-crash-'))
  const env = { ...vendor.env.anthropic, LLM_VENDORS: 'anthropic/claude-haiku-5-5' }
  const start = () => startService(env, { dataDir })
  let service = await start()
  t.after(async () => {
    await service.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const { email, token: first } = await payingUser(service)
  let token = first
  const at = (url: string) => createClient(url, token, { email: '', userId: '', refreshToken: '' })
  const { id } = (await at(service.url).post('/api/conversations', { title: 'Numbers' })).body
  const path = `/api/conversations/${id}`
  const readLast = async () => {
    const { status, body, text } = await at(service.url).get(path)
    assert.equal(status, 200, text)
    return body.messages.at(-1)
  }

  vendor.play(holds('one two three', 2, new Promise(() => {})))
  const question = { parts: [{ type: 'text', text: 'Count.' }], documents: 'off' }
  const stream = await OpenEvents.open(
    `${service.url}${path}/messages`,
    { token },
    { body: question },
  )
  await stream.until(({ data }) => data.token?.includes('two'))
  // The row is written every second.
  while ((await readLast()).parts.length === 0) await wait(50)
  service.child.kill('SIGKILL')
  await stream.end()
  assert.doesNotMatch(stream.text, /\[DONE\]/)

  // The other port is another issuer of tokens.
  service = await start()
  token = (await signUp(service.url, email)).token
  const last = await readLast()
  assert.deepEqual([last.outcome, last.parts[0].text.trim()], ['interrupted', 'one two'])
  vendor.play(says('three'))
  const next = await at(service.url).post(`${path}/messages`, { ...question, parent_id: last.id })
  assert.equal(joinTokens(readEvents(next.text)), 'three')
})
