// Twenty conversations of three turns over realistic documents, answered by the sandbox's model.
// Each answer contains the expected sentence with a mark, and the mark leads to the sentence's
// document and page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { buildPdf, drawLines } from '../ingest/parsers/samples.ts'
import { NOTHING_FOUND } from './prompt.ts'

/** A file's pages. */
const files: Record<string, string[]> = {
  'lease.pdf': [
    'Rental agreement for the flat at 12 Harbour Street. The tenancy begins on 1 March 2026 and runs for an indefinite time. The rent is 1,250 euros a month and is payable in advance by the third working day. Heating and water are charged separately with a monthly advance of 180 euros.',
    'The deposit is three months of rent. The deposit may be paid in three instalments. The landlord returns the deposit within six months of the end of the tenancy. Keeping dogs and cats needs the consent of the landlord.',
    'The tenant may give notice with three months to the end of a month. Notice must be given in writing. For the landlord the notice period grows to six months after five years. The bicycle cellar is opened with the key of the front door.',
  ],
  'espresso.pdf': [
    'Maintenance of the espresso machine. Descale the boiler every two months with citric acid tablets. Never use vinegar to descale the boiler because vinegar attacks the seals. Empty the drip tray every evening.',
    'The grinder of the espresso machine has twelve steps. Begin at step seven and go finer when the shot runs in less than twenty seconds. The water tank holds 2.5 litres. When the red lamp blinks the water tank is empty.',
    'The pump of the espresso machine is under guarantee for five years. All other parts are under guarantee for two years. The receipt is proof of purchase. Repairs are made by the workshop in Lyon.',
  ],
  'lighthouse.pdf': [
    'History of the lighthouse of Porto Calvo. The lighthouse was built in 1882 by the engineer Amelie Duroc. Two ships had run aground in the winter before. The lamp of the lighthouse burned whale oil at first.',
    'The lamp was electrified in 1931. The keeper of the lighthouse lived on the ground floor with his family. The keeper climbed the 142 steps four times each night. The last keeper Joao Prado retired in 1974.',
    'Since 1990 the lighthouse is a museum that opens from May to October. Children enter the museum free of charge. Adults pay six euros for the museum. The lens was made in Paris and weighs two tonnes.',
  ],
  'handbook.pdf': [
    'Parental leave lasts 16 weeks and is paid by the company at full salary. The request for parental leave goes to the people team two months ahead. Sick leave is paid for six weeks. A note of the doctor is needed from the third day of sick leave on.',
    'Hotels are booked through the travel desk. In Zurich the limit for a hotel is 220 euros a night. Expenses are refunded with the salary of the next month. Receipts of expenses are kept for ten years.',
    'Laptops are replaced every three years. Broken laptops go to the service desk in room 114. The cafeteria opens at eight. Lunch in the cafeteria costs five euros.',
  ],
}

/**
 * The question, the sentence that must be in the answer, and its place; null where the documents do
 * not answer.
 */
type Turn =
  | [question: string, sentence: string, file: keyof typeof files, page: number]
  | [question: string, nothing: null]

const conversations: Turn[][] = [
  [
    ['How high is the rent?', 'The rent is 1,250 euros a month', 'lease.pdf', 1],
    ['And when is it payable?', 'payable in advance by the third working day', 'lease.pdf', 1],
    ['Who won the football match?', null],
  ],
  [
    ['How much is the deposit?', 'The deposit is three months of rent.', 'lease.pdf', 2],
    [
      'Can it be paid in instalments?',
      'The deposit may be paid in three instalments.',
      'lease.pdf',
      2,
    ],
    [
      'When does the landlord return it?',
      'The landlord returns the deposit within six months',
      'lease.pdf',
      2,
    ],
  ],
  [
    [
      'May I keep dogs and cats?',
      'Keeping dogs and cats needs the consent of the landlord.',
      'lease.pdf',
      2,
    ],
    [
      'What is the notice period of the tenant?',
      'The tenant may give notice with three months',
      'lease.pdf',
      3,
    ],
    [
      'And for the landlord?',
      'the notice period grows to six months after five years',
      'lease.pdf',
      3,
    ],
  ],
  [
    [
      'Does notice have to be given in writing?',
      'Notice must be given in writing.',
      'lease.pdf',
      3,
    ],
    [
      'Which key opens the bicycle cellar?',
      'The bicycle cellar is opened with the key of the front door.',
      'lease.pdf',
      3,
    ],
    ['What is the capital of Peru?', null],
  ],
  [
    ['When does the tenancy begin?', 'The tenancy begins on 1 March 2026', 'lease.pdf', 1],
    [
      'What is the advance for heating and water?',
      'a monthly advance of 180 euros',
      'lease.pdf',
      1,
    ],
    ['Thanks!', null],
  ],
  [
    [
      'How often do I descale the boiler of the espresso machine?',
      'Descale the boiler every two months',
      'espresso.pdf',
      1,
    ],
    ['Can I use vinegar to descale the boiler?', 'vinegar attacks the seals', 'espresso.pdf', 1],
    ['And when do I empty the drip tray?', 'Empty the drip tray every evening.', 'espresso.pdf', 1],
  ],
  [
    [
      'How many steps has the grinder?',
      'The grinder of the espresso machine has twelve steps.',
      'espresso.pdf',
      2,
    ],
    ['At which step do I begin?', 'Begin at step seven', 'espresso.pdf', 2],
    ['Who wrote Hamlet?', null],
  ],
  [
    ['How much water does the tank hold?', 'The water tank holds 2.5 litres.', 'espresso.pdf', 2],
    [
      'What if the red lamp blinks?',
      'When the red lamp blinks the water tank is empty.',
      'espresso.pdf',
      2,
    ],
    ['How do I train for a marathon?', null],
  ],
  [
    [
      'Is the pump of the espresso machine under guarantee?',
      'The pump of the espresso machine is under guarantee for five years.',
      'espresso.pdf',
      3,
    ],
    [
      'And all other parts?',
      'All other parts are under guarantee for two years.',
      'espresso.pdf',
      3,
    ],
    ['What is the proof of purchase?', 'The receipt is proof of purchase.', 'espresso.pdf', 3],
  ],
  [
    [
      'Which workshop makes repairs?',
      'Repairs are made by the workshop in Lyon.',
      'espresso.pdf',
      3,
    ],
    [
      'Which engineer built the lighthouse in 1882?',
      'built in 1882 by the engineer Amelie Duroc',
      'lighthouse.pdf',
      1,
    ],
    ['What is the weather tomorrow?', null],
  ],
  [
    ['When was the lighthouse built?', 'The lighthouse was built in 1882', 'lighthouse.pdf', 1],
    ['And which engineer was it?', 'by the engineer Amelie Duroc', 'lighthouse.pdf', 1],
    ['What did its lamp burn at first?', 'burned whale oil at first', 'lighthouse.pdf', 1],
  ],
  [
    [
      'When was the lamp of the lighthouse electrified?',
      'The lamp was electrified in 1931.',
      'lighthouse.pdf',
      2,
    ],
    [
      'Where did the keeper live?',
      'The keeper of the lighthouse lived on the ground floor',
      'lighthouse.pdf',
      2,
    ],
    [
      'How many steps did the keeper climb?',
      'The keeper climbed the 142 steps four times each night.',
      'lighthouse.pdf',
      2,
    ],
  ],
  [
    [
      'Who was the last keeper of the lighthouse?',
      'The last keeper Joao Prado retired in 1974.',
      'lighthouse.pdf',
      2,
    ],
    ['When does the museum open?', 'a museum that opens from May to October', 'lighthouse.pdf', 3],
    ['Is there life on Mars?', null],
  ],
  [
    [
      'What do adults pay for the museum?',
      'Adults pay six euros for the museum.',
      'lighthouse.pdf',
      3,
    ],
    ['And children?', 'Children enter the museum free of charge.', 'lighthouse.pdf', 3],
    ['OK', null],
  ],
  [
    ['Where was the lens made?', 'The lens was made in Paris', 'lighthouse.pdf', 3],
    ['How much does it weigh?', 'weighs two tonnes', 'lighthouse.pdf', 3],
    ['Why is the sky blue?', null],
  ],
  [
    ['How long is parental leave?', 'Parental leave lasts 16 weeks', 'handbook.pdf', 1],
    ['Is it paid?', 'is paid by the company at full salary', 'handbook.pdf', 1],
    [
      'And who do I send the request to?',
      'The request for parental leave goes to the people team',
      'handbook.pdf',
      1,
    ],
  ],
  [
    ['How long is sick leave paid?', 'Sick leave is paid for six weeks.', 'handbook.pdf', 1],
    [
      'From which day on is a note of the doctor needed?',
      'A note of the doctor is needed from the third day',
      'handbook.pdf',
      1,
    ],
    ['Who is Bob?', null],
  ],
  [
    ['How are hotels booked?', 'Hotels are booked through the travel desk.', 'handbook.pdf', 2],
    [
      'What is the limit in Zurich?',
      'the limit for a hotel is 220 euros a night',
      'handbook.pdf',
      2,
    ],
    ['What is the best recipe for pancakes?', null],
  ],
  [
    [
      'When are expenses refunded?',
      'Expenses are refunded with the salary of the next month.',
      'handbook.pdf',
      2,
    ],
    [
      'For how long are the receipts kept?',
      'Receipts of expenses are kept for ten years.',
      'handbook.pdf',
      2,
    ],
    ['How do I cook rice?', null],
  ],
  [
    [
      'How often are laptops replaced?',
      'Laptops are replaced every three years.',
      'handbook.pdf',
      3,
    ],
    [
      'Where do broken ones go?',
      'Broken laptops go to the service desk in room 114.',
      'handbook.pdf',
      3,
    ],
    [
      'What does lunch cost in the cafeteria?',
      'Lunch in the cafeteria costs five euros.',
      'handbook.pdf',
      3,
    ],
  ],
]

type Source = { content: string; metadata: { source: string; page?: number; page_end?: number } }
type Cited = { source: number; start: number; end: number; supported: boolean }

test('twenty conversations of three turns: each answer’s sentences are on the page that they cite', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  for (const [name, pages] of Object.entries(files)) {
    const form = new FormData()
    form.append(
      'file',
      new Blob([buildPdf(pages.map((page) => drawLines(createLines(page)))) as never]),
      name,
    )
    form.append('chunk_size', '320')
    form.append('chunk_overlap', '0')
    const { status, text } = await ada.post('/api/rag/ingest/file', form)
    assert.equal(status, 200, text)
  }
  assert.equal(conversations.length, 20)

  const wrong: string[] = []
  for (const turns of conversations) {
    const chat_history: { role: string; content: string }[] = []
    for (const [question, sentence, file, page] of turns) {
      const { body } = await ada.post('/api/rag/query', { question, chat_history })
      const told = {
        question,
        answer: body.answer,
        sources: body.sources,
        citations: body.citations,
      }
      const fault =
        sentence === null
          ? faultOfSilence(told)
          : faultOf(told, sentence, file as string, page as number)
      if (fault !== null) wrong.push(`${question} (${fault}): ${body.answer}`)
      chat_history.push(
        { role: 'user', content: question },
        { role: 'assistant', content: body.answer },
      )
    }
  }
  assert.deepEqual(wrong, [])
})

type Told = { answer: string; sources: Source[]; citations: Cited[] }

function faultOfSilence({ answer, sources }: Told): string | null {
  return answer === NOTHING_FOUND && sources.length === 0 ? null : 'says something'
}

function faultOf(
  { answer, sources, citations }: Told,
  sentence: string,
  file: string,
  page: number,
): string | null {
  const at = answer.indexOf(sentence)
  if (at === -1) return `lacks '${sentence}'`
  const cited = citations.find(({ start, end }) => start <= at && at < end)
  if (cited === undefined) return 'cites nothing'
  const source = sources[cited.source - 1]
  if (!cited.supported || source === undefined) return 'cites what does not say it'
  if (!flat(source.content).includes(sentence)) return 'cites a passage without it'
  if (source.metadata.source !== file) return `cites ${source.metadata.source}`
  const unsure = citations.find(({ supported }) => !supported)
  if (unsure !== undefined) return `doubts '${answer.slice(unsure.start, unsure.end)}'`
  const { page: from = page, page_end: to = from } = source.metadata
  return from <= page && page <= to ? null : `pages ${from}–${to}`
}

function flat(text: string): string {
  return text.replace(/\s+/g, ' ')
}

function createLines(page: string): string[] {
  return page.match(/.{1,80}(?:\s|$)/g)?.map((line) => line.trim()) ?? []
}
