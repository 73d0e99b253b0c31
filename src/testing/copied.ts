/**
 * `npm test -- --copied`: every test of HTTP begins with a copy of a service that was used before,
 * which `db copy` has carried from SQLite to PostgreSQL. Faults of the copy (a sequence, a type, a
 * row) then surface in later use.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'

/** Tests that want a service without a past, by what stands in their way; they have a copy of one that was started
 * and never used. As their names begin, or their suites'. */
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
    'a folder is kept in step: only what changed is sent, limits are waited for, and deletions are asked for',
    'deletion leaves no row of the user in this room, and a log that still holds',
    'deletion leaves no trace of a person in any table, but what the books and the log may keep',
    'an original goes with its document',
    'with ORIGINALS_DIR=off texts are kept alone',
    'a large text is replaced without a moment without it, and leaves nothing behind',
    'a text file in an encoding that cannot be told is refused, and asked for as UTF-8',
    'a text is stored, found, asked about, listed and deleted',
    'an external id names one document: the same id again replaces it whole, whatever its text',
    'files that cannot be taken are refused with a reason',
    'documents are listed, found and deleted by external id and by source, each user’s own alone',
    'all documents of a source are deleted, however many',
    'parallel ingests of one text end in one document',
    'parallel ingests under one external id end in one document',
    'the account goes, and with it every row of its store',
    'the same text again replaces its chunks, with other sizes and metadata too',
    'what another process stores, replaces and deletes is seen by the next search',
    'what is out of bounds is refused with 422 that names the field',
    'a changed embedder: the old vectors serve until the new ones are whole, also over a lost process, and nothing is mixed or left',
    'a node that is set to another embedder leaves the change to the one that is',
    'an embedder that is set and set back leaves nothing',
    'vectors of another store are searched where they lie, and carried over without a vendor',
    'what stands behind a refused text is embedded, and its deletion ends the change',
    'of one download three archives’ bytes are sent at most, and what a broken line lost is not counted',
    'of an event no name, address or email is kept',
    'a partial refund stays when the failure of another refund is reported, any number of times',
    'a deleted account leaves the purchase for the books, and nothing of the person',
    'a thousand calls at once over many keys and services overspend neither the plan’s dollars nor a key’s',
    'many users at once have each what is theirs, on whichever nodes, and none another’s',
    'three nodes share a plan’s dollars, and what one held that died with calls open is there for the others, once',
    'a call that runs when its process is killed is recorded by the next',
    'a deleted user leaves sums without a person, and nothing else',
    'a thousand claims at once take what a budget holds, to the last token',
    'nodes whose clocks are 100 s apart take each other for alive, and a call is recorded once',
    'what a crashed process had reserved is given back',
    'what a killed process had sent of a stream is recorded with its prompt, and priced',
    'what a node reserves after it was taken for dead is given back, in whatever order its calls end',
  ],
  'It lists, sums or counts everybody': [
    'a superuser finds an account by any part of its address or name, or by its id',
    'superusers read the messages of the contact form, newest first',
    'the numbers count users, subscriptions, the last seven days and verified addresses',
    'users come newest first, in pages, with the limits of the specification',
    'a superuser sees where the service and the processor disagree, and has it mended',
    'what everybody used is summed exactly by whatever the operator asks, and shown to superusers alone',
    'a year of a business',
    'a month is told with revenue, refunds, model cost and margin by plan, and by the customers who cost most',
    'docs/examples.json is what a walk through the product records (npm run docs writes it)',
    'every alert and every panel asks for metrics and labels that there are',
    'messages are listed by page, newest first',
    'when the mail server is away the visitor hears it, the message is kept, and it is tried again',
    'with Stripe Tax both checkouts ask for tax, consent and tax ids, and what is tax is no revenue',
  ],
  'It reads the sandbox whole: its mailbox, and all that its processor has and sends': [
    'after random histories of subscriptions and purchases nothing differs from what the processor has',
    'a customer that the processor failed to make is made when it can be',
    'ten tabs at once make one customer',
    'a billing row without its user keeps no reading of everything from its end',
    'the account’s end ends what every customer of it still pays',
    'what never came is read oldest first: the checkout that counts is the last one',
    'a restore that is refused changes nothing',
    'the mailbox survives a restart',
    'a checkout that was open when the price changed is closed, and the next one has the new price',
    'what others sell on the account is neither kept nor read again',
  ],
  'It counts all jobs, and what an earlier day left to do is done in it': [
    'a processor that is away for long does not end reconciliation for good',
    'the operator is told by mail, once, of disputes, double subscriptions, unknown prices and dead jobs',
    'bytes that no database takes are a wrong address or a wrong token, not a failure',
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
