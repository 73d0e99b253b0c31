/**
 * Neighbours that jobs need, as a mail server. While a neighbour is unreachable, its jobs wait
 * untried. One job probes it every two seconds, on one node at a time; when the neighbour answers,
 * all waiting jobs are due at once.
 */
import { SECOND_MS } from '../clock.ts'

export type Neighbour = {
  name: string
  /** Whether it answers, be it with a refusal. */
  answers(): Promise<boolean>
}

/** Thrown by a handler that did not reach the neighbour its kind needs. */
export class NeighbourAway extends Error {}

export const KNOCK_MS = 2 * SECOND_MS

/** The kind of the job that knocks, and its key: there is one for all nodes. */
export const probeKind = ({ name }: Neighbour): string => `knock.${name}`

export async function knock(neighbour: Neighbour): Promise<void> {
  if (!(await neighbour.answers())) throw new NeighbourAway(`${neighbour.name} does not answer`)
}
