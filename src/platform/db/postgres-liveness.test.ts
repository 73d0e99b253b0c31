import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { Liveness } from './postgres-liveness.ts'

test('a statement that began during a failed check on a connection just as silent is given up', async () => {
  const liveness = new Liveness()
  const [idle, trusted, alive] = [silentClient(), silentClient(), silentClient()]
  for (const { client } of [idle, trusted, alive]) liveness.settled(client, true)
  await wait(1_100)
  liveness.settled(trusted.client, true)
  const fresh = silentClient()
  const connected = liveness.connect(poolOf(idle.client, fresh.client))
  await wait(100)
  liveness.asked(trusted.client)
  liveness.asked(alive.client)
  liveness.settled(alive.client, true)
  liveness.asked(alive.client)

  assert.equal(await connected, fresh.client)
  assert.deepEqual([idle.isReleased, trusted.isDestroyed], [true, false], 'it has time to answer')
  await wait(300)
  assert.deepEqual([trusted.isDestroyed, alive.isDestroyed], [true, false])
})

/** A connection that answers no check. */
function silentClient() {
  const state = { isReleased: false, isDestroyed: false }
  const client = {
    query: () => new Promise(() => {}),
    release: () => {
      state.isReleased = true
    },
    connection: {
      stream: {
        destroy: () => {
          state.isDestroyed = true
        },
      },
    },
  } as unknown as PoolClient
  return Object.assign(state, { client })
}

function poolOf(...clients: PoolClient[]): Pool {
  return { connect: async () => clients.shift() } as unknown as Pool
}
