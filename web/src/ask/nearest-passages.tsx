import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { Passage } from '../documents/passage.tsx'
import { MIN_SCORE } from '../documents/search-hints.ts'

const COUNT = 3

/** What came nearest to a question that nothing was near enough to answer: often it is there, only in other words. */
export function NearestPassages({ question }: { question: string }) {
  const { data } = useQuery({
    queryKey: ['documents', 'nearest', question],
    queryFn: ({ signal }) =>
      api.post('/api/rag/search', { query: question, top_k: COUNT, min_score: MIN_SCORE }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  if (!data || data.results.length === 0) return null
  return (
    <Stack gap="xs" component="section" aria-label="The nearest passages">
      <Text size="sm">The nearest in your documents, though not near enough for an answer:</Text>
      {data.results.map((chunk) => (
        <Passage key={chunk.id} chunk={chunk} />
      ))}
    </Stack>
  )
}
