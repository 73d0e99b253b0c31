/**
 * Computes how Citus distributes the tables over several database servers: by the first column of a
 * table's key, or as a whole on one server. The tables are read from the database's catalogue, so
 * that they always match the schema. Citus cannot enforce a unique key or a reference without that
 * column; `refusals` finds these.
 */
import { sql } from 'kysely'
import { type Db, findDialect } from '#platform/db/db.ts'

/** Tables that are not distributed, by reason. */
const WHOLE: Record<string, string> = {
  ...of('one queue', ['jobs', 'inbox']),
  ...of('read by each process into its memory', [
    'switches',
    'brands',
    'signing_keys',
    'license_signing_keys',
    'secrets',
  ]),
  ...of('small tables of the operator', [
    'contact_messages',
    'contact_replies',
    'withdrawals',
    'discounts',
    'store_products',
    'store_product_list',
    'store_releases',
    'operator_notices',
    'billing_cursors',
    'write_probe',
    'backups',
    'service_parts',
    'service_outages',
    'rag_originals_folder',
  ]),
  ...of('small tables of the operator', ['migrations', 'usage_nodes', 'archive_checksums']),
  ...of('64 rows that are locked together to link entries', ['audit_heads']),
  ...of('accounting, which the operator’s pages join', [
    'payments',
    'refunds',
    'disputes',
    'invoices',
    'subscription_changes',
  ]),
  ...of('totals of all users', ['user_counts', 'usage_archive', 'usage_totals', 'checkout_days']),
}

function of(why: string, tables: string[]): Record<string, string> {
  return Object.fromEntries(tables.map((table) => [table, why]))
}

/** `group`: the rows of these tables with the same value are on the same server. */
export type Placement =
  | { table: string; isSpread: true; column: string; group: string }
  | { table: string; isSpread: false; why: string }

/** Returns the placements. A table follows the tables that it refers to. */
export async function placements(db: Db): Promise<Placement[]> {
  const { keys, references } = await readDatabaseCatalogue(db)
  const placed = new Map<string, Placement>()
  const place = (table: string) => {
    if (placed.has(table)) return
    for (const reference of references)
      if (reference.table === table && reference.target !== table) place(reference.target)
    placed.set(table, choosePlacement(table, keys))
  }
  for (const table of [...new Set(['users', ...keys.map((key) => key.table)])]) place(table)
  return [...placed.values()]
}

function choosePlacement(table: string, keys: readonly Key[]): Placement {
  const why = WHOLE[table]
  if (why !== undefined) return { table, isSpread: false, why }
  const column = keys.find((key) => key.table === table && key.isPrimary)?.columns[0]
  if (column === undefined) throw new Error(`${table} has no primary key to distribute it by`)
  const isOfUser = table === 'users' || column === 'user_id' || column === 'owner'
  return { table, isSpread: true, column, group: isOfUser ? 'users' : column }
}

/**
 * Returns the keys and references that do not work on several servers, as sentences; empty in every
 * release.
 */
export async function refusals(db: Db): Promise<string[]> {
  const { keys, references } = await readDatabaseCatalogue(db)
  const placed = new Map((await placements(db)).map((placement) => [placement.table, placement]))
  const found: string[] = []
  for (const { table, columns } of keys) {
    const placement = placed.get(table)
    if (placement?.isSpread && !columns.includes(placement.column)) {
      found.push(`${table}: (${columns.join(', ')}) is unique without ${placement.column}`)
    }
  }
  for (const { table, columns, target, targetColumns } of references) {
    const [from, to] = [placed.get(table), placed.get(target)]
    if (!from?.isSpread && !to?.isSpread) continue
    const isTogether =
      from?.isSpread &&
      to?.isSpread &&
      from.group === to.group &&
      columns.includes(from.column) &&
      columns.indexOf(from.column) === targetColumns.indexOf(to.column)
    if (!isTogether)
      found.push(`${table}: (${columns.join(', ')}) refers to ${target}, which lies elsewhere`)
  }
  return found
}

/** Returns the psql statements that distribute the tables of a new database on a Citus cluster. */
export async function citusScript(db: Db): Promise<string> {
  const lines = ['create extension if not exists citus;']
  const leaders = new Map<string, string>()
  const placed = await placements(db)
  for (const placement of placed) {
    if (!placement.isSpread) continue
    const { table, column, group } = placement
    const leader = leaders.get(group)
    leaders.set(group, leader ?? table)
    lines.push(
      `select create_distributed_table('${table}', '${column}', colocate_with => '${leader ?? 'none'}');`,
    )
  }
  const whole = placed.flatMap((one) => (one.isSpread ? [] : [`-- ${one.table}: ${one.why}`]))
  return [...lines, '-- Whole on the coordinator:', ...whole, ''].join('\n')
}

type Key = { table: string; isPrimary: boolean; columns: string[] }
type Reference = { table: string; columns: string[]; target: string; targetColumns: string[] }

async function readDatabaseCatalogue(db: Db): Promise<{ keys: Key[]; references: Reference[] }> {
  return findDialect(db) === 'sqlite' ? ofSqlite(db) : ofPostgres(db)
}

async function ofSqlite(db: Db): Promise<{ keys: Key[]; references: Reference[] }> {
  const keys = await sql<{ name: string; columns: string; is_primary: boolean }>`
    select t.name, (select json_group_array(p.name) from (
        select name from pragma_table_info(t.name) where pk > 0 order by pk) as p) as columns, 1 as is_primary
      from sqlite_schema as t where t.type = 'table' and t.name not like 'sqlite_%'
    union all
    select t.name, (select json_group_array(c.name) from (
        select name from pragma_index_info(i.name) order by seqno) as c), 0
      from sqlite_schema as t, pragma_index_list(t.name) as i
      where t.type = 'table' and t.name not like 'sqlite_%' and i."unique" = 1 and i.origin <> 'pk'`.execute(
    db,
  )
  const references = await sql<{ name: string; target: string; from: string; to: string }>`
    select t.name, f."table" as target, json_group_array(f."from") as "from", json_group_array(f."to") as "to"
      from sqlite_schema as t, pragma_foreign_key_list(t.name) as f where t.type = 'table'
      group by t.name, f.id, f."table"`.execute(db)
  return {
    keys: keys.rows.map(({ name, columns, is_primary }) => ({
      table: name,
      isPrimary: is_primary,
      columns: JSON.parse(columns) as string[],
    })),
    references: references.rows.map(({ name, target, from, to }) => ({
      table: name,
      columns: JSON.parse(from) as string[],
      target,
      targetColumns: JSON.parse(to) as string[],
    })),
  }
}

async function ofPostgres(db: Db): Promise<{ keys: Key[]; references: Reference[] }> {
  const names = (relation: string, numbers: string) =>
    sql<string[]>`(select json_agg(a.attname order by n.position)
      from unnest(${sql.raw(numbers)}) with ordinality as n(number, position)
      join pg_attribute as a on a.attrelid = ${sql.raw(relation)} and a.attnum = n.number)`
  const keys = await sql<{ name: string; columns: string[]; is_primary: boolean }>`
    select t.relname as name, i.indisprimary as is_primary, ${names('t.oid', 'i.indkey::int2[]')} as columns
      from pg_index as i join pg_class as t on t.oid = i.indrelid
      where i.indisunique and t.relkind = 'r' and t.relnamespace = current_schema()::regnamespace
      order by t.relname, i.indisprimary desc`.execute(db)
  const references = await sql<{ name: string; target: string; from: string[]; to: string[] }>`
    select t.relname as name, r.relname as target, ${names('t.oid', 'c.conkey')} as "from", ${names('r.oid', 'c.confkey')} as "to"
      from pg_constraint as c join pg_class as t on t.oid = c.conrelid join pg_class as r on r.oid = c.confrelid
      where c.contype = 'f' and t.relnamespace = current_schema()::regnamespace`.execute(db)
  return {
    keys: keys.rows.map(({ name, columns, is_primary }) => ({
      table: name,
      isPrimary: is_primary,
      columns,
    })),
    references: references.rows.map(({ name, target, from, to }) => ({
      table: name,
      columns: from,
      target,
      targetColumns: to,
    })),
  }
}
