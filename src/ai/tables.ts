type AiRepliesTable = {
  user_id: string
  /** HMAC of the request. */
  key: string
  created_at: string
  expires_at: string
  /** Of `sealed`. */
  bytes: number
  /** Who gave the answer, and the model as its vendor calls it. */
  vendor: string
  model: string
  /** What was sent, encrypted. */
  sealed: string
}

declare module '#platform/db/tables.ts' {
  interface Tables {
    ai_replies: AiRepliesTable
  }
}

export type { AiRepliesTable }
