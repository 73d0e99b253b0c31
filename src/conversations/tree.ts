/**
 * The messages of a conversation form a tree: another answer and an edited question are siblings.
 * The shown branch leads from the first message to the leaf.
 */
export type Node = { id: string; parent_id: string | null; created_at: string }

export class MessageTree<N extends Node> {
  readonly #byId: Map<string, N>
  /** Oldest first. */
  readonly #children: Map<string | null, N[]>

  constructor(nodes: readonly N[]) {
    this.#byId = new Map(nodes.map((node) => [node.id, node]))
    this.#children = Map.groupBy(nodes, ({ parent_id }) => parent_id)
    for (const siblings of this.#children.values()) siblings.sort(compareAge)
  }

  find(id: string): N | undefined {
    return this.#byId.get(id)
  }

  /** Returns the messages from the first one to `id`; empty where `id` is unknown. */
  listBranch(id: string | null): N[] {
    const branch: N[] = []
    const seen = new Set<string>()
    for (let at = id; at !== null && !seen.has(at); ) {
      const node = this.#byId.get(at)
      if (node === undefined) break
      seen.add(at)
      branch.push(node)
      at = node.parent_id
    }
    return branch.reverse()
  }

  /** Returns the end of the newest branch below a message. */
  findLeaf(id: string): string {
    let at = id
    for (let steps = 0; steps < this.#byId.size; steps++) {
      const newest = this.#children.get(at)?.at(-1)
      if (newest === undefined) break
      at = newest.id
    }
    return at
  }

  /** Returns a message and the others with the same parent, oldest first. */
  listSiblings({ parent_id }: N): N[] {
    return this.#children.get(parent_id) ?? []
  }
}

function compareAge(a: Node, b: Node): number {
  return a.created_at < b.created_at || (a.created_at === b.created_at && a.id < b.id) ? -1 : 1
}
