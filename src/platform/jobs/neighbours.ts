/**
 * Neighbours: external services that jobs need, such as a mail server. While a neighbour is
 * unreachable, its jobs wait without attempts. One job probes it every two seconds, on one node at
 * a time. When the neighbour answers, all waiting jobs run.
 */
import { SECOND_MS } from '../clock.ts'

export type Neighbour = {
  name: string
  /** Returns true when the service answers, even with an error. */
  answers(): Promise<boolean>
}

/** A handler throws this when it cannot reach the neighbour that its kind needs. */
export class NeighbourAway extends Error {}

export const KNOCK_MS = 2 * SECOND_MS

/** The kind and the key of the job that probes the neighbour. All nodes share one such job. */
export const probeKind = ({ name }: Neighbour): string => `knock.${name}`

export async function knock(neighbour: Neighbour): Promise<void> {
  if (!(await neighbour.answers())) throw new NeighbourAway(`${neighbour.name} does not answer`)
}
