import { useState } from 'react'
import { useTranslation } from './use-translation.ts'

interface CopyButtonProps {
  text: string
  /** `Copy link` */
  label?: string
}

export function CopyButton({ text, label }: CopyButtonProps) {
  const { t } = useTranslation()
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
    } catch {
      // permissions may forbid it; the text is shown beside the button
      setState('refused')
    }
  }
  const words = {
    idle: label ?? t('common.copy'),
    copied: t('common.copied'),
    refused: t('common.copyRefused')
  }
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
