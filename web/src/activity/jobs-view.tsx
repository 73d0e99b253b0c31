import { Badge, Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { queries, readQuery } from '../api/queries.ts'
import type { Job } from '../api/types.ts'
import { Confirm } from '../components/confirm.tsx'
import { type Column, DataTable } from '../components/data-table.tsx'
import { FormProblem } from '../components/form-problem.tsx'
import { formatTime, plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { t } from '../language/text.ts'
import money from '../money/money.module.css'

const jobsKey = ['admin', 'jobs']

type JobsViewProps = { about: 'emails' | 'others' }

/** Jobs that failed after all attempts, and those that are due next. */
export function JobsView({ about }: JobsViewProps) {
  const jobs = useQuery({
    ...readQuery([...jobsKey, about], '/api/admin/jobs', { query: { about } }),
    refetchInterval: 10_000,
  })
  const what = about === 'emails' ? 'emails' : 'jobs'
  return (
    <Loaded query={jobs} skeleton={<Skeleton h={240} />}>
      {({ dead, waiting }) => (
        <>
          <section aria-labelledby="failed" className={money.part}>
            <div className={money.head}>
              <h2 id="failed">{t('Failed')}</h2>
              {dead.length > 1 && <RetryAll about={about} />}
            </div>
            {dead.length === 0 ? (
              <Notice icon={IconCircleCheck} title={t('No failed {0}', what)} order={3}>
                {about === 'emails'
                  ? t('Emails are tried again for two days. Those that keep failing appear here.')
                  : t('Failed jobs are retried automatically. Jobs that keep failing appear here.')}
              </Notice>
            ) : (
              <Stack gap="sm">
                {dead.map((job) => (
                  <FailedJob key={job.id} job={job} />
                ))}
              </Stack>
            )}
          </section>
          <section aria-labelledby="waiting" className={money.part}>
            <div className={money.head}>
              <h2 id="waiting">{t('Waiting')}</h2>
            </div>
            {waiting.length === 0 ? (
              <Text c="dimmed" size="sm">
                {t('No {0} wait.', what)}
              </Text>
            ) : (
              <DataTable
                label={t('Waiting jobs')}
                rows={waiting}
                getKey={({ id }) => id}
                columns={COLUMNS}
              />
            )}
          </section>
        </>
      )}
    </Loaded>
  )
}

const refreshJobs = () => queries.invalidateQueries({ queryKey: jobsKey })

function FailedJob({ job }: { job: Job }) {
  const [isDeleting, setIsDeleting] = useState(false)
  return (
    <Paper withBorder radius="md" p="md" component="article" aria-label={nameJob(job)}>
      <Group justify="space-between" gap="sm">
        <div>
          <JobName job={job} />
          <Text c="dimmed" size="sm">
            {t('Created {0}, {1}', formatTime(job.created_at), plural(job.attempts, 'attempt'))}
          </Text>
        </div>
        <Group gap="xs">
          <RetryButton job={job} />
          <Button
            variant="subtle"
            color="red"
            aria-label={t('Delete {0}', nameJob(job))}
            onClick={() => setIsDeleting(true)}
          >
            {t('Delete')}
          </Button>
        </Group>
      </Group>
      {job.last_error && (
        <Text size="sm" mt="xs" style={{ overflowWrap: 'anywhere' }}>
          {job.last_error}
        </Text>
      )}
      <Confirm
        opened={isDeleting}
        onClose={() => setIsDeleting(false)}
        title={job.email ? t('Delete this email?') : t('Delete this job?')}
        action={t('Delete')}
        onConfirm={async () => {
          await api.delete('/api/admin/jobs/{id}', undefined, { path: { id: job.id } })
          await refreshJobs()
        }}
      >
        {job.email
          ? t('“{0}” is never sent to {1}.', job.email.subject, job.email.to)
          : t('The job never runs again. Retry it instead if its effect is still needed.')}
      </Confirm>
    </Paper>
  )
}

function RetryAll({ about }: JobsViewProps) {
  const retry = useMutation({
    mutationFn: () => api.post('/api/admin/jobs/retry', { about }),
    onSuccess: refreshJobs,
  })
  return (
    <>
      <Button variant="default" size="xs" loading={retry.isPending} onClick={() => retry.mutate()}>
        {t('Retry all')}
      </Button>
      <FormProblem problem={retry.error} />
    </>
  )
}

function RetryButton({ job }: { job: Job }) {
  const retry = useMutation({
    mutationFn: () => api.post('/api/admin/jobs/{id}/retry', undefined, { path: { id: job.id } }),
    onSuccess: refreshJobs,
  })
  return (
    <>
      <Button
        variant="default"
        loading={retry.isPending}
        aria-label={t('Retry {0}', nameJob(job))}
        onClick={() => retry.mutate()}
      >
        {t('Retry')}
      </Button>
      <FormProblem problem={retry.error} />
    </>
  )
}

const COLUMNS: Column<Job>[] = [
  { head: t('Job'), cell: (job) => <JobName job={job} /> },
  {
    head: t('Due'),
    cell: ({ is_running, run_at }) =>
      is_running ? <Badge color="pine">{t('Running')}</Badge> : formatTime(run_at),
  },
  {
    head: t('Last error'),
    visibleFrom: 'sm',
    breaks: 'anywhere',
    cell: ({ attempts, last_error }) =>
      attempts > 0 && last_error ? `${plural(attempts, 'attempt')}: ${last_error}` : '–',
  },
  {
    head: t('Retry'),
    hasButtons: true,
    ta: 'right',
    cell: (job) =>
      job.attempts > 0 &&
      job.last_error &&
      !job.is_running && (
        <div>
          <RetryButton job={job} />
        </div>
      ),
  },
]

function JobName({ job: { kind, email } }: { job: Job }) {
  if (email === null)
    return (
      <Text fw={550} className="mono" style={{ overflowWrap: 'anywhere' }}>
        {kind}
      </Text>
    )
  return (
    <>
      <Text fw={550} style={{ overflowWrap: 'anywhere' }}>
        {email.subject}
      </Text>
      <Text c="dimmed" size="sm" style={{ overflowWrap: 'anywhere' }}>
        {t('Recipient: {0}', email.to)}
      </Text>
    </>
  )
}

const nameJob = ({ kind, email }: Job): string =>
  email === null ? kind : t('{0}, to {1}', email.subject, email.to)
