import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Config } from '#config/config.ts'
import type { Service } from './service.ts'
import { ServiceProcess } from './service-process.ts'

/** A process whose settings are a word; a service starts with every word but those in `broken`. */
function processOf(broken: Set<string>) {
  const events: string[] = []
  const state = { saved: 'first', lost: null as unknown, restart: () => {} }
  let closing = Promise.resolve()
  const life = new ServiceProcess({
    async start({ restart, restartFailure }) {
      const settings = state.saved
      await closing
      if (broken.has(settings)) throw new Error(`${settings} cannot start`)
      events.push(`${settings} up${restartFailure === null ? '' : `: ${restartFailure}`}`)
      state.restart = restart
      const log = { info() {}, error() {} }
      const service = {
        platform: { log },
        async close(drainMs: number, delayMs = 0) {
          await closing
          events.push(`${settings} closed in ${drainMs} ms after ${delayMs}`)
        },
      } as unknown as Service
      const config = { drain: { seconds: 30, delaySeconds: 5 } } as Config
      return { config, service }
    },
    rememberSettings() {
      const { saved } = state
      return () => {
        state.saved = saved
      }
    },
    onLost: (error) => {
      state.lost = error
    },
  })
  const settle = async (count: number) => {
    for (let turns = 0; turns < 1_000 && events.length < count; turns++)
      await new Promise((resolve) => setImmediate(resolve))
    assert.equal(events.length, count, events.join(', '))
  }
  return {
    life,
    events,
    state,
    settle,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      closing = promise
      return resolve
    },
  }
}

test('a restart ends the service before it starts the next, with a bound', async () => {
  const { life, events, state, settle } = processOf(new Set())
  await life.start()
  state.saved = 'second'
  state.restart()
  await settle(3)
  assert.deepEqual(events, ['first up', 'first closed in 30000 ms after 0', 'second up'])
  await life.stop()
  assert.equal(events.at(-1), 'second closed in 30000 ms after 5000')
})

test('settings that no service starts with are undone, and the next service knows why', async () => {
  const { life, events, state, settle } = processOf(new Set(['second']))
  await life.start()
  state.saved = 'second'
  state.restart()
  await settle(3)
  assert.equal(events[2], 'first up: second cannot start')
  assert.equal(state.saved, 'first')
  assert.equal(state.lost, null)
  state.saved = 'third'
  state.restart()
  await settle(5)
  assert.equal(events[4], 'third up')
  await life.stop()
})

test('without a service that starts, the process ends with the reason', async () => {
  const broken = new Set<string>()
  const { life, state, settle } = processOf(broken)
  await life.start()
  broken.add('first').add('second')
  state.saved = 'second'
  state.restart()
  await settle(2)
  for (let turns = 0; turns < 1_000 && state.lost === null; turns++)
    await new Promise((resolve) => setImmediate(resolve))
  assert.match(String(state.lost), /first cannot start/)
  await life.stop()
})

test('a signal during a restart waits for it, and impatient requests restart once', async () => {
  const { life, events, state, hold } = processOf(new Set())
  await life.start()
  const release = hold()
  state.saved = 'second'
  state.restart()
  state.restart()
  await new Promise((resolve) => setImmediate(resolve))
  const stopped = life.stop()
  state.restart()
  release()
  await stopped
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(events, [
    'first up',
    'first closed in 30000 ms after 0',
    'second up',
    'second closed in 30000 ms after 5000',
  ])
})
