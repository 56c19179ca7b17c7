import { useState } from 'react'
import { AppError, asAppError } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { createContentLink } from '../../stores/content-link.ts'

/** Does nothing for a verification or a deposit that is not recorded yet. */
export async function downloadDocument(request: ProcessedRequest): Promise<void> {
  if (!request.deposit_id) return
  const link = document.createElement('a')
  link.href = await createContentLink(request.deposit_id)
  link.rel = 'noreferrer'
  link.download = '' // the answer contains the name; this attribute prevents a navigation
  link.click()
}

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
