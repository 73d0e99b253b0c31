import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openShop } from '#testing/buyer.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', subject: 'sales', message: 'How much is it?' }

test('a superuser answers, assigns, closes and reopens a message', async (t) => {
  const shop = await openShop(t, { SUPPORT_EMAIL: 'team@shop.example' })
  const root = await shop.as('root', { superuser: true })
  await shop.store('POST', '/api/contact', { body: ADA })
  const list = async (query = '') =>
    (await root.get(`/api/admin/contact-messages${query}`)).body.messages
  const [message] = await list()
  assert.deepEqual([message.assigned_to, message.closed_at, message.replies], [null, null, []])
  const change = (action: string, body: object) =>
    root.post(`/api/admin/contact-messages/${message.id}/${action}`, body)

  const replied = await change('reply', { message: 'It costs <b>$199</b>.' })
  assert.equal(replied.body.replies[0].text, 'It costs <b>$199</b>.')
  assert.equal(replied.body.replies[0].author_id, root.userId)
  const [email] = (await shop.mail(ADA.email)).filter(({ subject }) => subject.startsWith('Re: '))
  assert.match(email?.text ?? '', /It costs <b>\$199<\/b>\.[\s\S]*How much is it\?/)
  assert.doesNotMatch(email?.html ?? '', /<b>\$199/)

  assert.equal((await change('assign', { user_id: root.userId })).body.assigned_to, root.userId)
  const eve = await shop.as('eve')
  const { superusers } = (await root.get('/api/admin/contact-messages')).body
  assert.deepEqual(
    superusers.map(({ id, email }: { id: string; email: string }) => [id, email]),
    [[root.userId, root.email]],
  )
  assert.equal((await change('assign', { user_id: eve.userId })).status, 422)
  assert.equal((await change('assign', { user_id: null })).body.assigned_to, null)

  assert.ok((await change('close', {})).body.closed_at)
  assert.deepEqual([(await list('?open=true')).length, (await list('?open=false')).length], [0, 1])
  assert.equal((await change('close', { closed: false })).body.closed_at, null)
  assert.deepEqual([(await list('?open=true')).length, (await list('?open=false')).length], [1, 0])

  for (const body of [{ message: '' }, { message: ' \n' }, {}])
    assert.equal((await change('reply', body)).status, 422)
  const missing = '/api/admin/contact-messages/0190a6a8-0000-7000-8000-000000000000/reply'
  assert.equal((await root.post(missing, { message: 'x' })).body.code, 'contact_message_not_found')
  assert.equal((await eve.post(`/api/admin/contact-messages/${message.id}/close`, {})).status, 403)
})

test('replies go with their message, and the deleted superuser stays unnamed', async (t) => {
  const shop = await openShop(t)
  const { db } = shop.platform
  const root = await shop.as('root', { superuser: true })
  const other = await shop.as('other', { superuser: true })
  const ada = await shop.buyer('ada')
  await shop.store('POST', '/api/contact', { body: { ...ADA, email: ada.email } })
  const [{ id }] = (await root.get('/api/admin/contact-messages')).body.messages
  await root.post(`/api/admin/contact-messages/${id}/reply`, { message: 'Hello' })
  await root.post(`/api/admin/contact-messages/${id}/assign`, { user_id: root.userId })
  assert.equal(
    (await root.delete('/api/users/me', { password: 'correct horse battery' })).status,
    200,
  )
  await shop.settle()
  const [message] = (await other.get('/api/admin/contact-messages')).body.messages
  assert.deepEqual([message.assigned_to, message.replies[0].author_id], [null, null])

  assert.equal(
    (await shop.as('ada').delete('/api/users/me', { password: 'correct horse battery' })).status,
    200,
  )
  await shop.settle()
  assert.deepEqual(await db.selectFrom('contact_replies').selectAll().execute(), [])
})
