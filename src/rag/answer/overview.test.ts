import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentRow } from '../documents/document-store.ts'
import { findOverview, introduceOverview } from './overview.ts'

const documents = ['lease.pdf', 'espresso-machine manual.md', '护照.pdf'].map(
  (source, i) =>
    ({ source, metadata_json: {}, created_at: `2026-01-0${i + 1}` }) as unknown as DocumentRow,
)

const rows: [question: string, kind: 'list' | 'summary' | null, of?: string][] = [
  ['What do I have?', 'list'],
  ['What documents do I have?', 'list'],
  ['Which files are there?', 'list'],
  ['List my documents, please', 'list'],
  ['Show me everything that is stored', null],
  ['What is in my documents?', 'list'],
  ['Which is my newest document?', 'list'],
  ['What documents did I upload today?', 'list'],
  ['What was the last file I added?', 'list'],
  ['Which files did I upload this week?', 'list'],
  ['Welches ist mein neuestes Dokument?', 'list'],
  ['Welche Dateien habe ich heute hochgeladen?', 'list'],
  ['¿Cuál es mi documento más reciente?', 'list'],
  ['Quel est mon dernier document ?', 'list'],
  ['Какой документ я загрузил последним?', null],
  ['我今天上传了哪些文件？', 'list'],
  ['What is the date today?', null],
  ['When is the next meeting?', null],
  ['What is the latest version of the software?', null],
  ['Summarise this', 'summary'],
  ['Please give me a short summary of all my files.', 'summary'],
  ['Summarise the lease', 'summary', 'lease.pdf'],
  ['summarize lease.pdf', 'summary', 'lease.pdf'],
  [
    'Can you give me an overview of the espresso machine manual?',
    'summary',
    'espresso-machine manual.md',
  ],
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
  ['What documents 휴가는 며칠입니까?', null],
  ['帝企鹅住在哪里？', null],
]
for (const [question, kind, source] of rows) {
  test(`${kind ?? 'a search'}: ${question}`, () => {
    const overview = findOverview(question, documents, false)
    assert.equal(overview?.kind ?? null, kind)
    if (kind === null) return
    assert.deepEqual(
      overview?.documents.map((document) => document.source),
      source === undefined ? documents.map((document) => document.source).toReversed() : [source],
    )
  })
}

test('after an earlier question a summary refers to that question, unless it names a document', () => {
  assert.equal(findOverview('Summarise this', documents, true), null)
  assert.equal(findOverview('Summarise the lease', documents, true)?.kind, 'summary')
  assert.equal(findOverview('What documents do I have?', documents, true)?.kind, 'list')
  assert.equal(findOverview('What do I have?', [], false), null)
})

test('lists names with their dates, and texts without a name in one line', () => {
  const unnamed = Array.from({ length: 30 }, () => ({
    source: null,
    metadata_json: {},
    created_at: '2026-02-01T10:00:00.000Z',
  }))
  const overview = { kind: 'list' as const, documents: [...unnamed, ...documents] as DocumentRow[] }
  assert.deepEqual(introduceOverview(overview).names, [
    'lease.pdf, added 2026-01-01',
    'espresso-machine manual.md, added 2026-01-02',
    '护照.pdf, added 2026-01-03',
    '30 texts without a name',
  ])
})

test('lists the newest and the oldest of many names', () => {
  const many = Array.from({ length: 300 }, (_, i) => ({
    source: `${i}.md`,
    metadata_json: {},
    created_at: '2026-02-01',
  }))
  const { names } = introduceOverview({ kind: 'list', documents: many as unknown as DocumentRow[] })
  assert.equal(names.length, 101)
  assert.deepEqual([names[0], names.at(-1)], ['0.md, added 2026-02-01', '299.md, added 2026-02-01'])
})
