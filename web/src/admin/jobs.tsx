import { Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { DeadJob } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { formatTime, plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'

const jobsKey = ['admin', 'jobs']

/** Background jobs that failed after all retries. Each can be retried by hand. */
export function Jobs() {
  const jobs = useQuery({
    queryKey: jobsKey,
    queryFn: ({ signal }) => api.get('/api/admin/jobs', { signal }),
    refetchInterval: 10_000,
  })
  return (
    <section>
      <Loaded query={jobs} skeleton={<Skeleton h={240} />}>
        {({ queued, dead }) => (
          <>
            <Text c="dimmed" size="sm">
              {plural(queued, 'job')} waiting, {plural(dead.length, 'job')} failed
            </Text>
            {dead.length === 0 ? (
              <Notice icon={IconCircleCheck} title="No failed jobs">
                Failed jobs are retried automatically. Jobs that keep failing appear here.
              </Notice>
            ) : (
              <Stack gap="sm" mt="sm">
                {dead.map((job) => (
                  <JobRow key={job.id} job={job} />
                ))}
              </Stack>
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}

function JobRow({ job }: { job: DeadJob }) {
  const retry = useMutation({
    mutationFn: () => api.post('/api/admin/jobs/{id}/retry', undefined, { path: { id: job.id } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: jobsKey }),
  })
  return (
    <Paper withBorder radius="md" p="md" component="article">
      <Group justify="space-between" gap="sm">
        <div>
          <Text fw={550} className="mono">
            {job.kind}
          </Text>
          <Text c="dimmed" size="sm">
            {formatTime(job.created_at)}, {plural(job.attempts, 'attempt')}
          </Text>
        </div>
        <Button variant="default" loading={retry.isPending} onClick={() => retry.mutate()}>
          Retry
        </Button>
      </Group>
      {job.last_error && (
        <Text size="sm" mt="xs" style={{ overflowWrap: 'anywhere' }}>
          {job.last_error}
        </Text>
      )}
      <FormProblem problem={retry.error} />
    </Paper>
  )
}
