import { useState } from 'react'
import { type AppError, asAppError } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { localizedPath } from '../../i18n/index.ts'
import { ConfirmDialog } from '../kit/ConfirmDialog.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { loadCode } from '../kit/load-code.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface UnfinishedUploadProps {
  request: ProcessedRequest
  name: string
}

export function UnfinishedUpload({ request, name }: UnfinishedUploadProps) {
  const { locale, t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const [error, setError] = useState<AppError>()
  const cancel = async () => {
    setError(undefined)
    try {
      const { cancelUpload } = await loadCode(() => import('../../stores/deposits/deposits.ts'))
      await cancelUpload(request.id)
    } catch (thrown) {
      setError(asAppError(thrown, 'An upload could not be cancelled'))
    }
  }
  return (
    <div className="grid gap-2">
      <p>{t('history.unfinished.text')}</p>
      <div className="flex flex-wrap gap-2">
        <a
          className="btn btn-sm"
          href={`${localizedPath(locale, '/deposit')}?resume=${request.id}`}
        >
          {t('history.unfinished.resume')}
        </a>
        <button type="button" className="btn btn-sm" onClick={() => setAsking(true)}>
          {t('history.unfinished.cancel')}
        </button>
      </div>
      {error && <ErrorNote error={error} />}
      {isAsking && (
        <ConfirmDialog
          question={t('history.unfinished.question', { name })}
          yes={t('history.unfinished.cancel')}
          no={t('history.unfinished.keep')}
          onYes={() => void cancel()}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}
