/**
 * `npm test -- --copied`: every test of HTTP begins with a copy of a service that was used before,
 * which `db copy` has carried from SQLite to PostgreSQL. Faults of the copy (a sequence, a type, a
 * row) then surface in later use.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'

/**
 * Tests that need a service without history, by the reason. They use a copy of a service that was
 * started and never used. Entries are the beginnings of the names of tests or suites.
 */
export const OF_AN_UNUSED_SERVICE: Record<string, readonly string[]> = {
  'It reads whole tables, where it has to find its own rows alone': [
    'records a text embedded in many requests as one call, and charges the part before a late failure',
    'ledger and metrics agree on every route and for every outcome',
    'does not count the service’s own rejections as failures of the vendor',
    'closes the vendor’s connection when the client leaves, streamed or not, before and after the first byte',
    'leaks nothing after a thousand disconnects, before and after the first byte, streamed and not',
    'several keys and addresses: distributes calls, fails over, records no key, and counts each endpoint',
    '20: reports the last failure when all fail, and records every attempt',
    'keeps the ledger intact when a vendor reports a malformed model name',
    'a sync uploads changes only, waits for limits, and deletes on request',
    'deletion leaves no row of the user in this room, and a log that still holds',
    'deletion leaves no trace of a person in any table, but what the books and the log may keep',
    'an original goes with its document',
    'with ORIGINALS_DIR=off only texts are stored',
    'a large text is replaced without a gap, and leaves no old chunks behind',
    'refuses a text file in an ambiguous encoding, and asks for UTF-8',
    'stores, finds, answers from, lists and deletes a text',
    'an external id names one document: the same id with any text replaces it',
    'refuses unsupported files with a reason',
    'lists, finds and deletes documents by external id and by source, for each user alone',
    'deletes all documents of a source, for any number',
    'parallel ingests of one text end in one document',
    'parallel ingests under one external id end in one document',
    'deleting the account deletes every row of its store',
    'the same text again replaces its chunks, also with other sizes and metadata',
    'the next search sees what another process stores, replaces and deletes',
    'an invalid value is refused with 422 that names the field',
    'after a change of the embedder, searches compare words only until the rebuild is done',
    'a node with another embedder leaves the rebuild to the nodes that have it',
    'setting an embedder and setting it back restores the first one’s vectors',
    'vectors of the byte store are removed and rebuilt when the database has pgvector',
    'a rebuild resumes after the chunks that were embedded before a kill',
    'of one download three archives’ bytes are sent at most, and what a broken line lost is not counted',
    'no name, address or email of an event is stored',
    'a partial refund stays when the failure of another refund is reported, any number of times',
    'a deleted account leaves the purchase for accounting, without personal data',
    'a thousand calls at once over many keys and services overspend neither the plan’s dollars nor a key’s',
    'concurrent users on two nodes each reserve their whole budget and nothing else',
    'three nodes share a plan’s dollars, and the reservations of one that died are released once',
    'the next process records a call that ran when its process was killed',
    'a deleted user leaves only anonymous sums',
    'a thousand concurrent reservations use a budget to its last token',
    'nodes whose clocks differ by 100 s treat each other as alive, and a call is recorded once',
    'the reservations of a crashed process are released',
    'records and prices the part of a stream that a killed process had sent',
    'a node that counted as dead releases later reservations, in any order of its calls',
  ],
  'It lists, sums or counts everybody': [
    'a superuser finds an account by any part of its address or name, or by its id',
    'superusers read the messages of the contact form, newest first',
    'the statistics count users, subscriptions, new users of seven days and verified addresses',
    'lists users newest first, in pages, with the limits of the specification',
    'a superuser sees differences from the processor and reconciles them',
    'usage of all users is summed exactly by each grouping and shown only to superusers',
    'a year of a business',
    'reports revenue, refunds, fees, model cost and margin by plan and for the customers with the highest cost',
    'docs/examples.json is what a walk through the product records (npm run docs writes it)',
    'every alert and every panel uses existing metrics and labels',
    'messages are listed by page, newest first',
    'when the mail server is unreachable, the visitor sees an error, and the stored message is sent again later',
    'with Stripe Tax both checkouts ask for tax, consent and tax ids, and what is tax is no revenue',
  ],
  'It reads the sandbox whole: its mailbox, and all that its processor has and sends': [
    'matches the processor after random histories of subscriptions and purchases',
    'creates the customer on a retry after the processor failed',
    'ten concurrent tabs create one customer',
    'a full reconciliation ends despite a billing row without its user',
    'deleting the account cancels the subscriptions of all its customers',
    'reads missed events oldest first, so the last checkout counts',
    'a restore that is refused changes nothing',
    'the mailbox survives a restart',
    'a checkout that was open when the price changed is closed, and the next one has the new price',
    'payments of other sellers on the account are neither stored nor read again',
  ],
  'It counts all jobs, and what an earlier day left to do is done in it': [
    'reconciliation recovers after a long outage of the processor',
    'emails the operator once about each dispute, double subscription, unknown price and dead job',
    'bytes that the database rejects count as a wrong address or token, not as a failure',
    'a debit that settles after days is found without any event',
  ],
}

/** Makes the databases `prefix_used` and `prefix_unused`. @returns what DATA_DIR was of each. */
export async function makeCopied(
  serverUrl: string,
  prefix: string,
  folder: string,
): Promise<{ used: string; unused: string }> {
  const { TEST_DATABASE_URL: _, ...env } = process.env
  const run = (file: string, args: string[], more: NodeJS.ProcessEnv = {}) =>
    execFileSync(process.execPath, [join(import.meta.dirname, file), ...args], {
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
    })
  const client = new pg.Client(serverUrl)
  await client.connect()
  try {
    // Where the server has it, all that is on it see it, the empty schemas of some tests as well.
    await client
      .query('create extension if not exists vector with schema public')
      .catch(() => undefined)
    for (const kind of ['used', 'unused']) {
      run('filled.ts', [join(folder, kind), kind])
      await client.query(`create database ${prefix}_${kind}`)
      const url = new URL(serverUrl)
      url.pathname = `/${prefix}_${kind}`
      console.log(
        run('../cli/main.ts', ['db', 'copy'], {
          DATA_DIR: join(folder, kind),
          DATABASE_URL: url.href,
        }),
      )
    }
  } finally {
    await client.end()
  }
  return { used: join(folder, 'used'), unused: join(folder, 'unused') }
}
