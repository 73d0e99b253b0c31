import type { Instant } from '#platform/clock.ts'
import type { BrandForm } from './form.ts'

/** One row, with the number 1; none before a superuser saves a brand. */
type BrandsTable = { number: number; revision: number; form_json: BrandForm; changed_at: Instant }

declare module '#platform/db/tables.ts' {
  interface Tables {
    brands: BrandsTable
  }
}
