/** Documents, questions and messages of the users of the seeded year, and the operator's replies. */
import { buildPdf, drawLines } from '#rag/ingest/parsers/samples.ts'

export type SeedFile = { name: string; type: string; content: string | Uint8Array<ArrayBuffer> }

/** Messages of the contact form. */
export type Message = { name: string; email: string; subject: string; message: string }

const LEASE_PAGES: readonly (readonly string[])[] = [
  [
    'Lease of the workshop at 12 Harbour Street.',
    'The landlord is Northern Quays Ltd; the tenant is Bell and Sons.',
    'The lease begins on 1 March 2026 and runs for five years.',
    'The tenant may renew it once, for another five years,',
    'by a letter sent at least six months before the end.',
  ],
  [
    'Rent.',
    'The rent is 1,150 euros a month, due on the third working day.',
    'It rises each March with the consumer price index,',
    'but by no more than 4 per cent in a year.',
    'Rent that is late by more than ten days bears 6 per cent interest.',
  ],
  [
    'Deposit.',
    'The deposit is 3,450 euros and is kept in a separate account.',
    'The landlord returns it within thirty days after the keys,',
    'less the cost of repairs that the handover report lists.',
  ],
  [
    'Repairs.',
    'The landlord keeps the roof, the walls and the heating in repair.',
    'The tenant keeps the doors, the windows and the lamps in repair.',
    'A fault in the heating is repaired within two working days.',
    'Until it is, the rent is reduced by 20 per cent.',
  ],
]

/** Documents in the order of their uploads. */
export const FILES: readonly SeedFile[] = [
  {
    name: 'returns.md',
    type: 'text/markdown',
    content: `# Returns

Customers may return goods within thirty days of delivery. The shop pays for the return when the goods were damaged or are
not what was ordered; otherwise the customer pays.

## Refunds

The money is returned within five working days after the parcel has arrived, to the card that paid.
`,
  },
  {
    name: 'workshop-lease.pdf',
    type: 'application/pdf',
    content: new Uint8Array(buildPdf(LEASE_PAGES.map((lines) => drawLines([...lines])))),
  },
  {
    name: 'on-call.md',
    type: 'text/markdown',
    content: `# On call

The engineer on call answers a page within fifteen minutes and says so in the channel.

1. Stop the damage first: roll back, shed load, or fail over.
2. Look for the cause when customers are served again.
3. Within two days, write down what was seen, what was done and when.
`,
  },
  {
    name: 'style.md',
    type: 'text/markdown',
    content: `# Style

Write for a reader who is new and in a hurry. Put the answer first and the reason after it. Use the words of the trade.
Leave out every sentence that can be left out. Numbers have units, and times have time zones.
`,
  },
  {
    name: 'travel-policy.md',
    type: 'text/markdown',
    content: `# Travel

Book trains up to five hours away, and flights beyond. The head of the team approves a flight before it is booked.

## Hotels

A room costs at most 120 euros a night; in Lisbon, London and Zurich 180 euros.
`,
  },
  {
    name: 'machine-rental.csv',
    type: 'text/csv',
    content: `machine,per day,deposit
Small lathe,45 euros,200 euros
Large lathe,90 euros,500 euros
Band saw,35 euros,150 euros
`,
  },
]

/** The questions of each conversation. The first ones are about the documents, in their order. */
export const CONVERSATIONS: readonly (readonly string[])[] = [
  ['Within how many days may customers return goods?', 'Who pays for the return?'],
  ['How much is the rent of the workshop, and when does it rise?', 'And if the rent is late?'],
  ['How fast does the engineer on call answer a page?'],
  ['How should I write numbers and times?'],
  ['Which room may I book in Lisbon, and for how much?', 'Who approves a flight?'],
  ['How much does the large lathe cost per day?'],
  ['When does the lease begin, and may we renew it?', 'Who is the landlord?'],
  ['How soon is the money of a returned parcel paid back?'],
  [
    'What does the lease say about the deposit, and who repairs the windows?',
    'What interest do we owe for late rent?',
  ],
]

/** `reply`: the operator's answer on the next day; missing: the message is still open. */
export const MESSAGES: readonly (Message & { day: number; reply?: string })[] = [
  {
    day: 68,
    name: 'Edsger Dijkstra',
    email: 'edsger@example.com',
    subject: 'support',
    message: 'I bought the wrong edition by mistake. May I have my money back?',
    reply: 'Of course. The refund is on its way; your bank shows it within five days.',
  },
  {
    day: 120,
    name: 'Ida Rhodes',
    email: 'ida@example.net',
    subject: 'sales',
    message: 'We are a team of twelve. Is there a discount when we pay for a year?',
    reply: 'A year costs as much as ten months. You can choose it on the pricing page.',
  },
  {
    day: 287,
    name: 'Frances Allen',
    email: 'frances@example.com',
    subject: 'support',
    message: 'My bank shows a payment that I do not recognise. What was it for?',
    reply: 'It is the plan that renewed on Monday. The invoice is under Plan in your account.',
  },
  {
    day: 349,
    name: 'Jean Bartik',
    email: 'jean@example.org',
    subject: 'partnership',
    message:
      'I write about tools for small companies and would like to review yours. Whom may I talk to?',
  },
  {
    day: 362,
    name: 'Tony Hoare',
    email: 'tony@example.com',
    subject: 'support',
    message:
      'My card was refused this week. I have asked for a new one; please keep my plan open until it arrives.',
  },
]

/** The domain of the first address does not exist, so its email fails until the job gives up. */
export const INVITED: readonly { day: number; email: string }[] = [
  { day: 340, email: 'joseph@weizenbaum.invalid' },
  { day: 362, email: 'lynn.conway@example.net' },
]
