/** `is_ended`: the last process with this part ended on a signal. */
type ServicePartsTable = { part: string; seen_at: string; is_ended: boolean }

/** A time in which no process served a part. */
type ServiceOutagesTable = { part: string; began_at: string; ended_at: string }

declare module '../db/tables.ts' {
  interface Tables {
    service_parts: ServicePartsTable
    service_outages: ServiceOutagesTable
  }
}

export type { ServiceOutagesTable }
