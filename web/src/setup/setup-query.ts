import { readQuery } from '../api/queries.ts'

export const setupQuery = {
  ...readQuery(['setup'], '/api/admin/setup'),
  staleTime: 0,
}
