import type { AppError } from '../../contract/kit/errors.ts'
import { ErrorNote } from './ErrorNote.tsx'
import { useTranslation } from './use-translation.ts'

interface LoadStatusProps {
  state: { status: 'loading' | 'missing' | 'ready' } | { status: 'failed'; error: AppError }
  retry: () => unknown
}

/** Shows nothing when the content is ready. */
export function LoadStatus({ state, retry }: LoadStatusProps) {
  const { t } = useTranslation()
  if (state.status === 'failed') return <ErrorNote error={state.error} retry={retry} />
  if (state.status !== 'loading') return null
  return (
    <p role="status" className="text-ink-soft">
      {t('common.loading')}
    </p>
  )
}
