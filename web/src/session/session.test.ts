import assert from 'node:assert/strict'
import test from 'node:test'
import type { TokenPair } from '../api/types.ts'
import { Session, type SessionMessage } from './session.ts'
import { parseClaims } from './token.ts'

const T0 = 1_800_000_000_000
const MINUTE = 60_000

test('a fresh access token is used without renewal', async () => {
  const browser = newBrowser()
  const tab = browser.open()
  tab.begin(browser.pair('ada'))
  assert.equal(await tab.token(), browser.issued.at(-1)?.access_token)
  assert.equal(browser.renewals, 0)
})

test('a token with less than a minute left is renewed before use', async () => {
  const browser = newBrowser()
  const tab = browser.open()
  tab.begin(browser.pair('ada'))
  browser.clock += 29.5 * MINUTE
  assert.equal(await tab.token(), browser.issued.at(-1)?.access_token)
  assert.equal(browser.renewals, 1)
})

test('a hundred concurrent callers renew once', async () => {
  const browser = newBrowser()
  const tab = browser.open()
  tab.begin(browser.pair('ada'))
  browser.clock += 31 * MINUTE
  const tokens = await Promise.all(Array.from({ length: 100 }, () => tab.token()))
  assert.equal(new Set(tokens).size, 1)
  assert.equal(browser.renewals, 1)
})

test('many tabs waking together never spend a refresh token twice and nobody is signed out', async () => {
  const browser = newBrowser()
  browser.open().begin(browser.pair('ada'))
  browser.clock += 31 * MINUTE
  const tabs = Array.from({ length: 12 }, () => browser.open())
  const tokens = await Promise.all(tabs.map((tab) => tab.token()))
  assert.ok(tokens.every((token) => token !== null))
  assert.equal(browser.replays, 0)
  assert.ok(tabs.every((tab) => tab.isSignedIn()))
})

test('after a 401 the token is renewed once, also when several requests were refused', async () => {
  const browser = newBrowser()
  const tab = browser.open()
  tab.begin(browser.pair('ada'))
  const refused = (await tab.token()) ?? ''
  const first = await tab.tokenAfterRefusal(refused)
  const second = await tab.tokenAfterRefusal(refused)
  assert.notEqual(first, refused)
  assert.equal(second, first)
  assert.equal(browser.renewals, 1)
})

test('a refused refresh token signs every tab out', async () => {
  const browser = newBrowser()
  const one = browser.open()
  const two = browser.open()
  one.begin(browser.pair('ada'))
  browser.revoked = true
  browser.clock += 31 * MINUTE
  let notifications = 0
  two.subscribe(() => notifications++)
  assert.equal(await one.token(), null)
  assert.equal(one.isSignedIn(), false)
  assert.equal(two.isSignedIn(), false)
  assert.equal(two.userId(), null)
  assert.ok(notifications > 0)
})

test('a network failure keeps the session', async () => {
  const browser = newBrowser()
  const tab = browser.open()
  tab.begin(browser.pair('ada'))
  browser.clock += 31 * MINUTE
  browser.down = true
  await assert.rejects(tab.token())
  assert.equal(tab.isSignedIn(), true)
  browser.down = false
  assert.notEqual(await tab.token(), null)
})

test('a sign-out during a renewal stays signed out', async () => {
  const browser = newBrowser()
  const tab = browser.open()
  tab.begin(browser.pair('ada'))
  browser.clock += 31 * MINUTE
  const waiting = tab.token()
  tab.end()
  assert.equal(await waiting, null)
  assert.equal(tab.isSignedIn(), false)
})

test('a pending renewal never overwrites a new sign-in', async () => {
  const browser = newBrowser()
  const tab = browser.open()
  tab.begin(browser.pair('ada'))
  browser.clock += 31 * MINUTE
  browser.meanwhile = () => {
    tab.end()
    tab.begin(browser.pair('eve'))
  }
  assert.equal(await tab.token(), null, 'who asked was another')
  assert.equal(tab.userId(), 'eve')
  assert.equal(parseClaims((await tab.token()) ?? '')?.sub, 'eve')
})

test('a renewal during a new sign-in of the same user returns the new session', async () => {
  for (const outcome of ['answered', 'refused'] as const) {
    const browser = newBrowser()
    const tab = browser.open()
    tab.begin(browser.pair('ada', 'old'))
    browser.clock += 31 * MINUTE
    const fresh = browser.pair('ada', 'fresh')
    browser.meanwhile = () => {
      tab.replace(fresh)
      browser.revoked = outcome === 'refused'
    }
    assert.equal(await tab.token(), fresh.access_token, outcome)
    assert.deepEqual([tab.id(), tab.userId()], ['fresh', 'ada'], outcome)
  }
})

test('the same holds when another tab stored the session and its message is late', async () => {
  const browser = newBrowser()
  const tab = browser.open()
  tab.begin(browser.pair('ada', 'old'))
  browser.clock += 31 * MINUTE
  browser.meanwhile = () => {
    browser.meanwhile = undefined
    browser.store(browser.pair('ada', 'fresh').refresh_token)
  }
  assert.equal(await tab.token(), browser.issued.at(-1)?.access_token)
  assert.equal(browser.replays, 0)
})

test('another user’s sign-in in one tab is noticed in the others', () => {
  const browser = newBrowser()
  const one = browser.open()
  const two = browser.open()
  one.begin(browser.pair('ada'))
  let notifications = 0
  two.subscribe(() => notifications++)
  one.begin(browser.pair('eve'))
  assert.equal(two.userId(), 'eve')
  assert.ok(notifications > 0)
})

test('a renewal does not notify listeners', async () => {
  const browser = newBrowser()
  const one = browser.open()
  const two = browser.open()
  one.begin(browser.pair('ada'))
  browser.clock += 31 * MINUTE
  let notifications = 0
  one.subscribe(() => notifications++)
  two.subscribe(() => notifications++)
  await one.token()
  assert.equal(notifications, 0)
  assert.equal(await two.token(), await one.token())
})

test('a replaced session does not notify listeners and is used from then on', async () => {
  const browser = newBrowser()
  const one = browser.open()
  const two = browser.open()
  one.begin(browser.pair('ada', 'old'))
  assert.equal(one.id(), 'old')
  let notifications = 0
  one.subscribe(() => notifications++)
  two.subscribe(() => notifications++)
  const fresh = browser.pair('ada', 'fresh')
  one.replace(fresh)
  assert.equal(notifications, 0)
  assert.deepEqual([one.id(), two.id()], ['fresh', 'fresh'])
  assert.deepEqual([await one.token(), await two.token()], [fresh.access_token, fresh.access_token])
  one.end()
  assert.deepEqual([one.id(), two.id()], [null, null])
})

/**
 * One browser: shared storage, one lock, a channel between tabs, and a service whose refresh
 * tokens work once.
 */
function newBrowser() {
  const tabs: Session[] = []
  const issued: TokenPair[] = []
  const spent = new Set<string>()
  let stored: string | null = null
  let queue: Promise<unknown> = Promise.resolve()

  const browser = {
    clock: T0,
    renewals: 0,
    replays: 0,
    revoked: false,
    down: false,
    /** Runs during the renewal request. */
    meanwhile: undefined as (() => void) | undefined,
    store: (token: string) => {
      stored = token
    },
    issued,
    pair(user: string, sid = 's'): TokenPair {
      const n = issued.length
      const pair = {
        access_token: jwt({ sub: user, sid, exp: browser.clock / 1000 + 1800, n }),
        refresh_token: jwt({ sub: user, sid, exp: browser.clock / 1000 + 2_592_000, n }),
      }
      issued.push(pair)
      return pair
    },
    open(): Session {
      const tab = new Session({
        storage: {
          read: () => stored,
          write: (token) => {
            stored = token
          },
          clear: () => {
            stored = null
          },
        },
        lock: (work) => {
          const turn = queue.then(work)
          queue = turn.catch(() => undefined)
          return turn
        },
        renew: async (refreshToken) => {
          await Promise.resolve()
          browser.meanwhile?.()
          if (browser.down) throw new Error('no answer')
          if (browser.revoked) return 'refused'
          if (spent.has(refreshToken)) {
            browser.replays++
            return 'refused'
          }
          spent.add(refreshToken)
          browser.renewals++
          return browser.pair('ada')
        },
        broadcast: (message: SessionMessage) => {
          for (const other of tabs) if (other !== tab) other.receive(message)
        },
        now: () => browser.clock,
      })
      tabs.push(tab)
      return tab
    },
  }
  return browser
}

function jwt(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part(claims)}.signature`
}
