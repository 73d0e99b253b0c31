// Metadata filters, applied before the ranking, so that a narrow filter still fills the results.
import type { Issue } from '#platform/problem.ts'
import { platformProblem } from '#platform/problems.ts'
import type { Metadata } from '../tables.ts'

type Scalar = string | number | boolean | null
export type Operator = '$eq' | '$ne' | '$in' | '$gt' | '$gte' | '$lt' | '$lte'

export type Condition = {
  key: string
  operator: Operator
  value: Scalar | Scalar[]
  /** Only these documents meet the condition; their metadata is not compared. */
  documentIds?: ReadonlySet<string>
}

/** Returns the condition that only these documents meet. */
export function onlyDocuments(ids: Iterable<string>): Condition {
  return { key: '', operator: '$in', value: [], documentIds: new Set(ids) }
}

const KEYS_MAX = 50
const VALUES_MAX = 1_000

/** Returns the external ids in conditions: at most `VALUES_MAX` each. */
export function listExternalIds(conditions: Condition[]): string[] {
  const values = conditions.filter(({ key }) => key === EXTERNAL_ID).flatMap(({ value }) => value)
  // PostgreSQL rejects NUL, and no id contains one.
  return [
    ...new Set(
      values.flatMap((value) => (typeof value === 'string' && !value.includes('\0') ? value : [])),
    ),
  ]
}

/** @param named external ids with their documents */
export function addDocumentIds(
  conditions: Condition[],
  named: ReadonlyMap<string, string>,
): Condition[] {
  return conditions.map((condition) => {
    if (condition.key !== EXTERNAL_ID) return condition
    const ids = [condition.value].flat().flatMap((value) => named.get(value as string) ?? [])
    return { ...condition, documentIds: new Set(ids) }
  })
}

const EXTERNAL_ID = 'external_id'

/** @throws Problem 422 for an unknown operator, a nested object, or a wrong value */
export function parseFilter(filter: Record<string, unknown> | undefined): Condition[] {
  const issues: Issue[] = []
  const refuse = (path: string[], msg: string) =>
    issues.push({ loc: ['body', 'filter', ...path], msg, type: 'value_error' })
  const conditions: Condition[] = []
  const entries = Object.entries(filter ?? {})
  if (entries.length > KEYS_MAX) refuse([], `Should have at most ${KEYS_MAX} keys`)

  for (const [key, value] of entries.slice(0, KEYS_MAX)) {
    if (isScalar(value)) conditions.push({ key, operator: '$eq', value })
    else if (key.startsWith('$')) refuse([key], 'Unknown operator')
    else if (Array.isArray(value)) refuse([key], "Should be a value, or {'$in': [...]}")
    else
      for (const [operator, bound] of Object.entries(value as object))
        addCondition(key, operator, bound)
  }
  if (issues.length > 0) throw platformProblem('validation_failed', { issues })
  return conditions

  function addCondition(key: string, operator: string, value: unknown): void {
    const path = [key, operator]
    if (operator === '$in') {
      if (Array.isArray(value) && value.length <= VALUES_MAX && value.every(isScalar))
        conditions.push({ key, operator, value })
      else refuse(path, `Should be a list of at most ${VALUES_MAX} values`)
    } else if (operator === '$ne' || operator === '$eq') {
      if (isScalar(value)) conditions.push({ key, operator, value })
      else refuse(path, 'Should be a value')
    } else if (
      operator === '$gt' ||
      operator === '$gte' ||
      operator === '$lt' ||
      operator === '$lte'
    ) {
      if (typeof value === 'number') conditions.push({ key, operator, value })
      else refuse(path, 'Should be a number')
    } else
      refuse(
        path,
        operator.startsWith('$') ? 'Unknown operator' : 'Nested objects are not supported',
      )
  }
}

function isScalar(value: unknown): value is Scalar {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean'
  )
}

/** A missing key matches `$ne` alone. A list matches with one member, or for `$ne` with all. */
export function matches(metadata: Metadata, conditions: Condition[], documentId?: string): boolean {
  return conditions.every((condition) => {
    const isNegated = condition.operator === '$ne'
    if (documentId !== undefined && condition.documentIds?.has(documentId)) return !isNegated
    return Object.hasOwn(metadata, condition.key)
      ? holds(metadata[condition.key], condition)
      : isNegated
  })
}

export function holds(actual: unknown, condition: Condition): boolean {
  if (!Array.isArray(actual)) return meetsCondition(actual, condition)
  const isMet = (member: unknown) => meetsCondition(member, condition)
  return condition.operator === '$ne' ? actual.every(isMet) : actual.some(isMet)
}

function meetsCondition(actual: unknown, { operator, value }: Condition): boolean {
  switch (operator) {
    case '$eq':
      return actual === value
    case '$ne':
      return actual !== value
    case '$in':
      return (value as unknown[]).includes(actual)
  }
  if (typeof actual !== 'number' || typeof value !== 'number') return false
  if (operator === '$gt') return actual > value
  if (operator === '$gte') return actual >= value
  return operator === '$lt' ? actual < value : actual <= value
}
