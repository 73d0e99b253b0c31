import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Db } from '#platform/db/db.ts'
import { NeighbourAway } from '#platform/jobs/neighbours.ts'
import { testApp } from '#testing/app.ts'
import { type Manners, startMailServer } from '#testing/mail-server.ts'
import { readPlans } from '#testing/plans.ts'
import { eraseEmailsSlice, listEmails } from './email-log.ts'
import { createMail } from './mail.ts'

async function mailRoom(t: TestContext, { manners }: { manners?: Manners } = {}) {
  const server = await startMailServer(manners ? { manners } : {})
  t.after(() => server.stop())
  const app = await testApp(t, { env: { SMTP_URL: server.url } })
  await app.settle()
  const openMail = (db: Db) => {
    const mail = createMail({ ...app.platform, db, jobs: { handle() {} } as never })
    t.after(() => mail.close())
    return mail
  }
  return { app, server, openMail }
}

const userId = randomUUID()
const EMAIL = { to: 'ada@example.com', userId, subject: 'News', text: 'News', html: 'News' }

test('an email whose account is erased during its delivery leaves no row', async (t) => {
  let erase = async () => 0
  const manners: Manners = async () => {
    await erase()
    return 'yes' as const
  }
  const { app, server, openMail } = await mailRoom(t, { manners })
  const { db } = app.platform
  const listStates = async () =>
    (await listEmails(db, { userId, limit: 10 })).emails.map(({ state }) => state)
  const mail = openMail(db)
  await mail.deliver(EMAIL, 'first')
  assert.deepEqual(await listStates(), ['sent'])

  erase = () => eraseEmailsSlice(db, userId)
  await mail.deliver(EMAIL, 'second')
  assert.equal(server.to.length, 2)
  assert.deepEqual(await listStates(), [])
})

test('a second attempt of a delivery changes the row of the first', async (t) => {
  const answers = ['not now', 'yes'] as const
  let attempts = 0
  const { app, openMail } = await mailRoom(t, { manners: () => answers[attempts++] ?? 'yes' })
  const mail = openMail(app.platform.db)
  await assert.rejects(mail.deliver(EMAIL, 'news'), /450/)
  await mail.deliver({ ...EMAIL, subject: 'More news' }, 'news')
  const { emails } = await listEmails(app.platform.db, { userId, limit: 10 })
  assert.deepEqual(
    emails.map(({ subject, state, error }) => [subject, state, error]),
    [['More news', 'sent', null]],
  )
})

test('the error of the mail server is reported even when it cannot be logged', async (t) => {
  const { app, server, openMail } = await mailRoom(t)
  server.mute()
  const { connections } = server
  const db = app.platform.db.withPlugin({
    transformQuery({ node }) {
      if (server.connections > connections) throw new Error('the disk is full')
      return node
    },
    transformResult: async ({ result }) => result,
  })
  await assert.rejects(openMail(db).deliver(EMAIL, 'news'), NeighbourAway)
})

test('lists of waiting and failed emails use the index of these states', async (t) => {
  const app = await testApp(t)
  const plans = await readPlans(app, async (db) => {
    for (const state of ['waiting', 'failed'] as const) await listEmails(db, { state, limit: 10 })
  })
  assert.equal(plans.length, 2)
  for (const { sql, plan } of plans) assert.match(plan.join('\n'), /emails_by_state/, sql)
})
