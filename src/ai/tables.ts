type AiRepliesTable = {
  user_id: string
  /** HMAC of the request. */
  key: string
  created_at: string
  expires_at: string
  /** Length of `sealed`. */
  bytes: number
  /** The vendor that answered, and its name for the model. */
  vendor: string
  model: string
  /** The reply, encrypted. */
  sealed: string
}

declare module '#platform/db/tables.ts' {
  interface Tables {
    ai_replies: AiRepliesTable
  }
}

export type { AiRepliesTable }
