import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentRow } from '../documents/document-store.ts'
import { overviewAskedFor } from './overview.ts'

const documents = ['lease.pdf', 'espresso-machine manual.md', '护照.pdf'].map(
  (source, i) => ({ source, metadata_json: {}, created_at: `2026-01-0${i + 1}` }) as unknown as DocumentRow,
)

const rows: [question: string, kind: 'list' | 'summary' | null, of?: string][] = [
  ['What do I have?', 'list'],
  ['What documents do I have?', 'list'],
  ['Which files are there?', 'list'],
  ['List my documents, please', 'list'],
  ['Show me everything that is stored', null],
  ['What is in my documents?', 'list'],
  ['Summarise this', 'summary'],
  ['Please give me a short summary of all my files.', 'summary'],
  ['Summarise the lease', 'summary', 'lease.pdf'],
  ['summarize lease.pdf', 'summary', 'lease.pdf'],
  ['Can you give me an overview of the espresso machine manual?', 'summary', 'espresso-machine manual.md'],
  ['Welche Dokumente habe ich?', 'list'],
  ['Was steht in meinen Dokumenten?', 'list'],
  ['Fasse das bitte zusammen', 'summary'],
  ['¿Qué documentos tengo?', 'list'],
  ['Resume este documento', 'summary'],
  ['Quels documents ai-je ?', 'list'],
  ["Qu'est-ce que j'ai ?", 'list'],
  ['Qu’est-ce que j’ai comme documents ?', 'list'],
  ["Qu'est-ce que l'AI ?", null],
  ['Résume ce fichier', 'summary'],
  ['Какие документы у меня есть?', 'list'],
  ['Сделай краткое резюме', 'summary'],
  ['ما هي المستندات التي لدي؟', 'list'],
  ['لخص هذا الملف', 'summary'],
  ['我有哪些文件？', 'list'],
  ['どんな文書がありますか', 'list'],
  ['总结一下这个文件', 'summary'],
  ['请概括护照', null],
  ['ฉันมีเอกสารอะไรบ้าง', 'list'],
  ['สรุปเอกสารนี้', 'summary'],
  ['Tôi có những tài liệu gì?', 'list'],
  ['Tóm tắt tài liệu này', 'summary'],
  ['What does the lease say about dogs?', null],
  ['How long is parental leave?', null],
  ['Summarise the rules for dogs', null],
  ['What documents do I need for the flat?', null],
  ['How much do I have to pay?', null],
  ['Who has it?', null],
  ['Thanks!', null],
  ['', null],
  ['library', null],
  ['What is AI?', null],
  ['帝企鹅住在哪里？', null],
]
for (const [question, kind, source] of rows) {
  test(`${kind ?? 'a search'}: ${question}`, () => {
    const overview = overviewAskedFor(question, documents, false)
    assert.equal(overview?.kind ?? null, kind)
    if (kind === null) return
    assert.deepEqual(
      overview?.documents.map((document) => document.source),
      source === undefined ? documents.map((document) => document.source).toReversed() : [source],
    )
  })
}

test('behind what was said, a summary is of that, unless a document is named', () => {
  assert.equal(overviewAskedFor('Summarise this', documents, true), null)
  assert.equal(overviewAskedFor('Summarise the lease', documents, true)?.kind, 'summary')
  assert.equal(overviewAskedFor('What documents do I have?', documents, true)?.kind, 'list')
  assert.equal(overviewAskedFor('What do I have?', [], false), null)
})
