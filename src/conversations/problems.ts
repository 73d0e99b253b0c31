import { Problem } from '#platform/problem.ts'

export const conversationProblem = Problem.define({
  conversation_not_found: [404, 'Conversation not found'],
  message_not_found: [404, 'Message not found'],
  conversations_not_kept: [
    409,
    'This account does not keep conversations',
    'Switch it on first: `PUT /api/conversations/settings`.',
  ],
  answer_running: [409, 'This conversation is being answered', 'Wait for the answer, or stop it.'],
  answer_interrupted: [
    503,
    'The answer was interrupted because the server stopped',
    'Ask again: what was written is kept.',
  ],
  model_without_vision: [
    400,
    "'{model}' cannot see images",
    'Choose a model with vision, or remove the images.',
  ],
  conversation_full: [
    409,
    'A conversation has at most {max} messages',
    'Start a new conversation.',
  ],
  share_not_found: [404, 'Share not found'],
  share_ended: [410, 'This link has ended', 'Ask the sender for a new one.'],
  share_limit_reached: [409, 'At most {max} conversations can be shared', 'End a link.'],
  share_too_large: [
    413,
    'A shared conversation has at most {max} MB of text',
    'Share an earlier message.',
  ],
  import_running: [
    409,
    'Another import of this account is running',
    'Send the next part after the reply.',
  ],
  import_too_large: [
    413,
    'An import takes at most {max} conversations',
    'Send the file in parts; a part that comes twice changes nothing.',
  ],
  conversation_storage_full: [
    413,
    'Imports end at {max} MB of stored conversations',
    'Delete conversations first.',
  ],
  pin_limit_reached: [409, 'At most {max} conversations can be pinned', 'Unpin one.'],
})
