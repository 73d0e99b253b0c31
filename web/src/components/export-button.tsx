import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { t } from '../language/text.ts'
import { FormProblem } from './form-problem.tsx'

/** Saves the rows of a page as a file, or shows why that failed. */
export function ExportButton({ download }: { download: () => Promise<void> }) {
  const run = useMutation({ mutationFn: download })
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconDownload size={18} aria-hidden />}
        loading={run.isPending}
        onClick={() => run.mutate()}
      >
        {t('Export CSV')}
      </Button>
      <FormProblem problem={run.error} />
    </>
  )
}
