// Fills a database like years of use: users with sessions, calls, purchases, downloads, messages
// and chunks, written by the database engine.
import { type RawBuilder, sql } from 'kysely'
import { type Db, findDialect, transaction, withoutTimeLimit } from '#platform/db/db.ts'

/** Returns the id of a user by number. Ids look random, as real ones do. */
export function userId(number: number): string {
  return `${formatHex(number)}-0000-4000-8000-${String(number).padStart(12, '0')}`
}

const SCATTER = 2_654_435_761

function formatHex(number: number): string {
  return ((number * SCATTER) % 4_294_967_296).toString(16).padStart(8, '0')
}

export async function fill(db: Db, users: number): Promise<void> {
  const write = writer(db)
  await (write.isSqlite ? onBareSqlite : onBarePostgres)(db, async (tx) => {
    const bare = writer(tx)
    await fillPeople(bare, users)
    await fillCalls(bare, users)
    await fillShop(bare, users)
    await fillRest(bare, users)
  })
  await fillCounts(write)
  await write.raw('analyze').execute(db)
}

/** Returns a user number that depends only on the row number. */
const someone = (users: number) => `(n % ${users}) + 1`

/**
 * Inserts rows into tables without indexes and creates the indexes afterwards: a tenth of the time
 * at 10⁶ users.
 */
async function onBareSqlite(db: Db, work: (tx: Db) => Promise<void>): Promise<void> {
  await sql`pragma foreign_keys = off`.execute(db)
  await sql`pragma cache_size = -1500000`.execute(db)
  await transaction(db, async (tx) => {
    const { rows: indexes } = await sql<{ name: string; sql: string }>`
      select name, sql from sqlite_master where type = 'index' and sql is not null`.execute(tx)
    for (const { name } of indexes) await sql`drop index ${sql.id(name)}`.execute(tx)
    await work(tx)
    for (const index of indexes) await sql.raw(index.sql).execute(tx)
  })
  await sql`pragma foreign_keys = on`.execute(db)
}

/**
 * Same as on SQLite, also without the constraints, many of which are indexes. Foreign keys are
 * dropped first and created last.
 */
async function onBarePostgres(db: Db, work: (tx: Db) => Promise<void>): Promise<void> {
  await transaction(db, async (tx) => {
    // Filling takes longer than the statement timeout of the service.
    await withoutTimeLimit(tx)
    await sql`set local synchronous_commit = off`.execute(tx)
    await sql`set local maintenance_work_mem = '1GB'`.execute(tx)
    await sql`set local work_mem = '256MB'`.execute(tx)
    // Constraints and indexes of partitions belong to their parent table, which drops and creates
    // them.
    const { rows: constraints } = await sql<{ place: string; name: string; definition: string }>`
      select conrelid::regclass::text as place, conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
      where connamespace = current_schema()::regnamespace and contype in ('p', 'u', 'f') and conparentid = 0
      order by contype <> 'f', oid`.execute(tx)
    for (const { place, name } of constraints)
      await sql`alter table ${sql.raw(place)} drop constraint ${sql.id(name)}`.execute(tx)
    const { rows: indexes } = await sql<{ name: string; definition: string }>`
      select relname as name, pg_get_indexdef(oid) as definition from pg_class
      where relnamespace = current_schema()::regnamespace and relkind in ('i', 'I') and not relispartition`.execute(
      tx,
    )
    for (const { name } of indexes) await sql`drop index ${sql.id(name)}`.execute(tx)
    await work(tx)
    for (const { definition } of indexes) await sql.raw(definition).execute(tx)
    for (const { place, name, definition } of constraints.toReversed())
      await sql`alter table ${sql.raw(place)} add constraint ${sql.id(name)} ${sql.raw(definition)}`.execute(
        tx,
      )
  })
}

async function fillPeople({ isSqlite, id, at, flag, put }: Writer, users: number) {
  // Spread over two years, the newest last.
  const since = `((${users} - n) * 63072000.0 / ${users})`
  const whole = isSqlite ? `cast(${since} as integer)` : `floor(${since})::bigint`

  await put(
    'users',
    {
      id: id('n'),
      email: `'u' || n || '@example.com'`,
      email_key: `'u' || n || '@example.com'`,
      full_name: `'User ' || n`,
      is_active: flag('1 = 1'),
      is_verified: flag('n % 3 <> 0'),
      is_superuser: flag('1 = 0'),
      is_totp_on: flag('1 = 0'),
      subscription_status: `case when n % 5 = 0 then 'active' else 'free' end`,
      subscription_tier: `case when n % 5 = 0 then 'pro' else 'free' end`,
      processor_tier: `'free'`,
      created_at: at(whole),
      updated_at: at(whole),
    },
    users,
  )
  await put(
    'lookups',
    { name: `'u' || n || '@example.com'`, kind: `'email'`, owner: id('n') },
    users,
  )
}

async function fillCalls({ id, at, day, flag, put }: Writer, users: number) {
  const u = someone(users)
  await put(
    'sessions',
    {
      user_id: id(u),
      id: `'s' || n`,
      user_agent: `'Browser/1.0'`,
      ip_address: `'203.0.113.7'`,
      created_at: at('n % 2592000'),
      authenticated_at: at('n % 2592000'),
      last_used_at: at('n % 86400'),
      expires_at: at(`-2592000 + n % 2592000`),
    },
    2 * users,
  )
  await put(
    'usage_records',
    {
      user_id: id(u),
      id: `'0' || n`,
      key_id: `'session'`,
      tier: `'pro'`,
      route: `'/api/ai/chat'`,
      vendor: `'openai'`,
      model: `'gpt-' || (n % 7)`,
      prompt_tokens: '100',
      completion_tokens: '50',
      cached_tokens: '0',
      reasoning_tokens: '0',
      cost_nanos: '35000',
      latency_ms: '500 + n % 900',
      attempts: '1',
      tried: `'openai:ok'`,
      outcome: `'ok'`,
      status: '200',
      end_user: `''`,
      labels: `''`,
      is_estimated: flag('1 = 0'),
      created_at: at('(n % 60) * 86400'),
    },
    3 * users,
  )
  await put(
    'usage_days',
    {
      user_id: id(u),
      day: day(`n / ${users} * 7 + n % 7`),
      key_id: `'session'`,
      model: `'gpt-' || (n % 7)`,
      vendor: `'openai'`,
      tier: `'pro'`,
      outcome: `'ok'`,
      end_user: `''`,
      requests: '3',
      prompt_tokens: '300',
      completion_tokens: '150',
      cached_tokens: '0',
      cost_nanos: '105000',
    },
    2 * users,
  )
}

async function fillShop({ id, at, put }: Writer, users: number) {
  const u = someone(users)
  await put(
    'purchases',
    {
      owner: id(u),
      id: id('n'),
      chain_id: id('n'),
      user_id: id(u),
      tier: `'pro'`,
      status: `'completed'`,
      payment_ref: `'pi_' || n`,
      checkout_session_id: `'cs_' || n`,
      amount_cents: '29900',
      currency: `'usd'`,
      license_hash: `'h' || n`,
      license_sealed: `'x'`,
      download_count: '1',
      max_downloads: '5',
      entitled_until: at('-31536000'),
      created_at: at('n % 31536000'),
    },
    Math.floor(users / 4),
  )
  const licenses = Math.floor(users / 4)
  await put('lookups', { name: `'pi_' || n`, kind: `'payment'`, owner: id(u) }, licenses)
  await put('lookups', { name: `'h' || n`, kind: `'license'`, owner: id(u) }, licenses)
  await put(
    'downloads',
    {
      user_id: id(u),
      id: id('n'),
      purchase_id: id('n'),
      version: `'1.0.0'`,
      etag: `'e'`,
      is_plain: 'false',
      resume_count: '0',
      sent_bytes: '1',
      ip_address: `'203.0.113.7'`,
      user_agent: `'Browser/1.0'`,
      downloaded_at: at('n % 31536000'),
    },
    Math.floor(users / 4),
  )
  await put(
    'contact_messages',
    {
      id: id('n'),
      name: `'Ada'`,
      email: `'m' || n`,
      email_key: `'m' || n`,
      subject: `'sales'`,
      message: `'Hello'`,
      created_at: at('n % 31536000'),
    },
    Math.floor(users / 10),
  )
}

async function fillRest({ id, at, json, put }: Writer, users: number) {
  const u = someone(users)
  await put(
    'audit_log',
    {
      chain: 'n % 64',
      id: `'f' || n`,
      position: '1000 + n',
      at: at('n % 31536000'),
      actor: `'p_' || (n % ${users})`,
      action: `'sign-in'`,
      commitment: `'c'`,
      salt: `'s'`,
      details: json('{"method":"password"}'),
      mark: `'m'`,
      hash: `'h'`,
    },
    2 * users,
  )
  await put(
    'inbox',
    {
      source: `'billing'`,
      event_id: `'evt_' || n`,
      payload_json: json('{}'),
      received_at: at('n % 6000000'),
      handled_at: at('0'),
    },
    users,
  )
  const documents = Math.floor(users / 10)
  await put(
    'rag_documents',
    {
      user_id: id(u),
      id: `'d' || n`,
      version: `'v' || n`,
      edition: '1',
      metadata_json: json('{}'),
      chunks: '3',
      total_chunks: '3',
      characters: '1500',
      embedder: `''`,
      created_at: at('n % 31536000'),
    },
    documents,
  )
  await put(
    'rag_chunks',
    {
      user_id: id(`((n / 3) % ${users}) + 1`),
      version: `'v' || (n / 3)`,
      chunk_index: 'n % 3',
      content: `'A chunk of text about lighthouses, number ' || n`,
      start_offset: '0',
      gap: `''`,
    },
    3 * documents,
  )
}

/** Fills the counters that the service maintains. */
async function fillCounts({ isSqlite, raw, db }: Writer) {
  await raw(
    `insert into user_counts (day, slot, users, verified, active)
     select day, 0, count(*), sum(verified), sum(active) from (
       select ${isSqlite ? 'substr(created_at, 1, 10)' : `to_char(created_at at time zone 'utc', 'YYYY-MM-DD')`} as day,
         case when is_verified then 1 else 0 end as verified, case when subscription_status = 'active' then 1 else 0 end as active
       from users where email like 'u%@example.com') as counted
     group by day
     on conflict (day, slot) do update set users = user_counts.users + excluded.users,
       verified = user_counts.verified + excluded.verified, active = user_counts.active + excluded.active`,
  ).execute(db)
  const sums = ['requests', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'cost_nanos']
  await raw(
    `insert into usage_totals (day, slot, model, vendor, tier, outcome, ${sums.join(', ')})
     select day, 0, model, vendor, tier, outcome, ${sums.map((sum) => `sum(${sum})`).join(', ')}
     from usage_days group by day, model, vendor, tier, outcome`,
  ).execute(db)
}

/** SQL expressions that differ between the engines, and a function that fills a table. */
function writer(db: Db) {
  const isSqlite = findDialect(db) === 'sqlite'
  const raw = (text: string) => sql.raw(text)
  const id = (n: string) =>
    isSqlite
      ? `printf('%08x-0000-4000-8000-%012d', ((${n}) * ${SCATTER}) % 4294967296, ${n})`
      : `lpad(to_hex(((${n}) * ${SCATTER}) % 4294967296), 8, '0') || '-0000-4000-8000-' || lpad((${n})::text, 12, '0')`
  const stamp = Math.floor(Date.now() / 1_000)
  const at = (secondsAgo: string) =>
    isSqlite
      ? `strftime('%Y-%m-%dT%H:%M:%S.000Z', ${stamp} - (${secondsAgo}), 'unixepoch')`
      : `to_timestamp(${stamp} - (${secondsAgo}))`
  const day = (daysAgo: string) =>
    isSqlite
      ? `strftime('%Y-%m-%d', ${stamp} - (${daysAgo}) * 86400, 'unixepoch')`
      : `to_char(to_timestamp(${stamp} - (${daysAgo}) * 86400) at time zone 'utc', 'YYYY-MM-DD')`
  const flag = (condition: string) => (isSqlite ? `(${condition})` : `((${condition}))`)
  const json = (text: string) => (isSqlite ? `'${text}'` : `'${text}'::jsonb`)
  const numbers = (count: number) =>
    isSqlite
      ? `with recursive g(n) as (select 1 union all select n + 1 from g where n < ${count}) select`
      : `with g as (select n::bigint from generate_series(1, ${count}) as n) select`
  // Ordered by the leading key columns, so that SQLite, whose primary keys remain, writes each page
  // once.
  const inOrder = isSqlite ? 'order by 1, 2' : ''
  const put = async (
    table: string,
    columns: Record<string, string>,
    count: number,
  ): Promise<void> => {
    if (count < 1) return
    const statement: RawBuilder<unknown> = raw(
      `insert into ${table} (${Object.keys(columns).join(', ')}) ${numbers(count)} ${Object.values(columns).join(', ')} from g ${inOrder}`,
    )
    await statement.execute(db)
  }
  return { db, isSqlite, raw, id, at, day, flag, json, put }
}
type Writer = ReturnType<typeof writer>
