// Follow-up questions find the passages that they refer to, and nothing where the documents have no
// answer, regardless of the earlier questions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import type { FoundChunk } from '../search/search.ts'
import { NOTHING_FOUND } from './prompt.ts'

/**
 * The earlier question, the question, and the beginning of a text that must be among the sources;
 * null: there must be none.
 */
type Row = [before: string, question: string, found: string | null]

const LEAVE = 'How long is parental leave and is it paid by the company?'
const LASTS = 'How long does parental leave last?'
const DEPOSIT = 'How much is the deposit for the flat?'
const DESCALE = 'How do I descale the boiler of the espresso machine?'
const BUILT = 'Who built the lighthouse of Porto Calvo?'
const ELTERNZEIT = 'Wie lange dauert die Elternzeit, und wird sie bezahlt?'
const KESSEL = 'Wie wird der Kessel der Espressomaschine entkalkt?'

const stores: Record<string, { texts: string[]; rows: Row[] }> = {
  'short texts': {
    texts: [
      'Parental leave lasts 16 weeks and is paid by the company at full salary. Send the request to the people team two months ahead.',
      'Hotels are booked through the travel desk. In Zurich the limit is 220 euros a night.',
      'Sick leave: tell your manager before ten. A doctor’s note is needed from the third day on.',
      'The cafeteria opens at eight. Lunch costs five euros, and there is soup every day.',
      'Laptops are replaced every three years. Send broken ones to the service desk.',
      'Expenses are refunded with the salary of the next month. Keep the receipts.',
    ],
    rows: [
      [LASTS, 'Is it paid?', 'Parental'],
      [LASTS, 'By whom?', 'Parental'],
      [LASTS, 'Tell me more about it.', 'Parental'],
      [LASTS, 'And who do I send the request to?', 'Parental'],
      ['Is parental leave paid?', 'For how long?', 'Parental'],
      ['Is parental leave paid?', 'and for how many weeks', 'Parental'],
      ['Are laptops replaced?', 'How often?', 'Laptops'],
      ['Are expenses refunded?', 'When?', 'Expenses'],
      ['Which hotels in Zurich are there?', 'And how much a night?', 'Hotels'],
      ['Do I need a doctor’s note for sick leave?', 'From which day on?', 'Sick'],
      [LEAVE, 'Who is Bob?', null],
      [LASTS, 'Why is the sky blue?', null],
      [LASTS, 'Thanks!', null],
      [LASTS, 'OK', null],
      [LASTS, 'No.', null],
      [LASTS, 'Great, that helps.', null],
      [
        'Which hotels in Zurich are booked through the travel desk?',
        'Who won the football match?',
        null,
      ],
      ['How long is parental leave?', 'What is the capital of Peru?', null],
      [
        'When does lunch begin?',
        'Which gas giant of the solar system has the famous Great Red Spot?',
        null,
      ],
      ['When does the cafeteria open?', 'How do I cook rice?', null],
    ],
  },
  'long texts': {
    texts: [
      'Rental agreement for the flat at 12 Harbour Street. § 1 The tenancy begins on 1 March 2026 and runs for an indefinite time. § 2 The rent is 1,250 euros a month, payable in advance by the third working day. Heating and water are charged separately, with a monthly advance of 180 euros, and settled once a year. § 3 The deposit is three months’ rent. It may be paid in three instalments and is kept in an account of its own; the landlord returns it within six months of the end of the tenancy. § 4 Keeping dogs and cats needs the consent of the landlord, which is refused only for good reason. Small animals are allowed. § 5 The tenant may give notice with three months to the end of a month, in writing. For the landlord the period grows to six months after five years, and to nine after eight years.',
      'Maintenance of the espresso machine. Descale the boiler every two months with the citric acid tablets that come with the machine; never use vinegar, which attacks the seals. Empty the drip tray every evening. The grinder has twelve steps: begin at seven and go finer when the shot runs in less than twenty seconds. The water tank holds 2.5 litres. When the red lamp blinks, the tank is empty or sits askew. The pump is under guarantee for five years, all other parts for two; the receipt is proof of purchase. Repairs are made by the workshop in Lyon; send the machine in its own box.',
      'History of the lighthouse of Porto Calvo. It was built in 1882 by the engineer Amélie Duroc, after two ships had run aground in the winter before. Its lamp burned whale oil at first, then paraffin, and was electrified in 1931. The keeper lived on the ground floor with his family and climbed the 142 steps four times each night. In 1974 the lighthouse became automatic, and the last keeper, João Prado, retired. Since 1990 it is a museum that opens from May to October; children enter free, adults pay six euros. The lens, made in Paris, weighs two tonnes and can be seen from twenty miles.',
    ],
    rows: [
      ['What is the notice period for the tenant?', 'And for the landlord?', 'Rental'],
      [DEPOSIT, 'When is it returned?', 'Rental'],
      ['Do I have to descale the espresso machine?', 'How often?', 'Maintenance'],
      [DESCALE, 'Can I use vinegar?', 'Maintenance'],
      ['Is the pump of the espresso machine under guarantee?', 'For how long?', 'Maintenance'],
      ['When was the lighthouse built?', 'By whom?', 'History'],
      ['When was the lighthouse built?', 'Why?', 'History'],
      ['Where was the lens of the lighthouse made?', 'How heavy is it?', 'History'],
      ['What is the notice period for the tenant?', 'Who is Bob?', null],
      [DEPOSIT, 'Thanks!', null],
      [BUILT, 'Who won the football match?', null],
      [BUILT, 'What is the capital of Peru?', null],
      [BUILT, 'Who wrote Hamlet?', null],
      [BUILT, 'Who invented the telephone?', null],
      [DESCALE, 'What is the best recipe for pancakes?', null],
      ['May I keep dogs in the flat?', 'How do I train for a marathon?', null],
      ['When was the lighthouse built?', 'Is there life on Mars?', null],
    ],
  },
  'German texts': {
    texts: [
      'Die Elternzeit dauert 16 Wochen und wird mit vollem Gehalt bezahlt. Der Antrag geht zwei Monate vorher an die Personalabteilung.',
      'Hotels werden über die Reisestelle gebucht. In Zürich beträgt die Obergrenze 220 Euro je Nacht.',
      'Die Kantine öffnet um acht. Das Mittagessen kostet fünf Euro, und jeden Tag gibt es Suppe.',
      'Notebooks werden alle drei Jahre ersetzt. Defekte Geräte nimmt der Servicedesk an.',
      'Pflege der Espressomaschine. Der Kessel wird alle zwei Monate mit den mitgelieferten Tabletten entkalkt; nie mit Essig, der die Dichtungen angreift. Die Tropfschale wird jeden Abend geleert. Das Mahlwerk hat zwölf Stufen. Der Wassertank fasst 2,5 Liter. Blinkt die rote Lampe, so ist der Tank leer oder sitzt schief. Auf die Pumpe gibt es fünf Jahre Garantie, auf alles andere zwei; der Kassenbon gilt als Nachweis. Repariert wird in der Werkstatt in Lyon; die Maschine ist im eigenen Karton einzusenden.',
    ],
    rows: [
      ['Wie lange dauert die Elternzeit?', 'Wird sie bezahlt?', 'Die Elternzeit'],
      ['Wird die Elternzeit bezahlt?', 'Und wie lange?', 'Die Elternzeit'],
      ['Wird die Elternzeit bezahlt?', 'Von wem?', 'Die Elternzeit'],
      ['Wie lange dauert die Elternzeit?', 'An wen geht der Antrag?', 'Die Elternzeit'],
      ['Was darf ein Hotel kosten?', 'Und in Zürich?', 'Hotels'],
      ['Werden Notebooks ersetzt?', 'Wie oft?', 'Notebooks'],
      [KESSEL, 'Auch mit Essig?', 'Pflege'],
      ['Gibt es Garantie auf die Pumpe der Espressomaschine?', 'Und wie lange?', 'Pflege'],
      [ELTERNZEIT, 'Wer ist Bob?', null],
      ['Wie lange dauert die Elternzeit?', 'Danke!', null],
      ['Wie lange dauert die Elternzeit?', 'Gut.', null],
      [
        'Welche Hotels in Zürich werden über die Reisestelle gebucht?',
        'Wer hat das Fußballspiel gewonnen?',
        null,
      ],
      ['Wann öffnet die Kantine?', 'Wie wird das Wetter morgen?', null],
      [KESSEL, 'Wer gewann die Weltmeisterschaft?', null],
      [KESSEL, 'Wie backe ich Pfannkuchen?', null],
    ],
  },
}

for (const [name, { texts, rows }] of Object.entries(stores)) {
  test(`a follow-up finds its subject, and nothing where the documents have no answer: ${name}`, async (t) => {
    const app = await testApp(t)
    const ada = await app.as('ada', { tier: 'pro' })
    for (const content of texts) await ada.post('/api/rag/ingest/text', { content })

    for (const [before, question, found] of rows) {
      const chat_history = [
        { role: 'user', content: before },
        { role: 'assistant', content: 'See the documents [1].' },
      ]
      const { body } = await ada.post('/api/rag/query', { question, chat_history })
      const sources: FoundChunk[] = body.sources
      const seen = `${before} ${question}: ${sources.map(({ content, score }) => `${score} ${content.slice(0, 30)}`)}`
      if (found !== null)
        assert.ok(
          sources.some(({ content }) => content.startsWith(found)),
          seen,
        )
      else assert.deepEqual([sources.length, body.answer], [0, NOTHING_FOUND], seen)
    }
  })
}
