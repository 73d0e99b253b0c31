// How well the local embedder finds, beside BM25 over the same chunks in the same run; and what its scores say of unrelated questions.

import { Idf } from '#embeddings/idf.ts'
import { lexical, localEmbedder } from '#embeddings/local.ts'
import { chunkText } from '#rag/ingest/chunker.ts'
import { dot } from '#rag/search/stores/nearest.ts'
import { bm25 } from './lib/bm25.ts'
import { type Corpus, chunkEvaluation, dataFolder, xquad } from './lib/corpora.ts'
import { printTable, quantile } from './lib/table.ts'

export const says = 'recall@5 and hit@1 of the local embedder, beside BM25'

const CANDIDATES = 60
const patient = new AbortController().signal

type Ranker = (query: string) => { index: number; score: number }[]

export async function run(args: string[]): Promise<void> {
  const folder = dataFolder(args)
  if (folder === null) return

  const recalls: string[][] = []
  for (const size of [400, 800, 1_600]) {
    const sums = { ours: 0, bm25: 0, questions: 0 }
    for (const corpus of chunkEvaluation(folder)) {
      const chunks = chunkText(corpus.text, { size, overlap: 0 })
      const texts = chunks.map(({ text }) => text)
      sums.ours += recall(corpus, chunks, await ours(texts))
      sums.bm25 += recall(corpus, chunks, bm25(texts))
      sums.questions += corpus.questions.length
    }
    recalls.push([`${size} characters`, ...[sums.ours, sums.bm25].map((sum) => (sum / sums.questions).toFixed(3))])
  }
  printTable(
    'chunk-evaluation: share of the answering text within the first 5 chunks',
    ['chunks of', 'local', 'BM25'],
    recalls,
  )

  const hits: string[][] = []
  const passes: string[][] = []
  for (const language of ['en', 'es', 'de', 'zh']) {
    const { paragraphs, questions } = xquad(folder, language)
    const [local, baseline] = [await ours(paragraphs), bm25(paragraphs)]
    const hit = { ours: 0, bm25: 0 }
    const own: number[] = []
    const others: number[] = []
    for (const { question, paragraph } of questions) {
      const ranked = local(question)
      if (ranked[0]?.index === paragraph) hit.ours++
      if (baseline(question)[0]?.index === paragraph) hit.bm25++
      own.push(ranked.find(({ index }) => index === paragraph)?.score ?? 0)
      // Paragraphs of one article stand together, five at a time; those of others have nothing to do with the question.
      others.push(ranked.find(({ index }) => Math.abs(index - paragraph) > 10)?.score ?? 0)
    }
    const share = (scores: number[]) =>
      `${((100 * scores.filter((score) => score >= 0.5).length) / scores.length).toFixed(1)} %`
    const middle = (scores: number[]) =>
      quantile(
        scores.toSorted((a, b) => a - b),
        0.5,
      ).toFixed(2)
    hits.push([language, ...[hit.ours, hit.bm25].map((count) => (count / questions.length).toFixed(3))])
    passes.push([language, middle(own), share(own), middle(others), share(others)])
  }
  printTable('XQuAD: questions whose own paragraph comes first of 240', ['language', 'local', 'BM25'], hits)
  printTable(
    'XQuAD: scores, and how many reach the default min_score of 0.5',
    ['language', 'own paragraph', 'reach 0.5', 'best of other articles', 'reach 0.5'],
    passes,
  )
}

/** As a search does it: candidates by the stored vectors, then the exact score. */
async function ours(texts: string[]): Promise<Ranker> {
  const { vectors, frequencies } = await localEmbedder.embed(texts, 'document', patient)
  const idf = new Idf()
  idf.add(frequencies ?? new Uint8Array(0), texts.length)
  return (query) => {
    const wanted = lexical.queryVector(query, idf)
    const scoreOf = lexical.scorer(query, idf)
    return vectors
      .map((vector, index) => ({ index, score: dot(vector, 0, wanted) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, CANDIDATES)
      .map(({ index }) => ({ index, score: scoreOf(texts[index] ?? '') }))
      .sort((a, b) => b.score - a.score)
  }
}

function recall({ questions }: Corpus, chunks: { start: number; end: number }[], ranker: Ranker): number {
  let sum = 0
  for (const { question, references } of questions) {
    const top = ranker(question)
      .slice(0, 5)
      .map(({ index }) => chunks[index] ?? { start: 0, end: 0 })
    let found = 0
    let total = 0
    for (const { start, end } of references) {
      total += end - start
      for (const chunk of top) found += Math.max(0, Math.min(chunk.end, end) - Math.max(chunk.start, start))
    }
    sum += found / total
  }
  return sum
}
