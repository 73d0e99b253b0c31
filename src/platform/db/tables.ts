/**
 * The tables of all rooms, for the type checker. Each room adds its own in its `tables.ts`:
 *
 *     declare module '#platform/db/tables.ts' { interface Tables { users: UsersTable } }
 *
 * Only the room that declares a table may speak SQL to it; src/app/arrows.test.ts checks that.
 */
import type { ColumnType, Generated } from 'kysely'

// biome-ignore lint/suspicious/noEmptyInterface: filled by the rooms.
export interface Tables {}

/** A JSON column: an object in code, TEXT in SQLite, jsonb in PostgreSQL. */
export type Json<T extends object> = ColumnType<T, T, T>

export type { ColumnType, Generated }
