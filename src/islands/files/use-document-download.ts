import { useState } from 'react'
import { AppError, asAppError } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { downloadDocument } from './download-document.ts'

export function useDocumentDownload(request: ProcessedRequest) {
  const [state, setState] = useState<'idle' | 'saving' | AppError>('idle')
  const save = async () => {
    if (state === 'saving') return
    setState('saving')
    try {
      await downloadDocument(request)
      setState('idle')
    } catch (cause) {
      setState(asAppError(cause, 'Saving failed'))
    }
  }
  return {
    isSaving: state === 'saving',
    error: state instanceof AppError ? state : undefined,
    save
  }
}
