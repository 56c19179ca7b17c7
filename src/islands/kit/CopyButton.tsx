import { useState } from 'react'
import type { T } from '../../i18n/index.ts'

interface CopyButtonProps {
  text: string
  /** Over the namespace `common`. */
  t: T
  /** Says what is copied, where that is not plain. */
  label?: string
}

/** Copies a text, and says so when the browser refuses. */
export function CopyButton({ text, t, label = t('common.copy') }: CopyButtonProps) {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
    } catch {
      // permissions may forbid it; the text stands beside the button
      setState('refused')
    }
  }
  const words = { idle: label, copied: t('common.copied'), refused: t('common.copyRefused') }
  return (
    <button
      type="button"
      className="link link-secondary min-h-6 text-start"
      onClick={() => void copy()}
      aria-live="polite"
    >
      {words[state]}
    </button>
  )
}
